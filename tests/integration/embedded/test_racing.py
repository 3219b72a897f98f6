"""Two of everything: any number of starters, one server."""

from pathlib import Path

from support.owners import own


def test_six_racing_starters_make_one_server_that_all_of_them_use(datadir: Path) -> None:
    """Exactly one process starts it from nothing, five adopt it, and all six name the same server."""
    owners = [own(datadir, tied_to_parent=False) for _ in range(6)]
    answers = [owner.running() for owner in owners]
    for owner in owners:
        owner.close()
    assert len({(answer["pid"], answer["dsn"]) for answer in answers}) == 1
    assert sum(not answer["adopted"] for answer in answers) == 1


def test_starters_that_race_after_a_kill_make_one_server_too(datadir: Path) -> None:
    """The same holds over data that need recovery."""
    first = own(datadir, tied_to_parent=False)
    first.running()
    first.kill()
    owners = [own(datadir, tied_to_parent=False) for _ in range(4)]
    pids = {owner.running()["pid"] for owner in owners}
    for owner in owners:
        owner.close()
    assert len(pids) == 1
