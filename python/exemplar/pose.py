"""Poses: the values of a rig's axes, for one character or for many."""
from __future__ import annotations

import ctypes
import operator
import typing

import numpy

from . import _abi
from ._arrays import take
from ._given import whole
from ._library import check_misuse, runtime

POSE = numpy.dtype([("inputs", "u8"), ("joints", "u8"), ("driver", "u8"), ("elapsed", "f8")])
_MOST = 2 ** 31 - 1


class Block:
    """Rows of numbers at fixed addresses: row i at address + i * stride. While `held` lives, no one can resize the
    memory."""
    __slots__ = ("memory", "held", "address", "stride", "shape", "kind", "inner")

    def __init__(self, memory, held, address, stride, shape, kind, inner):
        self.memory, self.held, self.address = memory, held, address
        self.stride, self.shape, self.kind, self.inner = stride, shape, kind, inner

    @classmethod
    def make(cls, count, shape, kind):
        kind, inner = numpy.dtype(kind), []
        stride = kind.itemsize
        for size in reversed(shape):
            inner.insert(0, stride)
            stride *= size
        memory = bytearray(max(1, count * stride))
        held = ctypes.c_char.from_buffer(memory)
        return cls(memory, held, ctypes.addressof(held), stride, shape, kind, tuple(inner))

    def array(self, count):
        """The numbers, for the caller to change."""
        if not count or 0 in self.shape:
            return numpy.empty((count,) + self.shape, dtype=self.kind)
        start = self.address - ctypes.addressof(self.held)
        return numpy.ndarray((count,) + self.shape, self.kind, self.memory, start, (self.stride,) + self.inner)

    def part(self, start, step):
        return Block(self.memory, self.held, self.address + start * self.stride, self.stride * step, self.shape,
                     self.kind, self.inner)

    def addresses(self, begin, end):
        return numpy.arange(begin, end, dtype=numpy.int64) * self.stride + self.address


class Pose:
    """A pose of a rig, or many.

    rig.pose(elbow=70) makes them by name. Arrays: dials (N, D) doubles, the axes without joints; joints (N, J, 10)
    floats, local transforms (translation, rotation x y z w, scale), or None for a rig without a skeleton; driver
    (N, vertices of the driver, 3) floats in metres, or None for its reference; elapsed (N,) seconds since the frame
    before, for rigs that follow motion. Each may be given for N = count poses, or one for all; the rest is at rest.

    len(pose) is N. pose[3] and pose[10:20] are poses that share the numbers; pose[[1, 5]] is a copy. pose["elbow"] gets
    the values of an axis, (N,) or (N, 4), and pose["elbow"] = 70 sets them. pose.values has the numbers of all axes.
    """
    __slots__ = ("_rig", "_count", "_dials", "_joints", "_driver", "_elapsed", "_handle", "_at_dials", "_at_joints",
                 "_is_part", "__weakref__")

    def __init__(self, rig, count: typing.Optional[int] = None, *, dials=None, joints=None, driver=None,
                 elapsed=None) -> None:
        from .rig import Rig
        if not isinstance(rig, Rig):
            raise TypeError("the first argument must be a rig")
        if count is not None:
            count = whole(count, "count", 0, _MOST)
        given = {}
        for name, values, shape, kind in (("dials", dials, (rig._pose_size,), "f8"),
                                          ("joints", joints, (rig._joint_count, 10), "f4"),
                                          ("driver", driver, (rig._driver_count, 3), "f4"),
                                          ("elapsed", elapsed, (), "f8")):
            if values is None:
                continue
            if name == "joints" and not rig._joint_count or name == "driver" and not rig._driver_count:
                raise ValueError(f"the rig has no {'skeleton' if name == 'joints' else name}")
            rows = take(values, kind, shape if numpy.ndim(values) == len(shape) else (None,) + shape, name)
            given[name] = rows if rows.ndim > len(shape) else rows[None]
        counts = {len(rows) for rows in given.values()} - {1}
        if count is not None and count != 1 or not counts:
            counts.add(1 if count is None else count)
        if len(counts) > 1:
            raise ValueError(f"there are different numbers of poses: {', '.join(str(n) for n in sorted(counts))}")
        self._set_up(rig, counts.pop())
        if self._count:
            self._rest()
        for name, rows in given.items():
            if name == "dials" and rig._pose_size:
                self._dials.array(self._count)[...] = rows
            elif name == "joints":
                self._joints.array(self._count)[...] = rows
            elif name == "driver":
                self.driver = rows
            elif name == "elapsed":
                self.elapsed = rows

    @classmethod
    def _of_numbers(cls, rig, values):
        """Poses of an array: (N, C) or (C,) numbers of all axes, or (N, D) or (D,) of the dials."""
        columns, dials = sum(axis.width for axis in rig.axes.values()), rig._pose_size
        try:
            shape = numpy.shape(values)
        except ValueError as error:
            raise ValueError(f"poses: this is no array of numbers ({error})") from None
        if columns == 1 and len(shape) == 1:  # as many poses as numbers
            values, shape = numpy.asarray(values)[:, None], (shape[0], 1)
        if len(shape) not in (1, 2) or shape[-1] not in (columns, dials):
            fewer = f", or (N, {dials}), those of the dials" if dials != columns else ""
            said = f"a {type(values).__name__}" if not shape else f"{shape}"
            raise (ValueError if shape else TypeError)(
                f"poses must be (N, {columns}), the numbers of all axes{fewer}, a Pose, or a dict of axes and values; "
                f"this is {said}")
        if shape[-1] == dials:
            return cls(rig, dials=values)
        rows = take(values, "f8", (columns,) if len(shape) == 1 else (None, columns), "poses").reshape(-1, columns)
        made = cls(rig, len(rows))
        made.values = rows
        return made

    def _set_up(self, rig, count):
        self._rig, self._handle, self._count = rig, rig._handle, count
        self._dials = Block.make(count, (rig._pose_size,), "f8") if rig._pose_size else None
        self._joints = Block.make(count, (rig._joint_count, 10), "f4") if rig._joint_count else None
        self._driver = self._elapsed = None
        self._is_part = False
        self._place()

    def _place(self):
        """Addresses for calls with one pose: they never change."""
        self._at_dials = self._dials.address if self._dials else None
        self._at_joints = self._joints.address if self._joints else None

    def _rest(self):
        rest = _abi.ex_pose(inputs=self._at_dials)
        if self._joints:
            rest.joints = ctypes.cast(self._at_joints, ctypes.POINTER(_abi.ex_transform))
        runtime.ex_rig_rest_pose(self._handle.pointer, rest)
        for block in (self._dials, self._joints):
            if block and self._count > 1:
                rows = block.array(self._count)
                rows[1:] = rows[0]

    def _structs(self, begin, end):
        """ex_pose for each pose of a range."""
        given = numpy.zeros(end - begin, dtype=POSE)
        for name, block in (("inputs", self._dials), ("joints", self._joints), ("driver", self._driver)):
            if block:
                given[name] = block.addresses(begin, end)
        if self._elapsed:
            given["elapsed"] = self._elapsed.array(self._count)[begin:end]
        return given

    @property
    def rig(self):
        """The rig that it is a pose of."""
        return self._rig

    @property
    def dials(self) -> numpy.ndarray:
        """(N, D) values of the axes that are dials. Changes change the pose."""
        return self._dials.array(self._count) if self._dials else numpy.empty((self._count, 0))

    @dials.setter
    def dials(self, values):
        rows = self._rows(values, "dials", (self._rig._pose_size,), "f8")
        if self._dials and self._count:
            self._dials.array(self._count)[...] = rows

    @property
    def joints(self) -> typing.Optional[numpy.ndarray]:
        """(N, J, 10) local transforms, or None. Changes change the pose."""
        return self._joints.array(self._count) if self._joints else None

    @joints.setter
    def joints(self, values):
        if not self._joints:
            raise ValueError("the rig has no skeleton")
        self._joints.array(self._count)[...] = self._rows(values, "joints", (self._rig._joint_count, 10), "f4")

    @property
    def values(self) -> numpy.ndarray:
        """(N, C) the numbers of all axes, in the order of rig.jacobian_columns(): the reverse of rig.pose(values). A
        copy: set it as a whole."""
        names = [name for name, axis in self._rig.axes.items() if axis.width]
        return numpy.concatenate([numpy.empty((self._count, 0))] + [self[name].reshape(self._count, -1)
                                                                    for name in names], axis=1)

    @values.setter
    def values(self, values):
        axes = [axis for axis in self._rig.axes.values() if axis.width]
        rows, column = self._rows(values, "values", (sum(axis.width for axis in axes),), "f8"), 0
        for axis in axes:
            self._set(axis, rows[:, column:column + axis.width])
            column += axis.width

    @property
    def driver(self) -> typing.Optional[numpy.ndarray]:
        """(N, D, 3) forms of the driver in metres, or None for its reference. Changes change the pose."""
        return self._driver.array(self._count) if self._driver else None

    @driver.setter
    def driver(self, values):
        if values is None:
            if self._is_part and self._driver:
                raise ValueError("these are some of the poses: the driver goes from all at once")
            self._driver = None
            return
        if not self._rig._driver_count:
            raise ValueError("the rig has no driver")
        rows = self._rows(values, "driver", (self._rig._driver_count, 3), "f4")
        self._driver = self._written(self._driver, rows, "driver", "f4")

    @property
    def elapsed(self) -> numpy.ndarray:
        """(N,) seconds since the frame before; 0: a cut. A copy: set it as a whole."""
        return self._elapsed.array(self._count).copy() if self._elapsed else numpy.zeros(self._count)

    @elapsed.setter
    def elapsed(self, values):
        self._elapsed = self._written(self._elapsed, self._rows(values, "elapsed", (), "f8"), "elapsed", "f8")

    def _written(self, block, rows, name, kind):
        """The block of all poses with these rows, which parts of them share: a part cannot make one."""
        if block is None:
            if self._is_part:
                raise ValueError(f"these are some of the poses, which have no {name}: set it on all poses first")
            block = Block.make(self._count, rows.shape[1:], kind)
        if self._count:
            block.array(self._count)[...] = rows
        return block

    def _rows(self, values, name, shape, kind):
        """values for all poses, or one for each."""
        dimensions = numpy.ndim(values)
        rows = take(values, kind, shape if dimensions == len(shape) else (None,) + shape, name)
        if rows.ndim > len(shape) and len(rows) not in (1, self._count):
            raise ValueError(f"{name}: there are {len(rows)} rows for {self._count} poses")
        return rows if rows.ndim > len(shape) else rows[None]

    def __len__(self):
        return self._count

    def __repr__(self):
        values = ", ".join(f"{name} {_brief(self[name])}" for name in list(self._rig.axes)[:6]
                           if self._count and self._rig.axes[name].width)
        return f"<exemplar.Pose, {self._count}{': ' + values if values else ''}>"

    def __eq__(self, other):
        """True if both are poses of the same rig with the same numbers."""
        if not isinstance(other, Pose):
            return NotImplemented
        def same(a, b):
            return (a is None) == (b is None) and (a is None or numpy.array_equal(a, b))
        return self._handle is other._handle and self._count == other._count and same(self.dials, other.dials) and \
            same(self.joints, other.joints) and same(self.driver, other.driver) and same(self.elapsed, other.elapsed)

    __hash__ = None

    def copy(self) -> "Pose":
        """A pose with numbers of its own."""
        made = object.__new__(Pose)
        made._set_up(self._rig, self._count)
        for name in ("_dials", "_joints", "_driver", "_elapsed"):
            block = getattr(self, name)
            if block:
                own = Block.make(self._count, block.shape, block.kind)
                own.array(self._count)[...] = block.array(self._count)
                setattr(made, name, own)
        made._place()
        return made

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        return _again, (self._rig, self._count, self.dials, self.joints, self.driver, self.elapsed)

    def __array__(self, *_unused, **_more):
        raise TypeError("a pose is no array: use pose.dials, pose.joints or pose.values")

    def __iter__(self):
        return (self[i] for i in range(self._count))

    def __getitem__(self, key):
        if isinstance(key, str):
            return self._get(key)
        if isinstance(key, slice):
            start, stop, step = key.indices(self._count)
            return self._part(start, step, len(range(start, stop, step)))
        if isinstance(key, tuple) or key is None or key is Ellipsis:
            raise TypeError("poses have one index: a number, a slice, a list of numbers, or the name of an axis")
        if numpy.ndim(key):
            chosen = numpy.asarray(key)
            if chosen.ndim != 1 or chosen.dtype.kind not in "biu":
                raise TypeError("an index of poses is a number, a slice, or a list of whole numbers or of bools")
            try:
                rows = numpy.arange(self._count)[chosen]
            except OverflowError:
                raise IndexError(f"there are {self._count} poses") from None
            made = object.__new__(Pose)
            made._set_up(self._rig, len(rows))
            for name in ("_dials", "_joints", "_driver", "_elapsed"):
                block = getattr(self, name)
                if block:
                    own = Block.make(len(rows), block.shape, block.kind)
                    own.array(len(rows))[...] = block.array(self._count)[rows]
                    setattr(made, name, own)
            made._place()
            return made
        try:
            index = operator.index(key)
        except TypeError:
            raise TypeError("an index of poses is a number, a slice, a list of numbers, or the name of an axis") \
                from None
        if not -self._count <= index < self._count:
            raise IndexError(f"there is no pose {index}; there are {self._count}")
        return self._part(index % self._count, 1, 1)

    def _part(self, start, step, count):
        made = object.__new__(Pose)
        made._rig, made._handle, made._count, made._is_part = self._rig, self._handle, count, True
        for name in ("_dials", "_joints", "_driver", "_elapsed"):
            block = getattr(self, name)
            setattr(made, name, block.part(start, step) if block else None)
        made._place()
        return made

    def __setitem__(self, key, value):
        if isinstance(key, str):
            self.set({key: value})
            return
        if not isinstance(value, Pose) or value._handle is not self._handle:
            raise TypeError("a part of poses can be set to poses of the same rig only")
        target = self[key]
        if value._count not in (1, target._count):
            raise ValueError(f"{value._count} poses do not fit {target._count}")
        if not isinstance(key, slice):
            key = numpy.atleast_1d(numpy.arange(self._count)[key])
        value = value.copy()
        for name in ("_dials", "_joints"):
            if getattr(self, name) and target._count:
                getattr(self, name).array(self._count)[key] = getattr(value, name).array(value._count)
        if value._driver or self._driver:
            if not self._driver:
                self.driver = numpy.tile(self._rig.driver_reference, (self._count, 1, 1))
            rows = self._driver.array(self._count)
            rows[key] = self._rig.driver_reference if value._driver is None else value.driver
        if value._elapsed or self._elapsed:
            elapsed = self.elapsed
            elapsed[key] = value.elapsed
            self.elapsed = elapsed

    def _get(self, name):
        axis = self._rig._find(name)
        if not axis.width:
            raise ValueError(f"{name} is the form of a driver: see pose.driver")
        out = numpy.empty((self._count, axis.width))
        if self._count:
            given = self._structs(0, self._count)
            runtime.ex_rig_get_input_many(self._handle.pointer, axis.index, self._count,
                                          ctypes.cast(given.ctypes.data, ctypes.POINTER(_abi.ex_pose)), out.ctypes.data)
            check_misuse()
        return out if axis.width > 1 else out[:, 0]

    def set(self, values: typing.Optional[typing.Mapping[str, typing.Any]] = None, **more) -> "Pose":
        """Sets axes by name: a number for all poses, or one for each; a rotation has four numbers. Returns itself.

        Names with blanks or signs go into a dict: pose.set({"left elbow": 70}).
        """
        if values is not None and not isinstance(values, typing.Mapping):
            raise TypeError("values must be a dict of names and numbers")
        for name, value in [*(values or {}).items(), *more.items()]:
            self._set(self._rig._find(name), value)
        return self

    def _set(self, axis, value):
        if not axis.width:
            raise ValueError(f"{axis.name} is the form of a driver: set pose.driver")
        if axis.width == 1 and self._count == 1 and value.__class__ in (float, int):  # a slider that moves
            try:
                number, offset = ctypes.c_double(value), self._rig._offsets[axis.index]
            except OverflowError:
                raise ValueError(f"{axis.name}: this number is too large") from None
            if offset >= 0:
                ctypes.c_double.from_address(self._at_dials + 8 * offset).value = number.value
                return
            pose = _abi.ex_pose(inputs=self._at_dials)
            pose.joints = ctypes.cast(self._at_joints, ctypes.POINTER(_abi.ex_transform))
            runtime.ex_rig_set_input(self._handle.pointer, axis.index, ctypes.addressof(number), pose)
            return
        numbers = take(value, "f8", (None,) * numpy.ndim(value), axis.name)
        if axis.width > 1 and (numbers.ndim == 0 or numbers.ndim > 2 or numbers.shape[-1] != axis.width):
            raise ValueError(f"{axis.name} is a rotation: it needs four numbers, x y z w; this is {numbers.shape}")
        if axis.width == 1 and numbers.ndim == 2 and numbers.shape[1] == 1:
            numbers = numbers[:, 0]
        if numbers.ndim > (axis.width > 1) + 1:
            raise ValueError(f"{axis.name}: {numbers.shape} does not fit {self._count} poses")
        rows = numbers.reshape(-1, axis.width)
        if len(rows) not in (1, self._count):
            raise ValueError(f"{axis.name}: {len(rows)} values do not fit {self._count} poses")
        if not self._count:
            return
        offset = self._rig._offsets[axis.index]
        if offset >= 0:
            self._dials.array(self._count)[:, offset:offset + axis.width] = rows
            return
        rows = numpy.ascontiguousarray(numpy.broadcast_to(rows, (self._count, axis.width)))
        given = self._structs(0, self._count)
        runtime.ex_rig_set_input_many(self._handle.pointer, axis.index, self._count, rows.ctypes.data,
                                      ctypes.cast(given.ctypes.data, ctypes.POINTER(_abi.ex_pose)))
        check_misuse()

    @staticmethod
    def concatenate(poses: typing.Iterable["Pose"]) -> "Pose":
        """All these poses of one rig, one after the other, as a copy."""
        poses = list(poses) if hasattr(poses, "__iter__") else []
        if not poses or not all(isinstance(pose, Pose) and pose._handle is poses[0]._handle for pose in poses):
            raise TypeError("concatenate needs one pose or more, all of the same rig")
        rig, count = poses[0]._rig, sum(pose._count for pose in poses)
        made = object.__new__(Pose)
        made._set_up(rig, count)
        for name in ("_dials", "_joints"):
            if getattr(made, name):
                getattr(made, name).array(count)[...] = numpy.concatenate(
                    [getattr(pose, name).array(pose._count) for pose in poses])
        if any(pose._driver for pose in poses):
            made.driver = numpy.concatenate([numpy.tile(rig.driver_reference, (pose._count, 1, 1))
                                             if pose._driver is None else pose.driver for pose in poses])
        if any(pose._elapsed for pose in poses):
            made.elapsed = numpy.concatenate([pose.elapsed for pose in poses])
        return made


def _brief(values):
    low, high = values.min(), values.max()
    if values.ndim > 1:
        return "…"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def _again(rig, count, dials, joints, driver, elapsed):
    return Pose(rig, count, dials=dials, joints=joints, driver=driver, elapsed=elapsed)
