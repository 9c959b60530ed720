"""Rigs: load one, look inside, pose it, evaluate it."""
from __future__ import annotations

import ctypes
import difflib
import json
import os
import pathlib
import tempfile
import threading
import types
import typing

import numpy

from . import _abi
from ._arrays import address, copied
from ._evaluate import LIMIT, Outputs, Request, evaluate_one, level_of, take_room
from ._given import whole
from ._library import Handle, author, check_misuse, checked, path_bytes, runtime, text_of
from ._polygons import sharp_of
from .errors import FormatError
from .mesh import Mesh
from .parts import Axis, Layer, Skeleton, Texture
from .pose import Pose

__all__ = ["LIMIT", "Axis", "Layer", "Outputs", "Player", "Pose", "Rig", "Skeleton", "Split", "Texture", "load"]

_ADDRESS, _BYTE, _EMPTY = ctypes.addressof, ctypes.c_char.from_buffer, numpy.empty
_ARRAY, _FLOAT = numpy.ndarray, numpy.dtype("f4")
_STORAGE = {"float": _abi.EX_STORAGE_FLOAT, "short": _abi.EX_STORAGE_16_BIT}


def _options(storage, normals, tangents, levels):
    if not isinstance(storage, str) or storage not in _STORAGE:
        raise ValueError(f"storage is '{storage}': use 'float' or 'short'")
    return _abi.ex_rig_options(storage=_STORAGE[storage], without_normals=not normals, without_tangents=not tangents,
                               without_levels=not levels)


def load(source: typing.Union[str, os.PathLike, bytes], *, storage: str = "float", normals: bool = True,
         tangents: bool = True, levels: bool = True) -> "Rig":
    """Loads a rig: the path of a .glb file that `exemplar build` or the editor wrote, or the bytes of one.

    storage: 'float', or 'short' for 16 bits per number. normals, tangents, levels: False to do without them and save
    memory.
    """
    options = _options(storage, normals, tangents, levels)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Rig._unpack(bytes(source), options)
    path, made, axes = path_bytes(source), ctypes.c_void_p(), _abi.ex_form_axes()
    with open(os.fsdecode(path), "rb"):  # so that a missing file is FileNotFoundError, as everywhere in Python
        pass
    try:
        checked(author.ex_rig_read, path, options, ctypes.byref(made))
    except FormatError as error:
        if "no Exemplar pack" in str(error):  # a whole glTF file of another program
            raise FormatError(f"{error}. To make a project of a character: exemplar.Project.init(path, folder)",
                              error.code) from None
        raise
    rig = Rig._of(Handle(made.value, runtime.ex_rig_destroy))
    checked(author.ex_rig_read_axes, path, axes)
    rig._form_axes = axes.unit, axes.z_up
    return rig


def _axes_of(data):
    """Unit in metres and up axis of the files that a rig was built from, which its file records for others."""
    try:
        size = int.from_bytes(data[12:16], "little")
        extras = json.loads(data[20:20 + size])["asset"]["extras"] if data[:4] == b"glTF" else {}
        return (float(extras["unit"]), extras["up"] == "z") if 0 < extras["unit"] <= 1e15 else (1.0, False)
    except (ValueError, KeyError, TypeError, RecursionError):
        return 1.0, False


def _faces_by(mesh, kind):
    """Names of groups or materials, and the numbers of their faces."""
    names, numbers = getattr(mesh, kind), getattr(mesh, f"face_{kind}")
    return {name: numpy.flatnonzero(numbers == i) if numbers is not None else numpy.empty(0, dtype=numpy.int64)
            for i, name in enumerate(names)}


class Split:
    """How a level of a rig is displayed: a vertex with several texture coordinates or normals is split."""

    def __init__(self, rig: Rig, level: typing.Union[int, str] = 0):
        if not isinstance(rig, Rig):
            raise TypeError("a Split is made from a Rig: rig.split(level)")
        mesh = runtime.ex_rig_level_mesh(rig._handle.pointer, level_of(rig, level).level)
        self.source: numpy.ndarray = copied(mesh.split_source, "u4", (mesh.split_count,)) if mesh.split_source else \
            numpy.arange(mesh.vertex_count, dtype="u4")
        """(S,) the vertex of each split vertex."""
        self.texcoords: typing.Optional[numpy.ndarray] = \
            copied(mesh.texcoords, "f4", (mesh.split_count, 2)) if mesh.texcoords else None
        """(S, 2) of split vertices, origin at the top left; or None."""
        self.triangles: numpy.ndarray = copied(mesh.triangles, "u4", (mesh.triangle_count, 3)).astype(numpy.int32)
        """(T, 3) of split vertices."""

    def __len__(self):
        return len(self.source)

    def __repr__(self):
        return f"<exemplar.Split, {len(self.source)} vertices, {len(self.triangles)} triangles>"


class Rig:
    """A character: immutable, and safe to use from any number of threads. `load` makes one from a file.

    Rig(vertices, faces, layers=[…]) makes one from arrays: vertices (V, 3) in metres, faces (F, n) or a list of lists
    of vertices from 0, layers as exemplar.layer makes them. skeleton: a Skeleton. skin: weights (V, J), or a pair of
    joints (V, k) and weights (V, k). skinning: 'linear' or 'dual_quaternion'. texcoords (T, 2), origin at the bottom
    left: one for each vertex, for each corner of the faces, or with corner_texcoords (C,) any number. subdivide: refined
    levels, by scheme 'catmull-clark', 'loop' or 'bilinear'; limit, creases: as of a Subdivision. level: the one to show
    by default. groups, materials: dicts of names and the numbers of their faces. storage: 'float', or 'short' for 16 bits
    per number.
    """

    def __init__(self, vertices, faces=(), layers=(), *, skeleton: typing.Optional[Skeleton] = None, skin=None,
                 skinning: str = "linear", texcoords=None, corner_texcoords=None, subdivide: int = 0,
                 scheme: str = "catmull-clark", limit=False, creases=None, level=None, groups=None, materials=None,
                 storage: str = "float") -> None:
        from .create import create
        if isinstance(vertices, Mesh):
            mesh = vertices
            if len(faces):
                raise TypeError("a Mesh has its own faces: give layers by name, Rig(mesh, layers=[…])")
            vertices, faces = mesh.vertices, mesh.faces
            if texcoords is None and mesh.texcoords is not None and (mesh.corner_texcoords >= 0).all():
                texcoords, corner_texcoords = mesh.texcoords, mesh.corner_texcoords
            groups = _faces_by(mesh, "groups") if groups is None else groups
            materials = _faces_by(mesh, "materials") if materials is None else materials
            creases = sharp_of(mesh.tags, creases, None)[0]
        self._begin(create(vertices, faces, layers, skeleton=skeleton, skin=skin, skinning=skinning,
                           texcoords=texcoords, corner_texcoords=corner_texcoords, subdivide=subdivide, scheme=scheme,
                           limit=limit, creases=creases, level=level, groups=groups, materials=materials,
                           options=_options(storage, True, True, True)))

    @classmethod
    def _unpack(cls, data, options=None):
        memory = numpy.zeros(len(data) + 8, dtype=numpy.uint8)  # aligned, and never empty
        memory[:len(data)] = numpy.frombuffer(data, dtype=numpy.uint8) if len(data) else ()
        made = ctypes.c_void_p()
        checked(runtime.ex_rig_unpack, address(memory), len(data), options, None, ctypes.byref(made))
        rig = cls._of(Handle(made.value, runtime.ex_rig_destroy))
        rig._form_axes = _axes_of(data)
        return rig

    @classmethod
    def _of(cls, handle):
        """A rig of the library."""
        rig = cls.__new__(cls)
        rig._begin(handle)
        return rig

    @classmethod
    def _own(cls, pointer):
        """The Rig of an ex_rig, given as its address or as a c_void_p, which is then emptied: it owns it from now on."""
        if isinstance(pointer, ctypes.c_void_p):
            box, pointer = pointer, pointer.value
            box.value = None
        return cls._of(Handle(pointer, runtime.ex_rig_destroy))

    def _begin(self, handle):
        self._handle = handle
        rig = handle.pointer
        self._pose_size, self._joint_count = runtime.ex_rig_pose_size(rig), runtime.ex_rig_joint_count(rig)
        self._levels, self._parts, self._form_axes = {}, {}, (1.0, False)
        driver = _abi.ex_rig_driver()
        self._driver_count = driver.driver.vertex_count if runtime.ex_rig_get_driver(rig, driver, None) else 0
        self._driver_at = driver.driver.reference
        axes = [Axis._of(rig, i) for i in range(runtime.ex_rig_input_count(rig))]
        layers = [Layer._of(rig, i) for i in range(runtime.ex_rig_layer_count(rig))]
        self._offsets = [runtime.ex_rig_input_offset(rig, i) for i in range(len(axes))]
        self.axes: typing.Mapping[str, Axis] = types.MappingProxyType({axis.name: axis for axis in axes})
        """Inputs by name."""
        self.layers: typing.Mapping[str, Layer] = types.MappingProxyType({layer.name: layer for layer in layers})
        """Layers by name."""
        self.examples = tuple(name for layer in layers for name in layer.examples)
        """Names of the examples of all layers, in the order of the weights."""
        self._layers = layers
        skeleton = runtime.ex_rig_skeleton(rig)
        self.skeleton: typing.Optional[Skeleton] = Skeleton._of(skeleton) if skeleton else None
        self.textures: typing.Mapping[str, Texture] = types.MappingProxyType(
            {each.name: each for each in (Texture._of(rig, i) for i in range(runtime.ex_rig_texture_count(rig)))})
        """Textures that follow the pose, by name."""
        self.level_count = runtime.ex_rig_level_count(rig)
        """Refined levels: 1 to level_count."""
        self.level = runtime.ex_rig_level(rig)
        """The level that the author wants shown: 0, a level, or LIMIT."""
        self._level_0 = level_of(self, 0)

    def __repr__(self):
        joints = f", {self._joint_count} joints" if self._joint_count else ""
        driver = f", a driver of {self._driver_count} vertices" if self._driver_count else ""
        levels = f", {self.level_count} levels" if self.level_count else ""
        return (f"<exemplar.Rig {self._level_0.vertices} vertices, {len(self.examples)} examples in {len(self.layers)} "
                f"layers over {', '.join(self.axes) or 'no axes'}{joints}{driver}{levels}>")

    # ---- looking inside ----

    def _find(self, name):
        axis = self.axes.get(name) if isinstance(name, str) else None
        if axis is None:
            raise KeyError(self._unknown(name))
        return axis

    def _unknown(self, name):
        """A sentence about an axis that is not there."""
        if self.skeleton is not None and name in self.skeleton.names:
            return f"'{name}' is a joint, not an axis: turn it in pose.joints; axes are {', '.join(self.axes) or 'none'}"
        near = difflib.get_close_matches(str(name), self.axes, 1) or [one for one in self.axes
                                                                      if one.lower() == str(name).lower()]
        if near:
            return f"there is no axis '{name}'; did you mean '{near[0]}'?"
        return f"there is no axis '{name}'; there are {', '.join(self.axes) or 'none'}"

    def _layer(self, layer):
        """A layer by its name, its number, or itself."""
        if isinstance(layer, str):
            if layer not in self.layers:
                raise KeyError(f"there is no layer '{layer}'; there are {', '.join(self.layers) or 'none'}")
            return self.layers[layer]
        if isinstance(layer, Layer):
            if layer not in self._layers:
                raise KeyError(f"{layer!r} is no layer of this rig")
            return layer
        if not self._layers:
            raise KeyError("the rig has no layers")
        return self._layers[whole(layer, "layer", 0, len(self._layers) - 1)]

    def _example(self, layer, example):
        if isinstance(example, str):
            if example not in layer.examples:
                raise KeyError(f"{layer.name} has no example '{example}'; it has {', '.join(layer.examples)}")
            return layer.examples.index(example)
        return whole(example, "example", 0, len(layer.examples) - 1)

    def vertex_count(self, level: typing.Union[int, str] = 0, split: bool = False) -> int:
        """The number of vertices at a level: 0 or 'cage' the mesh, 1 and up, or 'limit'; or of split vertices."""
        found = level_of(self, level)
        return found.splits if split else found.vertices

    @property
    def mesh(self) -> Mesh:
        """The mesh before any layer, without refinement."""
        return self.mesh_at(0)

    def mesh_at(self, level: typing.Union[int, str]) -> Mesh:
        """The mesh of a level, before any layer."""
        number = level_of(self, level).level

        def make():
            plain = None if number == 0 else self.evaluate(level=number, muted=list(self.layers), unskinned=True)[0]
            return Mesh._of_rig(self, number, plain)

        return self._part(("mesh", number), make).copy()

    def split(self, level: typing.Union[int, str] = 0) -> Split:
        """How a level is displayed, for evaluate(split=True): triangles, texture coordinates, the vertices behind."""
        number = level_of(self, level).level
        return self._part(("split", number), lambda: Split(self, number))

    def _part(self, key, make):
        """What is made once and kept."""
        if key not in self._parts:
            self._parts[key] = make()
        return self._parts[key]

    def _faces_by(self, kind):
        mesh = self._part(("mesh", 0), lambda: Mesh._of_rig(self, 0))
        return _faces_by(mesh, kind)

    @property
    def groups(self) -> typing.Mapping[str, numpy.ndarray]:
        """Groups of faces: names, and the numbers of their faces."""
        return types.MappingProxyType(self._part("groups", lambda: self._faces_by("groups")))

    @property
    def materials(self) -> typing.Mapping[str, numpy.ndarray]:
        """Materials: names, and the numbers of their faces."""
        return types.MappingProxyType(self._part("materials", lambda: self._faces_by("materials")))

    @property
    def clips(self) -> typing.Tuple[str, ...]:
        """Names of the animations that travel in the rig, for exemplar.poses(rig, clip=…); '' where there is none."""
        made = ctypes.POINTER(_abi.ex_scene)()
        checked(author.ex_rig_clips, self._handle.pointer, ctypes.addressof(made))
        if not made:
            return ()
        handle = Handle(made, author.ex_scene_destroy)
        scene = handle.pointer.contents
        return tuple(text_of(scene.animations[i].name) for i in range(scene.animation_count))

    @property
    def skin(self) -> typing.Optional[typing.Tuple[numpy.ndarray, numpy.ndarray]]:
        """(V, k) joints and (V, k) weights, heaviest first, padded with zeros; None if the skeleton moves nothing."""
        skin = runtime.ex_rig_skin(self._handle.pointer)
        if not skin:
            return None
        count, most = runtime.ex_skin_vertex_count(skin), max(1, runtime.ex_skin_get_info(skin).influence_most)
        joints, weights = numpy.zeros((count, most), dtype="u4"), numpy.zeros((count, most), dtype="f4")
        at, to = joints.ctypes.data, weights.ctypes.data
        for v in range(count):
            runtime.ex_skin_influences(skin, v, at + 4 * most * v, to + 4 * most * v)
        return joints.astype(numpy.int32), weights

    @property
    def skinning(self) -> str:
        """'linear' or 'dual_quaternion'."""
        return text_of(runtime.ex_skinning_name(runtime.ex_rig_skinning(self._handle.pointer)))

    @property
    def storage(self) -> str:
        """'float' or 'short'."""
        return "short" if runtime.ex_rig_storage(self._handle.pointer) == _abi.EX_STORAGE_16_BIT else "float"

    @property
    def driver_reference(self) -> typing.Optional[numpy.ndarray]:
        """(D, 3) the driver at rest, in metres; None for a rig without a driver."""
        return copied(self._driver_at, "f4", (self._driver_count, 3)) if self._driver_count else None

    @property
    def driver_triangles(self) -> typing.Optional[numpy.ndarray]:
        """(T, 3) triangles of the driver; None for a rig without a driver."""
        driver = _abi.ex_rig_driver()
        if not runtime.ex_rig_get_driver(self._handle.pointer, driver, None):
            return None
        return copied(driver.triangles, "u4", (driver.triangle_count, 3)).astype(numpy.int32)

    def delta(self, layer, example) -> numpy.ndarray:
        """(V, 3) an example's difference from the mesh, in metres: what its layer adds with weight 1."""
        layer = self._layer(layer)
        example = self._example(layer, example)
        out = numpy.zeros((self._level_0.vertices, 3), dtype=numpy.float32)
        if layer.domain in ("positions", "offsets", "trajectory"):
            runtime.ex_rig_example_delta(self._handle.pointer, layer.index, example, out.ctypes.data)
            check_misuse()
        return out

    def image(self, layer, example) -> numpy.ndarray:
        """(H, W, 4) an example's image of a layer of pixels."""
        layer = self._layer(layer)
        example = self._example(layer, example)
        number = runtime.ex_rig_layer_texture(self._handle.pointer, layer.index)
        if number < 0:
            raise ValueError(f"the layer {layer.name} has no images")
        texture = runtime.ex_rig_texture(self._handle.pointer, number)
        return copied(runtime.ex_rig_example_image(self._handle.pointer, layer.index, example), "u1",
                      (texture.height, texture.width, 4))

    def points(self, layer) -> typing.Optional[numpy.ndarray]:
        """(examples, numbers) the places of a layer's examples in its space; None if its axes are its weights."""
        layer = self._layer(layer)
        weigher = runtime.ex_rig_weigher(self._handle.pointer, layer.index)
        if not runtime.ex_weigher_get_info(weigher).contents.has_points:
            return None
        width = runtime.ex_weigher_dimension(weigher)
        rows = [copied(runtime.ex_weigher_point(weigher, k), "f8", (width,)) for k in range(len(layer.examples))]
        return numpy.array(rows).reshape(len(rows), width)

    def weigher(self, layer):
        """The Weigher of a layer, to look at, to evaluate, or to edit for evaluate(weighers=…)."""
        from .weigher import Weigher
        layer = self._layer(layer)
        pointer = runtime.ex_rig_weigher(self._handle.pointer, layer.index)
        return Weigher._of(pointer, self._handle, layer.examples, layer.axes)

    def _weigher_handle(self, layer, weigher):
        """The handle of a weigher that may replace a layer's."""
        from .weigher import Weigher
        if not isinstance(weigher, Weigher):
            raise TypeError(f"weighers: '{layer.name}' needs an exemplar.Weigher")
        handle = weigher._handle
        own, other = runtime.ex_rig_weigher(self._handle.pointer, layer.index), handle.pointer
        if not other:
            raise ValueError("weighers: the weigher is closed")

        def of(one):
            info = runtime.ex_weigher_get_info(one).contents
            return (runtime.ex_weigher_example_count(one), runtime.ex_weigher_dimension(one),
                    runtime.ex_weigher_set_weight_count(one), info.is_driven, info.is_predicted)

        if of(own) != of(other):
            raise ValueError(f"weighers: the weigher for '{layer.name}' has another number of examples, axes or sets "
                             "than the layer, or is of another nature (of dials, or of a driver)")
        return handle

    # ---- posing and evaluating ----

    def pose(self, values=None, /, **more) -> Pose:
        """The rest pose with these axes set: rig.pose(elbow=70). Arrays make many poses.

        Names with blanks or signs go into a dict: rig.pose({"left elbow": [0, 30, 60]}). An array (N, C), or (C,), has the
        numbers of all axes, in the order of rig.jacobian_columns(): pose.values is the reverse. One of another width
        may be (N, D), or (D,), the dials alone. For a rig with one axis, a list of N numbers makes N poses.
        """
        made = None
        if values is not None and not isinstance(values, typing.Mapping):
            made = Pose._of_numbers(self, values)
            if not more:
                return made
            values = {}
        values = {**(values or {}), **more}
        counts = set() if made is None else {len(made)}
        for name, value in values.items():
            axis = self._find(name)
            if numpy.ndim(value) > (axis.width > 1):
                counts.add(len(value))
        counts = counts - {1} or counts
        if len(counts) > 1:
            raise ValueError(f"axes have different numbers of poses: {', '.join(str(n) for n in sorted(counts))}")
        count = counts.pop() if counts else 1
        if made is None:
            made = Pose(self, count)
        elif len(made) != count:
            made = made[[0] * count]
        return made.set(values)

    def _poses(self, poses, driver=None, elapsed=None):
        """What a caller gives as poses, as a Pose."""
        from .motion import RigMotion
        if isinstance(poses, RigMotion):
            poses = poses.pose
        if isinstance(poses, Pose):
            pose = poses
        elif poses is None:
            pose = Pose(self)
        elif isinstance(poses, (list, tuple)) and poses and all(isinstance(one, Pose) for one in poses):
            pose = Pose.concatenate(poses)
        elif isinstance(poses, typing.Mapping):
            pose = self.pose(poses)
        else:
            pose = Pose._of_numbers(self, poses)
        if pose._handle is not self._handle:
            raise TypeError("poses must come from rig.pose of this rig")
        if driver is None and elapsed is None:
            return pose
        more = Pose(self, driver=driver, elapsed=elapsed)
        if len(more) not in (1, len(pose)) and len(pose) != 1:
            raise ValueError(f"there are {len(pose)} poses and {len(more)} forms of the driver")
        count = max(len(pose), len(more)) if len(pose) and len(more) else 0
        made = pose._part(0, 0 if len(pose) == 1 else 1, count)  # one row for all, where there is one
        step = 0 if len(more) == 1 else 1
        if driver is not None:
            made._driver = more._driver.part(0, step)
        if elapsed is not None:
            made._elapsed = more._elapsed.part(0, step)
        return made

    def evaluate(self, poses=None, *, positions: bool = True, normals: bool = False, tangents: bool = False,
                 weights: bool = False, box: bool = False, level: typing.Union[int, str] = 0, split: bool = False,
                 textures=False, weighers=None, muted=None, driver=None, elapsed=None, unskinned: bool = False,
                 unsettled: bool = False, report: bool = False, threads: typing.Optional[int] = 1,
                 out=None) -> typing.Union[numpy.ndarray, Outputs]:
        """Evaluates poses: positions (N, V, 3) floats in metres.

        poses: a Pose, a list of these, a dict of axes and values, an array (N, C) of the numbers of all axes as rig.pose
        takes it, a RigMotion, or None for rest.

        Asked for more, the result is a tuple with attributes: positions and normals (N, V, 3); tangents (N, V, 4) with
        the sign of the bitangent; weights (N, E) of the examples of all layers; box (N, 2, 3) with the ends of each
        form; textures, a dict of arrays (N, H, W, 4) of bytes, of which textures= may name some; and report, on a
        driven rig. positions=False leaves the positions out. A single output comes as it is.

        level: 0 or 'cage' the mesh, 1 and up refined levels, 'limit' the limit surface. split: vertices that are split for
        display (rig.split(level)). weighers: a dict of layers and the weighers to use instead. muted:
        layers to leave out; without it, those that the author muted. driver (N, D, 3): forms of the driver in metres.
        elapsed: seconds since the frame before, for rigs that follow motion (see player). unskinned, unsettled: leave
        stages out. threads: how many work at once, None for all processors; the result does not depend on it. out: an
        array to write positions to, or a dict of arrays, or what an earlier call returned. Vertices may be any multiple
        of 4 bytes apart, so parts of larger arrays are fine; their coordinates are packed.
        """
        if poses.__class__ is Pose and poses._count == 1 and positions is True and normals is False \
                and weights is False and level.__class__ is int and level == 0 and tangents is False and box is False \
                and textures is False and split is False and weighers is None and muted is None and driver is None \
                and elapsed is None and unskinned is False and unsettled is False and report is False \
                and threads.__class__ is int and threads == 1:
            handle, plain = self._handle, self._level_0
            if poses._handle is not handle:
                raise TypeError("poses must come from rig.pose of this rig")
            if out is None:
                made = _EMPTY(plain.shape, _FLOAT)
            elif out.__class__ is _ARRAY and out.dtype is _FLOAT and out.shape == plain.shape and out.flags.carray:
                made = out
            else:
                made = None
            if made is not None and poses._driver is None and poses._elapsed is None:
                room = take_room()
                try:
                    if room.size < plain.scratch:
                        room.reserve(plain.scratch)
                    pose, output = room.pose, room.output
                    pose.inputs, pose.joints = poses._at_dials, poses._at_joints
                    output.positions = _ADDRESS(_BYTE(made))
                    evaluate_one(handle.pointer, room.at_pose, room.at_output, None, room.at_scratch)
                finally:
                    room.give_back()
                return made
        pose = self._poses(poses, driver, elapsed)
        request = Request(self, len(pose), positions=positions, normals=normals, tangents=tangents, weights=weights,
                          box=box, level=level, split=split, textures=textures, weighers=weighers, muted=muted,
                          unskinned=unskinned, unsettled=unsettled, report=report, threads=threads, out=out)
        request.run(pose)
        return request.result()

    def iterate(self, poses, *, chunk: int = 256, **options) -> typing.Iterator:
        """Evaluates many poses in chunks: yields (begin, result) with the result of evaluate for poses begin to begin +
        chunk. The arrays of a chunk are used for the next one: copy what you keep."""
        chunk = whole(chunk, "chunk", 1, 2 ** 31 - 1)
        driver, elapsed = options.pop("driver", None), options.pop("elapsed", None)
        if "out" in options:
            raise TypeError("iterate has no out: it uses its arrays again")
        pose = self._poses(poses, driver, elapsed)
        return self._iterate(pose, chunk, options)

    def _iterate(self, pose, chunk, options):
        made = None
        for begin in range(0, len(pose), chunk):
            part = pose[begin:begin + chunk]
            reuse = made is not None and len(part) == chunk and not {"report", "textures", "positions"} & set(options)
            made = self.evaluate(part, out=made if reuse else None, **options)
            yield begin, made

    def jacobian(self, poses=None, *, level: typing.Union[int, str] = 0, unskinned: bool = False, weighers=None,
                 muted=None) -> numpy.ndarray:
        """Derivatives of positions by the axes: (V, 3, columns) doubles in metres per unit of the axis (degree, …) at
        one pose, (N, V, 3, columns) at N poses; the rest pose by default.

        A column for each axis in the order of rig.axes, four for a rotation (by the numbers of its quaternion), none for
        a driver: `jacobian_columns` names them. An axis that is read from a joint turns the joint. From formulas,
        through weights, forms and linear skinning. poses, level, weighers, muted: as of evaluate. A Pose of one, a dict
        of single numbers and a row of numbers are one pose; lists of these, arrays (N, columns) and motions are N, also
        if N is 1. unskinned: of the form at rest. A rig with a driver, with dual quaternion skinning, or displaced at
        this level is refused.
        """
        from ._jacobian import jacobian
        return jacobian(self, poses, level, unskinned, weighers, muted)

    def jacobian_columns(self) -> typing.List[str]:
        """Names of the columns of `jacobian`: that of the axis, and for a rotation four: 'shoulder.x' to 'shoulder.w'."""
        from ._jacobian import columns
        return columns(self)

    def show(self, height: int = 400, **options):
        """An interactive view for a notebook, or a page of its own: see exemplar.show."""
        from .show import show
        return show(self, height, **options)

    def _repr_html_(self):
        return self.show()._repr_html_()

    def _repr_png_(self):
        return self.show()._repr_png_()

    def player(self) -> "Player":
        """One character that is evaluated frame after frame."""
        return Player(self)

    # ---- saving ----

    def save(self, path) -> None:
        """Writes the rig file, .glb."""
        self._packable()
        if not path_bytes(path).lower().endswith(b".glb"):
            raise ValueError(f"'{os.fsdecode(path)}' does not end in .glb, the only kind that can be written here")
        unit, z_up = self._form_axes
        axes = _abi.ex_form_axes(unit=unit, z_up=z_up)
        checked(author.ex_rig_write_for, path_bytes(path), self._handle.pointer, axes)

    def to_bytes(self) -> bytes:
        """The rig as the bytes of a rig file."""
        self._packable()
        with tempfile.TemporaryDirectory(prefix="exemplar") as folder:
            path = pathlib.Path(folder) / "rig.glb"
            self.save(path)
            return path.read_bytes()

    def _pack(self):
        self._packable()
        size = runtime.ex_rig_pack_size(self._handle.pointer)
        memory = numpy.zeros((size + 7) // 8, dtype=numpy.uint64)
        checked(runtime.ex_rig_pack, self._handle.pointer, address(memory), size)
        return memory.tobytes()[:size]

    def _packable(self):
        if not runtime.ex_rig_pack_size(self._handle.pointer):
            raise ValueError("a rig in 'short' storage, or loaded without its levels, cannot be written: load it with "
                             "storage='float' and levels=True")

    def __reduce__(self):
        return _unpacked, (self._pack(), self._form_axes)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def _unpacked(data, axes):
    rig = Rig._unpack(data)
    rig._form_axes = axes
    return rig


class Player:
    """One character, evaluated frame after frame. A driven rig is then faster, and layers that follow motion know it.

    >>> player = rig.player()
    >>> for form in body_forms:
    ...     cloth = player.evaluate(driver=form, elapsed=1 / 60)[0]
    """

    def __init__(self, rig: Rig) -> None:
        if not isinstance(rig, Rig):
            raise TypeError("a player needs a rig")
        self.rig, self._lock = rig, threading.Lock()
        self._size = runtime.ex_rig_state_size(rig._handle.pointer)
        self._handle = rig._handle
        self._state = numpy.zeros(self._size // 8 + 9, dtype=numpy.float64)
        self._at = (address(self._state) + 63) // 64 * 64

    def reset(self) -> None:
        """Forgets the past: the next frame is a cut."""
        with self._lock:
            ctypes.memset(self._at, 0, self._size)

    def evaluate(self, poses=None, **options):
        """As rig.evaluate, but many poses are frames one after the other. elapsed: seconds from each to the next."""
        rig = self.rig
        if rig._handle is not self._handle:
            raise TypeError("the player's rig was exchanged")
        pose = rig._poses(poses, options.pop("driver", None), options.pop("elapsed", None))
        defaults = dict(positions=True, normals=False, tangents=False, weights=False, box=False, level=0, split=False,
                        textures=False, weighers=None, muted=None, unskinned=False, unsettled=False, report=False,
                        threads=1, out=None)
        unknown = [name for name in options if name not in defaults]
        if unknown:
            raise TypeError(f"evaluate has no option '{unknown[0]}'")
        request = Request(rig, len(pose), **{**defaults, **options})
        with self._lock:
            request.run(pose, self._at if self._size else None)
        return request.result()

    def __repr__(self):
        return f"<exemplar.Player of {self.rig!r}>"
