"""The files an embedded server keeps beside its data folder."""

from pathlib import Path

import attrs


@attrs.frozen
class SideFiles:
    """Named after the data folder, in the folder that holds it."""

    datadir: Path

    @property
    def starting(self) -> Path:
        """Locked by whoever starts or stops the server."""
        return self._beside("lock")

    @property
    def running(self) -> Path:
        """Locked by the processes of the server themselves, for as long as one of them lives."""
        return self._beside("running")

    @property
    def state(self) -> Path:
        """The password, the port and where the data are; readable for its owner only."""
        return self._beside("json")

    @property
    def log(self) -> Path:
        """What the server says."""
        return self._beside("log")

    def delete(self) -> None:
        """Remove them all."""
        for file in (self.state, self.log, self.running, self.starting):
            file.unlink(missing_ok=True)

    def _beside(self, suffix: str) -> Path:
        return self.datadir.with_name(f"{self.datadir.name}.{suffix}")
