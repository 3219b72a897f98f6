"""Run every benchmark, or those named: ``python benchmarks [FIGURE …]``; one line of JSON each."""

import os
import subprocess
import sys
from pathlib import Path

FIGURES = ("drain", "latency", "runtime_overhead", "checker")


def main() -> int:
    """Run one after the other; the exit code is that of the first to fail."""
    wanted = sys.argv[1:] or os.environ.get("FIGURE", "").split() or list(FIGURES)
    if unknown := set(wanted) - set(FIGURES):
        print(
            f"no such figure: {', '.join(sorted(unknown))}; there are {', '.join(FIGURES)}", file=sys.stderr
        )
        return 2
    for figure in wanted:
        code = subprocess.run(
            [sys.executable, str(Path(__file__).with_name(f"{figure}.py"))], check=False
        ).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
