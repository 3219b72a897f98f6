"""One folder per technology; each file implements the port of the same name."""
