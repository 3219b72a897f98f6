"""Use cases over ports: no SQL, no HTTP, no clock of their own."""
