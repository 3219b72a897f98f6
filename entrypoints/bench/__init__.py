"""``fencepost bench``: measures Fencepost on the user's own database, in a schema that is gone afterwards."""
