"""Controls that panels are made of: drawn by us, held and clicked by Dear ImGui."""
