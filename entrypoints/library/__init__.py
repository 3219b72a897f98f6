"""What programs import: the app, its job types and their options."""
