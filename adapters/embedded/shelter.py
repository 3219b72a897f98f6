"""A place for the server's user when a folder is closed to it, as everything below root's home is.

Nothing of the closed folders is opened up. The shelter belongs to root and everyone may pass through it;
binaries in it are copies nobody else can change, data in it belong to the server's user alone.
"""

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

import attrs

from .account import Account
from .binaries import PROGRAMS, Binaries
from .errors import Unreachable
from .locks import locked

BASES = (Path(os.sep, "var", "lib"), Path(os.sep, "var", "tmp"))


@attrs.frozen
class Shelter:
    """Where data and binaries go whose own folders the account cannot enter."""

    account: Account
    chosen: Path | None = None

    def place_for(self, datadir: Path) -> Path:
        """Return where a new data folder goes: where it was asked for, if its user gets there.

        Raises Unreachable when there is no place for it.
        """
        if self.account.can_enter(datadir.parent):
            return datadir
        place = self._folder() / "data" / _digest(str(datadir))
        for folder in (place.parent, place):
            _own_folder(folder)
        return place / datadir.name

    def reachable(self, binaries: Binaries, deadline: float) -> Binaries:
        """Return binaries the account can run: these, or a copy of them.

        Raises Unreachable when a copy does not help either.
        """
        if self.account.can_run([binaries.program("postgres"), "--version"]):
            return binaries
        copy = self._copy(binaries, deadline)
        if not self.account.can_run([copy.program("postgres"), "--version"]):
            raise Unreachable(f"the server's user cannot run {copy.program('postgres')}")
        return copy

    @staticmethod
    def clear(data: Path, datadir: Path) -> None:
        """Delete data from where `place_for` put them."""
        if data.exists():
            shutil.rmtree(data)
        if data != datadir and data.parent.exists():
            data.parent.rmdir()

    def _copy(self, binaries: Binaries, deadline: float) -> Binaries:
        prefix = binaries.bindir.parent
        changed = (binaries.bindir / "postgres").stat().st_mtime_ns
        folder = self._folder()
        target = folder / f"postgresql-{binaries.version}-{_digest(f'{prefix} {changed}')}"
        with locked(folder / "copying.lock", deadline):
            if not target.exists():
                _copy_installation(prefix, target)
        return Binaries(target / prefix.parent.name / prefix.name / "bin", binaries.version)

    def _folder(self) -> Path:
        if self.chosen:
            return _own_folder(self.chosen)
        for base in (*BASES, Path(tempfile.gettempdir())):
            if os.access(base, os.W_OK) and self.account.can_enter(base):
                return _own_folder(base / "fencepost")
        raise Unreachable("there is no folder the server's user could enter")


def _own_folder(folder: Path) -> Path:
    """Make a folder everybody may pass and only we may change; refuse one that others can change."""
    try:
        folder.mkdir()
        folder.chmod(0o711)
    except FileExistsError:
        found = folder.lstat()
        loose = stat.S_IMODE(found.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or loose:
            raise Unreachable(f"{folder} exists, and it is not a folder only we can write to") from None
    return folder


def _copy_installation(prefix: Path, target: Path) -> None:
    """Copy programs together with the folder of libraries that repaired wheels keep beside the package."""
    unfinished = target.with_name(target.name + ".unfinished")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    package, libraries = prefix.parent, prefix.parent.with_name(prefix.parent.name + ".libs")
    installation = unfinished / package.name / prefix.name
    (installation / "bin").mkdir(parents=True)
    for program in PROGRAMS:
        shutil.copy(prefix / "bin" / program, installation / "bin")
    for part in ("lib", "share"):
        shutil.copytree(prefix / part, installation / part)
    if libraries.exists():
        shutil.copytree(libraries, unfinished / libraries.name)
    _open_for_reading(unfinished)
    unfinished.replace(target)


def _open_for_reading(root: Path) -> None:
    for folder, _, files in os.walk(root):
        Path(folder).chmod(0o755)
        for file in (Path(folder, name) for name in files):
            file.chmod(0o755 if file.stat().st_mode & stat.S_IXUSR else 0o644)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
