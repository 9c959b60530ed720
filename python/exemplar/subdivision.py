"""Subdivision surfaces: refined meshes, and tables that refine many forms of one mesh."""
from __future__ import annotations

import ctypes
import typing

import numpy

from . import _abi
from ._arrays import address, copied, take
from ._evaluate import FLOAT, LIMIT, target
from ._given import whole
from ._library import Handle, author, check_misuse, checked, runtime
from ._polygons import Polygons, faces_from, faces_of, mesh_of, sharp_of, texcoords_of, vertices_of
from ._work import tasks, thread_count

SCHEMES = {"catmull-clark": _abi.EX_SCHEME_CATMULL_CLARK, "loop": _abi.EX_SCHEME_LOOP,
           "bilinear": _abi.EX_SCHEME_BILINEAR}
BOUNDARIES = {"edges": _abi.EX_BOUNDARY_EDGES, "corners": _abi.EX_BOUNDARY_EDGES_AND_CORNERS,
              "none": _abi.EX_BOUNDARY_NONE}


class Surface(typing.NamedTuple):
    """A refined mesh: vertices (V, 3), and faces (F, 4), or (F, 3) of Loop's scheme."""
    vertices: numpy.ndarray
    faces: numpy.ndarray


def definition(levels, scheme, limit, boundary):
    """ex_subdivide_def of a caller's words."""
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise ValueError(f"scheme is {scheme!r}; it must be {', '.join(repr(word) for word in SCHEMES)}")
    if not isinstance(boundary, str) or boundary not in BOUNDARIES:
        raise ValueError(f"boundary is {boundary!r}; it must be {', '.join(repr(word) for word in BOUNDARIES)}")
    if not isinstance(limit, (bool, numpy.bool_)) and limit != "all":
        raise ValueError(f"limit is {limit!r}; it must be True, False or 'all'")
    made = author.ex_subdivide_def_default()
    made.scheme, made.boundary = SCHEMES[scheme], BOUNDARIES[boundary]
    made.levels = whole(levels, "levels", 0 if limit is True else 1, _abi.EX_SUBDIVIDE_LEVELS)
    made.limit, made.all = bool(limit), isinstance(limit, str)
    return made


class Subdivision:
    """Tables that refine the forms of one mesh. Immutable, for any number of threads.

    vertices: (V, 3), of which only the number matters, unless Loop's scheme cuts polygons. faces: (F, n), or a list of
    lists. levels: 1 to 10. scheme: 'catmull-clark', 'loop', 'bilinear'. limit: True for points and normals of the limit
    surface too, as level 'limit'; 'all' to put the vertices of every level on it. creases: a dict {(a, b): sharpness}
    or rows a, b, sharpness; sharpness counts levels, and 10 is permanent. corners: a dict {vertex: sharpness}.
    boundary: 'edges', 'corners' to keep vertices of a single face in place too, or 'none' to leave the outermost faces
    out. texcoords, corner_texcoords: as of a Mesh. A Mesh, or a tuple, may take the place of vertices and faces; creases
    and corners are then those of its tags, unless they are given.
    """

    def __init__(self, vertices, faces=None, levels: int = 2, scheme: str = "catmull-clark", *, limit=False, creases=None,
                 corners=None, boundary: str = "edges", texcoords=None, corner_texcoords=None) -> None:
        vertices, faces, tags = mesh_of(vertices, faces)
        creases, corners = sharp_of(tags, creases, corners)
        self._made(vertices_of(vertices), faces, definition(levels, scheme, limit, boundary), creases, corners,
                   texcoords, corner_texcoords)

    def _made(self, vertices, faces, wanted, creases, corners, texcoords, corner_texcoords):
        offsets, places = faces_of(faces, len(vertices))
        coordinates, numbers = texcoords_of(texcoords, corner_texcoords, len(vertices), places)
        self._polygons = Polygons(vertices, offsets, places, coordinates, numbers, creases, corners)
        made = ctypes.POINTER(_abi.ex_subdivision)()
        checked(author.ex_mesh_subdivide, self._polygons.struct, wanted, ctypes.byref(made))
        self._handle = Handle(made, author.ex_subdivision_destroy)
        self._stencils = made.contents.stencils
        self.level_count: int = made.contents.level_count

    def _level(self, level):
        """A level's number: None is the last."""
        if level is None:
            level = self.level_count if self.level_count else LIMIT
        if isinstance(level, str):
            if level != "limit":
                raise ValueError(f"there is no level '{level}': use a number, or 'limit'")
            level = LIMIT
        number = whole(level, "level", LIMIT, 2 ** 31 - 1)
        if not runtime.ex_stencils_has(self._stencils, number):
            raise ValueError(f"there is no level {level}; there are 0 to {self.level_count}"
                             + (", and 'limit'" if runtime.ex_stencils_has(self._stencils, LIMIT) else ""))
        return number

    def vertex_count(self, level=None) -> int:
        """The number of vertices of a level; without one, of the last."""
        return runtime.ex_stencils_vertex_count(self._stencils, self._level(level))

    def _refined(self, level):
        number = self._level(level)
        return self._handle.pointer.contents.levels[self.level_count if number == LIMIT else number]

    def faces(self, level=None):
        """Faces of a level: (F, 4), or (F, 3) of Loop's scheme; a list of arrays where they differ."""
        refined = self._refined(level)
        return faces_from(copied(refined.face_offsets, "i4", (refined.face_count + 1,)),
                          copied(refined.corners, "i4", (refined.corner_count,)))

    def face_sources(self, level=None) -> numpy.ndarray:
        """(F,) the face of the mesh that each face of a level is part of."""
        refined = self._refined(level)
        return copied(refined.face_sources, "i4", (refined.face_count,))

    def texcoords(self, level=None) -> typing.Optional[typing.Tuple[numpy.ndarray, numpy.ndarray]]:
        """(T, 2) texture coordinates of a level and (C,) the one of each corner; None without."""
        refined = self._refined(level)
        if not refined.texcoords or not refined.corner_texcoords:
            return None
        return (copied(refined.texcoords, "f8", (refined.texcoord_count, 2)),
                copied(refined.corner_texcoords, "i4", (refined.corner_count,)))

    def stencils(self, level=None) -> typing.Tuple[numpy.ndarray, numpy.ndarray, numpy.ndarray]:
        """The weights of a level as rows of a sparse matrix: offsets (V + 1,), indices, weights. Row v is the sum over
        indices[offsets[v]:offsets[v + 1]], as scipy.sparse.csr_matrix((weights, indices, offsets)) is."""
        number = self._level(level)
        if number == 0:
            count = self.vertex_count(0)
            return numpy.arange(count + 1, dtype="i4"), numpy.arange(count, dtype="i4"), numpy.ones(count)
        count, size = self.vertex_count(number), runtime.ex_stencils_weight_count(self._stencils, number)
        offsets, indices, weights = numpy.empty(count + 1, "i4"), numpy.empty(size, "i4"), numpy.empty(size)
        runtime.ex_stencils_read(self._stencils, number, address(offsets), address(indices), address(weights), None)
        check_misuse()
        return offsets, indices, weights

    def apply(self, vertices, level=None, *, normals: bool = False, threads: typing.Optional[int] = 1, out=None):
        """Refines forms (V, 3) or (N, V, 3): positions of a level, floats; with normals a tuple of positions and unit
        normals, for levels on the limit surface. out: an array to write positions to."""
        number = self._level(level)
        given = numpy.asarray(vertices)
        cage = self.vertex_count(0)
        rows = take(vertices, "f4", (cage, 3) if given.ndim == 2 else (None, cage, 3), "vertices")
        rows = rows[None] if given.ndim == 2 else rows
        count = self.vertex_count(number)
        if normals and not runtime.ex_stencils_has_tangents(self._stencils, number):
            raise ValueError("this level has no normals: use limit=True and level 'limit', or limit='all'")
        shape = (len(rows), count, 3)
        if out is None:
            positions = numpy.empty(shape, dtype=FLOAT)
        else:
            if given.ndim == 2 and isinstance(out, numpy.ndarray) and out.ndim == 2:
                out = out[None]
            positions = target(out, shape, FLOAT, "positions", 1)
            if numpy.may_share_memory(positions, rows):
                rows = rows.copy()
        directions = numpy.empty(shape, dtype=FLOAT) if normals else None
        job = _abi.ex_refine(level=number, position_stride=positions.strides[1] if count > 1 else 12)
        scratch = numpy.empty(runtime.ex_stencils_scratch_size(self._stencils) + 64, dtype=numpy.uint8)
        handle = self._handle
        with tasks(thread_count(threads)) as hook:
            for i in range(len(rows)):
                job.control = address(rows) + i * rows.strides[0]
                job.positions = address(positions) + i * positions.strides[0]
                if normals:
                    job.normals = address(directions) + i * directions.strides[0]
                runtime.ex_stencils_apply(self._stencils, job, hook, address(scratch))
        check_misuse()
        del handle
        if given.ndim == 2:
            positions, directions = positions[0], directions[0] if normals else None
        return (positions, directions) if normals else positions

    def __reduce__(self):
        raise TypeError("a Subdivision cannot be pickled: keep what it is made from")

    def __repr__(self):
        counts = ", ".join(str(self.vertex_count(level)) for level in range(self.level_count + 1))
        limit = " and a limit surface" if runtime.ex_stencils_has(self._stencils, LIMIT) else ""
        return f"<exemplar.Subdivision, levels of {counts} vertices{limit}>"


def subdivide(vertices, faces=None, levels: int = 2, scheme: str = "catmull-clark", *, limit: bool = False, creases=None,
              corners=None, boundary: str = "edges") -> Surface:
    """Refines a mesh: (vertices, faces) of the last level, or with limit of its points on the limit surface.

    vertices: (V, 3). faces: (F, n), or a list of lists. creases: a dict {(a, b): sharpness}; see Subdivision.
    subdivide(mesh, levels=2) keeps the polygons of a Mesh and takes the creases and corners of its tags;
    subdivide(*mesh) refines its triangles, since that is what a mesh unpacks to.
    """
    vertices, faces, tags = mesh_of(vertices, faces)
    creases, corners = sharp_of(tags, creases, corners)
    places = vertices_of(vertices)
    if not isinstance(limit, (bool, numpy.bool_)):
        raise TypeError("limit must be True or False")
    levels = whole(levels, "levels", 0, _abi.EX_SUBDIVIDE_LEVELS)
    if levels == 0 and not limit:
        offsets, numbers = faces_of(faces, len(places))
        return Surface(places.astype(FLOAT), faces_from(offsets, numbers))
    made = Subdivision(places, faces, levels, scheme, limit=limit, creases=creases, corners=corners, boundary=boundary)
    level = LIMIT if limit else levels
    return Surface(made.apply(places, level), made.faces(level))
