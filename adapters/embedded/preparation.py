"""Everything that has to be in place before a server can be started."""

from collections.abc import Mapping
from pathlib import Path

import attrs

from .account import server_account
from .binaries import find_binaries
from .cluster import check_major, make_cluster
from .errors import Unreachable
from .files import SideFiles
from .shelter import Shelter
from .startup import Startup
from .state import State


@attrs.frozen
class Preparation:
    """What was asked for: where the data go, which programs, which settings."""

    datadir: Path
    bindir: Path | None
    settings: Mapping[str, str]
    shelter: Path | None

    def startup(self, state: State | None, turn: int, deadline: float) -> Startup:
        """Find programs and user, make the data folder when there is none, and check that it all fits.

        Raises NoBinaries, NoUnprivilegedUser, Unreachable, ForeignDataFolder, IncompatibleDataFolder or
        InitializationFailed.
        """
        account = server_account(state.data if state else None)
        shelter = Shelter(account, self.shelter)
        binaries = shelter.reachable(find_binaries(self.bindir), deadline)
        files = SideFiles(self.datadir)
        if state is None:
            state = make_cluster(binaries, shelter.place_for(self.datadir), account, files.state, turn)
        else:
            check_major(binaries, state.data)
            if not account.can_enter(state.data):
                raise Unreachable(f"the server's user cannot enter {state.data}, where its data are")
        return Startup(binaries, account, state, files, self.settings)
