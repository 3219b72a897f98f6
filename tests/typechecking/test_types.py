"""The types that users see, judged by mypy."""

from pathlib import Path

import pytest
from mypy import api

from support.repository import ROOT

HERE = Path(__file__).parent


@pytest.mark.timeout(300)
def test_mypy_accepts_what_is_right_and_finds_what_is_wrong() -> None:
    """Strictly: the expected mistakes are ignored one by one, and an ignore that nothing needs is an error."""
    files = [str(HERE / name) for name in ("accepted.py", "refused.py")]
    said, failed, code = api.run(["--config-file", str(ROOT / "pyproject.toml"), *files])
    assert (code, failed) == (0, ""), said


def test_mypy_would_not_stay_silent(tmp_path: Path) -> None:
    """The check above is not empty: without its ignores the file of mistakes is full of errors."""
    mistakes = (HERE / "refused.py").read_text()
    (tmp_path / "mistakes.py").write_text(mistakes.replace("# type: ignore", "# expected"))
    said, _, code = api.run(["--config-file", str(ROOT / "pyproject.toml"), str(tmp_path / "mistakes.py")])
    assert code == 1
    assert said.count(": error: ") == mistakes.count("# type: ignore")
