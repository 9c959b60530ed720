"""Forms: the surface of a rig at a pose, as a mesh or as a file with its materials and textures."""
from __future__ import annotations

import ctypes
import os
import typing

import numpy

from . import _abi
from ._arrays import address, take
from ._given import choice, flag, number
from ._library import author, check_misuse, checked, path_bytes, runtime, text_of
from ._work import tasks
from .bake import layer_mask, level_number
from .mesh import Mesh
from .motion import as_rig
from .rig import Pose, Rig

_SCENES = (b".glb", b".gltf")
_ENDINGS = _SCENES + (b".obj", b".ply")


class _Form:
    """One evaluated pose: positions and normals (V, 3), and textures (H, W, 4) or None for each of the rig's."""

    def __init__(self, rig, pose, level, mute, normals, wanted, threads):
        pointer = rig._handle.pointer
        pose = rig.pose() if pose is None else rig.pose().set(pose) if isinstance(pose, typing.Mapping) else pose
        if not isinstance(pose, Pose) or pose._rig._handle is not rig._handle:
            raise TypeError("pose must come from rig.pose of this rig")
        if len(pose) != 1:
            raise ValueError(f"a form has one pose; these are {len(pose)}")
        self.level = runtime.ex_rig_level(pointer) if level is None else level_number(rig, level)
        count = runtime.ex_rig_level_vertex_count(pointer, self.level)
        muted = layer_mask(rig, mute)
        self.positions = numpy.empty((count, 3), dtype=numpy.float32)
        self.normals = numpy.empty((count, 3), dtype=numpy.float32) if normals else None
        self.textures = []
        for i in range(runtime.ex_rig_texture_count(pointer)):
            texture = runtime.ex_rig_texture(pointer, i)
            shape = texture.height, texture.width, 4
            self.textures.append(numpy.empty(shape, dtype=numpy.uint8) if wanted(texture.name) else None)
        self.pixels = (ctypes.c_void_p * max(1, len(self.textures)))(
            *[None if texture is None else address(texture) for texture in self.textures])
        one = _abi.ex_pose()
        dials = numpy.array(take(pose.dials, "f8", (1, rig._pose_size), "pose.dials"))
        if dials.size:
            one.inputs = address(dials)
        if rig._joint_count:
            joints = numpy.array(take(pose.joints, "f4", (1, rig._joint_count, 10), "pose.joints"))
            one.joints = ctypes.cast(address(joints), ctypes.POINTER(_abi.ex_transform))
        driver = getattr(pose, "driver", None)
        if driver is not None:
            own = _abi.ex_rig_driver()
            runtime.ex_rig_get_driver(pointer, ctypes.byref(own), None)
            driver = numpy.array(take(driver, "f4", (1, own.driver.vertex_count, 3), "pose.driver"))
            one.driver = address(driver)
        output = _abi.ex_output(positions=address(self.positions), textures=ctypes.addressof(self.pixels))
        if normals:
            output.normals = address(self.normals)
        with tasks(threads) as hook:
            how = _abi.ex_evaluation(muted=address(muted), level=self.level, tasks=hook)
            scratch = ctypes.create_string_buffer(runtime.ex_rig_scratch_size(pointer, ctypes.byref(how), 1) + 16)
            runtime.ex_rig_evaluate(pointer, ctypes.byref(one), ctypes.byref(output), ctypes.byref(how), scratch)
            check_misuse()
        if not numpy.isfinite(self.positions).all():
            wrong = int(numpy.nonzero(~numpy.isfinite(self.positions).all(axis=1))[0][0])
            raise ValueError(f"vertex {wrong} of this pose is too far away for a float")

    def mesh(self, rig):
        surface = _abi.ex_surface(level=self.level, positions=address(self.positions))
        if self.normals is not None:
            surface.normals = address(self.normals)
        return Mesh._made(author.ex_rig_to_mesh, rig._handle.pointer, ctypes.byref(surface))


def form(rig, pose: typing.Union[Pose, typing.Mapping, None] = None, *, level: typing.Union[str, int, None] = None,
         muted: typing.Union[str, typing.Sequence[str]] = (), normals: bool = True,
         threads: typing.Optional[int] = 1) -> Mesh:
    """The surface of a rig at one pose, as a mesh in metres with y up: with the polygons, texture coordinates, groups,
    materials and colours of the rig's mesh, and with normals unless that is False. pose: of rig.pose,
    {axis: value}, or None for rest. level: 'cage', a number, or 'limit'; None: the level that the project shows.
    muted: names of layers to leave out."""
    rig = as_rig(rig)
    return _Form(rig, pose, level, muted, flag(normals, "normals"), lambda name: False, threads).mesh(rig)


def write_form(rig: typing.Union[Rig, str, os.PathLike], path, pose: typing.Union[Pose, typing.Mapping, None] = None, *,
               level: typing.Union[str, int, None] = None, muted: typing.Union[str, typing.Sequence[str]] = (),
               normals: bool = True, textures: bool = False, unit: typing.Optional[float] = None,
               up: typing.Optional[str] = None, threads: typing.Optional[int] = 1) -> None:
    """Writes the surface of a rig at one pose, as `exemplar pose` does: .obj, .ply, .glb or .gltf.

    A .glb or .gltf is in metres with y up and has the rig's materials, with the textures as they are at the pose. The
    others are in `unit` metres, with `up` 'y' or 'z'; None: those of the project that the rig was
    built from. textures: write the other textures too, beside the form as NAME.base_color.png.
    """
    name = path_bytes(path)
    if not name.lower().endswith(_ENDINGS):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .obj, .ply, .glb or .gltf, the kinds that can be "
                         "written here")
    is_scene, textures, normals = name.lower().endswith(_SCENES), flag(textures, "textures"), flag(normals, "normals")
    axes = _abi.ex_form_axes()
    if isinstance(rig, Rig):
        axes.unit, axes.z_up = rig._form_axes
    else:
        rig, source = as_rig(rig), path_bytes(rig)
        checked(author.ex_rig_read_axes, source, ctypes.byref(axes))
    if unit is not None:
        axes.unit = number(unit, "unit", above=0)
    if up is not None:
        axes.z_up = choice(up, "up", ("y", "z")) == "z"
    made = _Form(rig, pose, level, muted, normals,
                 lambda texture: textures or is_scene and author.ex_texture_is_shown(texture), threads)
    mesh = made.mesh(rig)
    given = mesh._to_c()
    if not is_scene:
        author.ex_mesh_to_axes(given.pointer, axes)
    if name.lower().endswith(b".obj"):
        _shorten(given.pointer.contents, axes.unit in (0, 1), normals)
        checked(author.ex_obj_write, name, given.pointer)
    else:
        checked(author.ex_form_write, name, rig._handle.pointer, given.pointer, ctypes.addressof(made.pixels))
    for i, pixels in enumerate(made.textures):
        texture = text_of(runtime.ex_rig_texture(rig._handle.pointer, i).name)
        if pixels is None or is_scene and author.ex_texture_is_shown(texture.encode("utf-8")):
            continue
        image = _abi.ex_image(width=pixels.shape[1], height=pixels.shape[0], pixels=address(pixels))
        beside = os.path.splitext(os.fsdecode(name))[0] + "." + texture.replace("/", ".") + ".png"
        checked(author.ex_image_write, os.fsencode(beside), ctypes.byref(image))


def _shorten(mesh, is_metres, normals):
    """Numbers of a text file, with the digits that a float can have."""
    positions = _view(mesh.positions, 3 * mesh.vertex_count)
    if is_metres:
        positions[:] = positions.astype("f4").astype("U32").astype("f8")
    else:
        positions[:] = [float(f"{value:.10g}") for value in positions.tolist()]
    if normals and mesh.normal_count:
        values = _view(mesh.normals, 3 * mesh.normal_count)
        values[:] = values.astype("f4").astype("U32").astype("f8")


def _view(at, count):
    """The library's numbers at an address, in place."""
    memory = (ctypes.c_double * count).from_address(at) if count else b""
    return numpy.frombuffer(memory, dtype=numpy.float64)
