"""Parts of a rig: axes, layers, textures, skeletons."""
from __future__ import annotations

import ctypes
import typing

import numpy

from . import _abi
from ._arrays import address, take
from ._given import text
from ._library import Handle, checked, runtime, text_of

_AXIS_KINDS = ("scalar", "rotation", "swing", "twist", "driver")
_READINGS = (None, "angle", "rotation", "slide", "stretch")
_STAGES = ("rest", "posed", "surface", "texture")


class Axis(typing.NamedTuple):
    """One input of a rig."""
    name: str
    kind: str
    """'scalar', a number; 'rotation', 'swing' or 'twist', four numbers x y z w; 'driver', the form of another mesh."""
    unit: str
    """'deg' for degrees and so on, '' if there is none."""
    min: float
    max: float
    """The range of a scalar. Values outside extrapolate."""
    rest: typing.Union[float, tuple]
    """The value at rest: a number, or four."""
    width: int
    """Numbers of a value: 1 or 4; 0 for a driver."""
    is_dial: bool
    """False if the value is read from a joint of the skeleton, or from a driver."""
    joint: typing.Optional[int]
    """The joint that it is read from, or None."""
    reading: typing.Optional[str]
    """The quantity that is read from the joint: 'angle' in degrees, 'rotation', 'slide' or 'stretch'; None of a dial."""
    about: tuple
    """The direction x y z of a swing or twist, or of what is read from the joint: an angle, a slide or a stretch."""
    scale: typing.Optional[float]
    """Distance per unit in its spaces; None for the default."""
    clamp: bool
    """True if a scalar is limited to its range."""
    limit: str
    """Beyond the examples: 'kind' (as the weigher does), 'hold', 'fade' or 'extrapolate'."""
    index: int

    @classmethod
    def _of(cls, rig, index):
        axis = runtime.ex_rig_input_axis(rig, index)
        kind = _AXIS_KINDS[axis.kind]
        source = runtime.ex_rig_input_source(rig, index)
        joint = source.joint if kind != "driver" and source.joint >= 0 else None
        reading = _READINGS[source.reading.kind] if joint is not None else None
        about = (0.0, 1.0, 0.0)
        if kind in ("swing", "twist"):
            about = tuple(axis.about)
        elif reading in ("angle", "slide", "stretch"):
            about = tuple(source.reading.about)
        width = {"scalar": 1, "driver": 0}.get(kind, 4)
        turn = tuple(axis.rest_rotation) if any(axis.rest_rotation) else (0.0, 0.0, 0.0, 1.0)
        rest = axis.rest if width < 2 else turn
        is_dial = runtime.ex_rig_input_offset(rig, index) >= 0
        return cls(text_of(runtime.ex_rig_input_name(rig, index)), kind, text_of(runtime.ex_rig_input_unit(rig, index)),
                   axis.min, axis.max, rest, width, is_dial, joint, reading, about, axis.scale or None,
                   bool(axis.clamp), text_of(runtime.ex_limit_name(axis.limit)), index)

    def __repr__(self):
        unit = f" {self.unit}" if self.unit else ""
        reach = f"{self.min:g} to {self.max:g}{unit}" if self.kind == "scalar" else self.kind
        return f"<exemplar.Axis {self.name}: {reach}{'' if self.is_dial or self.joint is None else ', of a joint'}>"


class Layer(typing.NamedTuple):
    """A layer of a rig: a space of axes, with examples at points."""
    name: str
    kind: str
    """Of its weigher: 'cardinal', 'calm', …."""
    domain: str
    """Of its examples: 'positions', 'offsets', 'trajectory', 'pixels', 'displacement'."""
    stage: str
    """Where it acts: on the mesh at 'rest', on the 'posed' form, on the refined 'surface', or on a 'texture'."""
    axes: tuple
    """Names of its axes."""
    examples: tuple
    """Names of its examples."""
    first: int
    """Index of its first example among the weights of the rig."""
    muted: bool
    """True if it is left out unless evaluate(muted=…) says otherwise."""
    index: int

    @classmethod
    def _of(cls, rig, index):
        weigher = runtime.ex_rig_weigher(rig, index)
        axes = tuple(text_of(runtime.ex_rig_input_name(rig, runtime.ex_rig_layer_input(rig, index, a)))
                     for a in range(runtime.ex_weigher_axis_count(weigher)))
        examples = tuple(text_of(runtime.ex_rig_example_name(rig, index, k))
                         for k in range(runtime.ex_weigher_example_count(weigher)))
        return cls(text_of(runtime.ex_rig_layer_name(rig, index)),
                   text_of(runtime.ex_weigher_kind_name(runtime.ex_weigher_get_kind(weigher))),
                   text_of(runtime.ex_domain_name(runtime.ex_rig_layer_domain(rig, index))),
                   _STAGES[runtime.ex_rig_layer_stage(rig, index)], axes, examples,
                   runtime.ex_rig_first_example(rig, index), runtime.ex_rig_layer_muted(rig, index), index)

    def __repr__(self):
        return (f"<exemplar.Layer {self.name}: {self.kind}, {len(self.examples)} examples of {self.domain} over "
                f"{', '.join(self.axes)}>")


class Texture(typing.NamedTuple):
    """A texture that follows the pose. srgb: True for colours, blended in linear light; False for data."""
    name: str
    width: int
    height: int
    srgb: bool

    @classmethod
    def _of(cls, rig, index):
        texture = runtime.ex_rig_texture(rig, index)
        return cls(text_of(texture.name), texture.width, texture.height, texture.srgb)

    def __repr__(self):
        return f"<exemplar.Texture {self.name}: {self.width} x {self.height}>"


class Skeleton:
    """Joints: names, parents (J,) with -1 for a root, and rest transforms (J, 10) relative to the parent: translation,
    rotation x y z w, scale, as in glTF, in metres.

    rest may also be (J, 3): translations from the parent. inverse_binds (J, 3, 4) or (J, 4, 4): from the space of the
    mesh to that of each joint, when the mesh was bound; None: the mesh was bound at rest. Immutable.
    """
    __slots__ = ("names", "parents", "rest", "inverse_binds")

    def __init__(self, names: typing.Sequence[str], parents, rest, inverse_binds=None) -> None:
        if isinstance(names, (str, bytes)) or not hasattr(names, "__iter__"):
            raise TypeError("names must be a list of texts")
        names = tuple(names)
        for i, name in enumerate(names):
            if not isinstance(name, str) or name:  # a joint may have no name: ''
                text(name, f"names[{i}]")
        count = len(names)
        if not 1 <= count <= _abi.EX_JOINT_MAX:
            raise ValueError(f"a skeleton has 1 to {_abi.EX_JOINT_MAX} joints; this has {count}")
        parents = numpy.array(take(parents, "i4", (count,), "parents"))
        if parents.min() < -1 or parents.max() >= count:
            raise ValueError(f"parents must be -1 to {count - 1}")
        given = numpy.asarray(rest)
        if given.ndim == 2 and given.shape[1] == 3:
            whole = numpy.tile(numpy.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1], dtype=numpy.float32), (count, 1))
            whole[:, :3] = take(rest, "f4", (count, 3), "rest")
        else:
            whole = numpy.array(take(rest, "f4", (count, 10), "rest"))
        if not numpy.isfinite(whole).all():
            raise ValueError("rest has numbers that are not finite")
        if inverse_binds is not None:
            given = numpy.asarray(inverse_binds)
            rows = 4 if given.ndim == 3 and given.shape[1] == 4 else 3
            inverse_binds = numpy.array(take(inverse_binds, "f4", (count, rows, 4), "inverse_binds")[:, :3])
            inverse_binds.flags.writeable = False
        parents.flags.writeable = whole.flags.writeable = False
        for slot, value in zip(self.__slots__, (names, parents, whole, inverse_binds)):
            object.__setattr__(self, slot, value)
        self._make()  # so that what is wrong is said here

    def __setattr__(self, name, value):
        raise AttributeError("a skeleton does not change: make another one")

    @classmethod
    def from_positions(cls, names: typing.Sequence[str], parents, positions) -> "Skeleton":
        """A skeleton whose joints are at positions (J, 3) of the mesh, without rotations."""
        parents = take(parents, "i4", (None,), "parents")
        positions = take(positions, "f4", (len(parents), 3), "positions")
        if parents.size and (parents.min() < -1 or parents.max() >= len(parents)):
            raise ValueError(f"parents must be -1 to {len(parents) - 1}")
        above = numpy.where(parents[:, None] >= 0, positions[parents], 0)
        return cls(names, parents, positions - above)

    @classmethod
    def _of(cls, pointer):
        count = runtime.ex_skeleton_joint_count(pointer)
        made = object.__new__(cls)
        rest, binds = numpy.empty((count, 10), dtype=numpy.float32), numpy.empty((count, 3, 4), dtype=numpy.float32)
        parents, at = numpy.empty(count, dtype=numpy.int32), address(binds) if count else 0
        for j in range(count):
            transform = runtime.ex_skeleton_rest(pointer, j)
            rest[j] = numpy.frombuffer(transform, dtype=numpy.float32)
            parents[j] = runtime.ex_skeleton_parent(pointer, j)
            runtime.ex_skeleton_inverse_bind(pointer, j, at + 48 * j)
        names = tuple(text_of(runtime.ex_skeleton_name(pointer, j)) for j in range(count))
        for array in (parents, rest, binds):
            array.flags.writeable = False
        for slot, value in zip(cls.__slots__, (names, parents, rest, binds)):
            object.__setattr__(made, slot, value)
        return made

    def _make(self):
        """The skeleton in C."""
        count = len(self.names)
        words = [name.encode("utf-8") if name else None for name in self.names]
        names = (ctypes.c_char_p * count)(*words)
        definition = _abi.ex_skeleton_def(joint_count=count, parents=address(self.parents))
        definition.rest = ctypes.cast(address(self.rest), ctypes.POINTER(_abi.ex_transform))
        definition.inverse_binds = None if self.inverse_binds is None else address(self.inverse_binds)
        definition.names = ctypes.cast(names, ctypes.c_void_p)
        made = ctypes.c_void_p()
        checked(runtime.ex_skeleton_create, definition, None, ctypes.byref(made))
        return Handle(made.value, runtime.ex_skeleton_destroy)

    def index(self, name: str) -> int:
        """The number of the first joint of that name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"there is no joint '{name}'; there are {', '.join(self.names)}") from None

    def worlds(self, locals=None) -> numpy.ndarray:
        """Matrices (J, 3, 4) from each joint's space to that of the mesh, at rest or with local transforms (J, 10)."""
        skeleton = self._make()
        out = numpy.empty((len(self.names), 3, 4), dtype=numpy.float32)
        given = None
        source = _abi.ex_skeleton_input()
        if locals is not None:
            given = take(locals, "f4", (len(self.names), 10), "locals")
            source.locals = ctypes.cast(address(given), ctypes.POINTER(_abi.ex_transform))
        scratch = ctypes.create_string_buffer(runtime.ex_skeleton_scratch_size(skeleton.pointer) + 16)
        runtime.ex_skeleton_evaluate(skeleton.pointer, source, _abi.ex_skeleton_output(worlds=address(out)),
                                     ctypes.addressof(scratch))
        return out

    def __reduce__(self):
        return Skeleton, (self.names, self.parents, self.rest, self.inverse_binds)

    def __len__(self):
        return len(self.names)

    def __eq__(self, other):
        if not isinstance(other, Skeleton):
            return NotImplemented
        def binds(one):
            return None if one.inverse_binds is None else one.inverse_binds.tobytes()
        return self.names == other.names and numpy.array_equal(self.parents, other.parents) and \
            numpy.array_equal(self.rest, other.rest) and binds(self) == binds(other)

    def __hash__(self):
        return hash((self.names, self.parents.tobytes()))

    def __repr__(self):
        few = ", ".join(self.names[:4]) + (", …" if len(self.names) > 4 else "")
        return f"<exemplar.Skeleton, {len(self)} joints: {few}>"
