"""One module per peer, imported only when its system is chosen."""
