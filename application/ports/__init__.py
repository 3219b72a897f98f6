"""What the application needs from the outside, one Protocol per file."""
