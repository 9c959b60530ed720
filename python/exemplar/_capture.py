"""Skeletons from markers: what a fit finds, and motion capture."""
from __future__ import annotations

import ctypes
import math
from typing import NamedTuple, Optional, Sequence

import numpy

from . import _abi, _given
from ._arrays import address, copied, take
from ._given import Report
from ._library import Handle, author, checked, text_of
from ._work import Progress, tasks


class KinematicJoint(NamedTuple):
    """A joint: its name, parent (its name, or None), kind ('base', 'ball', 'hinge' or 'fixed'), translation from the
    parent in metres, and axis (of a hinge)."""
    name: str
    parent: Optional[str]
    kind: str
    translation: tuple
    axis: tuple


class Kinematics(Report):
    """A skeleton with markers: name, joints (KinematicJoint, parents first), and sites {marker: (joint, place (3,) in
    its frame, or None)}."""

    @classmethod
    def read(cls, path) -> "Kinematics":
        """Reads a skeleton file, or a skeleton of the library: 'full' or 'upper'."""
        made = ctypes.POINTER(_abi.ex_kinematics)()
        checked(author.ex_kinematics_read, _given.file(path), ctypes.byref(made))
        held = Handle(made, author.ex_kinematics_destroy)
        return cls._of(held.pointer)

    @classmethod
    def _of(cls, pointer):
        inside = pointer.contents
        names = [text_of(inside.joints[j].name) for j in range(inside.joint_count)]
        joints = []
        for j, name in enumerate(names):
            one = inside.joints[j]
            joints.append(KinematicJoint(name, names[one.parent] if one.parent >= 0 else None,
                                         text_of(author.ex_freedom_name(one.freedom)), tuple(one.translation[:]),
                                         tuple(one.axis[:])))
        sites = {}
        for i in range(inside.site_count):
            one = inside.sites[i]
            sites[text_of(one.name)] = (names[one.joint] if 0 <= one.joint < len(names) else None,
                                        tuple(one.local[:]) if one.placed else None)
        return cls(name=text_of(inside.name), joints=joints, sites=sites)


def poses_of(poses, count, joint_count):
    """Translations (N, 3) and rotations (N, J, 4) of ex_kin_poses."""
    translations, rotations = numpy.empty((count, 3)), numpy.empty((count, joint_count, 4))
    for i in range(count):
        translations[i] = poses[i].translation[:]
        rotations[i] = copied(poses[i].rotations, "f8", (joint_count, 4))
    return translations, rotations


def fit_options(loss):
    """The loss for the library: 0 is its default."""
    if loss is None:
        return 0.0
    if isinstance(loss, str):
        _given.word(loss, "loss", ("none",))
        return math.inf
    return math.inf if loss == math.inf else _given.number(loss, "loss", above=0)


class Markers:
    """Labelled markers over time: names, positions (F, M, 3) in metres with y up (NaN: not seen), rate in frames per
    second (0: unknown), first_frame. `Markers.read` reads .c3d and .trc files."""

    def __init__(self, names: Sequence[str], positions, rate: float = 0, first_frame: int = 1):
        self.names = [_given.text(name, "names").decode() for name in ([] if isinstance(names, str) else names)]
        if isinstance(names, str) or len(set(self.names)) < len(self.names) or not self.names:
            raise ValueError("names must be a list of different names")
        self.positions = take(positions, "f4", (None, len(self.names), 3), "positions").copy()
        if not len(self.positions) or numpy.isinf(self.positions).any():
            raise ValueError("positions needs frames of finite numbers, or NaN where a marker is not seen")
        self.rate, self.first_frame = _given.number(rate, "rate", 0), _given.whole(first_frame, "first_frame", -2 ** 31)
        self.unit, self.up, self.notes = "m", "+Y", []

    @classmethod
    def read(cls, path, up: Optional[str] = None) -> "Markers":
        """Reads a .c3d or .trc file. up: the direction of the file that is up, such as '+Z' (default: found)."""
        held = _read(path, up)
        return cls._of(held.pointer.contents)

    @classmethod
    def _of(cls, inside):
        markers = cls.__new__(cls)
        markers.names = _given.texts(inside.names, inside.marker_count)
        markers.positions = copied(inside.positions, "f4", (inside.frame_count, inside.marker_count, 3))
        markers.rate, markers.first_frame = inside.rate, inside.first_frame
        markers.unit, markers.up = text_of(inside.unit), text_of(inside.up)
        markers.notes = _given.texts(inside.notes, inside.note_count)
        return markers

    def __len__(self):
        return len(self.positions)

    def __repr__(self):
        return f"<exemplar.scan.Markers, {len(self.names)} markers in {len(self)} frames>"

    def _to_c(self):
        """An ex_markers over copies of the arrays, and what it needs to stay valid."""
        positions = take(self.positions, "f4", (None, len(self.names), 3), "positions").copy()
        if not len(positions) or numpy.isinf(positions).any():
            raise ValueError("positions needs frames of finite numbers, or NaN where a marker is not seen")
        names = (ctypes.c_char_p * len(self.names))(*(_given.text(name, "names") for name in self.names))
        struct = _abi.ex_markers(marker_count=len(self.names), names=ctypes.addressof(names),
                                 frame_count=len(positions),
                                 first_frame=self.first_frame, rate=self.rate, unit=b"m", up=b"+Y",
                                 positions=address(positions))
        return struct, (names, positions)


def _read(path, up, name="source"):
    made = ctypes.POINTER(_abi.ex_markers)()
    direction = _given.text(up, "up", optional=True)
    checked(author.ex_markers_read, _given.file(path, name), ctypes.byref(made))
    held = Handle(made, author.ex_markers_destroy)
    if direction is not None:
        checked(author.ex_markers_set_up, held.pointer, direction)
    return held


class Capture(Report):
    """A skeleton with its pose in every frame: kinematics, translations (F, 3), rotations (F, J, 4), frame_rms (F,) and
    rms in metres, rate, first_frame, up, scale, sightings, seconds, markers {name: site, or None if it is not used},
    marker_notes [{marker, joint, text, swapped_count, dropped_count, filled_count}], notes, undetermined (sentences),
    bones {joint: metres}, angle_names and angles (F, A) in degrees, compared [{angle, other, rms, mean, spread}]."""


def fit_capture(source, output, loss, progress, threads, *, skeleton, bvh, angles, static, up, frames):
    """The fit of motion capture; see scan.fit."""
    count = 0 if frames is None else _given.whole(frames, "frames", 1)
    files = {name: None if path is None else _given.file(path, name) for name, path in
             (("output", output), ("bvh", bvh), ("angles", angles))}
    name = b"full" if skeleton is None else _given.file(skeleton, "skeleton")
    _given.text(up, "up", optional=True)
    trial, _trial_kept, trial_up, notes = _trial(source, up, "source")
    still = still_kept = None
    if static is not None:
        still, still_kept, _still_up, more = _trial(static, up, "static")
        notes += more
    made = ctypes.POINTER(_abi.ex_kinematics)()
    checked(author.ex_kinematics_read, name, ctypes.byref(made))
    start = Handle(made, author.ex_kinematics_destroy)
    with tasks(threads) as hooks, Progress(progress) as work:
        how = _abi.ex_capture_options(kinematics=start.pointer, frames=count, loss=loss, progress=work.pointer,
                                      tasks=hooks)
        if still is not None:
            how.still = ctypes.pointer(still)
        found = ctypes.POINTER(_abi.ex_capture)()
        checked(author.ex_capture_fit, ctypes.byref(trial), ctypes.byref(how), ctypes.byref(found))
        held = Handle(found, author.ex_capture_destroy)
        table = ctypes.POINTER(_abi.ex_capture_angles)()
        checked(author.ex_capture_to_angles, held.pointer, ctypes.byref(table))
        turned = Handle(table, author.ex_capture_angles_destroy)
        compared = _compared(turned.pointer, trial)
        if work.struct.report(None, b"writing the fit", 1.0):  # not after Ctrl-C
            _write(held.pointer, turned.pointer, files)
        del still_kept
        return _capture(held.pointer.contents, turned.pointer.contents, compared, trial_up, notes)


def _trial(source, up, name):
    """(ex_markers, what it needs, up, notes)."""
    if isinstance(source, Markers):
        struct, kept = source._to_c()
        if up is not None:
            raise ValueError("up goes with a file; Markers have y up")
        return struct, kept, source.up, list(source.notes)
    held = _read(source, up, name)
    inside = held.pointer.contents
    return inside, held, text_of(inside.up), _given.texts(inside.notes, inside.note_count)


def _compared(angles, trial):
    count = ctypes.c_int()
    with _given.owned(_given.free) as made:
        checked(author.ex_capture_compare, angles, ctypes.byref(trial), ctypes.byref(made), ctypes.byref(count))
        rows = ctypes.cast(made, ctypes.POINTER(_abi.ex_capture_compared))
        return [{"angle": text_of(rows[i].name), "other": text_of(rows[i].other), "rms": rows[i].rms,
                 "mean": rows[i].mean,
                 "spread": rows[i].spread} for i in range(count.value)]


def _write(capture, angles, files):
    if files["output"]:
        made = ctypes.POINTER(_abi.ex_scan_fitted)()
        checked(author.ex_capture_to_fitted, capture, ctypes.byref(made))
        fitted = Handle(made, author.ex_scan_fitted_destroy)
        checked(author.ex_scan_fitted_write, files["output"], fitted.pointer)
    if files["bvh"]:
        clip = ctypes.POINTER(_abi.ex_clip)()
        checked(author.ex_capture_to_clip, capture, ctypes.byref(clip))
        held = Handle(clip, author.ex_clip_destroy)
        checked(author.ex_bvh_write, files["bvh"], held.pointer)
    if files["angles"]:
        checked(author.ex_capture_angles_write, files["angles"], angles)


def _capture(found, table, compared, up, notes):
    kinematics = Kinematics._of(found.kinematics)
    frames = found.frame_count
    translations, rotations = poses_of(found.poses, frames, len(kinematics.joints))
    sites = found.kinematics.contents.sites
    used = copied(found.sites, "i4", (found.marker_count,)).tolist()
    names = [text_of(found.markers[m].name) for m in range(found.marker_count)]
    marker_notes = []
    for m, site in enumerate(used):
        one = found.markers[m]
        marker_notes.append({"marker": names[m], "joint": kinematics.joints[sites[site].joint].name if site >= 0
                             else None,
                             "text": text_of(one.text), "swapped_count": one.swapped_count,
                             "dropped_count": one.dropped_count, "filled_count": one.filled_count})
    columns = copied(table.names, "S40", (table.count,))
    return Capture(kinematics=kinematics, translations=translations, rotations=rotations,
                   frame_rms=copied(found.rms, "f8", (frames,)), rms=found.error, rate=found.rate,
                   first_frame=found.first_frame, up=up, scale=found.scale, sightings=found.sighting_count,
                   seconds=found.seconds,
                   markers={name: text_of(sites[site].name) if site >= 0 else None for name, site in zip(names, used)},
                   marker_notes=marker_notes, notes=notes + _given.texts(found.notes, found.note_count),
                   undetermined=[text_of(found.opens[i].text) for i in range(found.open_count)],
                   bones={joint.name: math.hypot(*joint.translation) for joint in kinematics.joints[1:]},
                   angle_names=[name.decode("utf-8", "replace") for name in columns.tolist()],
                   angles=copied(table.values, "f8", (table.frame_count, table.count)), compared=compared)

