"""The flags that every command has."""

from typing import Annotated, Literal

from attrs import frozen
from cyclopts import Group, Parameter

EVERYWHERE = Group("Everywhere", sort_key=9)
Output = Literal["table", "json", "ndjson"]


@Parameter(name="*", group=EVERYWHERE)
@frozen(kw_only=True)
class Flags:
    """Where the database is and how data are printed."""

    database_url: Annotated[
        str | None,
        Parameter(help="PostgreSQL; else FENCEPOST_DATABASE_URL, DATABASE_URL, PG*, `fencepost up`."),
    ] = None
    schema: Annotated[str | None, Parameter(help="The schema that holds our tables.")] = None
    output: Annotated[
        Output | None, Parameter(help="How data are printed; default: a table on a terminal, else ndjson.")
    ] = None

    @property
    def settings(self) -> dict[str, object]:
        """The flags that are settings."""
        return {"database_url": self.database_url, "schema": self.schema}


NewPayload = Annotated[
    str | None, Parameter(help="A new payload: JSON, @FILE or -.", allow_leading_hyphen=True)
]
Reason = Annotated[str | None, Parameter(help="Kept in the history.")]
PLAIN = Flags()
"""No flag given."""
