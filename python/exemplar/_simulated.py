"""A rig seen by a simulated scanner, for tests and examples."""
from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Mapping
from typing import Any, Callable, Optional, Tuple, Union

from . import _abi, _given
from ._given import Report
from ._library import author, checked, text_of
from ._posed import Posed
from ._project import locked
from ._work import Progress, tasks
from .picture import _level
from .rig import Rig

HELD = "held"


class Simulated(Report):
    """A simulated session: scans, kept (scans that were there), held (poses that were not scanned), markers, seen (mean
    number of markers in a scan made now), reference."""


class _Parts:
    """Body parts as ex_scan_parts: {name: joints}, or {name: (joints, covers)} or {name: (joints, covers, solves)}."""

    def __init__(self, parts):
        given = {} if parts is None else parts
        if not isinstance(given, Mapping):
            raise TypeError("parts must be a dictionary {name: (joints, covers)}")
        self.names, self._kept = list(given), []
        self.list = (_abi.ex_scan_part * max(len(given), 1))()
        for part, (name, lists) in zip(self.list, given.items()):
            part.name = _given.text(name, "the name of a part")
            if name == HELD:
                raise ValueError("a part cannot be called 'held'")
            lists = [lists] if all(isinstance(one, str) for one in lists) else list(lists)
            if not 1 <= len(lists) <= 3:
                raise ValueError(f"parts['{name}'] must be joints, or (joints, covers), or (joints, covers, solves)")
            joints, covers = lists[0], lists[1] if len(lists) > 1 else lists[0]
            part.joint_count, part.joints = self._names(joints, name)
            part.cover_count, part.covers = self._names(covers, name)
            if len(lists) == 3:
                part.solve_count, part.solves = self._names(lists[2], name)

    def _names(self, joints, name):
        words = [_given.text(joint, f"parts['{name}']") for joint in ([] if isinstance(joints, str) else joints)]
        if not words:
            raise ValueError(f"parts['{name}'] needs lists of joints")
        self._kept.append((ctypes.c_char_p * len(words))(*words))
        return len(words), ctypes.addressof(self._kept[-1])

    def find(self, part, scan):
        """The number of a part; -1: the scan is held back."""
        if part == HELD:
            return -1
        if not part:
            return 0
        if part not in self.names:
            raise KeyError(f"'{scan}' belongs to the part '{part}': describe that in parts")
        return self.names.index(part)


class _Poses:
    """Poses to scan: a table, or {name: pose}. `poses` are ex_poses, `names` pointers to texts."""

    def __init__(self, rig, poses, part_of):
        self._table = self._held = None
        self.text = None
        if _given.is_path(poses):
            self._table = _abi.ex_scan_poses()
            checked(author.ex_scan_poses_read, _given.file(poses, "poses"), rig._handle.pointer,
                    ctypes.byref(self._table))
            self.count, self.poses = self._table.table.pose_count, self._table.table.poses
            self.words = _given.texts(self._table.names, self.count)
            self.parts = _given.texts(self._table.parts, self.count)
            self.names, self.text = self._table.names, self._table.text
            return
        if not isinstance(poses, Mapping) or not poses:
            raise TypeError("poses must be the path of a table, or a dictionary {name: pose}")
        for name in poses:
            _given.text(name, "the name of a scan")
            if name.startswith(".") or re.search(r'[/\\:*?"<>|\x00-\x1f]', name):
                raise ValueError(f"'{name}' is no name for a file, so it cannot be that of a scan")
        self._held = [Posed(rig, pose, f"poses['{name}']") for name, pose in poses.items()]
        self.count, self.words = len(poses), list(poses)
        self.poses = (_abi.ex_pose * self.count)(*(one.struct for one in self._held))
        self._texts = (ctypes.c_char_p * self.count)(*(name.encode() for name in poses))
        self.names = ctypes.addressof(self._texts)
        self.parts = [part_of.get(name, "") for name in poses]

    def __del__(self):
        table = self.__dict__.get("_table")
        if table is not None and table.names:
            author.ex_scan_poses_free(ctypes.byref(table))

    def find(self, name, option):
        if name is None:
            return -1
        if name not in self.words:
            raise KeyError(f"{option}: there is no pose '{name}'; there are {', '.join(self.words)}")
        return self.words.index(name)


def simulate(rig: Rig, poses, folder, *, parts: Optional[Mapping[str, Any]] = None,
             part_of: Optional[Mapping[str, str]] = None, reference: Optional[str] = None,
             average: Optional[str] = None,
             views: int = 4, merged: bool = False, pitch: Tuple[float, float] = (0.005, 0.002), noise: float = 0.001,
             grazing: float = 15, markers=None, count: int = 12, marker_size: float = 0.012, missing: float = 0,
             stray: float = 0, rough: Optional[float] = None, level: Union[None, int, str] = None, mirror: bool = False,
             truth_surfaces: bool = False, seed: int = 1, force: bool = False,
             progress: Optional[Callable[[str, float], Any]] = None, threads: Optional[int] = 1) -> Simulated:
    """Scans a rig with a simulated scanner: the folder becomes a session, with the truth in truth/.

    poses: {scan: pose}, each from rig.pose or {axis: value}; or the path of a table with the columns name and part.
    parts: body parts {name: (joints, covers)}: joints that its shape depends on, and joints whose bones its scans show;
    a third list: joints to solve for. part_of: {scan: part}; 'held' is not scanned, and its true surface is written.
    reference, average: scans (default: the first at rest, and the reference). views: heads around the body. merged: one
    mesh for each scan. pitch: metres between samples, across and along. noise: metres along the rays. grazing: degrees.
    markers: a table of places (default: count for each joint are chosen). marker_size: metres. missing, stray:
    fractions of markers that are rubbed off, and of other spots. rough: degrees by which rough poses in scan.json are
    off (default: none). level: of the surface. Files that exist are kept, unless force.
    """
    if not isinstance(rig, Rig):
        raise TypeError(f"rig must be an exemplar.Rig, not {type(rig).__name__}")
    if part_of is not None and (not isinstance(part_of, Mapping) or _given.is_path(poses)):
        raise TypeError("part_of must be {scan: part}, and goes with poses as a dictionary")
    definition = _abi.ex_scan_simulate_def(folder=_given.file(folder, "folder"))
    definition.simulation = author.ex_scan_simulation_default()
    s = definition.simulation
    s.rig, s.level = rig._handle.pointer, _level(rig, level)[0]
    s.view_count, s.merged = _given.whole(views, "views", 1, 64), _given.flag(merged, "merged")
    across, along = pitch if isinstance(pitch, (tuple, list)) and len(pitch) == 2 else (pitch, pitch)
    s.pitch[:] = _given.number(across, "pitch", above=0), _given.number(along, "pitch", above=0)
    s.noise, s.grazing = _given.number(noise, "noise", 0, 1), _given.number(grazing, "grazing", 0, 89)
    s.marker_size = _given.number(marker_size, "marker_size", above=1e-4)
    s.missing, s.stray = _given.number(missing, "missing", 0, 1), _given.number(stray, "stray", 0, 10)
    s.seed = _given.whole(seed, "seed", 0, 2 ** 64 - 1)
    definition.rough = -1 if rough is None else _given.number(rough, "rough", 0, 180)
    definition.mirror, definition.force = _given.flag(mirror, "mirror"), _given.flag(force, "force")
    definition.surfaces = _given.flag(truth_surfaces, "truth_surfaces")
    listed, table = _Parts(parts), _Poses(rig, poses, part_of or {})
    s.poses, s.pose_count, s.names = table.poses, table.count, table.names
    chosen = (ctypes.c_int * table.count)(*(listed.find(part, scan) for part, scan in zip(table.parts, table.words)))
    definition.parts = ctypes.addressof(chosen)
    definition.part_list, definition.part_count = listed.list, len(listed.names)
    definition.reference = table.find(reference, "reference")
    definition.average = table.find(average, "average")
    if table.text is not None:
        definition.text, definition.size = table.text, len(table.text)
    return _run(definition, markers, _given.whole(count, "count", 1, 10000), progress, threads)


def _run(definition, markers, count, progress, threads):
    s, paints, painted = definition.simulation, ctypes.POINTER(_abi.ex_paint)(), ctypes.c_int()
    if markers is not None:
        checked(author.ex_paints_read, _given.file(markers, "markers"), s.rig, s.level, ctypes.byref(paints),
                ctypes.byref(painted))
    else:
        checked(author.ex_scan_paint, s.rig, s.level, count, ctypes.byref(paints), ctypes.byref(painted))
    made = _abi.ex_scan_simulated()
    try:
        definition.paints, definition.paint_count = paints, painted.value
        with locked(os.fsdecode(definition.folder)), tasks(threads) as hooks, Progress(progress) as work:
            definition.tasks, definition.progress = hooks, work.pointer
            checked(author.ex_scan_simulate, ctypes.byref(definition), ctypes.byref(made))
    finally:
        author.ex_paints_free(paints, painted.value)
    return Simulated(scans=made.scan_count, kept=made.kept_count, held=made.held_count, markers=painted.value,
                     seen=made.seen,
                     reference=text_of(made.reference))
