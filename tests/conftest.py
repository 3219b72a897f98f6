"""What every test folder shares: the servers to test against, and an honest account of what was skipped."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["support.servers", "support.databases", "support.figures"]

# No test judges by the clock, those with drawn examples included: a busy machine is not a fault.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name every reason for which tests were skipped, with its count."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("skipped, and why")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count:5d} x {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    where = report.longrepr
    return str(where[2]).removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)
