"""Weighers: weights of examples from a place in a space (cardinal, calm, gaussian and other kinds), and their slopes.

A place is a row of numbers: one for each scalar axis, four (a quaternion x y z w) for each axis that is a rotation.
"""
from __future__ import annotations

import ctypes
import functools
import math
import operator
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._library import Handle, checked, runtime, text_of
from .errors import Error

_AXIS_KINDS = {"scalar": _abi.EX_AXIS_SCALAR, "rotation": _abi.EX_AXIS_ROTATION, "swing": _abi.EX_AXIS_SWING,
               "twist": _abi.EX_AXIS_TWIST, "driver": _abi.EX_AXIS_DRIVER}
_AXIS_WORDS = {number: word for word, number in _AXIS_KINDS.items()}
_DOUBLE = numpy.dtype("=f8")
_BATCH = 16384  # places per call of the library: so that Ctrl-C does not wait for a million of them


@functools.lru_cache(maxsize=None)
def _kinds():
    return {text_of(runtime.ex_weigher_kind_name(k)): k for k in range(runtime.ex_weigher_kind_count())}


@functools.lru_cache(maxsize=None)
def _limits():
    return [text_of(runtime.ex_limit_name(k)) for k in range(_abi.EX_LIMIT_COUNT)]


@functools.lru_cache(maxsize=None)
def _parameters(kind):
    """The library's parameters of a kind, by name."""
    info = runtime.ex_weigher_kind_info(kind).contents
    return {text_of(info.parameters[i].name): info.parameters[i] for i in range(info.parameter_count)}


def _number(value, name):
    """A finite number."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, not text")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a number") from None
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number") from None
    if not numpy.isfinite(number):
        raise ValueError(f"{name} is {number}: it must be finite")
    return number


def _row(values, count, name):
    """A copy of `count` finite numbers."""
    row = take(values, "f8", (count,), name).copy()
    if not numpy.isfinite(row).all():
        raise ValueError(f"{name} has a number that is not finite")
    return row


def _numbers(values, count, name):
    """The same as a tuple; quick for a few numbers of Python's own."""
    if type(values) in (tuple, list) and len(values) == count and all(type(v) in (float, int) for v in values):
        try:
            row = tuple(map(float, values))
        except OverflowError:
            raise ValueError(f"{name} has a number that is too large") from None
        if all(map(math.isfinite, row)):
            return row
    return tuple(_row(values, count, name).tolist())


class SpaceAxis:
    """An axis of a space.

    kind: 'scalar', 'rotation' (the whole rotation), 'swing' (the direction in which `about` points), 'twist' (the turn
    about `about`), or 'driver' (for convex and motion weighers; width: the number of examples). range: (least, most) of
    a scalar. rest: its value at rest, by default 0 or what is nearest in its range; or a quaternion x y z w. scale: distance per unit, None for the default. clamp:
    True to limit a scalar to its range. limit: beyond the examples, 'kind' (as the weigher does), 'hold', 'fade' or
    'extrapolate'.
    """
    __slots__ = ("name", "kind", "min", "max", "rest", "about", "scale", "clamp", "limit", "width")

    def __init__(self, name: str = "", kind: str = "scalar", range: Sequence[float] = (0, 1), rest=None,
                 about: Sequence[float] = (0, 1, 0), scale: Optional[float] = None, clamp: bool = False,
                 limit: str = "kind", width: Optional[int] = None):
        if not isinstance(name, str):
            raise TypeError("the name of an axis must be text")
        if not isinstance(kind, str) or kind not in _AXIS_KINDS:
            raise ValueError(f"an axis cannot be {kind!r}: use {', '.join(_AXIS_KINDS)}")
        if not isinstance(limit, str) or limit not in _limits():
            raise ValueError(f"limit is {limit!r}: use {', '.join(_limits())}")
        self.name, self.kind, self.limit, self.clamp = name, kind, limit, bool(clamp)
        self.min, self.max = _numbers(range, 2, f"range of axis '{name}'")
        if kind == "scalar":
            self.rest = min(max(0.0, self.min), self.max) if rest is None else _number(rest, f"rest of axis '{name}'")
        else:
            self.rest = (0.0, 0.0, 0.0, 1.0) if rest is None else _numbers(rest, 4, f"rest of axis '{name}'")
        self.about = _numbers(about, 3, f"about of axis '{name}'")
        self.scale = None if scale is None else _number(scale, f"scale of axis '{name}'")
        if kind == "driver":
            if width is None:
                raise ValueError("a driver axis needs its width: the number of examples")
            self.width = operator.index(width)
            if not 1 <= self.width <= _abi.EX_CONVEX_MAX:
                raise ValueError(f"a driver axis has a width of 1 to {_abi.EX_CONVEX_MAX}, not {width}")
        else:
            self.width = 1 if kind == "scalar" else 4

    @classmethod
    def _from(cls, given):
        """One of these, a dict of its arguments, or an axis of a rig."""
        if isinstance(given, cls):
            return given
        if isinstance(given, dict):
            if not all(isinstance(key, str) for key in given):
                raise TypeError("an axis must be a SpaceAxis, or a dict with 'kind', 'range' and so on")
            return cls(**given)
        if all(hasattr(given, word) for word in ("name", "min", "max", "rest", "width")):  # of a rig
            kind = getattr(given, "kind", None) or ("scalar" if given.width == 1 else "rotation")
            if kind == "driver":
                raise ValueError(f"the axis '{given.name}' is a driver: give SpaceAxis(kind='driver', width=…)")
            more = {word: getattr(given, word) for word in ("about", "scale", "clamp", "limit") if hasattr(given, word)}
            return cls(given.name, kind, (given.min, given.max), given.rest, **more)
        raise TypeError("an axis must be a SpaceAxis, a dict, or an axis of a rig")

    @classmethod
    def _read(cls, axis, name):
        """An axis of the library's, which has checked it."""
        made, kind = cls.__new__(cls), _AXIS_WORDS[axis.kind]
        made.name, made.kind, made.min, made.max = name, kind, axis.min, axis.max
        made.width = axis.width if kind == "driver" else 1 if kind == "scalar" else 4
        made.rest = axis.rest if kind == "scalar" else (0.0, 0.0, 0.0, 1.0) if kind == "driver" else tuple(axis.rest_rotation)
        made.about = tuple(axis.about) if kind in ("swing", "twist") else (0.0, 1.0, 0.0)
        made.scale, made.clamp, made.limit = axis.scale or None, bool(axis.clamp), _limits()[axis.limit]
        return made

    def _struct(self):
        if self.kind == "driver":
            return runtime.ex_axis_driver(self.width)
        if self.kind == "scalar":
            made = runtime.ex_axis_scalar(self.min, self.max, self.rest)
        else:
            about = (ctypes.c_double * 3)(*self.about)
            made = runtime.ex_axis_rotation(_AXIS_KINDS[self.kind], ctypes.addressof(about))
            made.rest_rotation[:] = self.rest
        made.scale, made.clamp, made.limit = self.scale or 0, self.clamp, _limits().index(self.limit)
        return made

    def _arguments(self):
        return {"name": self.name, "kind": self.kind, "range": (self.min, self.max), "about": self.about,
                "rest": None if self.kind == "driver" else self.rest, "scale": self.scale, "clamp": self.clamp,
                "limit": self.limit, "width": self.width if self.kind == "driver" else None}

    def __repr__(self):
        name = f" {self.name}:" if self.name else ""
        return f"<exemplar.SpaceAxis{name} {self.kind}" + (f" {self.min:g} to {self.max:g}>" if self.kind == "scalar" else ">")


class Pseudo(NamedTuple):
    """A pseudo-example: at the place `at`, weights are those that the examples alone give at the place `source`, or the
    given `weights` (examples,). It shapes a space without a form of its own."""
    at: Any
    source: Any = None
    weights: Any = None


class _Borrowed:
    """A pointer to an object that belongs to another one, which it keeps."""
    __slots__ = ("pointer", "owner")

    def __init__(self, pointer, owner):
        self.pointer, self.owner = pointer, owner


class Weigher:
    """A space with examples at points, solved: the weights of the examples at any place. Immutable, and safe to use from
    any number of threads.

    points: (examples, numbers) the places of the examples; a flat list is one scalar axis; None for 'direct' and
    'motion'. kind: 'cardinal', 'calm', 'gaussian', 'shepard', 'nearest', 'direct', 'convex' (points: products of driver
    forms), 'motion'. ranges: (axes, 2) ends of scalar axes, by default those of the points. axes: instead of ranges, a
    list of SpaceAxis, of dicts with its arguments, or of axes of a rig. names: of the examples. pseudos: list of Pseudo,
    or of dicts with 'at' and either 'from' or 'weights'. falloffs, for 'gaussian': (points, axes), 0 for the default;
    metrics: (points, scalars, scalars). Other keywords are the parameters of the kind, as in project files: radius,
    ridge, kernel, overshoot, power, k, …: Weigher.kinds() lists them.

    >>> weigher = Weigher([[0], [45], [90]], kind="calm")
    >>> weigher.weights([[45], [60]]).shape
    (2, 3)
    """

    def __init__(self, points, kind: str = "cardinal", ranges=None, *, axes=None, names: Optional[Sequence[str]] = None,
                 pseudos: Sequence = (), falloffs=None, metrics=None, **parameters):
        kinds = _kinds()
        if not isinstance(kind, str) or kind not in kinds:
            raise ValueError(f"there is no weigher {kind!r}; there are {', '.join(sorted(kinds))}")
        has_points = runtime.ex_weigher_kind_info(kinds[kind]).contents.has_points
        rows = self._take_points(points, has_points, kind)
        axes = self._take_axes(axes, ranges, rows, kind)
        dimension = sum(axis.width for axis in axes)
        if rows is not None and rows.shape[1] != dimension:
            raise ValueError(f"points must be (examples, {dimension}), as the axes are; this is {rows.shape}")
        if rows is not None:
            count = len(rows)
        else:
            count = axes[0].width if axes and axes[0].kind == "driver" else len(axes)
        definition = runtime.ex_weigher_def_default()
        structs = (_abi.ex_axis * max(len(axes), 1))(*(axis._struct() for axis in axes))
        definition.kind, definition.axis_count, definition.example_count = kinds[kind], len(axes), count
        definition.axes = ctypes.cast(structs, type(definition.axes))
        definition.points = address(rows) if rows is not None else None
        names = self._take_names(names, count)
        words = (ctypes.c_char_p * max(count, 1))(*(name.encode("utf-8", "replace") for name in names)) if names else None
        definition.names = ctypes.addressof(words) if names else None
        kept, listed = self._take_pseudos(pseudos, dimension, count)
        definition.pseudo_count = len(kept)
        definition.pseudos = ctypes.cast(listed, type(definition.pseudos)) if len(kept) else None
        if (falloffs is not None or metrics is not None) and kind != "gaussian":
            raise TypeError(f"'{kind}' has no falloffs or metrics; 'gaussian' has")
        places, scalars = count + len(kept), sum(axis.kind == "scalar" for axis in axes)
        if falloffs is not None:
            falloffs = take(falloffs, "f8", (places, len(axes)), "falloffs")
            definition.falloffs = address(falloffs)
        if metrics is not None:
            metrics = take(metrics, "f8", (places, scalars, scalars), "metrics")
            definition.metrics = address(metrics) if scalars else None
        self._set(definition, kind, parameters)
        made = ctypes.c_void_p()
        checked(runtime.ex_weigher_create, ctypes.byref(definition), None, ctypes.byref(made))
        self._describe(Handle(made.value, runtime.ex_weigher_destroy), names, [axis.name for axis in axes])

    @classmethod
    def _of(cls, pointer: int, owner, names: Optional[Sequence[str]] = None,
            axis_names: Optional[Sequence[str]] = None) -> "Weigher":
        """A weigher that belongs to `owner`, which it keeps alive: that of a rig's layer."""
        weigher = cls.__new__(cls)
        weigher._describe(_Borrowed(pointer, owner), list(names) if names else None, axis_names)
        return weigher

    def _describe(self, handle, names, axis_names):
        """Sets everything that Python shows from the library's own definition."""
        weigher = handle.pointer
        axis_count, pseudo_count = runtime.ex_weigher_axis_count(weigher), runtime.ex_weigher_pseudo_count(weigher)
        count, dimension = runtime.ex_weigher_example_count(weigher), runtime.ex_weigher_dimension(weigher)
        definition = _abi.ex_weigher_def()
        axes, pseudos = (_abi.ex_axis * axis_count)(), (_abi.ex_pseudo * max(pseudo_count, 1))()
        runtime.ex_weigher_describe(weigher, ctypes.byref(definition), axes, pseudos)
        self._handle, self._count, self._dimension = handle, count, dimension
        self._definition = definition  # its pointers are into the weigher
        self._names = list(names) if names else None
        words = list(axis_names) if axis_names and len(axis_names) == axis_count else [""] * axis_count
        self.kind = text_of(runtime.ex_weigher_kind_name(definition.kind))
        self.axes: List[SpaceAxis] = [SpaceAxis._read(axis, word) for axis, word in zip(axes, words)]
        """The axes, in the order of a place's numbers."""
        points = copied(definition.points, "f8", (count, dimension)) if definition.points else None
        if points is not None:
            points.flags.writeable = False
        self.points = points
        """(examples, numbers) places of the examples; None for 'direct' and 'motion'."""
        self.pseudos: List[Pseudo] = [
            Pseudo(copied(one.at, "f8", (dimension,)), copied(one.__getattribute__("from"), "f8", (dimension,))
                   if one.__getattribute__("from") else None, copied(one.weights, "f8", (count,)) if one.weights else None)
            for one in pseudos[:pseudo_count]]

    # ---- arguments ----

    @staticmethod
    def _take_points(points, has_points, kind):
        if not has_points:
            if points is not None:
                raise ValueError(f"a '{kind}' weigher has no points: pass None, and axes")
            return None
        if points is None:
            raise ValueError(f"a '{kind}' weigher needs points (examples, numbers)")
        if numpy.ndim(points) == 1:
            points = numpy.asarray(points)[:, None]
        elif isinstance(points, numpy.ndarray) and points.ndim != 2:
            raise ValueError(f"points must be (examples, numbers); this is {points.shape}")
        rows = take(points, "f8", (None, None), "points").copy()
        if rows.shape[0] < 1 or rows.shape[1] < 1:
            raise ValueError(f"points must be (examples, numbers), of one example or more; this is {rows.shape}")
        return rows

    @staticmethod
    def _take_axes(axes, ranges, rows, kind):
        if axes is not None:
            if ranges is not None:
                raise TypeError("give either axes or ranges, not both")
            if isinstance(axes, (str, bytes, dict)) or not hasattr(axes, "__iter__"):
                raise TypeError("axes must be a list of SpaceAxis or of dicts")
            found = [SpaceAxis._from(axis) for axis in axes]
            if not found:
                raise ValueError("a space needs at least one axis")
            return found
        if kind == "convex":
            return [SpaceAxis(kind="driver", width=len(rows))]
        if rows is None:
            raise ValueError(f"a '{kind}' weigher needs axes: it has no points to tell them from")
        if not numpy.isfinite(rows).all():
            raise ValueError("points have a number that is not finite")
        count = rows.shape[1]
        if count > _abi.EX_AXIS_MAX:
            raise ValueError(f"a space has at most {_abi.EX_AXIS_MAX} axes; these points have {count}")
        ends = numpy.stack([rows.min(0), rows.max(0)], 1) if ranges is None else take(ranges, "f8", (count, 2), "ranges")
        alone = ranges is None  # points that do not differ along an axis give it no range
        return [SpaceAxis(range=(low, low + 1 if alone and high == low else high)) for low, high in ends.tolist()]

    @staticmethod
    def _take_names(names, count):
        if names is None:
            return None
        if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
            raise TypeError("names must be a list of text")
        names = list(names)
        if len(names) != count or not all(isinstance(name, str) for name in names):
            raise ValueError(f"names must be {count} words, one for each example")
        if any("\0" in name for name in names):
            raise ValueError("a name cannot contain a NUL character")
        return names

    @staticmethod
    def _take_pseudos(pseudos, dimension, count, where=""):
        """Pseudo-examples in arrays of their own, and the library's list of them."""
        if isinstance(pseudos, (str, bytes, dict)) or not hasattr(pseudos, "__iter__"):
            raise TypeError(f"{where}pseudos must be a list of Pseudo or of dicts")
        kept = []

        def place(values, name):
            return _row([values] if dimension == 1 and numpy.ndim(values) == 0 else values, dimension, name)

        for i, one in enumerate(pseudos):
            name = f"{where}pseudo-example {i + 1}"
            if isinstance(one, dict):
                wrong = [key for key in one if key not in ("at", "from", "source", "weights")]
                if wrong or "at" not in one:
                    raise ValueError(f"{name} must have 'at', and 'from' or 'weights'")
                one = Pseudo(one["at"], one.get("from", one.get("source")), one.get("weights"))
            if not isinstance(one, Pseudo):
                raise TypeError(f"{name} must be a Pseudo or a dict")
            if (one.source is None) == (one.weights is None):
                raise ValueError(f"{name} needs either a place to take weights from, or weights")
            kept.append(Pseudo(place(one.at, name), None if one.source is None else place(one.source, name),
                               None if one.weights is None else _row(one.weights, count, f"weights of {name}")))
        listed = (_abi.ex_pseudo * max(len(kept), 1))()
        for struct, one in zip(listed, kept):
            struct.at = address(one.at)
            setattr(struct, "from", None if one.source is None else address(one.source))
            struct.weights = None if one.weights is None else address(one.weights)
        return kept, listed

    @staticmethod
    def _set(definition, kind, parameters):
        known = _parameters(definition.kind)
        for name, value in parameters.items():
            if name not in known:
                raise TypeError(f"'{kind}' has no parameter '{name}'; it has {', '.join(known) or 'none'}")
            parameter = known[name]
            if isinstance(value, str):
                words = [text_of(parameter.words[i].name) for i in range(parameter.word_count)]
                if value not in words:
                    raise ValueError(f"{name}: '{value}' is none of {', '.join(words) or 'numbers'}")
                value = words.index(value)
            number = _number(value, name)
            try:
                checked(runtime.ex_parameter_check, ctypes.byref(parameter), number)
            except Error as error:
                raise type(error)(f"{name} {error}", error.code) from None
            runtime.ex_parameter_set(ctypes.byref(parameter), ctypes.byref(definition), number)

    def _index(self, index, count, what):
        """A number from 0, or a name of an example."""
        if isinstance(index, str) and what == "example":
            if self._names is None or index not in self._names:
                raise KeyError(f"there is no example '{index}'; there are {', '.join(self._names or []) or 'no names'}")
            return self._names.index(index)
        if isinstance(index, bool):
            raise TypeError(f"the number of a {what} must be whole")
        try:
            number = operator.index(index)
        except TypeError:
            raise TypeError(f"the number of a {what} must be whole") from None
        if not -count <= number < count:
            raise IndexError(f"there is no {what} {number}; there are {count}")
        return number % count

    # ---- what it is ----

    @staticmethod
    def kinds() -> Dict[str, Dict[str, str]]:
        """All kinds of weigher, with their parameters and what these do."""
        found = {}
        for name, kind in _kinds().items():
            info = runtime.ex_weigher_kind_info(kind).contents
            found[name] = {text_of(info.parameters[i].name): text_of(info.parameters[i].help)
                           for i in range(info.parameter_count)}
        return found

    @property
    def parameters(self) -> Dict[str, Any]:
        """The parameters of the kind, and their values."""
        info, found = runtime.ex_weigher_kind_info(self._definition.kind).contents, {}
        for i in range(info.parameter_count):
            parameter = info.parameters[i]
            value = runtime.ex_parameter_get(ctypes.byref(parameter), ctypes.byref(self._definition))
            if parameter.type == _abi.EX_PARAMETER_CHOICE:
                value = text_of(parameter.words[int(value)].name)
            elif parameter.type == _abi.EX_PARAMETER_SWITCH:
                value = bool(value)
            elif parameter.type == _abi.EX_PARAMETER_WHOLE:
                value = int(value)
            found[text_of(parameter.name)] = value
        return found

    @property
    def names(self) -> List[str]:
        """Names of the examples; '' where there is none."""
        return list(self._names) if self._names else [""] * self._count

    @property
    def example_count(self) -> int:
        """The number of examples, which is the number of weights."""
        return self._count

    @property
    def dimension(self) -> int:
        """The number of numbers in a place: one for a scalar axis, four for a rotation."""
        return self._dimension

    @property
    def falloffs(self):
        """(points, axes) falloffs of a gaussian weigher as given, 0 for the default; else None."""
        if self.kind != "gaussian":
            return None
        return copied(self._definition.falloffs, "f8", (self._count + len(self.pseudos), len(self.axes)))

    @property
    def condition(self) -> float:
        """The condition number of the system that was solved; 1 for kinds that solve none. Costs as much as the solve."""
        value = ctypes.c_double()
        checked(runtime.ex_weigher_condition, self._handle.pointer, None, ctypes.addressof(value))
        return value.value

    def __repr__(self):
        more = f", {len(self.pseudos)} pseudo-examples" if self.pseudos else ""
        return f"<exemplar.Weigher {self.kind}, {self._count} examples, {len(self.axes)} axes{more}>"

    def __len__(self):
        return self._count

    def __reduce__(self):
        definition, places = self._definition, self._count + len(self.pseudos)
        scalars = sum(axis.kind == "scalar" for axis in self.axes)
        more = dict(self.parameters, names=self._names, pseudos=self.pseudos)
        if self.kind == "gaussian":
            more["falloffs"] = self.falloffs
            if definition.metrics:
                more["metrics"] = copied(definition.metrics, "f8", (places, scalars, scalars))
            if definition.set_count:
                raise TypeError("a weigher with sets of examples cannot be copied out of its rig")
        return _rebuild, (self.points, self.kind, [axis._arguments() for axis in self.axes], more)

    def __copy__(self):
        return self

    def __deepcopy__(self, _memo):
        return self

    # ---- weights ----

    def _places(self, places):
        """Rows of places, and the shape before them: () for one place."""
        if isinstance(places, numpy.ndarray) and places.dtype == _DOUBLE and places.ndim == 2 \
                and places.shape[1] == self._dimension and places.flags.c_contiguous and places.flags.aligned:
            return places, places.shape[:1]  # nothing to do
        if self._dimension == 1 and numpy.ndim(places) < 2:  # one place, or a list of places on one axis
            rows = take(places, "f8", (None,) * numpy.ndim(places), "places")
            return rows.reshape(-1, 1), rows.shape
        ndim = numpy.ndim(places)
        if ndim not in (1, 2):
            raise ValueError(f"places must be (N, {self._dimension}) or ({self._dimension},); this is {numpy.shape(places)}")
        shape = (self._dimension,) if ndim == 1 else (None, self._dimension)
        rows = take(places, "f8", shape, "places")
        return rows.reshape(-1, self._dimension), rows.shape[:-1]

    def weights(self, places) -> numpy.ndarray:
        """Weights (N, examples) at places (N, numbers), or (examples,) at one place (numbers,). For one scalar axis a list
        (N,) is N places, and a number is one. A number that is not finite reads as the axis's rest."""
        rows, shape = self._places(places)
        out = numpy.empty((len(rows), self._count))
        for first in range(0, len(rows), _BATCH):
            part = rows[first:first + _BATCH]
            runtime.ex_weigher_evaluate_many(self._handle.pointer, len(part), address(part), address(out[first:]))
        return out.reshape(shape + (self._count,))

    def gradient(self, places, *, weights: bool = False):
        """Derivatives of the weights by each number of a place: (N, examples, numbers) at places (N, numbers), or
        (examples, numbers) at one. With weights=True a tuple: the weights as well, first.

        From formulas, for all kinds but 'convex', which takes differences. A rotation has four: by the numbers of its
        quaternion as given; along the quaternion itself they are 0."""
        rows, shape = self._places(places)
        values, out = numpy.empty((len(rows), self._count)), numpy.empty((len(rows), self._count, self._dimension))
        step = max(1, _BATCH // max(1, self._dimension))
        for first in range(0, len(rows), step):
            part = rows[first:first + step]
            runtime.ex_weigher_gradient_many(self._handle.pointer, len(part), address(part), address(values[first:]),
                                             address(out[first:]))
        out = out.reshape(shape + (self._count, self._dimension))
        return (values.reshape(shape + (self._count,)), out) if weights else out

    def distance(self, a, b) -> float:
        """The distance of two places (numbers,), as this weigher measures it."""
        a = take(a, "f8", (self._dimension,), "a")
        b = take(b, "f8", (self._dimension,), "b")
        return float(runtime.ex_weigher_distance(self._handle.pointer, address(a), address(b)))

    # ---- edits ----

    def _edit(self, kind, index=0, at=None, source=None, weights=None, falloff=None, names=None):
        driven = any(axis.kind == "driver" for axis in self.axes)
        length = self._dimension + (1 if driven and kind == _abi.EX_EDIT_ADD_EXAMPLE else 0)
        if self._dimension == 1 and at is not None and numpy.ndim(at) == 0:
            at = [at]
        edit, kept = _abi.ex_edit(kind=kind, index=index), []
        for word, values, count in (("at", at, length), ("from", source, self._dimension), ("weights", weights, self._count),
                                    ("falloff", falloff, len(self.axes))):
            if values is not None:
                row = _row([values] if count == 1 and numpy.ndim(values) == 0 else values, count, word)
                kept.append(row)
                setattr(edit, word, address(row))
        made = ctypes.c_void_p()
        checked(runtime.ex_weigher_edit, self._handle.pointer, ctypes.byref(edit), 1, None, ctypes.byref(made))
        weigher = type(self).__new__(type(self))
        weigher._describe(Handle(made.value, runtime.ex_weigher_destroy), self._names if names is None else names,
                          [axis.name for axis in self.axes])
        return weigher

    def move(self, example, at) -> "Weigher":
        """A new weigher with an example, by number or name, at another place (numbers,)."""
        return self._edit(_abi.EX_EDIT_MOVE_EXAMPLE, self._index(example, self._count, "example"), self._given(at))

    def add(self, at, name: str = "", falloff=None) -> "Weigher":
        """A new weigher with one more example, the last, at a place (numbers,). falloff: (axes,), for 'gaussian'."""
        if not isinstance(name, str) or "\0" in name:
            raise TypeError("the name of an example must be text without a NUL character")
        self._only_gaussian(falloff)
        names = self.names + [name] if self._names or name else None
        return self._edit(_abi.EX_EDIT_ADD_EXAMPLE, 0, self._given(at), falloff=falloff, names=names)

    def remove(self, example) -> "Weigher":
        """A new weigher without an example, given by number or name."""
        index = self._index(example, self._count, "example")
        names = self._names and self._names[:index] + self._names[index + 1:]
        return self._edit(_abi.EX_EDIT_REMOVE_EXAMPLE, index, names=names)

    def move_pseudo(self, pseudo: int, at, source=None, weights=None) -> "Weigher":
        """A new weigher with a pseudo-example at another place, and, if given, with another source or weights."""
        if source is not None and weights is not None:
            raise ValueError("a pseudo-example has either a place to take weights from, or weights")
        return self._edit(_abi.EX_EDIT_MOVE_PSEUDO, self._index(pseudo, len(self.pseudos), "pseudo-example"),
                          self._given(at), source, weights)

    def add_pseudo(self, at, source=None, weights=None, falloff=None) -> "Weigher":
        """A new weigher with one more pseudo-example: at a place (numbers,), with the weights that the examples give at
        the place `source`, or with `weights` (examples,)."""
        if (source is None) == (weights is None):
            raise ValueError("a pseudo-example needs either a place to take weights from, or weights")
        self._only_gaussian(falloff)
        return self._edit(_abi.EX_EDIT_ADD_PSEUDO, 0, self._given(at), source, weights, falloff)

    def remove_pseudo(self, pseudo: int) -> "Weigher":
        """A new weigher without a pseudo-example."""
        return self._edit(_abi.EX_EDIT_REMOVE_PSEUDO, self._index(pseudo, len(self.pseudos), "pseudo-example"))

    def set_falloff(self, point, falloff) -> "Weigher":
        """A new gaussian weigher in which a point, an example or after these a pseudo-example, has this falloff (axes,)."""
        self._only_gaussian(falloff)
        if falloff is None:
            raise TypeError("falloff must be numbers, one for each axis")
        index = self._index(point, self._count + (0 if isinstance(point, str) else len(self.pseudos)), "example")
        return self._edit(_abi.EX_EDIT_FALLOFF, index, falloff=falloff)

    @staticmethod
    def _given(at):
        if at is None:
            raise TypeError("a place is missing")
        return at

    def _only_gaussian(self, falloff):
        if falloff is not None and self.kind != "gaussian":
            raise TypeError(f"'{self.kind}' has no falloffs; 'gaussian' has")


def _rebuild(points, kind, axes, more):
    return Weigher(points, kind, axes=axes, **more)
