"""Warps: paths between forms along which parts turn and keep their size."""
from __future__ import annotations

import ctypes
import dataclasses
import os
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._driven import write_rig
from ._given import choice, flag, names as given_names, number, text as given_text, whole
from ._library import Handle, author, checked, path_bytes, text_of
from ._work import Progress, tasks
from .cache import Stage
from .mesh import Mesh, as_mesh
from .rig import Rig

__all__ = ["Mixture", "Mixtures", "PathReport", "Stretch", "Warp", "WarpReport", "warp"]

_TERMS = ("pose", "rotation", "gradient")
_FORM_ENDINGS = (b".obj", b".ply", b".off", b".glb", b".gltf")


# ---- reports ----

class Stretch(typing.NamedTuple):
    """The stretch of a form's triangles against each triangle alone: percentiles 50, 90, 99 and 99.9, and the number of
    flipped triangles."""
    percentiles: typing.Tuple[float, float, float, float]
    flipped: int


class PathReport:
    """The way to one example, by every method at t = 0.1, 0.3, 0.5, 0.7 and 0.9.

    example: its name. rows: a structured array with method, t, stretch (percentiles 50, 90, 99 and 99.9), flipped and
    crossing (numbers of triangles and of pairs), centroid (the largest distance of a component's centre from that of
    the as-rigid-as-possible form, in parts of the mesh's size). components: of the mesh. bytes: per vertex, read by the
    runtime. start_crossing, end_crossing: pairs of triangles that cross in the two forms.
    """

    def __init__(self, handle, example):
        r = handle.pointer.contents
        self._handle, self.example = handle, example
        rows = [r.rows[i] for i in range(r.row_count)]
        self.rows = numpy.array([(text_of(row.method), row.t, tuple(row.stretch.percentiles), row.stretch.flipped,
                                  row.crossing, row.centroid) for row in rows],
                                dtype=[("method", "U16"), ("t", "f8"), ("stretch", "f8", 4), ("flipped", "i4"),
                                       ("crossing", "i4"), ("centroid", "f8")])
        self.components, self.bytes = r.component_count, r.bytes
        self.start_crossing, self.end_crossing = r.start_crossing, r.end_crossing

    def of(self, method: str) -> numpy.ndarray:
        """The rows of one method: 'linear', 'poisson', 'rigid', 'polynomial', 'guided' or 'paper'."""
        methods = tuple(dict.fromkeys(self.rows["method"].tolist()))
        return self.rows[self.rows["method"] == choice(method, "method", methods)]

    def draw(self, path) -> None:
        """Draws the report as a chart, .png or .svg."""
        checked(author.ex_warp_report_draw, self._handle.pointer, _picture(path))

    def __repr__(self) -> str:
        return f"<exemplar.warp.PathReport to {self.example}, {len(self.rows)} rows>"


class Mixture(typing.NamedTuple):
    """A measured mixture: its kind ('path', 'pair', 'thirds', 'all', 'random'), the weights (K,) of the examples and of
    the reference, and the stretch of the paths, of the as-rigid-as-possible form and of straight lines. ratio: the 99th
    percentile of the path over that of the rigid form; ratio_999: of the 99.9th."""
    kind: str
    weights: numpy.ndarray
    reference: float
    ratio: float
    ratio_999: float
    weak: bool
    path: Stretch
    rigid: Stretch
    linear: Stretch


class Mixtures:
    """Mixtures of all forms, the weakest first in `rows`. worst: the one that should be mended first, by `remedy`:
    'none', 'guided', 'between', 'layers', 'correctors' or 'example'. turn: degrees by which parts turn between the two
    poses `turned`."""

    def __init__(self, handle, warp_):
        r = handle.pointer.contents
        self._handle, self._warp = handle, warp_
        self.rows = [self._row(r.mixtures[i], r.example_count) for i in range(r.mixture_count)]
        self.worst = self.rows[r.worst]
        self.candidate_count, self.weak_count, self.median = r.candidate_count, r.weak_count, r.median
        self.remedy, self.turn = text_of(author.ex_mixture_remedy_name(r.remedy)), r.turn
        self.turned = tuple(warp_.examples[k] if k >= 0 else warp_.reference for k in r.turned)

    @staticmethod
    def _row(m, count):
        stretches = [Stretch(tuple(s.percentiles), s.flipped) for s in (m.path, m.rigid, m.linear)]
        return Mixture(text_of(author.ex_mixture_kind_name(m.kind)), copied(m.weights, "f8", (count,)), m.rest, m.ratio,
                       m.ratio_999, bool(author.ex_mixture_is_weak(ctypes.byref(m))), *stretches)

    def __len__(self) -> int:
        return len(self.rows)

    def draw(self, path) -> None:
        """Draws the worst mixture beside the as-rigid-as-possible form, coloured by stretch, as .png or .svg."""
        name, r = _picture(path), self._handle.pointer.contents
        worst = r.mixtures[r.worst]
        checked(author.ex_mixture_draw, ctypes.byref(self._warp._def()), self._warp._found(), ctypes.byref(worst),
                self._warp.words(self.worst.weights).encode("utf-8"), name)

    def __repr__(self) -> str:
        return f"<exemplar.warp.Mixtures, {len(self)} measured, {self.weak_count} weak, worst {self.rows[0].ratio:.3g}>"


@dataclasses.dataclass(frozen=True)
class WarpReport:
    """The report of a warp: the path to every example, and mixtures of all, or None."""
    paths: typing.Tuple[PathReport, ...]
    mixtures: typing.Optional[Mixtures]


def _picture(path):
    name = path_bytes(path)
    if not name.lower().endswith((b".png", b".svg")):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .png or .svg, the kinds that can be written here")
    return name


# ---- the warp ----

class Warp:
    """Paths from a reference form to others.

    rig: the rig that evaluates them in closed form. With two forms its axis is t, from 0 to 1; with more, each form but
    the reference has an axis. examples: names of these forms. reference: the name of the other one. notes: sentences
    about the forms. Call it with weights: warp(0.5), or warp(left=0.5, thick=0.25).
    """

    def __init__(self, rig, reference, options, notes):
        if not isinstance(rig, Rig) or not isinstance(options, _abi.ex_trajectory_options):
            raise TypeError("a Warp is made by exemplar.warp")
        self._rig = rig
        self.reference, self.notes = reference, tuple(notes)
        made = ctypes.POINTER(_abi.ex_rig_trajectories)()
        checked(author.ex_rig_trajectories_open, rig._handle.pointer, 0, ctypes.byref(made))
        self._paths, self._options = Handle(made, author.ex_rig_trajectories_close), options
        given = getattr(made.contents, "def")
        names = (ctypes.c_char_p * given.example_count).from_address(given.names)
        self._examples = tuple(text_of(name) for name in names)
        self._vertices = given.vertex_count

    @property
    def rig(self) -> Rig:
        """The rig that evaluates the paths."""
        return self._rig

    @property
    def examples(self) -> typing.Tuple[str, ...]:
        """Names of the forms that the reference turns into, (K)."""
        return self._examples

    def _def(self):
        """The library's definition of the paths, for one call."""
        made = _abi.ex_trajectories_def.from_buffer_copy(getattr(self._paths.pointer.contents, "def"))
        made.options = self._options
        return made

    def _found(self):
        return ctypes.byref(self._paths.pointer.contents.found)

    def _weights(self, t, axes):
        """(N, K) weights, and whether N was given."""
        names = ("t",) if len(self._examples) == 1 else self._examples
        if t is not None and axes:
            raise TypeError("give weights as an array or by name, not both")
        if t is None:
            for name in axes:
                if name not in names:
                    raise KeyError(f"there is no form '{name}'; there are {', '.join(names)}")
            many = any(numpy.ndim(value) > 0 for value in axes.values())
            columns = [take(numpy.atleast_1d(axes.get(name, 0)), "f8", (None,), name) for name in names]
            try:
                rows = numpy.stack(numpy.broadcast_arrays(*columns), axis=-1)
            except ValueError:
                raise ValueError("the forms have different numbers of weights") from None
        elif len(names) == 1:
            many = numpy.ndim(t) > 0
            rows = take(numpy.atleast_1d(t), "f8", (None,), "t")[:, None]
        else:
            many = numpy.ndim(t) > 1
            rows = take(numpy.atleast_2d(t), "f8", (None, len(names)), "weights")
        if not numpy.isfinite(rows).all():
            raise ValueError("weights must be finite")
        return numpy.ascontiguousarray(rows), many

    def _one(self, t, axes):
        weights, _ = self._weights(t, axes)
        if len(weights) != 1:
            raise ValueError("one form has one weight for each example")
        return weights

    def __call__(self, t=None, *, threads: typing.Optional[int] = 1, **axes) -> numpy.ndarray:
        """The forms at t: (N, V, 3) floats for an array (N,), (V, 3) for a number. With several examples: weights (K,)
        or (N, K), or by name, a number or (N,) each; the others are 0."""
        weights, many = self._weights(t, axes)
        names = ("t",) if len(self._examples) == 1 else self._examples
        pose = self._rig.pose(**{name: column for name, column in zip(names, weights.T)})
        made = self._rig.evaluate(pose, threads=threads)
        return made if many else made[0]

    def form(self, t=None, *, basis: typing.Optional[int] = None, **axes) -> numpy.ndarray:
        """One form in double precision: (V, 3); without weights, all are 1. basis: only one of them, 0 for that of the
        vertices, k for that of segment k - 1."""
        weights = self._one(numpy.ones(len(self._examples)) if t is None and not axes else t, axes)
        segments = self._paths.pointer.contents.found.segments.count
        chosen = -1 if basis is None else whole(basis, "basis", 0, segments)
        positions = numpy.empty((self._vertices, 3))
        if not author.ex_trajectories_form(self._found(), ctypes.byref(self._def()), address(weights), chosen,
                                           address(positions)):
            raise MemoryError("not enough memory for the form of a trajectory")
        return positions

    def rigid(self, t=None, **axes) -> numpy.ndarray:
        """The as-rigid-as-possible form at one weight for each example: (V, 3) doubles. It is solved anew."""
        weights = self._one(t, axes)
        path, rigid = numpy.empty((self._vertices, 3)), numpy.empty((self._vertices, 3))
        checked(author.ex_mixture_forms, ctypes.byref(self._def()), self._found(), address(weights), address(path),
                None, address(rigid), None)
        return rigid

    def mesh(self, vertices) -> Mesh:
        """The mesh of the forms with these vertices (V, 3), to write it."""
        return Mesh._of_rig(self._rig, 0, vertices)

    def words(self, weights) -> str:
        """Weights (K,) in words: '0.5 kick + 0.5 stand'."""
        given, room = take(weights, "f8", (len(self._examples),), "weights"), ctypes.create_string_buffer(400)
        author.ex_mixture_words(ctypes.byref(self._def()), address(given), self.reference.encode("utf-8"), room, 400)
        return room.value.decode("utf-8", "replace")

    def report(self, *, mixtures: int = 20, threads: typing.Optional[int] = 1, progress=None) -> WarpReport:
        """Compares ways from the reference to every example at t = 0.1 to 0.9: linear, Poisson, as rigid as possible, a
        polynomial through such forms, and these paths. mixtures: the number of random mixtures to measure besides the
        fixed ones; 0: no mixtures at all."""
        mixtures = whole(mixtures, "mixtures", 0, 10000)
        made, measured = [], None
        with tasks(threads) as hook, Progress(progress) as told:
            given = self._def()
            given.tasks, given.progress = hook, told.pointer
            for index, name in enumerate(self._examples):
                path = ctypes.POINTER(_abi.ex_warp_report)()
                checked(author.ex_warp_report_create, ctypes.byref(given), self._found(), index, ctypes.byref(path))
                made.append(PathReport(Handle(path, author.ex_warp_report_destroy), name))
            if mixtures:
                options = author.ex_mixture_options_default()
                options.random_count = mixtures
                found = ctypes.POINTER(_abi.ex_mixture_report)()
                checked(author.ex_mixture_report_create, ctypes.byref(given), self._found(), ctypes.byref(options),
                        ctypes.byref(found))
                measured = Mixtures(Handle(found, author.ex_mixture_report_destroy), self)
        return WarpReport(tuple(made), measured)

    def write(self, path) -> None:
        """Writes the rig as a .glb file, completely or not at all."""
        write_rig(self._rig, path)

    def __repr__(self) -> str:
        return f"<exemplar.warp.Warp from {self.reference} to {', '.join(self._examples)}, {self._vertices} vertices>"


# ---- making one ----

def _options(mode, iterations, correctors, terms, weights, bases, segment_angle, root, segments):
    """The library's options, as the command line reads them."""
    made = author.ex_trajectory_options_default()
    paper = choice(mode, "mode", ("guided", "paper")) == "paper"
    made.mode = _abi.EX_TRAJECTORY_PAPER if paper else _abi.EX_TRAJECTORY_GUIDED
    for given, name in ((terms, "terms"), (weights, "weights"), (bases or None, "bases"),
                        (segment_angle, "segment_angle"), (root, "root"), (segments, "segments")):
        if given is not None and not paper:
            raise ValueError(f"{name} goes with mode='paper'")
    if correctors is not None and paper:
        raise ValueError("correctors goes with mode='guided'")
    for given, name in ((segments, "segments"), (segment_angle, "segment_angle"), (root, "root")):
        if given is not None and not bases:
            raise ValueError(f"{name} goes with bases=True, which work on segments")
    made.iterations = 0 if iterations is None else whole(iterations, "iterations", 1, 1000)
    if correctors is not None and not (isinstance(correctors, str) and correctors == "auto"):
        if isinstance(correctors, str):
            raise ValueError(f"correctors is '{correctors}'; it must be a whole number or 'auto'")
        made.corrector_count = whole(correctors, "correctors", 0, _abi.EX_MIXTURE_CORRECTOR_MAX)
    if terms is not None:
        terms = given_names(terms, "terms")
        if not terms or len(set(terms)) < len(terms) or not set(terms) <= set(_TERMS):
            raise ValueError("terms must be some of 'pose', 'rotation' and 'gradient', each once")
        for term in _TERMS:
            setattr(made, f"without_{term}", term not in terms)
    if weights is not None:
        if not isinstance(weights, dict) or not set(weights) <= set(_TERMS if terms is None else terms):
            raise ValueError("weights must be a dictionary of numbers for the terms, such as {'pose': 1}")
        for term, value in weights.items():
            setattr(made, f"{term}_weight", number(value, f"weights['{term}']", high=1e6, above=0))
    made.bases = flag(bases, "bases")
    if segment_angle is not None:
        made.segment_angle = number(segment_angle, "segment_angle", high=180, above=0)
    if root is not None:
        made.root = whole(root, "root", 0, _abi.EX_SEGMENT_MAX - 1)
    return made


def _segment_file(segments, stage):
    """The path of a file of segments: lines 'face segment', of an array (F,) with -1 for those to be found."""
    if segments is None:
        return None
    if isinstance(segments, (str, bytes, os.PathLike)):
        return path_bytes(segments)
    numbers = take(segments, "i4", (None,), "segments")
    path = stage.path("txt")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{face + 1} {segment}\n" for face, segment in enumerate(numbers.tolist()) if segment >= 0)
    return path


def _form_file(form, name, stage):
    """The path of a form: its own, or that of a mesh written to a temporary folder under its name."""
    if isinstance(form, (str, bytes, os.PathLike)):
        path = path_bytes(form)
        if name is None:
            return path
    mesh = as_mesh(form, "a form")
    folder = stage.path("form")
    os.mkdir(folder)
    path = os.path.join(folder, given_text(name, "names", empty=True) + b".obj")
    if b"/" in given_text(name, "names", empty=True):
        raise ValueError(f"names: '{name}' has a slash")
    stage.call(path, f"the form '{name}'")
    mesh.write(path)
    return path


def warp(a, b, *others, names: typing.Optional[typing.Sequence[str]] = None, reference: int = 0, mode: str = "guided",
         iterations: typing.Optional[int] = None, correctors: typing.Union[str, int, None] = None, terms=None,
         weights=None, bases: bool = False, segment_angle: typing.Optional[float] = None,
         root: typing.Optional[int] = None, segments=None, threads: typing.Optional[int] = 1, progress=None) -> Warp:
    """Finds paths from one form to others, along which parts turn and keep their size instead of shrinking.

    a, b, others: forms with the same faces: paths, Meshes or tuples (vertices, faces). names: of all forms; None: those
    of the files, or a, b, c for meshes. reference: the number of the form that the others start from, counting from 0.

    mode 'guided' follows as-rigid-as-possible forms between all of them; correctors: how many the rig has, 0 to 64, or
    'auto', as few as follow closely. mode 'paper' minimises the energies of the trajectory-warping paper: terms, some
    of 'pose', 'rotation' and 'gradient'; weights, a dictionary of these (1, 0.1, 0.05); bases, add bases for segments,
    with segment_angle in degrees (20), root (the largest in the middle), and segments, a file of lines 'face segment'
    or an array (F,) with -1 for faces that are to be found. iterations: of the report's in-betweens (30), or most steps
    of 'paper' (10).
    """
    forms = [a, b, *others]
    reference = whole(reference, "reference", 0, len(forms) - 1)
    options = _options(mode, iterations, correctors, terms, weights, bases, segment_angle, root, segments)
    in_files = [isinstance(form, (str, bytes, os.PathLike)) for form in forms]
    called = [None if given else _letter(i) for i, given in enumerate(in_files)]
    if names is not None:
        called = given_names(names, "names")
        if len(called) != len(forms) or not all(called):
            raise ValueError(f"names must have a name for each of the {len(forms)} forms")
    notes: typing.List[str] = []
    with Stage() as stage:
        paths = [_form_file(form, name, stage) for form, name in zip(forms, called)]
        targets = [path for i, path in enumerate(paths) if i != reference]
        files = (ctypes.c_char_p * len(targets))(*targets)
        given = _abi.ex_warp_def(reference=paths[reference], form_count=len(targets), forms=ctypes.addressof(files),
                                 options=options, segments=_segment_file(segments, stage))
        rig = _build(given, notes, threads, progress)
        notes = [stage.said(note) for note in notes]
        stem = os.path.splitext(os.path.basename(os.fsdecode(paths[reference])))[0]
    return Warp(rig, stem, options, notes)


def _letter(index):
    return chr(ord("a") + index) if index < 26 else f"form{index + 1}"


def _build(given, notes, threads, progress):
    @_abi.ex_build_options._fields_[3][1]
    def note(_user, text):
        notes.append(text_of(text))

    project, made = ctypes.c_void_p(), ctypes.c_void_p()
    with tasks(threads) as hook, Progress(progress) as told:
        checked(author.ex_warp_project, ctypes.byref(given), ctypes.byref(project))
        handle = Handle(project.value, author.ex_project_destroy)
        options = _abi.ex_build_options(progress=told.pointer, note=note, tasks=hook)
        checked(author.ex_project_build, handle.pointer, ctypes.byref(options), ctypes.byref(made))
        return Rig._own(made.value)
