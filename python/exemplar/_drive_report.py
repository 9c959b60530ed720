"""Reports on how well a rig follows a driver, and frames to simulate next."""
from __future__ import annotations

import ctypes
import dataclasses
import math
import os
import typing

import numpy

from . import _abi
from ._arrays import copied
from ._driven import key_names
from ._given import whole, write_text
from ._library import author, checked, path_bytes

_BEFORE, _AFTER = 1.0, 0.5  # seconds to simulate around a frame of a rig that follows motion
_FIELDS = _abi.ex_drive_frame._fields_
_FRAME = numpy.dtype({"names": [name for name, _ in _FIELDS],
                      "formats": ["f8" if kind is ctypes.c_double else "i4" for _, kind in _FIELDS],
                      "offsets": [getattr(_abi.ex_drive_frame, name).offset for name, _ in _FIELDS],
                      "itemsize": ctypes.sizeof(_abi.ex_drive_frame)})
_COLUMNS = ("time", "hull_distance", "mean", "p95", "worst", "worst_vertex", "nearest_mean", "blend_mean",
            "penetrating", "left", "deepest_before", "deepest_after", "driver_jump", "driven_jump", "crossings",
            "crossings_before", "truth_crossings", "covered", "covered_before", "unfamiliar")
_ALWAYS = ("time", "hull_distance", "penetrating", "left", "deepest_before", "deepest_after", "driver_jump",
           "driven_jump")


class DriveReport:
    """How well a rig follows an animation. Distances in metres.

    Over all frames and vertices, None without truth: mean and p95 of the rig, nearest_mean and nearest_p95 of the
    nearest key alone, blend_mean and blend_p95 of the blend before settling. keys: their names. key_spread: the
    distance between keys. far: the number of frames that are farther from any blend of the keys than that. by_motion:
    the rig follows motion, and its keys are forms.

    Of each frame, arrays (N,) in `frames`: report.frames["mean"] and so on; -1 where nothing was compared or counted.
    numbers (N,): of the frames in the driver's animation, from 0. weights (N, K) of the keys. vertex_errors (V,): means
    over frames, None without truth.
    """

    def __init__(self, handle, rig):
        r = handle.pointer.contents
        self._handle = handle
        self.keys = self._keys = key_names(rig)[:r.key_count]
        self.by_motion, self.key_spread, self.far = r.by_motion, r.key_spread, r.far_count
        for name in ("mean", "p95", "nearest_mean", "nearest_p95", "blend_mean", "blend_p95"):
            value = getattr(r, name)
            setattr(self, name, value if value >= 0 else None)
        self.frames = copied(r.frames, _FRAME, (r.frame_count,))
        self.numbers = r.first + numpy.arange(r.frame_count)
        self.times = self.frames["time"].copy()
        self.weights = copied(r.weights, "f8", (r.frame_count, r.key_count))
        self.vertex_errors = copied(r.vertex_errors, "f8", (r.vertex_count,)) if r.vertex_errors else None

    def __len__(self) -> int:
        return len(self.frames)

    def __repr__(self) -> str:
        error = "" if self.mean is None else f", mean error {self.mean:.4g} m, 95 % below {self.p95:.4g} m"
        return f"<exemplar.drive.DriveReport, {len(self)} frames{error}, {self.far} far from what was learned>"

    def worst(self, most: int = 8) -> typing.List[int]:
        """Indices of the worst frames, by error with truth, else by distance from what was learned; of frames alike
        only the worst."""
        most = whole(most, "most", 0)
        values = self.frames["mean" if self.mean is not None else "unfamiliar" if self.by_motion else "hull_distance"]
        least = -1.0
        if self.mean is None and self.far > 0:
            least = 1.0 if self.by_motion else self.key_spread
        found: typing.List[int] = []
        for i in numpy.argsort(-values, kind="stable").tolist():
            if len(found) == most or not values[i] > least:
                break
            if not any(self._alike(i, other) for other in found):
                found.append(i)
        return found

    def _alike(self, one, other):
        if self.by_motion:
            return abs(self.times[one] - self.times[other]) < .5
        return float(numpy.abs(self.weights[one] - self.weights[other]).sum()) < .5

    def write_table(self, path) -> None:
        """Writes all figures of every frame as .csv; frames count from 1 there."""
        def text(value):
            room = ctypes.create_string_buffer(32)
            author.ex_format_double(room, value)
            return room.value.decode()

        name = path_bytes(path)
        names = ["\"" + key.replace("\"", "\"\"") + "\"" for key in self.keys]
        lines = [",".join(["frame", *_COLUMNS, *names])]
        for frame, number_, weights in zip(self.frames, self.numbers, self.weights):
            cells = [text(float(frame[column])) if column in _ALWAYS or frame[column] >= 0 else ""
                     for column in _COLUMNS]
            lines.append(",".join([str(number_ + 1), *cells, *(text(float(weight)) for weight in weights)]))
        write_text(name, "\n".join(lines) + "\n")

    def draw(self, path) -> None:
        """Draws weights and errors over time, as .png or .svg."""
        name = path_bytes(path)
        if not name.lower().endswith((b".png", b".svg")):
            raise ValueError(f"'{os.fsdecode(name)}' does not end in .png or .svg, the kinds that can be written here")
        names = (ctypes.c_char_p * max(1, len(self._keys)))(*[key.encode("utf-8") for key in self._keys])
        checked(author.ex_drive_report_draw, self._handle.pointer, ctypes.addressof(names), name)


@dataclasses.dataclass(frozen=True)
class Suggestions:
    """Frames to simulate next, the farthest from what is known first.

    frames (n,) of the animation, counting from 0; times (n,) seconds; distances (n,) from what is known, frames before
    it included: metres for a rig of keys, a number for one that follows motion. left: the distance of the farthest
    frame from what would then be known. enough: frames nearer than this are known well. pieces: (first, stop) of the
    animation to simulate for a rig that follows motion.
    """
    frames: numpy.ndarray
    times: numpy.ndarray
    distances: numpy.ndarray
    left: float
    enough: float
    by_motion: bool
    pieces: typing.Tuple[typing.Tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.frames)


def pieces(frames, step, first, last):
    """Pieces of the animation around frames, joined where they overlap."""
    before, after = min(math.ceil(_BEFORE / step), last), min(math.ceil(_AFTER / step), last - first)
    made: typing.List[typing.List[int]] = []
    for frame in frames:
        begin, end = max(first, frame - before), min(last, frame + after) + 1
        if made and frame - before <= made[-1][1]:
            made[-1][1] = end
        else:
            made.append([begin, end])
    return tuple((begin, end) for begin, end in made)
