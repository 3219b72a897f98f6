"""Where processes start: the only layer that knows every other one and wires them together."""
