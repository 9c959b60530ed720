"""Tests that cannot run here, and data beyond the repository: a script that is skipped, or a part of it, prints
"skipped: REASON" and exits with 77, which ctest shows as Skipped and scripts/test counts by reason. What stands in
parentheses at the end of a reason is a detail."""
import os
import sys
from pathlib import Path

SKIPPED = 77
_said = []


def note(reason):
    """Says that a part is skipped; the script goes on, and ends with finish()."""
    print(f"skipped: {reason}")
    _said.append(reason)


def finish(failed):
    sys.exit(1 if failed else SKIPPED if _said else 0)


def data_folder(built):
    """The environment's EX_DATA, or else the folder that the build names."""
    return Path(os.environ.get("EX_DATA") or built).resolve()


def has_data(folder, *names):
    """Notes what is not there."""
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        note(f"no data at EX_DATA ({', '.join(str(name) for name in missing)})")
    return not missing


def need_data(folder, *names):
    """Ends the script where something is not there."""
    if not has_data(folder, *names):
        finish(False)
