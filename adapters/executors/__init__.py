"""Where handlers run: as coroutines on the worker's loop, or in threads."""
