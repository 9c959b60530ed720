"""Meshes: polygons, texture coordinates, groups and more. Reads OBJ, PLY, OFF, glTF, Alembic; writes OBJ, PLY, glTF."""
from __future__ import annotations

import ctypes
import os
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._given import choice, free, names as given_names, number, text as given_text
from ._library import Handle, author, check_misuse, checked, path_bytes, runtime, text_of

_MOST = 2 ** 31 - 1


class Tag(typing.NamedTuple):
    """A subdivision tag of an OBJ file: its name ('crease', 'corner', 'hole' …), whole numbers (vertices from 0),
    numbers and words."""
    name: str
    ints: tuple = ()
    floats: tuple = ()
    strings: tuple = ()


class MeshDifference(typing.NamedTuple):
    """Differences of two meshes. Distances are in the meshes' unit; None where the numbers of vertices differ."""
    same: bool
    """True if nothing differs."""
    first_face: typing.Optional[int]
    """The first face with other corners, or that only one of them has; None: the faces are the same."""
    moved_count: typing.Optional[int]
    """Vertices farther apart than the tolerance."""
    farthest_vertex: typing.Optional[int]
    farthest: typing.Optional[float]
    rms: typing.Optional[float]
    colours: bool
    """True if these differ, like all that follow."""
    texcoords: bool
    normals: bool
    groups: bool
    materials: bool
    tags: bool


def _indices(values, count, most, name, least=-1):
    """(count,) whole numbers from least up to, not including, most."""
    numbers = take(values, "i4", (count,), name)
    if numbers.size and (numbers.min() < least or numbers.max() >= most):
        raise ValueError(f"{name}: numbers must be {least} to {most - 1}")
    return numpy.array(numbers)


def _face_arrays(faces):
    """Offsets (F + 1,) and corners (C,) of faces: an array (F, n), or a sequence of sequences."""
    if isinstance(faces, numpy.ndarray) and faces.dtype != object or not len(faces):
        numbers = numpy.asarray(faces)
        if numbers.size == 0 and numbers.ndim < 2:
            numbers = numpy.zeros((0, 3), dtype=numpy.int32)
        corners = take(numbers, "i4", (None, None), "faces")
        sizes = numpy.full(len(corners), corners.shape[1], dtype=numpy.int64)
    else:
        try:
            rows = [numpy.asarray(face) for face in faces]
        except Exception as error:
            raise ValueError(f"faces: this is no list of faces ({error})") from None
        for i, row in enumerate(rows):
            if row.ndim != 1 or row.dtype.kind not in "iu" and not (row.dtype.kind == "f" and row.size):
                raise ValueError(f"faces: face {i}, counting from 0, is no list of vertices")
        sizes = numpy.fromiter((len(row) for row in rows), dtype=numpy.int64, count=len(rows))
        corners = numpy.concatenate(rows) if rows else numpy.zeros(0, dtype=numpy.int32)
        corners = take(corners, "i4", (None,), "faces")
    if sizes.size and sizes.min() < 3:
        raise ValueError(f"faces: face {int(sizes.argmin())}, counting from 0, has {int(sizes.min())} corners; a face "
                         "has 3 or more")
    if sizes.sum() > _MOST:
        raise ValueError("faces: there are more corners than a mesh can have")
    offsets = numpy.zeros(len(sizes) + 1, dtype=numpy.int32)
    offsets[1:] = numpy.cumsum(sizes)
    return offsets, numpy.array(corners, dtype=numpy.int32).reshape(-1)


class _Borrowed:
    """An ex_mesh over arrays of Python, in `pointer`, which keeps them. The library must not free it."""
    __slots__ = ("pointer",)

    def __init__(self, struct, kept):
        struct._kept = kept
        self.pointer = ctypes.pointer(struct)


class Mesh:
    """A polygon mesh.

    vertices: (V, 3). faces: (F, 3) or (F, 4), or a list of lists of vertices, counting from 0. Optional:
    texcoords (T, 2), origin at the bottom left, with corner_texcoords (C,) that gives each corner of each face its
    number, -1 for none; without it there is one for each vertex, or one for each corner. normals (N, 3) with
    corner_normals, likewise. colours (V, 3) from 0 to 1. groups: names, with face_groups (F,), -1 for none.
    materials, face_materials, likewise. material_library: the file that an OBJ names. tags: a list of Tag.

    A mesh unpacks to a tuple that other packages take: vertices, triangles = mesh.
    """

    def __init__(self, vertices, faces=(), texcoords=None, *, corner_texcoords=None, normals=None, corner_normals=None,
                 colours=None, groups=(), face_groups=None, materials=(), face_materials=None,
                 material_library: typing.Optional[str] = None, tags: typing.Iterable[Tag] = ()) -> None:
        if isinstance(vertices, (tuple, list)) and len(vertices) == 2 and not len(faces) and numpy.ndim(vertices[0]) == 2:
            vertices, faces = vertices
        elif not isinstance(vertices, (numpy.ndarray, Mesh)) and hasattr(vertices, "vertices") and hasattr(vertices, "faces"):
            vertices, faces = vertices.vertices, vertices.faces
        elif isinstance(vertices, Mesh):
            raise TypeError("this is a Mesh already: copy() copies it")
        self._vertices = numpy.array(take(vertices, "f8", (None, 3), "vertices"))
        count = len(self._vertices)
        if count > _MOST // 3:
            raise ValueError(f"vertices: {count} are more than a mesh can have")
        try:
            self._offsets, self._corners = _face_arrays(faces)
        except TypeError:
            raise TypeError("faces must be an array (F, 3) or (F, 4), or a list of lists of vertices") from None
        _indices(self._corners, self._corners.size, count, "faces", 0)
        self._finite()
        self._texcoords, self._corner_texcoords = self._of_corners(texcoords, corner_texcoords, 2, "texcoords")
        self._normals, self._corner_normals = self._of_corners(normals, corner_normals, 3, "normals")
        self._colours = None if colours is None else numpy.array(take(colours, "f4", (count, 3), "colours"))
        if self._colours is not None and not (numpy.isfinite(self._colours).all() and
                                              (self._colours >= 0).all() and (self._colours <= 1).all()):
            raise ValueError("colours: numbers must be 0 to 1")
        self._groups, self._face_groups = self._of_faces(groups, face_groups, "groups")
        self._materials, self._face_materials = self._of_faces(materials, face_materials, "materials")
        if material_library is not None:
            given_text(material_library, "material_library", empty=True)
        self.material_library = material_library
        self._tags = [self._tag(tag) for tag in tags]

    def _of_corners(self, values, corners, width, name):
        if values is None:
            if corners is not None:
                raise ValueError(f"corner_{name} needs {name}")
            return None, None
        numbers = numpy.array(take(values, "f8", (None, width), name))
        if not numpy.isfinite(numbers).all():
            raise ValueError(f"{name}: numbers must be finite")
        if corners is not None:
            return numbers, _indices(corners, self._corners.size, len(numbers), f"corner_{name}")
        if len(numbers) == len(self._vertices):
            return numbers, self._corners.copy()
        if len(numbers) == self._corners.size:
            return numbers, numpy.arange(self._corners.size, dtype=numpy.int32)
        raise ValueError(f"{name}: {len(numbers)} are neither one for each of {len(self._vertices)} vertices nor one "
                         f"for each of {self._corners.size} corners; give corner_{name}")

    def _of_faces(self, names, numbers, name):
        names = given_names(names, name)
        if numbers is None:
            return names, None
        return names, _indices(numbers, self.face_count, len(names), f"face_{name}")

    @staticmethod
    def _tag(tag):
        try:
            name, ints, floats, strings = Tag(*tag)
        except TypeError:
            raise TypeError("tags: each is a Tag(name, ints, floats, strings)") from None
        given_text(name, "tags", empty=True)
        ints, floats = take(ints, "i4", (None,), "tags: ints"), take(floats, "f8", (None,), "tags: floats")
        if not numpy.isfinite(floats).all():
            raise ValueError("tags: numbers must be finite")
        return Tag(name, tuple(ints.tolist()), tuple(floats.tolist()), tuple(given_names(strings, "tags: strings")))

    def _finite(self):
        if not numpy.isfinite(self._vertices).all():
            wrong = int(numpy.nonzero(~numpy.isfinite(self._vertices).all(axis=1))[0][0])
            raise ValueError(f"vertices: vertex {wrong}, counting from 0, is not finite")

    # ---- the library's meshes ----

    @classmethod
    def _of(cls, pointer) -> Mesh:
        """A copy of the library's ex_mesh, which stays with its owner."""
        m = pointer.contents
        mesh = cls.__new__(cls)
        corners = m.corner_count

        def optional(at, kind, shape):
            return copied(at, kind, shape) if at else None

        mesh._vertices = copied(m.positions, "f8", (m.vertex_count, 3))
        mesh._offsets = numpy.zeros(1, dtype="i4")
        if m.face_count:
            mesh._offsets = copied(m.face_offsets, "i4", (m.face_count + 1,))
        mesh._corners = copied(m.corners, "i4", (corners,))
        mesh._colours = optional(m.colours, "f4", (m.vertex_count, 3))
        mesh._corner_texcoords = optional(m.corner_texcoords, "i4", (corners,))
        mesh._texcoords = None if mesh._corner_texcoords is None else copied(m.texcoords, "f8", (m.texcoord_count, 2))
        mesh._corner_normals = optional(m.corner_normals, "i4", (corners,))
        mesh._normals = None if mesh._corner_normals is None else copied(m.normals, "f8", (m.normal_count, 3))
        mesh._groups = cls._texts(m.group_names, m.group_count)
        mesh._face_groups = optional(m.face_groups, "i4", (m.face_count,))
        mesh._materials = cls._texts(m.material_names, m.material_count)
        mesh._face_materials = optional(m.face_materials, "i4", (m.face_count,))
        mesh.material_library = text_of(m.material_library) or None
        mesh._tags = [Tag(text_of(t.name), tuple(copied(t.ints, "i4", (t.int_count,)).tolist()),
                          tuple(copied(t.floats, "f8", (t.float_count,)).tolist()),
                          tuple(cls._texts(t.strings, t.string_count))) for t in m.tags[:m.tag_count]]
        return mesh

    @staticmethod
    def _texts(at, count):
        return [text_of(text) for text in (ctypes.c_char_p * count).from_address(at)] if at and count else []

    @classmethod
    def _made(cls, call, *arguments) -> Mesh:
        """The mesh that a function of the library makes: call(*arguments, ex_mesh **, error)."""
        made = ctypes.POINTER(_abi.ex_mesh)()
        checked(call, *arguments, ctypes.byref(made))
        handle = Handle(made, author.ex_mesh_destroy)
        return cls._of(handle.pointer)

    @classmethod
    def _of_rig(cls, rig, level: int = 0, vertices=None) -> Mesh:
        """The mesh of a rig before any layer; for another level the rig at rest, or with these vertices."""
        if level == 0 and vertices is None:
            return cls._made(author.ex_rig_to_mesh, rig._handle.pointer, None)
        count = runtime.ex_rig_level_vertex_count(rig._handle.pointer, level)
        if count == 0:
            raise ValueError(f"the rig has no level {level}")
        vertices = rig.evaluate(level=level)[0] if vertices is None else vertices
        positions = take(vertices, "f4", (count, 3), "vertices")
        surface = _abi.ex_surface(level=level, positions=address(positions))
        return cls._made(author.ex_rig_to_mesh, rig._handle.pointer, ctypes.byref(surface))

    def _to_c(self) -> _Borrowed:
        """An ex_mesh over copies of this mesh's arrays, in `pointer`."""
        self._finite()
        kept = []

        def at(array, kind):
            if array is None:
                return None
            kept.append(numpy.array(array, dtype=kind, order="C") if len(array) else numpy.zeros(1, dtype=kind))
            return address(kept[-1])

        def texts(names):
            kept.append((ctypes.c_char_p * max(1, len(names)))(*[name.encode("utf-8") for name in names]))
            return ctypes.addressof(kept[-1])

        tags = (_abi.ex_tag * max(1, len(self._tags)))()
        kept.append(tags)
        for made, tag in zip(tags, self._tags):
            made.name = tag.name.encode("utf-8")
            made.int_count, made.float_count, made.string_count = len(tag.ints), len(tag.floats), len(tag.strings)
            made.ints, made.floats, made.strings = at(tag.ints, "i4"), at(tag.floats, "f8"), texts(tag.strings)
        mesh = _abi.ex_mesh(
            vertex_count=len(self._vertices), positions=at(self._vertices, "f8"), colours=at(self._colours, "f4"),
            texcoord_count=0 if self._texcoords is None else len(self._texcoords), texcoords=at(self._texcoords, "f8"),
            normal_count=0 if self._normals is None else len(self._normals), normals=at(self._normals, "f8"),
            face_count=self.face_count, face_offsets=at(self._offsets, "i4"), corner_count=self._corners.size,
            corners=at(self._corners, "i4"), corner_texcoords=at(self._corner_texcoords, "i4"),
            corner_normals=at(self._corner_normals, "i4"), group_count=len(self._groups),
            group_names=texts(self._groups), face_groups=at(self._face_groups, "i4"),
            material_count=len(self._materials), material_names=texts(self._materials),
            face_materials=at(self._face_materials, "i4"),
            material_library=given_text(self.material_library, "material_library", empty=True) if self.material_library else None,
            tag_count=len(self._tags), tags=tags)
        return _Borrowed(mesh, kept)

    # ---- files ----

    @classmethod
    def read(cls, path) -> Mesh:
        """Reads a mesh by its ending: .obj, .ply, .off, .gltf, .glb, or the first frame of .abc (FILE.abc:/A/B names
        one mesh of several)."""
        return cls._made(author.ex_mesh_read, path_bytes(path))

    def write(self, path, *, texture=None, precision: str = "double") -> None:
        """Writes .obj, .ply (binary), .gltf or .glb, completely or not at all. texture: (H, W, 4) of uint8, sRGB with
        alpha, from the top row on; a .glb or .gltf shows it on every material. precision: numbers of an .obj read back
        as the same 'double', or have fewer digits and read back as the same 'float', as those that the tool writes."""
        name = path_bytes(path)
        if choice(precision, "precision", ("double", "float")) == "float" and name.lower().endswith(b".obj"):
            self = self.copy()
            for values in (self._vertices, self._normals):
                if values is not None:
                    values[:] = values.astype("f4").astype("U32").astype("f8")
        mesh = self._to_c()
        if texture is None:
            checked(author.ex_mesh_write, name, mesh.pointer)
            return
        pixels = take(texture, "u1", (None, None, 4), "texture")
        if not name.lower().endswith((b".glb", b".gltf")):
            raise ValueError("only a .glb or .gltf file can hold a texture")
        height, width = pixels.shape[:2]
        if not (0 < width <= _abi.EX_IMAGE_MAX and 0 < height <= _abi.EX_IMAGE_MAX):
            raise ValueError(f"texture: sides must be 1 to {_abi.EX_IMAGE_MAX} pixels")
        image = _abi.ex_image(width=width, height=height, pixels=address(pixels))
        checked(author.ex_mesh_write_textured, name, mesh.pointer, ctypes.byref(image))

    # ---- what it has ----

    @property
    def vertices(self) -> numpy.ndarray:
        """(V, 3) doubles, in the unit of the file. You may change them in place, or set all of them."""
        return self._vertices[:]  # a view: another shape of it is not the mesh's

    @vertices.setter
    def vertices(self, values) -> None:
        numbers = numpy.array(take(values, "f8", self._vertices.shape, "vertices"))
        old, self._vertices = self._vertices, numbers
        try:
            self._finite()
        except ValueError:
            self._vertices = old
            raise

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return len(self._vertices)

    @property
    def face_count(self) -> int:
        """The number of faces."""
        return len(self._offsets) - 1

    @property
    def face_sizes(self) -> numpy.ndarray:
        """(F,) the number of corners of each face."""
        return numpy.diff(self._offsets)

    @property
    def corners(self) -> numpy.ndarray:
        """(C,) the vertices of all faces, one face after the other."""
        return self._corners.copy()

    @property
    def faces(self):
        """The vertices of faces, counting from 0: an array (F, n) if all have n corners, else a list of arrays."""
        sizes = self.face_sizes
        if not sizes.size:
            return numpy.zeros((0, 3), dtype=numpy.int32)
        if (sizes == sizes[0]).all():
            return self._corners.reshape(-1, int(sizes[0])).copy()
        return numpy.split(self._corners.copy(), self._offsets[1:-1])

    @property
    def triangles(self) -> numpy.ndarray:
        """(T, 3) the faces cut into triangles of vertices; concave faces are cut well."""
        if self.face_count and (self.face_sizes == 3).all():
            return self._corners.reshape(-1, 3).copy()
        mesh, made, count = self._to_c(), ctypes.c_void_p(), ctypes.c_int()
        checked(author.ex_mesh_triangulate, mesh.pointer, ctypes.byref(made), ctypes.byref(count))
        try:
            return self._corners[copied(made, "i4", (count.value, 3))].reshape(-1, 3)
        finally:
            free(made)

    @property
    def texcoords(self) -> typing.Optional[numpy.ndarray]:
        """(T, 2) texture coordinates, origin at the bottom left; `corner_texcoords` has the number of each corner."""
        return None if self._texcoords is None else self._texcoords.copy()

    @property
    def corner_texcoords(self) -> typing.Optional[numpy.ndarray]:
        """(C,) the texture coordinate of each corner, -1 for none; or None."""
        return None if self._corner_texcoords is None else self._corner_texcoords.copy()

    @property
    def stored_normals(self) -> typing.Optional[numpy.ndarray]:
        """(N, 3) the normals of the file, or None; `corner_normals` has the number of each corner."""
        return None if self._normals is None else self._normals.copy()

    @property
    def corner_normals(self) -> typing.Optional[numpy.ndarray]:
        """(C,) the stored normal of each corner, -1 for none; or None."""
        return None if self._corner_normals is None else self._corner_normals.copy()

    @property
    def colours(self) -> typing.Optional[numpy.ndarray]:
        """(V, 3) floats from 0 to 1, or None."""
        return None if self._colours is None else self._colours.copy()

    @property
    def groups(self) -> typing.List[str]:
        """Names of groups of faces; `face_groups` has the number of each face."""
        return list(self._groups)

    @property
    def face_groups(self) -> typing.Optional[numpy.ndarray]:
        """(F,) the group of each face, -1 for none; or None."""
        return None if self._face_groups is None else self._face_groups.copy()

    @property
    def materials(self) -> typing.List[str]:
        """Names of materials; `face_materials` has the number of each face."""
        return list(self._materials)

    @property
    def face_materials(self) -> typing.Optional[numpy.ndarray]:
        """(F,) the material of each face, -1 for none; or None."""
        return None if self._face_materials is None else self._face_materials.copy()

    @property
    def tags(self) -> typing.List[Tag]:
        """Creases and other subdivision tags of an OBJ file."""
        return list(self._tags)

    @property
    def size(self) -> float:
        """The diagonal of the bounding box."""
        if not self.vertex_count:
            return 0.0
        mesh = self._to_c()
        return author.ex_mesh_size(mesh.pointer)

    # ---- what can be asked ----

    def normals(self, weighting: str = "area") -> numpy.ndarray:
        """(V, 3) float unit normals of the vertices as they are now: the sum over the faces around each, by 'area'
        or by 'angle', which does not depend on how polygons were cut. 0 for a vertex without a face."""
        kinds = {"area": _abi.EX_NORMAL_BY_AREA, "angle": _abi.EX_NORMAL_BY_ANGLE}
        normals = numpy.zeros((self.vertex_count, 3), dtype=numpy.float32)
        choice(weighting, "weighting", kinds)
        if not self.face_count:
            return normals
        self._finite()
        offsets, corners = self._offsets.copy(), self._corners.copy()
        made = ctypes.c_void_p()
        given = _abi.ex_normals_def(vertex_count=self.vertex_count, face_count=self.face_count,
                                    face_offsets=address(offsets), corners=address(corners), weighting=kinds[weighting])
        checked(runtime.ex_normals_create, ctypes.byref(given), None, ctypes.byref(made))
        handle = Handle(made.value, runtime.ex_normals_destroy)
        positions = take(self._vertices, "f4", (None, 3), "vertices")
        scratch = ctypes.create_string_buffer(runtime.ex_normals_scratch_size(handle.pointer) + 16)
        runtime.ex_normals_compute(handle.pointer, address(positions), 0, address(normals), 0, None, scratch)
        check_misuse()
        return normals

    def mask(self, group: str) -> numpy.ndarray:
        """(V,) floats: 1 for the vertices of a group's faces, 0 for the others."""
        mesh, mask = self._to_c(), numpy.zeros(max(1, self.vertex_count), dtype=numpy.float32)
        checked(author.ex_mask_from_group, mesh.pointer, given_text(group, "group", empty=True), address(mask))
        return mask[:self.vertex_count]

    def same_faces(self, other) -> bool:
        """True if another mesh has the same number of vertices and the same faces in the same order."""
        mine, its = self._to_c(), as_mesh(other, "other")._to_c()
        result = author.ex_mesh_compare_connectivity(mine.pointer, its.pointer, None)
        check_misuse()
        return result == _abi.EX_OK

    def check_faces(self, other) -> None:
        """Raises DataError with the first face that differs, unless another mesh has the same faces."""
        mine, its = self._to_c(), as_mesh(other, "other")._to_c()
        checked(author.ex_mesh_compare_connectivity, mine.pointer, its.pointer)

    def compare(self, other, tolerance: float = 0) -> MeshDifference:
        """Compares with another mesh: vertices within the tolerance, faces and all the rest."""
        tolerance = number(tolerance, "tolerance", 0)
        mine, its = self._to_c(), as_mesh(other, "other")._to_c()
        d = author.ex_mesh_compare(mine.pointer, its.pointer, tolerance)
        check_misuse()
        measured = (d.moved_count, d.farthest_vertex if d.farthest_vertex >= 0 else None, d.farthest, d.rms)
        return MeshDifference(
            bool(author.ex_mesh_difference_none(ctypes.byref(d))), d.first_face if d.first_face >= 0 else None,
            *(measured if d.measured else (None,) * 4), d.colours, d.texcoords, d.normals, d.groups,
            d.materials, d.tags)

    def crossings(self, vertices=None) -> int:
        """The number of pairs of triangles that go through each other and share no vertex. vertices (V, 3) replace the
        mesh's own."""
        mesh, count = self._to_c(), ctypes.c_int()
        positions = None
        if vertices is not None:
            positions = take(vertices, "f4", (self.vertex_count, 3), "vertices")
            if not numpy.isfinite(positions).all():
                raise ValueError("vertices: numbers must be finite")
        checked(author.ex_mesh_count_self_intersections, mesh.pointer,
                None if positions is None or not positions.size else address(positions), ctypes.byref(count))
        return count.value

    def copy(self) -> Mesh:
        """A mesh of its own."""
        mesh = Mesh.__new__(Mesh)
        for name, value in self.__dict__.items():
            setattr(mesh, name, value.copy() if isinstance(value, (numpy.ndarray, list)) else value)
        return mesh

    def __iter__(self):
        """As a tuple (vertices, triangles), which other packages take: polygons are cut. Functions of this package take
        the mesh itself and keep them."""
        return iter((self.vertices, self.triangles))

    def __repr__(self) -> str:
        sizes = self.face_sizes
        numbers = ((numpy.sum(sizes == 3), "triangles"), (numpy.sum(sizes == 4), "quads"),
                   (numpy.sum(sizes > 4), "larger faces"))
        parts = (self._groups, "groups"), (self._materials, "materials")
        kinds = [f"{int(number)} {word}" for number, word in numbers if number]
        rest = [f"{len(names)} {word}" for names, word in parts if names]
        return f"<exemplar.Mesh {', '.join([f'{self.vertex_count} vertices'] + (kinds or ['no faces']) + rest)}>"


def as_mesh(value, name: str = "mesh") -> Mesh:
    """A Mesh from a Mesh, a path, a tuple (vertices, faces), or an object that has vertices and faces."""
    if isinstance(value, Mesh):
        return value
    if isinstance(value, (str, bytes, os.PathLike)):
        return Mesh.read(value)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return Mesh(value[0], value[1])
    if not isinstance(value, type) and getattr(value, "vertices", None) is not None and hasattr(value, "faces"):
        return Mesh(value.vertices, value.faces)
    raise TypeError(f"{name} must be a Mesh, a path or a tuple (vertices, faces), not {type(value).__name__}")
