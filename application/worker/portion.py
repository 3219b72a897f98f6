"""How much is asked of the database at once: half when that took too long, and slowly more again."""

from attrs import define, field


@define
class Portion:
    """Begins with ``most``; on a slow database, work goes on in pieces that it can do in time."""

    most: int
    now: int = field(init=False)

    @now.default
    def _all(self) -> int:
        return self.most

    def too_much(self, asked: int) -> bool:
        """Hear that so much took too long; False when there is no less to ask for."""
        self.now = max(1, asked // 2)
        return asked > 1

    def done(self, asked: int) -> None:
        """Hear that so much was done in time."""
        if asked >= self.now:
            self.now = min(self.most, self.now + 1 + self.now // 8)
