"""How statements reach rows: their plans, as a worker's sessions make them."""

from typing import Any

import psycopg

from fencepost.adapters.postgres.connector import Connector
from fencepost.adapters.postgres.query import Query

Node = dict[str, Any]
MODIFYING = {"ModifyTable"}
GATHERING = {"Sort", "Incremental Sort", "Hash", "Hash Join", "Merge Join", "Materialize", "Memoize"}


def explained(dsn: str, query: Query, *, generic: bool = True, analyze: bool = False) -> list[Node]:
    """Return all nodes of a statement's plan; analysed, it runs in a transaction that is rolled back."""
    settings = " ".join(f"-c {name}={value}" for name, value in Connector("").settings.items())
    how = "ANALYZE, BUFFERS, TIMING OFF, " if analyze else ""
    with psycopg.connect(dsn, options=settings) as connection:
        connection.execute(f"SET plan_cache_mode = force_{'generic' if generic else 'custom'}_plan")
        explain = f"EXPLAIN ({how}FORMAT JSON) {query.statement.raw}".encode()
        with psycopg.RawCursor(connection) as cursor:
            [[[found]]] = cursor.execute(explain, query.numbered, prepare=True).fetchall()
        connection.rollback()
    return nodes(found["Plan"])


def nodes(plan: Node) -> list[Node]:
    """Return a plan's nodes."""
    return [plan, *[node for child in plan.get("Plans", []) for node in nodes(child)]]


def paths(found: list[Node], table: str = "jobs") -> set[tuple[str, str]]:
    """Return how the rows of a table are reached: by which kind of scan, and which index."""
    return {
        (node["Node Type"], node.get("Index Name", ""))
        for node in found
        if node.get("Relation Name") == table and node["Node Type"] not in MODIFYING
    }


def kinds(found: list[Node]) -> set[str]:
    """Return the kinds of a plan's nodes."""
    return {node["Node Type"] for node in found}


def walked(found: list[Node], index: str) -> tuple[int, int]:
    """Return how many rows scans of an index gave, and how many of its and its table's pages they touched."""
    scans = [node for node in found if node.get("Index Name") == index]
    assert scans
    rows = sum(node["Actual Rows"] * node["Actual Loops"] for node in scans)
    return int(rows), sum(node["Shared Hit Blocks"] + node["Shared Read Blocks"] for node in scans)


def beneath(found: list[Node], table: str = "jobs") -> set[str]:
    """Return the kinds of nodes that read all of a table before they give a row: sorts, hashes, joins on them."""
    return {
        node["Node Type"] for node in found if node["Node Type"] in GATHERING and paths(_stream(node), table)
    }


def _stream(node: Node) -> list[Node]:
    """Return a node and those whose rows all come through it: what is limited, or only hangs on it, does not."""
    children = [child for child in node.get("Plans", []) if child["Parent Relationship"] != "InitPlan"]
    return [node, *[one for child in children if child["Node Type"] != "Limit" for one in _stream(child)]]
