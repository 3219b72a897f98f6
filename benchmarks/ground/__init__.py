"""What every figure stands on: a durable server, databases of its own, real processes, the floor, the checker."""

from .asking import ask
from .processes import worker

__all__ = ["ask", "worker"]
