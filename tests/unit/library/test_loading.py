"""What is said of an app that cannot be imported."""

from pathlib import Path

import pytest

from fencepost import InvalidInput
from fencepost.entrypoints.loading import load_app

HEAD = "from fencepost import Fencepost\n\napp = Fencepost()\n"


@pytest.mark.parametrize(
    ("name", "source", "ending"),
    [
        ("own_mistake", HEAD + "x = 1 / 0\n", "division by zero ({file}:4)"),
        ("mistake_of_a_call", HEAD + "@app.job(queue='no spaces')\ndef work(ctx): ...\n", " ({file}:4)"),
        ("syntax_mistake", HEAD + "def work(:\n", "invalid syntax (syntax_mistake.py, line 4)"),
    ],
)
def test_the_place_is_a_line_of_theirs(
    name: str, source: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a line of ours nor one of the interpreter helps anybody."""
    file = tmp_path / f"{name}.py"
    file.write_text(source)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(InvalidInput) as raised:
        load_app(f"{name}:app")
    assert str(raised.value).endswith(ending.format(file=file)), raised.value
