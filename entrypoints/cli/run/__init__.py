"""The commands that run until they are told to stop."""
