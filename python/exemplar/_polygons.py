"""Polygons between numpy and the authoring library's ex_mesh."""
from __future__ import annotations

import ctypes

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._given import free
from ._library import author, checked

MOST = (2 ** 31 - 1) // 64


def vertices_of(values, kind="f8", name="vertices"):
    """(V, 3) finite numbers."""
    made = take(values, kind, (None, 3), name)
    if not 1 <= len(made) <= MOST:
        raise ValueError(f"{name}: there are {len(made)}; a mesh has 1 to {MOST}")
    if not numpy.isfinite(made).all():
        bad = int(numpy.flatnonzero(~numpy.isfinite(made).all(1))[0])
        raise ValueError(f"{name}: vertex {bad}, counting from 0, is not finite")
    return made


def mesh_of(mesh, faces):
    """(vertices, faces, tags) of a Mesh, of a tuple, of what has vertices and faces, or of these as two arguments."""
    if faces is not None:
        return mesh, faces, ()
    if isinstance(mesh, (tuple, list)) and len(mesh) == 2:
        return mesh[0], mesh[1], ()
    if not isinstance(mesh, type) and getattr(mesh, "vertices", None) is not None and hasattr(mesh, "faces"):
        return mesh.vertices, mesh.faces, getattr(mesh, "tags", None) or ()
    raise TypeError("faces are missing: give a Mesh, a tuple (vertices, faces), or vertices and faces")


def sharp_of(tags, creases, corners):
    """creases and corners of a caller, or where there are none those of a mesh's tags."""
    if creases is None:
        creases = {tuple(tag.ints[:2]): tag.floats[0] for tag in tags
                   if tag.name == "crease" and len(tag.ints) == 2 and tag.floats} or None
    if corners is None:
        corners = {tag.ints[0]: tag.floats[0] for tag in tags
                   if tag.name == "corner" and len(tag.ints) == 1 and tag.floats} or None
    return creases, corners


def faces_of(faces, vertex_count):
    """Offsets (F + 1,) and corners (C,) of faces: (F, n) whole numbers, or a list of lists of vertices from 0."""
    if isinstance(faces, (str, bytes)) or not hasattr(faces, "__len__"):
        raise TypeError("faces must be an array (F, n), or a list of lists of vertices")
    if not len(faces):
        return numpy.zeros(1, dtype=numpy.int32), numpy.zeros(0, dtype=numpy.int32)
    if isinstance(faces, numpy.ndarray) and faces.dtype != object:
        rows = take(faces, "i4", (None, None), "faces")
        sizes, corners = numpy.full(len(rows), rows.shape[1]), rows.reshape(-1)
    else:
        lists = [take(face, "i4", (None,), f"faces[{i}]") for i, face in enumerate(faces)]
        sizes, corners = numpy.array([len(face) for face in lists]), numpy.concatenate(lists)
    if sizes.min() < 3:
        raise ValueError(f"faces: face {int(sizes.argmin())}, counting from 0, has {int(sizes.min())} corners; a face "
                         "has 3 or more")
    if corners.min() < 0 or corners.max() >= vertex_count:
        raise ValueError(f"faces: vertices must be 0 to {vertex_count - 1}; there is {int(corners.min())} to "
                         f"{int(corners.max())}")
    if len(corners) > MOST:
        raise ValueError("faces: there are more corners than a mesh can have")
    offsets = numpy.zeros(len(sizes) + 1, dtype=numpy.int32)
    offsets[1:] = numpy.cumsum(sizes)
    return offsets, numpy.ascontiguousarray(corners, dtype=numpy.int32)


def faces_from(offsets, corners):
    """Faces as an array (F, n) if all have n corners, else as a list of arrays."""
    sizes = numpy.diff(offsets)
    if len(sizes) and (sizes == sizes[0]).all():
        return corners.reshape(-1, int(sizes[0]))
    return numpy.split(corners, offsets[1:-1]) if len(sizes) else numpy.zeros((0, 3), dtype=numpy.int32)


class Polygons:
    """An ex_mesh over arrays of Python, which the library only reads. texcoords: origin at the bottom left."""

    def __init__(self, vertices, offsets, corners, texcoords=None, corner_texcoords=None, creases=None,
                 corner_sharpness=None):
        self.vertices = numpy.ascontiguousarray(vertices, dtype=numpy.float64)
        self.offsets, self.corners = offsets, corners
        self.texcoords, self.corner_texcoords = texcoords, corner_texcoords
        self.struct = _abi.ex_mesh(vertex_count=len(self.vertices), positions=address(self.vertices),
                                   face_count=len(offsets) - 1, face_offsets=address(offsets),
                                   corner_count=len(corners), corners=address(corners))
        if texcoords is not None:
            self.struct.texcoord_count, self.struct.texcoords = len(texcoords), address(texcoords)
            self.struct.corner_texcoords = address(corner_texcoords)
        self._kept = []
        tags = [("crease", pair, sharpness) for pair, sharpness in _creases(creases, len(self.vertices))]
        tags += [("corner", [vertex], sharpness)
                 for vertex, sharpness in _corners(corner_sharpness, len(self.vertices))]
        if tags:
            made = (_abi.ex_tag * len(tags))()
            for tag, (name, ints, sharpness) in zip(made, tags):
                numbers, value = (ctypes.c_int * len(ints))(*ints), ctypes.c_double(sharpness)
                tag.name, tag.int_count, tag.float_count = name.encode(), len(ints), 1
                tag.ints, tag.floats = ctypes.addressof(numbers), ctypes.addressof(value)
                self._kept += [numbers, value]
            self._kept.append(made)
            self.struct.tag_count, self.struct.tags = len(tags), made

    def triangles(self):
        """(T, 3) numbers of corners."""
        made, count = ctypes.c_void_p(), ctypes.c_int()
        checked(author.ex_mesh_triangulate, self.struct, ctypes.byref(made), ctypes.byref(count))
        try:
            return copied(made, "i4", (count.value, 3))
        finally:
            free(made)


def _sharpness(value, name):
    number = float(take(value, "f8", (), name))
    if not number >= 0:
        raise ValueError(f"{name} is {number}; it must be 0 or more (10 is sharp for ever)")
    return min(number, 1e6)


def _creases(creases, vertex_count):
    """[((a, b), sharpness)] of a dict {(a, b): sharpness}, or of rows a, b, sharpness."""
    if creases is None:
        return []
    if isinstance(creases, dict):
        rows = []
        for pair, value in creases.items():
            rows.append((take(pair, "i4", (2,), "creases"), _sharpness(value, "a sharpness")))
    else:
        given = numpy.asarray(creases)
        if not given.size:
            return []
        table = take(creases, "f8", (None, 3), "creases: rows of two vertices and a sharpness, which")
        rows = [(take(row[:2], "i4", (2,), "creases"), _sharpness(row[2], "a sharpness")) for row in table]
    for pair, _ in rows:
        if pair.min() < 0 or pair.max() >= vertex_count:
            raise ValueError(f"creases: vertices must be 0 to {vertex_count - 1}")
    return [((int(pair[0]), int(pair[1])), value) for pair, value in rows]


def _corners(corners, vertex_count):
    """[(vertex, sharpness)] of a dict."""
    if corners is None:
        return []
    if not isinstance(corners, dict):
        raise TypeError("corners must be a dict of vertices and sharpness")
    made = []
    for vertex, value in corners.items():
        number = int(take(vertex, "i4", (), "corners"))
        if not 0 <= number < vertex_count:
            raise ValueError(f"corners: vertices must be 0 to {vertex_count - 1}")
        made.append((number, _sharpness(value, "a sharpness")))
    return made


def texcoords_of(texcoords, corner_texcoords, vertex_count, corners):
    """Texture coordinates (T, 2), and the one of each corner: given, or one for each vertex or for each corner."""
    if texcoords is None:
        if corner_texcoords is not None:
            raise ValueError("corner_texcoords need texcoords")
        return None, None
    places = take(texcoords, "f8", (None, 2), "texcoords")
    if not numpy.isfinite(places).all():
        raise ValueError("texcoords has numbers that are not finite")
    if corner_texcoords is not None:
        numbers = take(corner_texcoords, "i4", (len(corners),), "corner_texcoords")
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(places)):
            raise ValueError(f"corner_texcoords must be 0 to {len(places) - 1}")
        return places, numpy.array(numbers)
    if len(places) == vertex_count:
        return places, numpy.array(corners)
    if len(places) == len(corners):
        return places, numpy.arange(len(corners), dtype=numpy.int32)
    raise ValueError(f"texcoords: there are {len(places)}, but {vertex_count} vertices and {len(corners)} corners: "
                     "give one for each of these, or corner_texcoords")
