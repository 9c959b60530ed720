"""Skipped tests, and data beyond the repository. A script that skips itself or a part prints "skipped: REASON" and
exits with 77, which ctest shows as Skipped and scripts/test counts by reason. Text in parentheses at the end of a
reason is a detail."""
import os
import sys
from pathlib import Path

SKIPPED = 77
_said = []


def note(reason):
    """Reports that a part is skipped; the script goes on, and ends with finish()."""
    print(f"skipped: {reason}")
    _said.append(reason)


def finish(failed):
    sys.exit(1 if failed else SKIPPED if _said else 0)


def data_folder(built):
    """The folder in EX_DATA, or else the one named by the build."""
    return Path(os.environ.get("EX_DATA") or built).resolve()


def has_data(folder, *names):
    """Returns False and reports the reason if something is missing."""
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        note(f"no data at EX_DATA ({', '.join(str(name) for name in missing)})")
    return not missing


def need_data(folder, *names):
    """Ends the script if something is missing."""
    if not has_data(folder, *names):
        finish(False)
