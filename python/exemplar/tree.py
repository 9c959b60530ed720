"""Search trees: closest points of a surface, and where rays hit it."""
from __future__ import annotations

import ctypes
import typing

import numpy

from . import _abi
from ._arrays import address, take
from ._library import Handle, check_misuse, checked, runtime
from ._polygons import Polygons, faces_of, mesh_of
from ._work import tasks, thread_count

_CLOSEST = numpy.dtype([("triangle", "i4"), ("u", "f4"), ("v", "f4"), ("point", "f4", 3), ("distance_sq", "f4")])
_HIT = numpy.dtype([("triangle", "i4"), ("u", "f4"), ("v", "f4"), ("t", "f4")])
_MOST = 2 ** 31 - 1
_AT_ONCE = 1 << 17  # queries of one call, so that Ctrl-C is heard between calls


class Closest(typing.NamedTuple):
    """Closest points. A point of triangle a b c is (1 - u - v) a + u b + v c."""
    triangle: numpy.ndarray
    """(N,) numbers of triangles, -1 where there is none within reach."""
    u: numpy.ndarray
    v: numpy.ndarray
    point: numpy.ndarray
    """(N, 3); NaN where there is none."""
    distance: numpy.ndarray
    """(N,); infinite where there is none."""


class Hits(typing.NamedTuple):
    """Where rays hit."""
    triangle: numpy.ndarray
    """(N,) numbers of triangles, -1 where there is no hit."""
    u: numpy.ndarray
    v: numpy.ndarray
    t: numpy.ndarray
    """(N,) distances in lengths of the direction; infinite where there is no hit."""


def _triples(values, name):
    """(N, 3) floats in rows that may be strided, and if the caller gave a single one."""
    given = values
    if not (isinstance(given, numpy.ndarray) and given.dtype == numpy.dtype("f4") and given.dtype.isnative):
        given = take(values, "f4", (3,) if numpy.ndim(values) == 1 else (None, 3), name)
    single = given.ndim == 1
    rows = given[None] if single else given
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ValueError(f"{name} must be (N, 3) or (3,); this is {given.shape}")
    if len(rows) > _MOST:
        raise ValueError(f"{name}: there are more than {_MOST}")
    if rows.strides[1] != 4 or (len(rows) > 1 and (rows.strides[0] < 12 or rows.strides[0] % 4)) or \
            (rows.size and address(rows) % 4):
        rows = numpy.ascontiguousarray(rows)
        rows = rows.copy() if rows.size and address(rows) % 4 else rows
    return rows, single


class Tree:
    """The triangles of a mesh, sorted for search. Faces with more corners are cut into triangles (tree.triangles).

    vertices: (V, 3), some may be not finite; their triangles are not found. faces: (F, 3) or (F, n), or a list of
    lists. A Mesh, or a tuple of both, may take their place. Any number of threads may use it, and `refit` meanwhile.

    >>> tree = exemplar.Tree(*mesh)
    >>> tree.closest(points).distance
    """

    def __init__(self, vertices, faces=None) -> None:
        vertices, faces, _ = mesh_of(vertices, faces)
        places = numpy.array(take(vertices, "f4", (None, 3), "vertices"))
        if len(places) > _MOST // 4:
            raise ValueError("vertices: there are more than a tree can have")
        offsets, corners = faces_of(faces, len(places))
        if (numpy.diff(offsets) == 3).all():
            triangles, sources = corners.reshape(-1, 3), numpy.arange(len(corners) // 3, dtype=numpy.int32)
        else:
            finite = numpy.where(numpy.isfinite(places), places, 0).astype(numpy.float64)
            numbers = Polygons(finite, offsets, corners).triangles()
            triangles = corners[numbers]
            sources = (numpy.searchsorted(offsets, numbers[:, 0], side="right") - 1).astype(numpy.int32)
        self.triangles: numpy.ndarray = numpy.array(triangles, dtype=numpy.int32)
        """(T, 3) vertices of each triangle."""
        self.faces: numpy.ndarray = sources
        """(T,) the face that each triangle is part of."""
        self.triangles.flags.writeable = self.faces.flags.writeable = False
        self._count = len(places)
        indices = numpy.ascontiguousarray(triangles, dtype=numpy.uint32)
        made = ctypes.c_void_p()
        definition = _abi.ex_tree_def(vertex_count=len(places), positions=address(places), triangle_count=len(indices),
                                      triangles=address(indices))
        checked(runtime.ex_tree_create, definition, None, ctypes.byref(made))
        self._tree = Handle(made.value, runtime.ex_tree_destroy)
        self._fit(places, 1)

    def _fit(self, places, threads):
        memory = numpy.empty(runtime.ex_bounds_size(self._tree.pointer), dtype=numpy.uint8)
        with tasks(thread_count(threads)) as hook:
            fit = runtime.ex_bounds_fit(self._tree.pointer, address(places), 0, address(memory), hook)
        check_misuse()
        self._bounds = (fit, memory)  # one assignment: queries of other threads use the old or the new one

    def refit(self, vertices, *, threads: typing.Optional[int] = 1) -> "Tree":
        """Fits the tree around other positions (V, 3) of the vertices, in about 10 ns per triangle. Returns itself.

        Results are those of a new tree. If the form has changed much, a new tree is faster to search.
        """
        self._fit(take(vertices, "f4", (self._count, 3), "vertices"), threads)
        return self

    def closest(self, points, reach: float = float("inf"), *, threads: typing.Optional[int] = 1) -> Closest:
        """The closest point of the surface to each of points (N, 3), within a distance `reach`; scalars for (3,)."""
        rows, single = _triples(points, "points")
        reach = float(take(reach, "f8", (), "reach"))
        if not reach >= 0:
            raise ValueError(f"reach is {reach:g}; it must be 0 or more")
        found = numpy.empty(len(rows), dtype=_CLOSEST)
        fit, memory = self._bounds
        stride = rows.strides[0] if len(rows) > 1 else 12
        with tasks(thread_count(threads)) as hook:
            for begin in range(0, len(rows), _AT_ONCE):
                runtime.ex_bounds_closest_many(
                    fit, min(_AT_ONCE, len(rows) - begin), address(rows) + begin * stride, stride, reach,
                    ctypes.cast(address(found) + begin * _CLOSEST.itemsize, ctypes.POINTER(_abi.ex_closest)), hook)
        check_misuse()
        del memory
        none = found["triangle"] < 0
        point, distance = found["point"].copy(), numpy.sqrt(found["distance_sq"])
        point[none], distance[none] = numpy.nan, numpy.inf
        made = Closest(found["triangle"].copy(), found["u"].copy(), found["v"].copy(), point, distance)
        return Closest(*(part[0] for part in made)) if single else made

    def _rays(self, origins, directions, t_min, t_max):
        starts, one = _triples(origins, "origins")
        ways, other = _triples(directions, "directions")
        count = max(len(starts), len(ways)) if len(starts) and len(ways) else 0
        if len(starts) not in (1, count) or len(ways) not in (1, count):
            raise ValueError(f"there are {len(starts)} origins and {len(ways)} directions")
        starts, ways = (numpy.ascontiguousarray(numpy.broadcast_to(rows, (count, 3))) if len(rows) != count else rows
                        for rows in (starts, ways))
        ranges = []
        for value, name, usual in ((t_min, "t_min", 0), (t_max, "t_max", float("inf"))):
            if isinstance(value, (int, float)) and value == usual:
                ranges.append(None)
                continue
            numbers = take(value, "f4", (None,) if numpy.ndim(value) else (), name)
            if numbers.ndim and len(numbers) not in (1, count):
                raise ValueError(f"{name}: there are {len(numbers)} for {count} rays")
            ranges.append(numpy.ascontiguousarray(numpy.broadcast_to(numbers, (count,))))
        return starts, ways, ranges, count, one and other and not numpy.ndim(t_min) and not numpy.ndim(t_max)

    def _cast(self, call, rays, found, size, kind, threads):
        starts, ways, (low, high), count, _ = rays
        fit, memory = self._bounds
        strides = [rows.strides[0] if count > 1 else 12 for rows in (starts, ways)]
        with tasks(thread_count(threads)) as hook:
            for begin in range(0, count, _AT_ONCE):
                struct = _abi.ex_rays(
                    count=min(_AT_ONCE, count - begin), origins=address(starts) + begin * strides[0],
                    origin_stride=strides[0], directions=address(ways) + begin * strides[1],
                    direction_stride=strides[1], t_min=None if low is None else address(low) + 4 * begin,
                    t_max=None if high is None else address(high) + 4 * begin)
                at = address(found) + begin * size
                call(fit, struct, ctypes.cast(at, ctypes.POINTER(kind)) if kind else at, hook)
        check_misuse()
        del memory

    def rays(self, origins, directions, t_min=0, t_max=float("inf"), *, threads: typing.Optional[int] = 1) -> Hits:
        """The nearest hit of each ray, from either side. origins, directions: (N, 3), or (3,) for all. t_min, t_max:
        the range of hits in lengths of the direction, one for all rays or (N,)."""
        rays = self._rays(origins, directions, t_min, t_max)
        found = numpy.empty(rays[3], dtype=_HIT)
        self._cast(runtime.ex_bounds_ray_many, rays, found, _HIT.itemsize, _abi.ex_hit, threads)
        distance = found["t"].copy()
        distance[found["triangle"] < 0] = numpy.inf
        made = Hits(found["triangle"].copy(), found["u"].copy(), found["v"].copy(), distance)
        return Hits(*(part[0] for part in made)) if rays[4] else made

    def blocked(self, origins, directions, t_min=0, t_max=float("inf"), *, threads: typing.Optional[int] = 1):
        """(N,) bools: True for each ray that hits anything. Cheaper than `rays`."""
        rays = self._rays(origins, directions, t_min, t_max)
        found = numpy.empty(rays[3], dtype=numpy.bool_)
        self._cast(runtime.ex_bounds_blocked_many, rays, found, 1, None, threads)
        return bool(found[0]) if rays[4] else found

    def __len__(self):
        return len(self.triangles)

    def __reduce__(self):
        raise TypeError("a Tree cannot be pickled: keep its vertices and faces")

    def __repr__(self):
        return f"<exemplar.Tree, {len(self.triangles)} triangles>"
