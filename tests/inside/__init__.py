"""What tests use of the inside of each room, in one module a room: a module that moves is mended here alone."""
