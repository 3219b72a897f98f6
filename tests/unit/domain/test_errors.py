"""The error tree says what there is."""

import inspect
import re

import pytest

from fencepost.domain import errors
from fencepost.domain.errors import FencepostError, InvalidInput, InvalidItem


def test_the_tree_names_every_error_in_its_place() -> None:
    """The drawing at the top of the module and the classes agree."""
    drawn = re.findall(r"[├└│─\s]*\b([A-Z]\w+)", (errors.__doc__ or "").split("\n\n")[1])
    names = [name for name in drawn if hasattr(errors, name)]
    classes = [name for name, value in vars(errors).items() if inspect.isclass(value)]
    assert sorted(names) == sorted(classes)


@pytest.mark.parametrize(
    "error", [value for value in vars(errors).values() if inspect.isclass(value)], ids=lambda e: e.__name__
)
def test_every_error_can_be_caught_at_the_root(error: type[Exception]) -> None:
    """All of them are FencepostErrors, and say what they mean."""
    assert issubclass(error, FencepostError)
    assert error.__doc__


def test_an_item_of_a_batch_is_named_by_its_index() -> None:
    """The path of the field starts with the index, the field itself stays readable."""
    error = InvalidItem(3, InvalidInput("payload.a", "must be short"))
    assert str(error) == "[3].payload.a: must be short"
    assert (error.index, error.item_field, error.rule) == (3, "payload.a", "must be short")
