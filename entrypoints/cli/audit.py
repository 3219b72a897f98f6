"""`fencepost audit`."""

from cyclopts import App

audit = App(name="audit", help="Read the history, and verify it.")
audit.command(f"{__package__}.audit_log:log", help="Read the global history, oldest first.")
audit.command(f"{__package__}.audit_verify:verify", help="Check the history against the invariants.")
