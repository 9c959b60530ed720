"""Sample projects, made from formulas: something to try when there is no data yet."""
from __future__ import annotations

import ctypes
import os
import pathlib
import shutil
import tempfile
from typing import Callable, Dict, Optional

from . import _abi
from ._given import flag, whole
from ._library import _library as library, checked, path_bytes, text_of
from ._work import Progress, tasks
from .errors import FileError
from .project import Project


_count, _name, _summary, _write = (getattr(library, f"exi_python_demo_{what}")
                                   for what in ("count", "name", "summary", "write"))
_name.restype = _summary.restype = ctypes.c_char_p
_name.argtypes = _summary.argtypes = [ctypes.c_int]
_write.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.POINTER(_abi.ex_progress), ctypes.POINTER(_abi.ex_tasks),
                   ctypes.c_bool, ctypes.c_int, ctypes.POINTER(_abi.ex_error)]
_rooms: list = []  # removed with the interpreter


def demos() -> Dict[str, str]:
    """The names of the demos, each with a line about it."""
    return {text_of(_name(i)): text_of(_summary(i)) for i in range(_count())}


def demo(name: str, folder=None, *, quick: bool = False, takes: int = 0,
         progress: Optional[Callable[[str, float], Optional[bool]]] = None, threads: Optional[int] = 1) -> Project:
    """Writes a demo's project and forms into a new or empty folder, and opens it: demo("arm").build() is its rig.

    Without a folder the files are in a temporary one, which is removed when Python ends. quick: of 'body', a coarse one from
    few scans. takes: of 'sleeve', 'shirt' and 'outfit', further simulated motions. These, 'scanned' and 'body' take up to
    minutes.
    """
    names = list(demos())
    if name not in names:
        raise ValueError(f"there is no demo '{name}'; there are {', '.join(names)}")
    quick, takes, told = flag(quick, "quick"), whole(takes, "takes", 0, 99), Progress(progress)
    room = None if folder is not None else tempfile.TemporaryDirectory(prefix="exemplar-")
    place = pathlib.Path(os.path.abspath(os.fsdecode(path_bytes(folder)) if room is None else room.name))
    made = [] if room is not None else [above for above in (place, *place.parents) if not above.exists()]
    try:
        place.mkdir(parents=True, exist_ok=True)
        if any(place.iterdir()):
            raise FileError(f"{place} is not empty: a demo is written into a new folder", _abi.EX_ERROR_FILE)
    except OSError as error:
        if isinstance(error, FileError):
            raise
        raise FileError(f"{place} cannot be made ({error.strerror})", _abi.EX_ERROR_FILE) from None
    try:
        with told, tasks(threads) as hook:
            checked(_write, names.index(name), path_bytes(place), told.pointer, hook, quick, takes)
    except BaseException:
        for left in place.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()
        for folder_made in made:
            folder_made.rmdir()
        if room is not None:
            room.cleanup()
        raise
    if room is not None:
        _rooms.append(room)
    return Project(place / f"{name}.json")
