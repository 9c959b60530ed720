"""Keys of a rig that follows a driver: list, add, remove."""
from __future__ import annotations

import ctypes
import math
import os
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._driven import database_value, driven_rig
from ._given import flag, names as given_names, number, text as given_text, whole
from ._library import Handle, author, checked, path_bytes, text_of
from .cache import Cache, Stage, in_memory
from .mesh import as_mesh
from .rig import Rig


class Key(typing.NamedTuple):
    """A key of a rig. Distances are root mean squares over the driver's surface, in metres, in the same place:
    from_mesh, from the driver's mesh; distance, to the nearest other key of the same database, None if there is
    none."""
    name: str
    database: typing.Optional[float]
    from_mesh: float
    nearest: typing.Optional[str]
    distance: typing.Optional[float]
    driver: numpy.ndarray
    """(V, 3) floats: the form of the driver."""
    driven: numpy.ndarray
    """(V, 3) floats: the form of the driven mesh."""


class _Set:
    """The definition that a driven rig was built from."""

    def __init__(self, rig):
        made = ctypes.c_void_p()
        checked(author.ex_drive_open, rig._handle.pointer, ctypes.byref(made))
        self._rig, self._handle = rig, Handle(made.value, author.ex_drive_close)
        self.struct = author.ex_drive_get_def(self._handle.pointer).contents
        self.keys = [self.struct.keys[k] for k in range(self.struct.key_count)]
        self.names = [text_of(key.name) for key in self.keys]

    def changed(self, keys):
        """The definition with other keys; valid as long as this object and the keys."""
        made = _abi.ex_drive_def.from_buffer_copy(self.struct)
        self._kept = (_abi.ex_drive_key * len(keys))(*keys)
        made.key_count, made.keys = len(keys), self._kept
        return made


def _build(made):
    rig = ctypes.c_void_p()
    checked(author.ex_drive_build, ctypes.byref(made), ctypes.byref(rig))
    return Rig._own(rig.value)


def keys(rig) -> typing.List[Key]:
    """The keys of a driven rig, and how far they are from each other. If two are close, one may be unnecessary."""
    rig = driven_rig(rig)
    own = _Set(rig)
    distances = (_abi.ex_key_distance * max(1, len(own.keys)))()
    checked(author.ex_key_distances, ctypes.byref(own.struct), distances)
    sizes = own.struct.driver.contents.vertex_count, own.struct.driven.contents.vertex_count
    return [Key(name, key.database if own.struct.database_axis else None, d.from_mesh,
                own.names[d.nearest] if d.nearest >= 0 else None, d.distance if d.nearest >= 0 else None,
                copied(key.driver, "f4", (sizes[0], 3)), copied(key.driven, "f4", (sizes[1], 3)))
            for name, key, d in zip(own.names, own.keys, distances)]


def _key_form(value, what, mesh, at, scale):
    """Positions (V, 3) from a mesh, a path, an array (V, 3), or a frame of an animation; and a name for sentences."""
    count, shown = mesh.contents.vertex_count, what
    if at is not None:
        with Stage() as stage:
            path = stage.cache(value, what)
            shown = what if in_memory(value) else os.fsdecode(path)
            with Cache(path) as cache:
                if cache.vertex_count != count:
                    raise ValueError(f"{shown} has {cache.vertex_count} vertices, but the {what} mesh has {count}")
                form = cache.read(at)
    elif isinstance(value, numpy.ndarray) or isinstance(value, (tuple, list)) and len(value) != 2:
        form = take(value, "f4", (count, 3), what)
    else:
        if isinstance(value, (str, bytes, os.PathLike)):
            shown = os.fsdecode(path_bytes(value))
            if author.ex_cache_kind_of(path_bytes(value)) not in (_abi.EX_CACHE_OBJ, _abi.EX_CACHE_KIND_COUNT):
                raise ValueError(f"'{shown}' is a cache: give the frame with at")
        given = as_mesh(value, what)
        if given.vertex_count != count:
            raise ValueError(f"{shown} has {given.vertex_count} vertices, but the {what} mesh has {count}")
        if given.face_count == mesh.contents.face_count:  # a .glb has split its quads
            checked(author.ex_mesh_compare_connectivity, mesh, given._to_c().pointer)
        form = given.vertices.astype(numpy.float32)
    made = numpy.ascontiguousarray((number(scale, f"{what}_scale", above=0) * form.astype(float)), dtype="f4")
    if not numpy.isfinite(made).all():
        raise ValueError(f"{what}: numbers must be finite")
    return made, shown


def add(rig, driver, driven, *, at: typing.Optional[int] = None, name: typing.Optional[str] = None, database=None,
        driver_scale: float = 1, driven_scale: float = 1, force: bool = False) -> Rig:
    """A rig with one more key: a pair of forms (a Mesh, a path, or positions (V, 3)), or frame `at` of a pair of
    animations, counting from 0. name: None for the name of the driven form's file, or frame_NNN counting from 1.
    database: the cloth of the key, if the rig has several. force: take forms of another size, or far from each
    other."""
    rig = driven_rig(rig)
    own = _Set(rig)
    at = None if at is None else whole(at, "at")
    value = database_value(rig, database)
    axis = text_of(own.struct.database_axis)
    if axis and math.isnan(value):
        raise ValueError(f"the rig has databases along '{axis}': give database")
    if name is None:
        name = f"frame_{at + 1:03d}" if at is not None else None
        if name is None and isinstance(driven, (str, bytes, os.PathLike)):
            name = os.path.splitext(os.path.basename(os.fsdecode(driven)))[0]
        if name is None:
            raise ValueError("give the key a name")
    called = given_text(name, "name", empty=True)
    if name in own.names:
        raise ValueError(f"there is already a key '{name}': give this one another name")
    force = flag(force, "force")
    driver_form, driver_name = _key_form(driver, "driver", own.struct.driver, at, driver_scale)
    driven_form, driven_name = _key_form(driven, "driven", own.struct.driven, at, driven_scale)
    key = _abi.ex_drive_key(name=called, driver=address(driver_form), driven=address(driven_form),
                            database=0 if math.isnan(value) else value)
    made = own.changed(own.keys + [key])
    if not force:
        checked(author.ex_drive_check_fit, ctypes.byref(made), ctypes.byref(key), os.fsencode(driver_name),
                os.fsencode(driven_name))
    return _build(made)


def remove(rig, names) -> Rig:
    """A rig without some keys, by name."""
    rig = driven_rig(rig)
    own = _Set(rig)
    names = [names] if isinstance(names, str) else given_names(names, "names")
    for name in names:
        if name not in own.names:
            raise KeyError(f"the rig has no key '{name}'; there are {', '.join(own.names)}")
    if len(set(names)) < len(names):
        raise ValueError("a key is given twice")
    left = [key for key, name in zip(own.keys, own.names) if name not in names]
    if not left:
        raise ValueError("a rig needs at least one key, and these are all it has")
    return _build(own.changed(left))
