"""What has to be known to find and enter a server again."""

import json
import os
from pathlib import Path
from urllib.parse import quote

import attrs


@attrs.frozen
class State:
    """`data` is where the data really are: usually the data folder asked for."""

    data: Path
    password: str = attrs.field(repr=False)
    port: int | None = None

    @property
    def dsn(self) -> str:
        """The address of the administrative database, password included."""
        return f"postgresql://postgres:{quote(self.password)}@127.0.0.1:{self.port}/postgres"


def load(path: Path) -> State | None:
    """Return what was saved, None when nothing was."""
    try:
        raw = json.loads(path.read_text())
    except FileNotFoundError:
        return None
    return State(Path(raw["data"]), raw["password"], raw["port"])


def save(path: Path, state: State) -> None:
    """Replace what was saved, in one step and durably."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    raw = {"data": str(state.data), "password": state.password, "port": state.port}
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(raw, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in a folder survive a power failure."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
