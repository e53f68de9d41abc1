"""The values of a document as JSON data, to the last bit, and back."""
