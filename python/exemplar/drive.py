"""Clothes that follow a body, learned from a simulation.

>>> shirt = exemplar.drive.learn("body.obj", "shirt.obj", [("walk_body.pc2", "walk_shirt.pc2")], keys=12)
>>> shirt.write("shirt.glb")
>>> exemplar.drive.apply(shirt.rig, "run_body.pc2", out="run_shirt.pc2")

The driver (a body) moves, and the driven mesh (a shirt) follows. An animation is the path of a point cache, a Cache, an
array (N, V, 3), or an iterator of (V, 3), in metres. Frames count from 0.
"""
from __future__ import annotations

import contextlib
import ctypes
import dataclasses
import json
import os
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._drive_keys import Key, add, keys, remove
from ._drive_report import DriveReport, Suggestions, pieces
from ._driven import database_value, driven_rig, key_names, write_rig
from ._given import choice, flag, frame_range, number, text as given_text, whole
from ._library import Handle, author, checked, path_bytes, runtime, text_of
from ._work import Progress, tasks
from .bake import is_same_file
from .cache import Cache, Stage, frame_path, in_memory, kind_of
from .mesh import as_mesh
from .rig import Rig

__all__ = ["Applied", "DriveReport", "Key", "Learned", "Suggestions", "Take", "add", "apply", "keys", "learn", "remove",
           "report", "suggest"]

_KEYS = 12  # that are chosen if nothing else is said
_RATE = 24.0  # of animations in memory
_TAKES, _GIVEN, _SUGGESTED = 256, 1024, 10000
_RESIDUALS = ("none", "keys", "closest")


class Take(typing.NamedTuple):
    """One animation of the driver, with the simulated driven mesh.

    range: frames to learn from, a slice or (first, stop), counting from 0. fps: frames per second; None: the times of
    the driver's cache, 24 for arrays. database: the position of this take on the axis that `learn` names.
    """
    driver: typing.Any
    driven: typing.Any
    range: typing.Any = None
    fps: typing.Optional[float] = None
    database: typing.Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Learned:
    """A rig that follows a driver, and how well it was learned. Errors in metres."""
    rig: Rig
    method: str
    keys: typing.Tuple[str, ...]
    """Names of the keys; of the forms for method 'motion'."""
    key_frames: numpy.ndarray
    """(K,) the frames that became keys, in the order chosen, counting from 0 over all takes; empty for 'motion'."""
    key_errors: numpy.ndarray
    """(K,) the mean error over the takes after that many keys; NaN if it was not measured."""
    frames: int
    """The number of moving frames."""
    residual: str
    error: float
    """The mean over the takes; for method 'motion' before settling."""
    nearest: typing.Optional[float]
    """The same for the nearest key alone; None for method 'motion'."""
    notes: typing.Tuple[str, ...] = ()
    """Sentences about what was not reached."""
    forms: typing.Optional[int] = None
    """This and what follows: method 'motion', else None."""
    landmarks: typing.Optional[int] = None
    learned_frames: typing.Optional[int] = None
    form_error: typing.Optional[float] = None
    """Root mean square over vertices of what the forms cannot hold."""
    left_out: typing.Optional[float] = None
    """Root mean square over vertices on takes that were left out (cross-validation)."""
    width: typing.Optional[float] = None
    """Of the kernel; 0 for a linear regression."""
    ridge: typing.Optional[float] = None
    motion: typing.Optional[float] = None
    """How much motion counts beside the pose."""
    sizes: typing.Optional[float] = None
    up: typing.Optional[numpy.ndarray] = None
    """(3,) the direction against gravity."""

    def write(self, path) -> None:
        """Writes the rig as a .glb file, completely or not at all."""
        write_rig(self.rig, path)

    def __repr__(self) -> str:
        if self.method == "motion":
            return f"<exemplar.drive.Learned, {self.forms} forms, {self.left_out:.4g} m on takes left out>"
        return f"<exemplar.drive.Learned, {len(self.keys)} keys, {self.error:.4g} m over the takes>"


# ---- options ----

def _metres(value, name):
    """A length from a number, or from text such as '5mm'."""
    if isinstance(value, str):
        text, unit = value.strip(), 1.0
        if text.endswith("mm"):
            text, unit = text[:-2], 1e-3
        elif text.endswith("m"):
            text = text[:-1]
        try:
            made = number(float(text), name, 0)
        except ValueError:
            raise ValueError(f"{name} is '{value}'; it must be metres (0.005) or millimetres ('5mm')") from None
        return made / 1000 if unit < 1 else made
    return number(value, name, 0)


def _as_take(take_):
    if isinstance(take_, Take):
        return take_
    if isinstance(take_, (tuple, list)) and len(take_) == 2:
        return Take(*take_)
    raise TypeError("takes: each is a tuple (driver, driven) or a Take")


def _rate(fps, frames):
    """Frames per second for the library: 0 for the times of a file."""
    if fps is None:
        return _RATE if in_memory(frames) else 0.0
    return number(fps, "fps", above=0)


def _mesh_of(given, cache, name):
    """The named mesh, or that of the first frame of a cache with faces."""
    if given is not None:
        return as_mesh(given, name)
    if isinstance(cache, Cache):
        mesh = cache.mesh
    elif in_memory(cache) or not author.ex_cache_needs_mesh(path_bytes(cache)):
        mesh = None
    else:
        with Cache(cache) as opened:
            mesh = opened.mesh
    if mesh is None:
        raise ValueError(f"these frames have no faces: name their mesh with {name}")
    return mesh


def _scaled(mesh, scale):
    if scale == 1:
        return mesh
    mesh = mesh.copy()
    mesh.vertices = mesh.vertices * scale
    return mesh


def _check_words(method, keys, until, at, choose, residual, paths, paper, database, forms, landmarks, up, frames):
    """Refuses options that do not go together."""
    if choice(method, "method", ("keys", "motion")) == "keys":
        if forms is not None or landmarks is not None or up is not None:
            raise ValueError("forms, landmarks and up belong to method='motion'")
    elif not (keys is None and until is None and at is None and choose is None and residual is None and
              database is None and not paths and not paper):
        raise ValueError("method='motion' learns from all frames and has no keys: it does not go with keys, until, at, "
                         "choose, residual, paths, paper or database")
    if paper and (frames is not None or residual is not None or paths):
        raise ValueError("paper means one moving frame and the residual by closest triangles: it does not go with "
                         "frames, residual or paths")


def _moving_frames(options, frames, frame, method, kept):
    if frames is not None and not (isinstance(frames, str) and frames == "auto"):
        if isinstance(frames, str):
            raise ValueError(f"frames is '{frames}'; it must be a whole number or 'auto'")
        options.frames = whole(frames, "frames", 1, _abi.EX_DRIVER_FRAME_MAX)
    if not isinstance(frame, str):
        raise TypeError("frame must be 'fit', 'group:NAME' or 'none'")
    if frame == "none":
        options.frame = _abi.EX_WHOLE_FRAME_NONE
        if frames is None and method == "keys":
            options.frames = 1
    elif frame.startswith("group:") and len(frame) > 6:
        kept.append(given_text(frame[6:], "frame", empty=True))
        options.frame_group = kept[-1]
    elif frame != "fit":
        raise ValueError(f"frame is '{frame}'; it must be 'fit', 'group:NAME' or 'none'")


def _driver_weights(options, weights, mesh, given, kept):
    if weights is None:
        return
    if isinstance(weights, str) and weights.startswith("group:"):
        mask = mesh.mask(weights[6:])
    elif isinstance(weights, (str, bytes, os.PathLike)):
        mask = numpy.zeros(max(1, mesh.vertex_count), dtype=numpy.float32)
        most = float(numpy.finfo("f4").max)
        checked(author.ex_mask_read, path_bytes(weights), mesh.vertex_count, most, address(mask))
    else:
        mask = numpy.array(take(weights, "f4", (mesh.vertex_count,), "weights"))
    if not numpy.isfinite(mask).all() or (mask < 0).any():
        raise ValueError("weights must be finite and not negative")
    kept.append(mask)
    options.driver_weights = address(mask)


def _binds(options, bind, driver, driven, stage, kept):
    if bind is None:
        return
    if isinstance(bind, dict):
        path = stage.path("json")
        try:
            text = json.dumps(bind)
        except (TypeError, ValueError) as error:
            raise TypeError(f"bind must be as a file of binds ({error})") from None
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    elif isinstance(bind, (str, bytes, os.PathLike)):
        path = path_bytes(bind)
    else:
        raise TypeError(f"bind must be the path of a .json file or a dictionary, not {type(bind).__name__}")
    made = ctypes.POINTER(_abi.ex_drive_binds)()
    checked(author.ex_drive_read_binds, path, driver.pointer, driven.pointer, ctypes.byref(made))
    kept.append(Handle(made, author.ex_drive_free_binds))
    options.bind_count, options.binds = made.contents.bind_count, made.contents.binds
    options.vertex_binds = made.contents.vertex_binds


def _references(takes, database, stage):
    """The library's references, one for each take."""
    made = (_abi.ex_drive_reference * len(takes))()
    for i, (reference, given) in enumerate(zip(made, takes)):
        first, count = frame_range(given.range, "range")
        reference.first, reference.count = first, count or 0
        reference.rate = _rate(given.fps, given.driver)
        if (given.database is None) != (database is None):
            raise ValueError("database names the axis, and then every Take has its position on it: give both or none")
        reference.database = 0 if given.database is None else number(given.database, "database")
        reference.driver = stage.cache(given.driver, f"takes[{i}].driver")
        reference.driven = stage.cache(given.driven, f"takes[{i}].driven")
    return made


# ---- learning ----

def learn(driver, driven, takes, *, method: str = "keys", keys: typing.Optional[int] = None,
          choose: typing.Optional[str] = None, until: typing.Union[str, float, None] = None, at=None,
          forms: typing.Optional[int] = None, landmarks: typing.Optional[int] = None, up: typing.Optional[str] = None,
          frames: typing.Union[str, int, None] = None, frame: str = "fit", residual: typing.Optional[str] = None,
          thickness: typing.Union[str, float] = 0.002, push: bool = True, bind=None, weights=None, paths: bool = False,
          database: typing.Optional[str] = None, name: str = "body", paper: bool = False, driver_scale: float = 1,
          driven_scale: float = 1, force: bool = False, threads: typing.Optional[int] = 1, progress=None) -> Learned:
    """Learns a rig that follows a driver, from animations of the driver and of the simulated driven mesh.

    driver, driven: their meshes, in the form that moving frames start from; None: those of numbered .obj or .abc
    caches. takes: a list of (driver, driven) animations, or of Take with a range, fps or database.

    method 'keys' blends a few frames with like poses. keys: how many to choose, per database (12 without
    until and at; notes say if there are fewer). choose: 'farthest', the
    frame whose driver is farthest from its nearest key, or 'worst', the frame that the keys so far explain worst.
    until: stop when the mean error over the takes is below this, metres or '5mm'. at: frames that always become keys,
    counting from 0 over all takes. residual: the way to carry over what the blend misses of the driver: 'none', 'keys'
    or 'closest' (None: the better of 'none' and 'keys'). paths: blend along trajectories. paper: the method of the
    paper. database: the name of an axis ('stiffness') that each Take has its position on.

    method 'motion' learns from all frames, and from how the driver moves, so that cloth swings. forms (40), landmarks
    (1000): how many. up: the axis that points up, 'x', 'y' or 'z'; None: found.

    frames: the number of moving frames of the driver, or 'auto', the best of 1, 8, 16 and 32. frame: that of the whole,
    'fit', 'group:NAME' of faces, or 'none'. thickness: the distance between driver and driven mesh, metres or '2mm'.
    push: push the driven mesh out of the driver. bind: a .json file or dictionary of groups that see each other.
    weights: of the driver's vertices, (V,), a file, or 'group:NAME'. driver_scale, driven_scale: multiply meshes and
    animations, 0.01 for centimetres. force: take a driven mesh that looks too large, too small or far from the driver.
    name: of the driver in the rig. The result does not depend on threads.
    """
    _check_words(method, keys, until, at, choose, residual, paths, paper, database, forms, landmarks, up, frames)
    if isinstance(takes, (str, bytes)) or not hasattr(takes, "__iter__"):
        raise TypeError("takes must be a list of (driver, driven)")
    takes = [_as_take(one) for one in takes]
    if not 1 <= len(takes) <= _TAKES:
        raise ValueError(f"there are {len(takes)} takes; there must be 1 to {_TAKES}")
    driver_scale = number(driver_scale, "driver_scale", above=0)
    driven_scale = number(driven_scale, "driven_scale", above=0)
    driver_mesh = _scaled(_mesh_of(driver, takes[0].driver, "driver"), driver_scale)
    driven_mesh = _scaled(_mesh_of(driven, takes[0].driven, "driven"), driven_scale)
    kept: list = []
    options = author.ex_drive_options_default()
    if flag(paper, "paper"):
        options.frames, options.residual = 1, _abi.EX_RESIDUAL_CLOSEST
    options.push, options.paths = flag(push, "push"), flag(paths, "paths")
    options.one_region = options.paths
    if residual is not None:
        options.residual = _RESIDUALS.index(choice(residual, "residual", _RESIDUALS))
    options.thickness = _metres(thickness, "thickness")
    _moving_frames(options, frames, frame, method, kept)
    given = _given(at)
    on_motion = method == "motion"
    with Stage() as stage:
        driver_c, driven_c = driver_mesh._to_c(), driven_mesh._to_c()
        _driver_weights(options, weights, driver_mesh, driver_c, kept)
        _binds(options, bind, driver_c, driven_c, stage, kept)
        wanted = _abi.ex_learn_def(
            driver=driver_c.pointer, driven=driven_c.pointer, driver_name=given_text(name, "name", empty=True),
            database_axis=None if database is None else given_text(database, "database", empty=True), reference_count=len(takes),
            method=_abi.EX_LEARN_MOTION if on_motion else _abi.EX_LEARN_KEYS,
            choice=("farthest", "worst").index(choice("farthest" if choose is None else choose,
                                                      "choose", ("farthest", "worst"))),
            until=0 if until is None else _metres(until, "until"), given_count=len(given),
            given=address(given) if given.size else None, driver_scale=driver_scale, driven_scale=driven_scale,
            any_fit=flag(force, "force"), options=options)
        if keys is None and until is None and at is None and not on_motion:
            keys = _KEYS
        most = 0 if keys is None else whole(keys, "keys", 1, _abi.EX_CONVEX_MAX)
        wanted.key_count = most or (_abi.EX_CONVEX_MAX if until is not None else len(given))
        if on_motion:
            wanted.form_count = whole(40 if forms is None else forms, "forms", 1, _abi.EX_CONVEX_MAX - 1)
            wanted.landmark_count = whole(1000 if landmarks is None else landmarks, "landmarks", 1,
                                          _abi.EX_PREDICTOR_LANDMARK_MAX)
            if up is not None:
                wanted.up["xyz".index(choice(up, "up", ("x", "y", "z")))] = 1
        references = _references(takes, database, stage)
        wanted.references = references
        made, learned = ctypes.c_void_p(), ctypes.POINTER(_abi.ex_learned)()
        with tasks(threads) as hook, Progress(progress) as told:
            wanted.tasks, wanted.progress = hook, told.pointer
            checked(author.ex_drive_learn, ctypes.byref(wanted), ctypes.byref(made), ctypes.byref(learned))
            rig, report = Rig._own(made.value), Handle(learned, author.ex_learned_free)
    return _learned(rig, report.pointer.contents, method, most, wanted, takes)


def _given(at):
    if at is None:
        return numpy.zeros(0, dtype=numpy.int32)
    given = numpy.array(take([at] if numpy.ndim(at) == 0 else at, "i4", (None,), "at"))
    if len(given) > _GIVEN or (given < 0).any():
        raise ValueError(f"at must have at most {_GIVEN} frames, counting from 0")
    return given


def _learned(rig, l, method, most, wanted, takes):
    errors = copied(l.mean_error, "f8", (l.key_count,))
    notes = []
    if method == "keys":
        databases = len({one.database for one in takes})
        if most and l.key_count < most * databases and not (wanted.until > 0 and l.error < wanted.until):
            notes.append(f"only {l.key_count} keys, not {most * databases}: no other frame shows the driver in another "
                         "form")
        if wanted.until > 0 and not l.error < wanted.until:
            notes.append(f"{l.key_count} keys do not reach a mean error below {wanted.until:g} m")
    common = (rig, method, key_names(rig), copied(l.frames, "i4", (l.key_count,)),
              numpy.where(errors < 0, numpy.nan, errors), l.frame_count,
              text_of(runtime.ex_residual_name(l.residual)), l.error, l.nearest if l.nearest >= 0 else None,
              tuple(notes))
    if method == "keys":
        return Learned(*common)
    return Learned(*common, l.form_count, l.landmark_count, l.learned_count, l.form_error, l.left_out, l.width, l.ridge,
                   l.motion, l.sizes, numpy.array(l.up[:]))


# ---- applying ----

@dataclasses.dataclass(frozen=True)
class Applied:
    """What was written. far: frames that are farther from any blend of the keys than keys are from each other, where
    the rig guesses; left: vertices of all frames that are still nearer to the driver than wanted."""
    file: str
    frames: int
    vertices: int
    far: int
    left: int


def _overs(over):
    if isinstance(over, (str, bytes)) or not hasattr(over, "__iter__"):
        raise TypeError("over must be a list of (animation, mesh), innermost first")
    return list(over)


def _apply_def(rig, driver, stage, frames, fps, driver_scale, driven_scale, database, over, untangle, settle, kept):
    first, count = frame_range(frames, "frames")
    made = _abi.ex_apply_def(
        rig=rig._handle.pointer, first=first, count=count or 0, rate=_rate(fps, driver),
        database=database_value(rig, database), driver_scale=number(driver_scale, "driver_scale", above=0),
        driven_scale=number(driven_scale, "driven_scale", above=0), unsettled=not flag(settle, "settle"),
        untangle=flag(untangle, "untangle"))
    over = _overs(over)
    overs = (_abi.ex_apply_over * max(1, len(over)))()
    for given, one in zip(overs, over):
        if not isinstance(one, (tuple, list)) or len(one) != 2:
            raise TypeError("over: each is a tuple (animation, mesh)")
        kept.append(as_mesh(one[1], "over")._to_c())
        given.mesh, given.cache = kept[-1].pointer, stage.cache(one[0], "over")
    made.over_count, made.overs = len(over), overs
    made.driver = stage.cache(driver, "driver")
    return made


def _run(made, threads, progress):
    """Applies, and returns a Handle on the report."""
    report = ctypes.POINTER(_abi.ex_drive_report)()
    with tasks(threads) as hook, Progress(progress) as told:
        made.tasks, made.progress = hook, told.pointer
        checked(author.ex_drive_apply, ctypes.byref(made), ctypes.byref(report))
        return Handle(report, author.ex_drive_report_free)


def _refuse_frames(name, made, force):
    """Numbered .obj files must not exist, or may be overwritten but are no frames of the driver."""
    with Cache(made.driver) as driver:
        rest = len(driver) - made.first
        count = min(made.count, rest) if made.count else rest
        own = {os.path.realpath(driver.file(i)) for i in range(len(driver))} if driver.info.kind == "obj" else set()
    for i in range(max(0, count)):
        path = frame_path(name, i, count)
        if not os.path.lexists(path):
            continue
        if not force:
            raise FileExistsError(f"'{os.fsdecode(path)}' exists already: give force=True to overwrite it, or another "
                                  "name")
        if os.path.realpath(os.fsdecode(path)) in own:
            raise ValueError(f"'{os.fsdecode(path)}' is a frame of the driver: give another name")


def apply(rig, driver, out=None, *, group: typing.Optional[str] = None, frames=None,
          fps: typing.Optional[float] = None, driver_scale: float = 1, driven_scale: float = 1, database=None, over=(),
          untangle: bool = False, settle: bool = True, force: bool = False, threads: typing.Optional[int] = 1,
          progress=None):
    """Makes the clothes for a new animation of the driver.

    rig: a Rig, its path, or Learned. driver: the animation, with the vertices of the mesh used for learning. out: the
    path of a cache, .pc2, .mdd, .abc or .obj, written completely or not at all; returns Applied. None: returns the
    frames as an array (N, V, 3), or as a generator of (V, 3) if driver is an iterator.

    group: only the vertices of this group of faces. frames: those of the driver, a slice or (first, stop), counting
    from 0. fps: frames per second; None: the times of the cache, 24 for arrays. driver_scale: multiplies the driver.
    driven_scale: the unit that learning read with this; positions are divided by it. database: the cloth, if the rig
    has several; None: the first. over: a list of (animation, mesh) of garments below, innermost first. untangle: remove
    places where the mesh goes through itself. settle: False to carry no residual and not to push out of the driver.
    force: overwrite existing .obj files.
    """
    rig = driven_rig(rig)
    name = None if out is None else path_bytes(out)
    over = _overs(over)
    options = (frames, fps, driver_scale, driven_scale, database, over, untangle, settle)
    group = None if group is None else given_text(group, "group", empty=True)
    force = flag(force, "force")
    if name is None:
        return _frames(rig, driver, options, group, threads, progress)
    kind = kind_of(name)
    inputs = [driver, *(one[0] for one in over if isinstance(one, (tuple, list)) and one)]
    for given in inputs:
        given = given.path if isinstance(given, Cache) else given
        if not in_memory(given) and is_same_file(name, given):
            raise ValueError(f"'{os.fsdecode(name)}' is also an input and would be overwritten: give another name")
    kept: list = []
    with Stage() as stage:
        made = _apply_def(rig, driver, stage, *options, kept)
        made.output, made.group, made.brief = name, group, True
        if kind == "obj":
            _refuse_frames(name, made, force)
        handle = _run(made, threads, progress)
        report = handle.pointer.contents
        left = sum(report.frames[i].left for i in range(report.frame_count))
        return Applied(os.fsdecode(name), report.frame_count, report.vertex_count, report.far_count, left)


def _frames(rig, driver, options, group, threads, progress):
    """All frames, or a generator of them if driver is an iterator. Those wait in a temporary file, which is removed
    with the generator."""
    kept: list = []
    with contextlib.ExitStack() as stack:
        stage = stack.enter_context(Stage())
        made = _apply_def(rig, driver, stage, *options, kept)
        made.output, made.group, made.brief = stage.path("pc2"), group, True
        _run(made, threads, progress)
        if not hasattr(driver, "__next__"):
            with Cache(made.output) as cache:
                return cache[:]
        return _streamed(made.output, stack.pop_all())


def _streamed(path, stack):
    with stack, Cache(path) as cache:
        yield from cache


# ---- measuring ----

def report(rig, driver, truth=None, *, frames=None, fps: typing.Optional[float] = None,
           driver_scale: float = 1, driven_scale: float = 1, database=None, over=(), untangle: bool = False,
           settle: bool = True, threads: typing.Optional[int] = 1, progress=None) -> DriveReport:
    """Measures how well a rig follows an animation. truth: a simulation of the same animation, to compare with; its
    positions are multiplied by driven_scale. The other options are those of `apply`."""
    rig = driven_rig(rig)
    kept: list = []
    with Stage() as stage:
        made = _apply_def(rig, driver, stage, frames, fps, driver_scale, driven_scale, database, over, untangle, settle,
                          kept)
        if truth is not None:
            made.truth = stage.cache(truth, "truth")
        return DriveReport(_run(made, threads, progress), rig)


# ---- what to simulate next ----

def suggest(rig, driver, *, count: int = 10, frames=None, fps: typing.Optional[float] = None,
            driver_scale: float = 1, progress=None) -> Suggestions:
    """Names frames of an animation that are farthest from what a rig was learned from: at most `count` of them, until
    all others are near. The other options are those of `apply`."""
    rig = driven_rig(rig)
    first, length = frame_range(frames, "frames")
    made = _abi.ex_suggest_def(rig=rig._handle.pointer, first=first, count=length or 0, rate=_rate(fps, driver),
                               driver_scale=number(driver_scale, "driver_scale", above=0),
                               most=whole(count, "count", 1, _SUGGESTED))
    with Stage() as stage:
        made.driver = stage.cache(driver, "driver")
        found = ctypes.POINTER(_abi.ex_suggestions)()
        with Progress(progress) as told:
            made.progress = told.pointer
            checked(author.ex_drive_suggest, ctypes.byref(made), ctypes.byref(found))
            handle = Handle(found, author.ex_suggestions_free)
        with Cache(made.driver) as cache:
            times = cache.times
    s = handle.pointer.contents
    rows = [s.frames[i] for i in range(s.count)]
    step = 1 / made.rate if made.rate > 0 else float(times[-1] - times[0]) / max(1, len(times) - 1)
    last = first + length - 1 if length else len(times) - 1
    around = pieces(sorted(row.frame for row in rows), step, first, last) if s.by_motion and step > 0 else ()
    return Suggestions(numpy.array([row.frame for row in rows], dtype=numpy.int32),
                       numpy.array([row.time for row in rows]), numpy.array([row.distance for row in rows]), s.left,
                       s.enough, s.by_motion, around)
