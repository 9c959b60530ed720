"""Baking: writes a rig in motion to files that play without Exemplar."""
from __future__ import annotations

import ctypes
import dataclasses
import os
import typing

import numpy

from . import _abi
from ._arrays import address, take
from ._given import flag, frame_range, number, whole
from ._library import author, check_misuse, checked, path_bytes, runtime, text_of
from ._work import Progress, tasks
from .cache import kind_of, refuse_existing
from .motion import as_rig, poses
from .rig import LIMIT, Pose

_ENDINGS = (b".glb", b".pc2", b".mdd", b".abc", b".obj")
_EVALUATED = 64  # frames that a function of the caller gets at a time


class BakeError(typing.NamedTuple):
    """Distances of vertices from the rig over all frames, in metres, and the frame and vertex of the largest, counting
    from 0."""
    largest: float
    rms: float
    frame: int
    vertex: int


@dataclasses.dataclass(frozen=True)
class BakeReport:
    """What was baked. Fields after `vertices` are None for a point cache, which is exact."""
    file: str
    frames: int
    seconds: float
    vertices: int
    exact: bool = True
    """True if the file equals the rig, apart from influences and thinning."""
    why_not_exact: typing.Optional[str] = None
    error: typing.Optional[BakeError] = None
    """Of the file against the rig."""
    targets: typing.Optional[int] = None
    unused: typing.Optional[int] = None
    """Examples without weight in this motion, which are left out."""
    influences: typing.Optional[int] = None
    influences_of_rig: typing.Optional[int] = None
    loss_by_influences: typing.Optional[BakeError] = None
    between_frames: typing.Optional[float] = None
    """Metres: the largest distance, halfway between two frames, of a path that turns from a straight line; None if no
    layer has such paths."""
    height: typing.Optional[float] = None
    """The largest side of the mesh in metres, which percentages refer to."""
    keys: typing.Optional[int] = None
    keys_of_all_frames: typing.Optional[int] = None
    morphed_attributes: typing.Optional[int] = None
    """Attributes that a viewer morphs; glTF asks viewers for 8 only."""
    layers_of_pixels_left_out: typing.Optional[int] = None
    bytes: typing.Optional[int] = None


def layer_mask(rig, mute):
    """(L,) bools: layers that are left out, those that the rig mutes itself included."""
    pointer = rig._handle.pointer
    count = runtime.ex_rig_layer_count(pointer)
    names = [text_of(runtime.ex_rig_layer_name(pointer, layer)) for layer in range(count)]
    mask = numpy.array([runtime.ex_rig_layer_muted(pointer, layer) for layer in range(count)] + [False], dtype=bool)
    if not isinstance(mute, (str, list, tuple, set)):
        raise TypeError(f"muted must be names of layers, not {type(mute).__name__}")
    for name in [mute] if isinstance(mute, str) else mute:
        if not isinstance(name, str):
            raise TypeError("muted must have names of layers")
        if name not in names:
            raise KeyError(f"there is no layer '{name}'; there are {', '.join(names) or 'none'}")
        mask[names.index(name)] = True
    return mask


def level_number(rig, level):
    """A level of a rig from 'cage', 'limit' or a number."""
    number_of = {"cage": 0, "limit": LIMIT}
    if isinstance(level, str):
        if level not in number_of:
            raise ValueError(f"level is '{level}'; it must be 'cage', a number or 'limit'")
        level = number_of[level]
    level = whole(level, "level", LIMIT, _abi.EX_SUBDIVIDE_LEVELS)
    if runtime.ex_rig_level_vertex_count(rig._handle.pointer, level) <= 0:
        raise ValueError(f"the rig has no level {'limit' if level == LIMIT else level}")
    return level


def _usual_level(rig):
    """The cage, or the displayed surface of a rig with displacements."""
    pointer = rig._handle.pointer
    displaced = any(runtime.ex_rig_layer_displaced(pointer, layer, None) > 0
                    for layer in range(runtime.ex_rig_layer_count(pointer)))
    return runtime.ex_rig_level(pointer) if displaced else 0


def _length(value, name, size):
    """Metres, from a number or from '0.1%' of the height."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        text, part = value.strip(), 1.0
        if text.endswith("%"):
            text, part = text[:-1], size / 100
        try:
            return number(float(text), name, above=0) * part
        except ValueError:
            raise ValueError(f"{name} is '{value}'; it must be metres (0.001) or a percentage of the height "
                             "('0.1%')") from None
    return number(value, name, above=0)


def refuse_driven(rig):
    """A rig that follows a driver is not moved by motions."""
    driver = _abi.ex_rig_driver()
    if runtime.ex_rig_get_driver(rig._handle.pointer, ctypes.byref(driver), None):
        raise ValueError(f"the rig follows the driver '{text_of(driver.name)}', and no motion holds its forms: use "
                         "exemplar.drive.apply")


def is_same_file(one: bytes, other) -> bool:
    """True if both paths are there and lead to one file."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


class _Evaluator:
    """Calls a Python function in place of the runtime."""

    def __init__(self, function, rig, motion, level):
        if not callable(function):
            raise TypeError("evaluate must be a function of a Pose that returns positions (N, V, 3)")
        self._function, self._motion, self._next, self._kept, self.raised = function, motion, 0, None, None
        self._vertices = runtime.ex_rig_level_vertex_count(rig._handle.pointer, level)
        self._call = _abi.ex_bake_evaluator._fields_[0][1](self._evaluate)
        self.struct = _abi.ex_bake_evaluator(evaluate=self._call, frame_most=_EVALUATED)

    def _evaluate(self, _user, count, _poses, positions, _error):
        try:
            part = self._motion[self._next:self._next + count].pose
            made = take(self._function(part), "f4", (count, self._vertices, 3), "what evaluate returns")
            if not numpy.isfinite(made).all():
                raise ValueError("what evaluate returns is not finite")
            self._next, self._kept = self._next + count, made
            ctypes.c_void_p.from_address(positions).value = address(made)
            return _abi.EX_OK
        except BaseException as raised:
            self.raised = raised
            return _abi.EX_ERROR_DATA


def bake(rig, motion=None, path=None, *, map=None, clip: typing.Union[str, int, None] = None,  # noqa: A002
         fps: typing.Optional[float] = None, frames=None, start: typing.Optional[float] = None,
         end: typing.Optional[float] = None, level: typing.Union[str, int, None] = None,
         targets: typing.Optional[int] = None, influences: typing.Optional[int] = None,
         thin: typing.Union[str, float, None] = None, error: typing.Union[str, float, None] = None,
         muted: typing.Union[str, typing.Sequence[str]] = (), force: bool = False, evaluate=None,
         threads: typing.Optional[int] = 1, progress=None) -> BakeReport:
    """Plays a motion on a rig and writes standard animation: all of it, or nothing on failure.

    rig: a Rig or its path. motion, map, clip, fps, start, end: as for `exemplar.poses`. path: .glb, standard glTF with
    morph targets, a skin and an animation; or a point cache, .pc2, .mdd, .abc, or .obj for NAME_0001.obj and so on,
    which is always exact. frames: a slice of the motion's frames, counting from 0. level: 'cage', a number, or 'limit';
    None: the cage, or the level that a rig with displacements shows. muted: names of layers to leave out. force:
    overwrite existing .obj files.

    For .glb: targets, the number of morph targets in all, those that the motion needs most (None: the rig's examples,
    and more if needed); influences, most joints that move a vertex (None: 4); thin, leave out keys as long as no vertex
    moves by more than that: metres, or '0.01%' of the height; error, fail if a vertex is farther from the rig than
    that.

    For caches: evaluate, a function of a Pose that returns positions (N, V, 3), in place of the runtime; for example
    one that works on a GPU.
    """
    inputs = [given for given in (rig, motion, map) if isinstance(given, (str, bytes, os.PathLike))]
    rig = as_rig(rig)
    if path is None:
        raise TypeError("path is required: it names the output, .glb, .pc2, .mdd, .abc or .obj")
    name = path_bytes(path)
    is_glb = name.lower().endswith(b".glb")
    if not name.lower().endswith(_ENDINGS):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .glb, .pc2, .mdd, .abc or .obj, the kinds that can be "
                         "written here")
    if any(is_same_file(name, given) for given in inputs):
        raise ValueError(f"'{os.fsdecode(name)}' is also an input and would be overwritten: give another name")
    for given, word in ((targets, "targets"), (influences, "influences"), (thin, "thin"), (error, "error")):
        if given is not None and not is_glb:
            raise ValueError(f"a point cache holds every vertex as it is: {word} goes with .glb")
    if evaluate is not None and is_glb:
        raise ValueError("evaluate makes the frames of point caches: it does not go with .glb")
    refuse_driven(rig)
    force = flag(force, "force")
    size = author.ex_bake_size(rig._handle.pointer)
    if size < 0:
        raise MemoryError("not enough memory to measure the rig")
    muted = layer_mask(rig, muted)
    options = _abi.ex_bake_options(
        level=_usual_level(rig) if level is None else level_number(rig, level), thin=_length(thin, "thin", size),
        error_most=_length(error, "error", size), muted=address(muted),
        target_count=0 if targets is None else whole(targets, "targets", 1, 4096),
        influence_most=0 if influences is None else whole(influences, "influences", 1, _abi.EX_INFLUENCE_MAX),
        name=_clip_name(clip))
    played = _cut(poses(rig, motion, map=map, clip=clip, fps=fps, start=start, end=end), frames)
    if not is_glb and kind_of(name) == "obj" and not force:
        refuse_existing(name, len(played))
    given, _kept = played._to_c(rig)
    between = _between(rig, played, options, muted) if is_glb else None
    with tasks(threads) as hook, Progress(progress) as told:
        options.tasks, options.progress = hook, told.pointer
        if is_glb:
            return _bake_glb(rig, played, given, name, options, muted, between)
        return _bake_cache(rig, played, given, name, options, evaluate)


def _clip_name(clip):
    return None if clip is None else str(clip).encode("utf-8")


def _cut(motion, frames):
    first, count = frame_range(frames, "frames")
    last = len(motion) if count is None else first + count
    if first >= len(motion) or last > len(motion):
        missing = first if first >= len(motion) else last - 1
        raise ValueError(f"the motion has {len(motion)} frames: there is no frame {missing}, counting from 0")
    return motion if (first, last) == (0, len(motion)) else motion[first:last]


def _bake_cache(rig, motion, given, name, options, evaluate):
    evaluator = None
    if evaluate is not None:
        evaluator = _Evaluator(evaluate, rig, motion, options.level)
        options.evaluator = ctypes.pointer(evaluator.struct)
    try:
        checked(author.ex_bake_cache, rig._handle.pointer, ctypes.byref(given), name, ctypes.byref(options))
    except Exception:
        if evaluator is not None and evaluator.raised is not None:
            raise evaluator.raised from None
        raise
    return BakeReport(os.fsdecode(name), len(motion), float(motion.times[-1] - motion.times[0]),
                      runtime.ex_rig_level_vertex_count(rig._handle.pointer, options.level))


def _bake_glb(rig, motion, given, name, options, muted, between):
    pointer, report = rig._handle.pointer, _abi.ex_bake_report()
    checked(author.ex_bake_glb, pointer, ctypes.byref(given), name, ctypes.byref(options), ctypes.byref(report))
    why = None
    if not report.exact:
        why = text_of(author.ex_bake_inexact(pointer, address(muted), options.level)) or "targets limits their number"
    morphed = report.target_count * (2 if runtime.ex_rig_get_mesh(pointer).face_count > 0 else 1)
    pixels = sum(runtime.ex_rig_layer_stage(pointer, layer) == _abi.EX_STAGE_TEXTURE
                 for layer in range(runtime.ex_rig_layer_count(pointer)))
    return BakeReport(
        os.fsdecode(name), report.frame_count, float(motion.times[-1] - motion.times[0]),
        runtime.ex_rig_level_vertex_count(pointer, options.level), report.exact, why, _error(report.total),
        report.target_count, report.unused_count, options.influence_most or 4, report.influence_most,
        _error(report.influences), between, report.size, report.key_count, report.key_count_full, morphed, pixels,
        os.path.getsize(name))


def _error(error):
    return BakeError(error.largest, error.rms, error.frame, error.vertex)


# ---- between frames ----

def _between(rig, motion, options, muted):
    """The largest distance of a vertex, halfway between two frames, from the mean of its places in the two, at rest."""
    pointer = rig._handle.pointer
    turning = any(not muted[layer] and not runtime.ex_rig_layer_is_sum(pointer, layer)
                  for layer in range(runtime.ex_rig_layer_count(pointer)))
    if not turning or len(motion) < 2:
        return None
    forms = _unskinned(rig, motion.pose, options)
    halfway = _unskinned(rig, _halfway(rig, motion.pose), options)
    largest, before = 0.0, next(forms)
    for after, middle in zip(forms, halfway):
        apart = middle.astype(float) - .5 * (before.astype(float) + after)
        largest = max(largest, float(numpy.sqrt((apart ** 2).sum(axis=1).max(initial=0))))
        before = after
    return largest


def _unskinned(rig, pose, options):
    """The forms of poses without the skeleton, one after the other."""
    pointer, how = rig._handle.pointer, _abi.ex_evaluation(muted=options.muted, level=options.level, unskinned=True)
    vertices = runtime.ex_rig_level_vertex_count(pointer, options.level)
    scratch = ctypes.create_string_buffer(runtime.ex_rig_scratch_size(pointer, ctypes.byref(how), 1) + 16)
    dials = numpy.array(take(pose.dials, "f8", (None, rig._pose_size), "pose.dials"))
    joints = None
    if rig._joint_count:
        joints = numpy.array(take(pose.joints, "f4", (len(dials), rig._joint_count, 10), "pose.joints"))
    for i in range(len(dials)):
        one, positions = _abi.ex_pose(), numpy.empty((vertices, 3), dtype=numpy.float32)
        if dials.size:
            one.inputs = address(dials[i])
        if joints is not None:
            one.joints = ctypes.cast(address(joints[i]), ctypes.POINTER(_abi.ex_transform))
        output = _abi.ex_output(positions=address(positions))
        runtime.ex_rig_evaluate(pointer, ctypes.byref(one), ctypes.byref(output), ctypes.byref(how), scratch)
        check_misuse()
        yield positions


def _halfway(rig, pose):
    """The poses halfway between each two."""
    made = Pose(rig, len(pose) - 1)
    made.dials[:] = .5 * (pose.dials[:-1] + pose.dials[1:])
    for k in range(runtime.ex_rig_input_count(rig._handle.pointer)):
        at = runtime.ex_rig_input_offset(rig._handle.pointer, k)
        if at < 0 or runtime.ex_rig_input_axis(rig._handle.pointer, k).kind == _abi.EX_AXIS_SCALAR:
            continue
        for i in range(len(made)):
            turns = numpy.zeros((2, 10), dtype=numpy.float32)
            turns[:, 3:7], turns[:, 7:] = pose.dials[i:i + 2, at:at + 4], 1
            made.dials[i, at:at + 4] = _middle(turns[0], turns[1])[3:7]
    for i in range(len(made)):
        for j in range(rig._joint_count):
            made.joints[i, j] = _middle(pose.joints[i, j], pose.joints[i + 1, j])
    return made


def _middle(one, other):
    pair = [_abi.ex_transform.from_buffer_copy(numpy.ascontiguousarray(t, dtype=numpy.float32)) for t in (one, other)]
    made = runtime.ex_transform_interpolate(ctypes.byref(pair[0]), ctypes.byref(pair[1]), .5)
    return numpy.frombuffer(bytes(made), dtype=numpy.float32)
