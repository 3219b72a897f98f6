"""One import name only: the layers exist as parts of `fencepost` and nowhere else."""

import subprocess
import sys

from support.repository import LAYERS


def test_no_layer_is_ever_a_module_of_its_own() -> None:
    """No module called domain, application, adapters or entrypoints is in sys.modules."""
    assert not set(LAYERS) & set(sys.modules)


def test_importing_the_package_loads_none_of_its_parts() -> None:
    """`import fencepost` is lazy: it brings in no layer and no third-party package."""
    program = "import sys, fencepost; print(*{'sqlalchemy', 'attrs', 'fencepost.domain'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []


def test_a_name_the_package_does_not_have_is_an_attribute_error() -> None:
    """A misspelt public name fails the way Python users expect."""
    import fencepost

    assert getattr(fencepost, "no_such_name", None) is None
    assert all(hasattr(fencepost, name) for name in fencepost._PUBLIC)


def test_everything_public_can_be_imported_at_once() -> None:
    """`from fencepost import *` brings the public names and no other."""
    import fencepost

    names: dict[str, object] = {}
    exec("from fencepost import *", names)
    assert names.keys() - {"__builtins__"} == set(fencepost._PUBLIC) == set(fencepost.__all__)


def test_who_declares_no_schedule_does_not_wait_for_the_rules_of_cron() -> None:
    """An app that only submits is made without them."""
    program = (
        "from fencepost import Fencepost; Fencepost(); print(*{'croniter', 'tzdata'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {program}"], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == []
