"""The `fencepost` command; everything heavy is imported by the command that needs it."""
