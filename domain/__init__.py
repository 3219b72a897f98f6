"""The pure core: no I/O, no clock, no randomness; stdlib, attrs and croniter only."""
