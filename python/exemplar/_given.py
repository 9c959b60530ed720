"""Options of the public functions, checked before the library sees them. Every function names the option in its
error."""
import contextlib
import ctypes
import math
import os
import tempfile

import numpy

from . import _abi
from ._library import author, checked, path_bytes

_libc = ctypes.CDLL(None)
_libc.free.argtypes, _libc.free.restype = [ctypes.c_void_p], None
free = _libc.free
"""Releases memory that the library hands over, by the process's own allocator."""


def text(value, name, *, optional=False, empty=False):
    """A string as bytes; None if it may be left out and is."""
    if value is None and optional:
        return None
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    if not value and not empty:
        raise ValueError(f"{name} is empty")
    try:
        given = value.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError(f"{name} is no valid text") from None
    if b"\0" in given:
        raise ValueError(f"{name} cannot contain a NUL character")
    return given


MOST = (1 << 31) - 1


def number(value, name, low=-math.inf, high=math.inf, *, above=None):
    """A finite number from low to high; above: it must be larger than this."""
    if isinstance(value, (bool, numpy.bool_, str, bytes, numpy.complexfloating)) or not hasattr(value, "__float__") or \
            getattr(value, "ndim", 0):
        raise TypeError(f"{name} must be a number, not {type(value).__name__}")
    try:
        given = float(value)
    except OverflowError:
        given = math.inf
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
    if not math.isfinite(given):
        raise ValueError(f"{name} is {given}; it must be finite")
    if above is not None and not given > above:
        raise ValueError(f"{name} is {given:g}; it must be above {above:g}")
    if not low <= given <= high:
        raise ValueError(f"{name} is {given:g}; it must be " + (f"{low:g} or more" if high == math.inf else
                                                                f"from {low:g} to {high:g}"))
    return given


def whole(value, name, low=0, high=MOST):
    """A whole number from low to high."""
    if isinstance(value, (bool, numpy.bool_)) or not hasattr(value, "__index__") or getattr(value, "ndim", 0):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}")
    given = int(value.__index__())
    if not low <= given <= high:
        raise ValueError(f"{name} is {given}; it must be from {low} to {high}")
    return given


def flag(value, name):
    """True or False."""
    if not isinstance(value, (bool, numpy.bool_)):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__}")
    return bool(value)


def word(value, name, words):
    """The position of a word in a list of words."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    if value not in words:
        raise ValueError(f"{name} is '{value}'; it must be one of {', '.join(words)}")
    return list(words).index(value)


def choice(value, name, words):
    """One of some words."""
    if not isinstance(value, str) or value not in words:
        raise ValueError(f"{name} is {value!r}; it must be {', '.join(repr(one) for one in words)}")
    return value


def names(values, name):
    """A list of names: texts without NUL, which may be empty."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} must be a list of names")
    try:
        values = list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list of names") from None
    for one in values:
        text(one, name, empty=True)
    return values


def frame_range(value, name):
    """The first frame and the number of frames of a range, counting from 0: a slice, a range, or (first, stop); the
    number is None if it has no end. None: all."""
    if value is None:
        return 0, None
    if isinstance(value, (slice, range)):
        if value.step not in (None, 1):
            raise ValueError(f"{name} must take every frame: its step is {value.step}")
        value = (0 if value.start is None else value.start, value.stop)
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise TypeError(f"{name} must be a slice or (first, stop), counting from 0, not {value!r}")
    first = whole(value[0], name)
    if value[1] is None:
        return first, None
    stop = whole(value[1], name)
    if stop <= first:
        raise ValueError(f"{name}: there are no frames from {first} to {stop}")
    return first, stop - first


def file(path, name="path"):
    """The path of a file, as bytes."""
    try:
        given = os.fspath(path)
    except TypeError:
        raise TypeError(f"{name} must be a path, not {type(path).__name__}") from None
    if not given:
        raise ValueError(f"{name} is empty")
    return path_bytes(given)


def place(path, name="path"):
    """The absolute path of a file that an object keeps, as bytes: os.chdir must not change what it means."""
    return os.path.abspath(file(path, name))


def is_path(value):
    """True for what names a file."""
    return isinstance(value, (str, bytes, os.PathLike))


def write_text(path, said):
    """Writes a text file, whole or not at all. path: as bytes."""
    written, writer = said.encode("utf-8"), _abi.ex_file_writer()
    checked(author.ex_file_open, ctypes.byref(writer), path)
    author.ex_file_write(ctypes.byref(writer), written, len(written))
    checked(author.ex_file_commit, ctypes.byref(writer))


def encoded(write):
    """The bytes that write(path, error) puts into a file; the file has no name and is gone afterwards."""
    with tempfile.TemporaryFile() as scratch:
        checked(lambda error: write(b"/dev/fd/%d" % scratch.fileno(), error))
        scratch.seek(0)
        return scratch.read()


@contextlib.contextmanager
def owned(destroy):
    """Memory for a pointer that the library fills in; destroy is called with it at the end."""
    made = ctypes.c_void_p()
    try:
        yield made
    finally:
        if made.value:
            destroy(made)


def texts(address, count):
    """Strings of the library: count pointers at an address."""
    if not address or count <= 0:
        return []
    return [(found or b"").decode("utf-8", "replace") for found in (ctypes.c_char_p * count).from_address(address)]


class Notes:
    """Collects the sentences that the library reports: `call` is the function for it."""

    def __init__(self):
        self.texts = []
        self.call = dict(_abi.ex_build_options._fields_)["note"](self._note)

    def _note(self, _user, sentence):
        self.texts.append((sentence or b"").decode("utf-8", "replace"))


class Report:
    """Results of some work, by name."""

    def __init__(self, **values):
        self.__dict__.update(values)

    def __repr__(self):
        inside = ", ".join(f"{name}={_short(value)}" for name, value in self.__dict__.items())
        return f"<exemplar.{type(self).__name__} {inside}>"

    def __eq__(self, other):
        return type(self) is type(other) and _same(self.__dict__, other.__dict__)

    __hash__ = None


def _short(value):
    if isinstance(value, numpy.ndarray):
        return f"array{value.shape}"
    if isinstance(value, float):
        return f"{value:g}"
    said = repr(value)
    return said if len(said) <= 100 else f"{type(value).__name__} of {len(value)}" if hasattr(value,
                                                                                              "__len__") else said


def _same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    return numpy.array_equal(a, b) if isinstance(a, numpy.ndarray) or isinstance(b, numpy.ndarray) else a == b

