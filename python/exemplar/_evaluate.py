"""Evaluation: checks what the caller wants, lays out structs for the library, and calls it."""
from __future__ import annotations

import ctypes

import numpy

from . import _abi
from ._given import whole
from ._library import _library, check_misuse, runtime
from ._work import tasks, thread_count
from .pose import POSE

LIMIT = _abi.EX_LEVEL_LIMIT
OUTPUTS = ("positions", "normals", "tangents", "weights", "box", "textures", "report")
_FIELDS = ("positions", "position_stride", "normals", "normal_stride", "tangents", "tangent_stride", "box", "weights",
           "textures", "driven")
_OUTPUT = numpy.dtype({"names": _FIELDS, "formats": ["u8"] * len(_FIELDS),
                       "offsets": [getattr(_abi.ex_output, name).offset for name in _FIELDS],
                       "itemsize": ctypes.sizeof(_abi.ex_output)})
_SETTLED = ("inside", "penetrating", "pushed", "left", "deepest")
_REPORT = numpy.dtype({"names": ("hull_distance", "unfamiliar") + _SETTLED,
                       "formats": ["f8", "f8", "i4", "i4", "i4", "i4", "f4"],
                       "offsets": [_abi.ex_driven.hull_distance.offset, _abi.ex_driven.unfamiliar.offset]
                       + [_abi.ex_driven.settled.offset + getattr(_abi.ex_settled, name).offset for name in _SETTLED],
                       "itemsize": ctypes.sizeof(_abi.ex_driven)})
FLOAT, _DOUBLE = numpy.dtype("f4"), numpy.dtype("f8")
_STRIDES = {name: name[:-1] + "_stride" for name in ("positions", "normals", "tangents")}
_ADDRESS, _BYTE, _ZERO = ctypes.addressof, ctypes.c_char.from_buffer, ctypes.memset
_BATCH = 64  # poses per call of the library: more gain nothing and need more scratch memory
_LAID = 4096  # poses whose structs are laid out at a time
_KEEP = 16 << 20  # scratch memory above this is not kept

# The functions with addresses as arguments: quicker than pointers to structs.
evaluate_one, evaluate_many = _library["ex_rig_evaluate"], _library["ex_rig_evaluate_many"]
evaluate_one.restype, evaluate_one.argtypes = None, [ctypes.c_void_p] * 5
evaluate_many.restype = None
evaluate_many.argtypes = [ctypes.c_void_p, ctypes.c_int] + [ctypes.c_void_p] * 4


class Outputs(tuple):
    """Arrays of an evaluation: a tuple in the order positions, normals, tangents, weights, box, textures, report, of
    those that were asked for. Each is an attribute too."""

    def __new__(cls, names, arrays):
        made = super().__new__(cls, arrays)
        made.__dict__["names"] = tuple(names)
        return made

    def __getattr__(self, name):
        names = self.__dict__.get("names", ())
        if name in names:
            return self[names.index(name)]
        raise AttributeError(f"the evaluation has no {name}; it has {', '.join(map(str, names))}")

    def __setattr__(self, name, value):
        raise AttributeError("outputs do not change")

    def __reduce__(self):
        return Outputs, (self.names, tuple(self))

    def __repr__(self):
        parts = (f"{name} {value.shape}" if isinstance(value, numpy.ndarray) else name
                 for name, value in zip(self.names, self))
        return f"<exemplar.Outputs {', '.join(parts)}>"


class Room:
    """Structs and scratch memory of one call. A call takes one and gives it back, so no two calls share one."""
    __slots__ = ("pose", "output", "at_pose", "at_output", "size", "scratch", "at_scratch")

    def __init__(self):
        self.pose, self.output = _PlainPose(), _PlainOutput()
        self.at_pose, self.at_output = ctypes.addressof(self.pose), ctypes.addressof(self.output)
        self.size, self.scratch, self.at_scratch = 0, None, None

    def reserve(self, size):
        if size > self.size:
            self.scratch = None
            self.scratch = numpy.empty(size + 64, dtype=numpy.uint8)  # not set to 0
            self.at_scratch = self.scratch.__array_interface__["data"][0]
            self.size = size

    def give_back(self):
        if self.size > _KEEP:
            self.size, self.scratch, self.at_scratch = 0, None, None
        rooms.append(self)


class _PlainPose(ctypes.Structure):
    """ex_pose with addresses."""
    _fields_ = [("inputs", ctypes.c_void_p), ("joints", ctypes.c_void_p), ("driver", ctypes.c_void_p),
                ("elapsed", ctypes.c_double)]


class _PlainOutput(ctypes.Structure):
    """The fields of ex_output, with addresses."""
    _fields_ = [(name, ctypes.c_size_t if name.endswith("stride") else ctypes.c_void_p) for name, _ in
                _abi.ex_output._fields_]


rooms = []


def take_room():
    try:
        return rooms.pop()
    except IndexError:
        return Room()


class Level:
    """A level of a rig: numbers of vertices, and what its evaluation needs."""
    __slots__ = ("level", "vertices", "splits", "shape", "scratch", "sizes", "can")

    def __init__(self, handle, level):
        self.level = level
        self.vertices = runtime.ex_rig_level_vertex_count(handle.pointer, level)
        self.splits = runtime.ex_rig_level_mesh(handle.pointer, level).split_count if self.vertices else 0
        self.shape, self.sizes, self.can = (1, self.vertices, 3), {}, {}
        self.scratch = self.scratch_size(handle, 1) if self.vertices else 0

    def scratch_size(self, handle, count):
        size = self.sizes.get(count)  # another thread may clear them meanwhile
        if size is None:
            evaluation = _abi.ex_evaluation(level=self.level)
            if len(self.sizes) > 1000:
                self.sizes.clear()
            size = self.sizes[count] = runtime.ex_rig_scratch_size(handle.pointer, evaluation, count)
        return size

    def check(self, handle, tangents):
        """Raises if the level cannot give normals, or tangents: tried once, at rest."""
        if tangents not in self.can:
            room = take_room()
            try:
                room.reserve(self.scratch)
                forms = numpy.empty((3, self.vertices * 4), dtype=FLOAT)
                room.pose.inputs = room.pose.joints = None
                room.output.positions, room.output.normals = forms[0].ctypes.data, forms[1].ctypes.data
                room.output.tangents = forms[2].ctypes.data if tangents else None
                evaluation = _abi.ex_evaluation(level=self.level)
                evaluate_one(handle.pointer, room.at_pose, room.at_output, _ADDRESS(evaluation), room.at_scratch)
                check_misuse()
                self.can[tangents] = None
            except ValueError:
                self.can[tangents] = "tangents need texture coordinates and a rig loaded with them" if tangents else \
                    "normals need faces and a rig loaded with them"
            finally:
                ctypes.memset(room.at_output, 0, ctypes.sizeof(room.output))
                room.give_back()
        if self.can[tangents]:
            raise ValueError(f"this rig cannot give them at level {self.level}: {self.can[tangents]}")


def level_of(rig, level):
    """The Level that a caller means by 'cage', a number or 'limit'."""
    if isinstance(level, str):
        if level not in ("cage", "limit"):
            raise ValueError(f"there is no level '{level}': use 'cage', a number, or 'limit'")
        level = 0 if level == "cage" else LIMIT
    number = level if level.__class__ is int else whole(level, "level", -2 ** 31, 2 ** 31 - 1)
    found = rig._levels.get(number)
    if found is None:
        found = Level(rig._handle, whole(number, "level", -2 ** 31, 2 ** 31 - 1))
        if not found.vertices:
            limit = " and 'limit'" if runtime.ex_rig_level_vertex_count(rig._handle.pointer, LIMIT) else ""
            name = "'limit'" if number == LIMIT else number
            raise ValueError(f"the rig has no level {name}; it has 0 to {rig.level_count}{limit}")
        rig._levels[number] = found
    return found


def target(given, shape, kind, name, packed):
    """The caller's array, checked: the last `packed` dimensions lie one after the other, and no two entries overlap."""
    if given.__class__ is numpy.ndarray and given.dtype is kind and given.shape == shape and given.size and \
            given.flags.c_contiguous and given.flags.writeable and given.flags.aligned:
        return given
    if not isinstance(given, numpy.ndarray) or given.dtype != kind or not given.dtype.isnative or given.shape != shape:
        have = f"{given.dtype} {given.shape}" if isinstance(given, numpy.ndarray) else type(given).__name__
        raise ValueError(f"out: {name} must be an array of {kind} of shape {shape}; this is {have}")
    strides, size = given.strides, kind.itemsize
    for axis in range(len(shape) - 1, len(shape) - 1 - packed, -1):
        if strides[axis] != size and shape[axis] > 1:
            raise ValueError(f"out: the entries of {name} must be packed")
        size *= shape[axis]
    rows = sorted((abs(stride), count) for stride, count in zip(strides[:-packed], shape[:-packed]) if count > 1)
    for stride, count in rows:
        if stride < size or stride % kind.itemsize:
            raise ValueError(f"out: entries of {name} overlap, or their strides are no multiples of {kind.itemsize}")
        size = stride * (count - 1) + size
    if len(shape) - packed > 1 and shape[1] > 1 and strides[1] < 0:
        raise ValueError(f"out: vertices of {name} must follow each other: the stride of dimension 1 is negative")
    if not given.flags.writeable or given.__array_interface__["data"][0] % kind.itemsize:
        raise ValueError(f"out: {name} must be writeable and aligned")
    return given


class Request:
    """What the caller of evaluate wants, checked; then the arrays."""

    def __init__(self, rig, count, *, positions, normals, tangents, weights, box, level, split, textures, weighers,
                 muted, unskinned, unsettled, report, threads, out):
        self.rig, self.count, self.kept = rig, count, []
        self.level = level_of(rig, level)
        self.threads = thread_count(threads)
        self.evaluation = _abi.ex_evaluation(level=self.level.level, split=bool(split), unskinned=bool(unskinned),
                                             unsettled=bool(unsettled))
        self._set_layers(weighers, muted)
        vertices = self.level.splits if split else self.level.vertices
        given = self._given(out)
        wanted = {"positions": positions, "normals": normals, "tangents": tangents, "weights": weights, "box": box,
                  "textures": textures, "report": report}
        for name, value in wanted.items():
            if value is not False and value is not True and name != "textures" and not isinstance(value, numpy.bool_):
                raise TypeError(f"{name} must be True or False")
        self.arrays = {}
        shapes = {"positions": ((count, vertices, 3), FLOAT, 1), "normals": ((count, vertices, 3), FLOAT, 1),
                  "tangents": ((count, vertices, 4), FLOAT, 1), "weights": ((count, len(rig.examples)), _DOUBLE, 1),
                  "box": ((count, 2, 3), FLOAT, 2)}
        for name, (shape, kind, packed) in shapes.items():
            if given.get(name) is not None:
                self.arrays[name] = target(given[name], shape, kind, name, packed)
            elif wanted[name]:
                self.arrays[name] = numpy.empty(shape, dtype=kind)
        self.shown = [name for name in OUTPUTS if name in self.arrays]
        if "tangents" in self.arrays or "normals" in self.arrays:
            if "positions" not in self.arrays:
                raise ValueError("normals and tangents need positions=True")
            self.level.check(rig._handle, "tangents" in self.arrays)
        if "tangents" in self.arrays and "normals" not in self.arrays:
            self.arrays["normals"] = numpy.empty(shapes["normals"][0], dtype=FLOAT)  # the library needs them
        self._set_textures(textures, given.get("textures"))
        self.report = None
        if not self.shown and not report:
            raise ValueError("positions=False leaves nothing to compute: ask for weights, box, textures or report")
        if report:
            if not rig._driver_count:
                raise ValueError("the rig has no driver to report on")
            self.report = numpy.zeros(count, dtype=_REPORT)
            self.arrays["report"] = self.report
            self.shown.append("report")

    @staticmethod
    def _given(out):
        if out is None:
            return {}
        if isinstance(out, Outputs):
            return dict(zip(out.names, out))
        if isinstance(out, dict):
            unknown = [name for name in out if name not in OUTPUTS[:-1]]
            if unknown:
                raise KeyError(f"out has '{unknown[0]}'; there are {', '.join(OUTPUTS[:-1])}")
            return out
        return {"positions": out}

    def _set_layers(self, weighers, muted):
        rig = self.rig
        if muted is not None:
            if isinstance(muted, (str, bytes)) or not hasattr(muted, "__iter__"):
                raise TypeError("muted must be a list of layers")
            flags = (ctypes.c_bool * max(1, len(rig.layers)))()
            for name in muted:
                flags[rig._layer(name).index] = True
            self.evaluation.muted = ctypes.addressof(flags)
            self.kept.append(flags)
        if weighers is not None:
            if not isinstance(weighers, dict):
                raise TypeError("weighers must be a dict of layers and weighers")
            pointers = (ctypes.c_void_p * max(1, len(rig.layers)))()
            for name, weigher in weighers.items():
                layer = rig._layer(name)
                handle = rig._weigher_handle(layer, weigher)
                pointers[layer.index] = handle.pointer
                self.kept.append(handle)
            self.evaluation.weighers = ctypes.addressof(pointers)
            self.kept.append(pointers)

    def _set_textures(self, wanted, given):
        self.textures = None
        if wanted is False and given is None:
            return
        names = list(self.rig.textures)
        if given is not None and not isinstance(given, dict):
            raise TypeError("out: textures must be a dict of names and arrays")
        chosen = names if wanted is True else list(given or {}) if wanted is False else [wanted] \
            if isinstance(wanted, str) else list(wanted) if hasattr(wanted, "__iter__") else None
        if chosen is None:
            raise TypeError("textures must be True, False, or names of textures")
        for name in [*chosen, *(given or {})]:
            if not isinstance(name, str) or name not in self.rig.textures:
                raise KeyError(f"there is no texture '{name}'; there are {', '.join(names) or 'none'}")
        made = {}
        for name in chosen:
            texture = self.rig.textures[name]
            shape = (self.count, texture.height, texture.width, 4)
            made[name] = numpy.empty(shape, dtype=numpy.uint8) if (given or {}).get(name) is None else \
                target(given[name], shape, numpy.dtype("u1"), name, 3)
        self.textures = [(names.index(name), array) for name, array in made.items()]
        self.arrays["textures"] = made
        self.shown.append("textures")

    def result(self):
        if len(self.shown) == 1:
            return self.arrays[self.shown[0]]
        names = [name for name in OUTPUTS if name in self.shown]
        return Outputs(names, [self.arrays[name] for name in names])

    def outputs(self, begin, end):
        """ex_output for each pose of a range, and what must be kept while they are used."""
        count, kept = end - begin, []
        made = numpy.zeros(count, dtype=_OUTPUT)
        index = numpy.arange(begin, end, dtype=numpy.int64)
        for name, array in self.arrays.items():
            if name in ("textures", "report") or not array.size:
                continue
            made[name] = index * array.strides[0] + array.__array_interface__["data"][0]
            if name in ("positions", "normals", "tangents"):
                least = 4 * array.shape[2]
                made[name[:-1] + "_stride"] = array.strides[1] if array.shape[1] > 1 else least
        if self.textures is not None:
            places = numpy.zeros((count, max(1, len(self.rig.textures))), dtype=numpy.uint64)
            for number, array in self.textures:
                if array.size:
                    places[:, number] = index * array.strides[0] + array.__array_interface__["data"][0]
            made["textures"] = places.ctypes.data + numpy.arange(count) * places.strides[0]
            kept.append(places)
        if self.report is not None:
            made["driven"] = self.report.ctypes.data + index * _REPORT.itemsize
        return made, kept

    def _run_one(self, handle, pose):
        """One pose, without arrays of structs."""
        driver, elapsed = pose._driver, pose._elapsed
        room = take_room()
        given, output = room.pose, room.output
        try:
            if room.size < self.level.scratch:
                room.reserve(self.level.scratch)
            given.inputs, given.joints, output.positions = pose._at_dials, pose._at_joints, None
            if driver:
                given.driver = driver.address
            if elapsed:
                given.elapsed = float(elapsed.array(1)[0])
            for name, array in self.arrays.items():
                if not array.size:
                    continue
                flags = array.flags
                at = _ADDRESS(_BYTE(array)) if flags.c_contiguous and flags.writeable else \
                    array.__array_interface__["data"][0]
                setattr(output, name, at)
                if name in _STRIDES and array.shape[1] > 1:
                    setattr(output, _STRIDES[name], array.strides[1])
            evaluate_one(handle.pointer, room.at_pose, room.at_output, _ADDRESS(self.evaluation), room.at_scratch)
            check_misuse()
        finally:
            given.driver, given.elapsed = None, 0
            _ZERO(room.at_output, 0, _OUTPUT.itemsize)
            room.give_back()

    def run(self, pose, state=None):
        """Evaluates poses. state: memory of one character, then they are frames one after the other."""
        handle, count = self.rig._handle, self.count
        if count == 1 and state is None and self.threads == 1 and self.textures is None and self.report is None:
            self._run_one(handle, pose)
            return
        if count:
            pose = pose._part(0, 1, count)  # its memory stays, whatever another thread does with the pose
        with tasks(min(self.threads, 1024)) as hook:
            if hook:
                self.evaluation.tasks = hook
            batch = 1 if state is not None else min(count, _BATCH if not hook else min(1024, 64 * self.threads))
            while batch > 1 and self.level.scratch_size(handle, batch) > 4 * _KEEP:
                batch //= 2
            if state is not None:
                states = (ctypes.c_void_p * 1)(state)
                self.evaluation.states = ctypes.addressof(states)
            room = take_room()
            try:
                room.reserve(self.level.scratch_size(handle, batch) if count else 0)
                at_evaluation = ctypes.addressof(self.evaluation)
                for first in range(0, count, _LAID):
                    last = min(first + _LAID, count)
                    given = pose._structs(first, last)
                    outputs, kept = self.outputs(first, last)
                    at_pose, at_output = given.ctypes.data, outputs.ctypes.data
                    for begin in range(0, last - first, batch):
                        evaluate_many(handle.pointer, min(batch, last - first - begin),
                                      at_pose + begin * POSE.itemsize, at_output + begin * _OUTPUT.itemsize,
                                      at_evaluation, room.at_scratch)
                    check_misuse()
                    del kept
            finally:
                room.give_back()
