"""The machine itself: its clocks, its threads, its name."""
