"""The HTTP API: parse, call the use case, render."""
