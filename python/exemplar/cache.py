"""Point caches: the vertices of one mesh at many frames, in PC2, MDD, Alembic or numbered OBJ files.

Frames are read and written one at a time, so a cache may be larger than memory.
"""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import tempfile
import threading
import typing

import numpy

from ._arrays import address, take
from ._given import flag, free, number, whole
from ._library import Handle, _library, author, checked, path_bytes
from ._work import Progress
from .errors import Error
from .mesh import Mesh, as_mesh

KINDS = ("pc2", "mdd", "obj", "abc")
"""Endings of caches, in the order of the library's kinds."""

_frame_path = _library["ex_cache_frame_path"]
_frame_path.restype, _frame_path.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_int, ctypes.c_int]


class CacheInfo(typing.NamedTuple):
    """Facts about a cache: its kind ('pc2', 'mdd', 'obj', 'abc'), the numbers of vertices and frames, the time of the
    first frame and the time between frames, in seconds."""
    kind: str
    vertex_count: int
    frame_count: int
    start: float
    step: float


class Cache:
    """A point cache that is open for reading: a sequence of (V, 3) floats.

    path: .pc2, .mdd, .abc (FILE.abc:/A/B names one mesh of several), or any one of numbered .obj files, or NAME.obj for
    NAME_0001.obj and so on. cache[i] reads one frame, cache[a:b:c] some of them as (N, V, 3), iterating reads one after
    the other. Any thread may read. Use it in a `with` statement, or close it.
    """

    def __init__(self, path) -> None:
        self._handle = None
        self._lock = threading.Lock()
        name, made = os.path.abspath(path_bytes(path)), ctypes.c_void_p()
        checked(author.ex_cache_open, name, ctypes.byref(made))
        self._handle = handle = Handle(made.value, author.ex_cache_close)
        self.path = os.fsdecode(name)
        """The absolute path."""
        info = author.ex_cache_get_info(handle.pointer)
        self._info = CacheInfo(KINDS[info.kind], info.vertex_count, info.frame_count, info.start, info.step)
        mesh = author.ex_cache_mesh(handle.pointer)
        self._mesh = Mesh._of(mesh) if mesh else None
        self.times = numpy.array([author.ex_cache_time(handle.pointer, i) for i in range(info.frame_count)])
        """(N,) the time of each frame, in seconds."""

    # ---- reading ----

    @property
    def info(self) -> CacheInfo:
        """Facts about the cache."""
        return self._info

    @property
    def vertex_count(self) -> int:
        """The number of vertices."""
        return self._info.vertex_count

    @property
    def shape(self) -> typing.Tuple[int, int, int]:
        """(N, V, 3), as of an array of all frames."""
        return self._info.frame_count, self._info.vertex_count, 3

    @property
    def rate(self) -> typing.Optional[float]:
        """Frames per second, by the mean time between frames; None if that is not known."""
        span = float(self.times[-1] - self.times[0]) if len(self.times) > 1 else 0.0
        return (len(self.times) - 1) / span if span > 0 else None

    @property
    def mesh(self) -> typing.Optional[Mesh]:
        """The mesh of the first frame of numbered OBJ and Alembic files; None for the others, which have no faces."""
        return None if self._mesh is None else self._mesh.copy()

    @property
    def faces(self):
        """The faces of `mesh`, or None."""
        return None if self._mesh is None else self._mesh.faces

    def file(self, frame: int) -> str:
        """The path of the file that holds a frame: its own for numbered OBJ, else the cache."""
        with self._lock:
            return os.fsdecode(author.ex_cache_path(self._open(), self._index(frame)))

    def read(self, frame: int, out: typing.Optional[numpy.ndarray] = None) -> numpy.ndarray:
        """One frame: (V, 3) floats. out: a packed array of float32 to read into."""
        frame = self._index(frame)
        if out is None:
            out = numpy.empty((self.vertex_count, 3), dtype=numpy.float32)
        elif not isinstance(out, numpy.ndarray) or out.dtype != numpy.dtype("=f4") or \
                out.shape != (self.vertex_count, 3) or not out.flags.c_contiguous or not out.flags.writeable or \
                not out.flags.aligned:
            raise ValueError(f"out must be a packed, writeable array of float32 of shape ({self.vertex_count}, 3)")
        with self._lock:
            checked(author.ex_cache_read, self._open(), frame, address(out))
        return out

    def __len__(self) -> int:
        return self._info.frame_count

    def __getitem__(self, frames):
        if not isinstance(frames, slice):
            return self.read(frames)
        numbers = range(*frames.indices(len(self)))
        made = numpy.empty((len(numbers), self.vertex_count, 3), dtype=numpy.float32)
        for i, frame in enumerate(numbers):
            self.read(frame, made[i])
        return made

    def __iter__(self) -> typing.Iterator[numpy.ndarray]:
        for frame in range(len(self)):
            yield self.read(frame)

    def __array__(self, dtype=None, copy=None) -> numpy.ndarray:
        return self[:] if dtype is None else self[:].astype(dtype)

    def _index(self, frame):
        most = len(self)
        if isinstance(frame, bool) or not hasattr(frame, "__index__") or getattr(frame, "ndim", 0):
            raise TypeError(f"a frame is a whole number or a slice, not {type(frame).__name__}")
        given = int(frame.__index__())
        if not -most <= given < most:
            raise IndexError(f"there is no frame {given}: the cache has {most}, counting from 0")
        return given % most

    def _open(self):
        handle = self._handle
        if handle is None:
            raise ValueError("the cache is closed")
        return handle.pointer

    def close(self) -> None:
        """Closes the file. Reading is then refused."""
        with self._lock:
            self._handle = None

    @property
    def closed(self) -> bool:
        """True after close."""
        return self._handle is None

    def __enter__(self) -> Cache:
        self._open()
        return self

    def __exit__(self, kind, value, trace) -> None:
        self.close()

    def __repr__(self) -> str:
        rate = f", {self.rate:g} a second" if self.rate else ""
        return (f"<exemplar.Cache {self.path}: {len(self)} frames of {self.vertex_count} vertices{rate}"
                f"{', closed' if self.closed else ''}>")

    # ---- writing ----

    @staticmethod
    def write(path, frames, *, rate: typing.Optional[float] = None, start: typing.Optional[float] = None, times=None,
              mesh=None, count: typing.Optional[int] = None, force: bool = False, progress=None) -> CacheInfo:
        """Writes a cache: all of it, or nothing if anything fails or is interrupted.

        path: .pc2, .mdd, .abc, or .obj for NAME_0001.obj and so on. frames: an array (N, V, 3), a Cache, a list, or an
        iterator of (V, 3). count: how many an iterator gives, so that they need not be kept on the disk until the last
        one is known. rate: frames per second, from `start` seconds on; or times (N,) in seconds, ascending; None: the
        times of a Cache, else 24 from 0 on. mesh: the faces, which .obj and .abc need. force: overwrite existing .obj files.
        """
        name = path_bytes(path)
        kind = kind_of(name)
        if rate is None and start is None and times is None and isinstance(frames, Cache):
            times = frames.times
        rate = 24 if rate is None else number(rate, "rate", above=0)
        start = 0 if start is None else number(start, "start")
        force = flag(force, "force")
        mesh = None if mesh is None else as_mesh(mesh)
        if author.ex_cache_needs_mesh(name) and mesh is None:
            raise ValueError(f"a cache of kind .{kind} holds faces: give mesh")
        told = Progress(progress)
        with contextlib.ExitStack() as stack:
            rows, total = _rows(frames, count, name, stack)
            if total < 1:
                raise ValueError("there are no frames to write")
            moments = start + numpy.arange(total) / rate
            if times is not None:
                moments = take(times, "f8", (total,), "times")
                if not numpy.isfinite(moments).all() or (numpy.diff(moments) <= 0).any():
                    raise ValueError("times must be finite and ascending")
            if kind == "obj" and not force:
                refuse_existing(name, total)
            return _write(name, rows, total, numpy.ascontiguousarray(moments), mesh, told)


def kind_of(name: bytes) -> str:
    """The kind of cache that a path names; another ending is refused."""
    kind = author.ex_cache_kind_of(name)
    if kind >= len(KINDS):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .pc2, .mdd, .abc or .obj, the kinds of caches")
    return KINDS[kind]


def frame_path(name: bytes, frame: int, frame_count: int) -> bytes:
    """The path of one of numbered OBJ files."""
    made = _frame_path(name, frame, frame_count)
    if not made:
        raise MemoryError("not enough memory for a path")
    try:
        return ctypes.string_at(made)
    finally:
        free(made)


def refuse_existing(name: bytes, frame_count: int) -> None:
    """Raises FileExistsError if one of numbered OBJ files is there already."""
    for frame in range(frame_count):
        path = frame_path(name, frame, frame_count)
        if os.path.lexists(path):
            raise FileExistsError(f"'{os.fsdecode(path)}' exists already: give force=True to overwrite it, or another "
                                  "name")


def _form(frame, shape, index):
    """A frame as packed finite floats."""
    with numpy.errstate(over="ignore"):
        positions = take(frame, "f4", shape, f"frames[{index}]")
    if not numpy.isfinite(positions).all():
        wrong = int(numpy.nonzero(~numpy.isfinite(positions).all(axis=1))[0][0])
        raise ValueError(f"frames[{index}]: vertex {wrong}, counting from 0, is not finite")
    return positions


def _rows(frames, count, name, stack):
    """An iterator over frames, and their number. Those of an iterator of unknown length wait in a file without name."""
    if isinstance(frames, numpy.ndarray) and frames.ndim != 3:
        raise ValueError(f"frames must be (N, V, 3); this is {frames.shape}")
    if isinstance(frames, (str, bytes, os.PathLike)):
        frames = stack.enter_context(Cache(frames))
    if count is not None:
        count = whole(count, "count", 1)
    if hasattr(frames, "__len__") and not isinstance(frames, dict):
        if count is not None and count != len(frames):
            raise ValueError(f"count is {count}, but there are {len(frames)} frames")
        count = len(frames)
    try:
        rows = iter(frames)
    except TypeError:
        raise TypeError("frames must be an array (N, V, 3) or an iterator of (V, 3), not "
                        f"{type(frames).__name__}") from None
    if count is not None:
        return rows, count
    folder = os.path.dirname(os.fsdecode(name)) or "."
    file = stack.enter_context(tempfile.TemporaryFile(dir=folder if os.path.isdir(folder) else None))
    shape, total = (None, 3), 0
    for frame in rows:
        positions = _form(frame, shape, total)
        shape, total = positions.shape, total + 1
        file.write(positions)
    file.seek(0)

    def again():
        for _ in range(total):
            yield numpy.frombuffer(file.read(12 * shape[0]), dtype=numpy.float32).reshape(shape)

    return again(), total


class _Writer:
    """A cache being written. Leaving the `with` statement before `finish` leaves nothing behind."""

    def __init__(self, name, vertex_count, moments, mesh):
        made, given = ctypes.c_void_p(), mesh and mesh._to_c()
        checked(author.ex_cache_create, name, vertex_count, len(moments), address(moments), given and given.pointer,
                ctypes.byref(made))
        self._handle = Handle(made.value, lambda writer: author.ex_cache_finish(writer, False, None))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self._handle.__del__()

    def write(self, positions):
        checked(author.ex_cache_write, self._handle.pointer, address(positions))

    def finish(self):
        writer, self._handle.pointer = self._handle.pointer, None
        checked(author.ex_cache_finish, writer, True)


def _write(name, rows, total, moments, mesh, told):
    shape, writer = (None, 3), None
    with contextlib.ExitStack() as stack:
        for index in range(total):
            try:
                frame = next(rows)
            except StopIteration:
                raise ValueError(f"there are {index} frames, not {total}") from None
            positions = _form(frame, shape, index)
            if writer is None:
                shape = positions.shape
                if not shape[0]:
                    raise ValueError("frames have no vertices")
                if mesh is not None and mesh.vertex_count != shape[0]:
                    raise ValueError(f"frames have {shape[0]} vertices, but the mesh has {mesh.vertex_count}")
                writer = stack.enter_context(_Writer(name, shape[0], moments, mesh))
            writer.write(positions)
            told.tell("frames", (index + 1) / total)
        if next(rows, None) is not None:
            raise ValueError(f"there are more than {total} frames")
        writer.finish()
    step = float(moments[1] - moments[0]) if total > 1 else 0.0
    return CacheInfo(kind_of(name), shape[0], total, float(moments[0]), step)


class Stage:
    """Caches as the library takes them: paths. Arrays and iterators become files in a temporary folder, which is always
    removed. Use it in a `with` statement."""

    def __init__(self):
        self._folder, self._count, self._names = None, 0, {}

    def __enter__(self) -> Stage:
        return self

    def __exit__(self, kind, value, trace) -> None:
        if isinstance(value, Error) and value.args and isinstance(value.args[0], str):
            value.args = (self.said(value.args[0]), *value.args[1:])
        folder, self._folder = self._folder, None
        if folder is not None:
            folder.cleanup()

    def call(self, path: bytes, name: str) -> None:
        """Sentences name the argument instead of its temporary file."""
        self._names[os.fsdecode(path)] = name

    def said(self, text: str) -> str:
        """A sentence of the library with names of arguments."""
        for path, name in self._names.items():
            text = text.replace(f"'{path}'", name).replace(path, name)
        return text

    def path(self, ending: str) -> bytes:
        """A new path in the folder."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="exemplar-")
        self._count += 1
        return os.fsencode(str(pathlib.Path(self._folder.name) / f"{self._count:04d}.{ending}"))

    def cache(self, value, name: str, rate: float = 24) -> bytes:
        """The path of a cache: a path, a Cache, an array (N, V, 3) or an iterator of (V, 3)."""
        if isinstance(value, Cache):
            value._open()
            return path_bytes(value.path)
        if isinstance(value, (str, bytes, os.PathLike)):
            return path_bytes(value)
        if isinstance(value, numpy.ndarray) and value.ndim != 3 or not hasattr(value, "__iter__") or \
                isinstance(value, (dict, Mesh)):
            what = f"an array {value.shape}" if isinstance(value, numpy.ndarray) else type(value).__name__
            raise TypeError(f"{name} must be the path of a cache, a Cache, an array (N, V, 3) or an iterator of "
                            f"(V, 3), not {what}")
        path = self.path("pc2")
        self.call(path, name)
        Cache.write(path, value, rate=rate)
        return path


def in_memory(value) -> bool:
    """True for frames that no file holds."""
    return not isinstance(value, (str, bytes, os.PathLike, Cache))
