"""Weighers: weights of examples from a place in a space (cardinal, calm, gaussian and other kinds)."""
import ctypes

import numpy

from . import _abi
from ._library import Handle, checked, runtime, text_of


def _kinds():
    return {text_of(runtime.ex_weigher_kind_name(k)): k for k in range(runtime.ex_weigher_kind_count())}


class Weigher:
    """A space with examples at points, solved: the weights of the examples at any place.

    points: (examples, axes) numbers, the places of the examples. kind: 'cardinal', 'calm', 'gaussian', 'shepard',
    'nearest'. ranges: (axes, 2) ends of the axes, by default those of the points. Other keywords are the parameters of
    the kind, as in project files: radius, ridge, kernel, overshoot, power, k, ….

    >>> weigher = Weigher([[0], [45], [90]], kind="calm")
    >>> weigher.weights([[45], [60]]).shape
    (2, 3)
    """

    def __init__(self, points, kind="cardinal", ranges=None, **parameters):
        points = numpy.array(points, dtype=numpy.float64, ndmin=1, order="C")
        points = points[:, None] if points.ndim == 1 else points
        if points.ndim != 2 or points.shape[0] < 1 or points.shape[1] < 1:
            raise ValueError(f"points must be (examples, axes); this is {points.shape}")
        kinds = _kinds()
        if kind not in kinds:
            raise ValueError(f"there is no weigher '{kind}'; there are {', '.join(sorted(kinds))}")
        count, axes = points.shape
        ends = numpy.stack([points.min(0), points.max(0)], 1) if ranges is None else ranges
        ends = numpy.array(ends, dtype=numpy.float64)
        if ends.shape != (axes, 2):
            raise ValueError(f"ranges must be ({axes}, 2); this is {ends.shape}")
        self._axes = (_abi.ex_axis * axes)()
        for i, (low, high) in enumerate(ends):
            self._axes[i] = runtime.ex_axis_scalar(low, high if high > low else low + 1, low)
        definition = runtime.ex_weigher_def_default()
        definition.kind = kinds[kind]
        definition.axes, definition.axis_count = ctypes.cast(self._axes, type(definition.axes)), axes
        definition.example_count, definition.points = count, points.ctypes.data
        self._set(definition, kind, parameters)
        made = ctypes.c_void_p()
        checked(runtime.ex_weigher_create, ctypes.byref(definition), None, ctypes.byref(made))
        self._handle = Handle(made.value, runtime.ex_weigher_destroy)
        self.kind, self.points = kind, points
        self.points.flags.writeable = False

    @staticmethod
    def _set(definition, kind, parameters):
        info = runtime.ex_weigher_kind_info(definition.kind).contents
        known = {text_of(info.parameters[i].name): info.parameters[i] for i in range(info.parameter_count)}
        for name, value in parameters.items():
            if name not in known:
                raise TypeError(f"'{kind}' has no parameter '{name}'; it has {', '.join(known) or 'none'}")
            parameter = known[name]
            if isinstance(value, str):
                words = [text_of(parameter.words[i].name) for i in range(parameter.word_count)]
                if value not in words:
                    raise ValueError(f"{name}: '{value}' is none of {', '.join(words) or 'numbers'}")
                value = words.index(value)
            checked(lambda *rest: runtime.ex_parameter_check(*rest), ctypes.byref(parameter), float(value))
            runtime.ex_parameter_set(ctypes.byref(parameter), ctypes.byref(definition), float(value))

    def __repr__(self):
        return f"<exemplar.Weigher {self.kind}, {self.points.shape[0]} examples, {self.points.shape[1]} axes>"

    def weights(self, places):
        """Weights (N, examples) at places (N, axes), or (examples,) at one place (axes,)."""
        places = numpy.asarray(places, dtype=numpy.float64)
        axes, count = self.points.shape[1], self.points.shape[0]
        if places.ndim not in (1, 2) or places.shape[-1] != axes:
            raise ValueError(f"places must be (N, {axes}) or ({axes},); this is {places.shape}")
        rows = numpy.ascontiguousarray(places.reshape(-1, axes))
        out = numpy.empty((len(rows), count))
        evaluate, weigher = runtime.ex_weigher_evaluate, self._handle.pointer
        at, to = rows.ctypes.data, out.ctypes.data
        for i in range(len(rows)):
            evaluate(weigher, at + 8 * axes * i, to + 8 * count * i)
        return out.reshape(places.shape[:-1] + (count,))
