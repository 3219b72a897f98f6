"""Fencepost with 100 slots, the limit of handlers at once that most peers run with: listed apart."""

from adapters import fencepost


class Peer(fencepost.Peer):
    """The same, but for its slots."""

    name = "fencepost-100"
    scenarios = ("drain",)
    slots = 100
    settings = "as fencepost, but 100 slots"
