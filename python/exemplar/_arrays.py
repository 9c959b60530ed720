"""Arrays between numpy and the library: what comes in is checked, what goes out is copied."""
import ctypes
import math

import numpy


def take(values, kind, shape, name):
    """values as a packed array of the native type `kind` ('f4', 'f8', 'i4', 'u4' …). shape: numbers, and None for any
    number. Real numbers are rounded to float; a number that does not fit an integer type, text, objects and complex
    numbers are refused. May be the caller's own array: do not write to it."""
    kind = numpy.dtype(kind)
    try:
        given = numpy.asarray(values)
    except Exception as error:
        raise ValueError(f"{name}: this is no array of numbers ({error})") from None
    if given.dtype.kind not in "biuf":
        if given.dtype.kind in "US":
            raise TypeError(f"{name} is {values!r}, a text" if given.ndim == 0 else f"{name} has texts, not numbers")
        raise TypeError(f"{name}: an array of {given.dtype} is no array of numbers")
    if len(given.shape) != len(shape) or any(want is not None and want != have for want, have in zip(shape, given.shape)):
        words = ", ".join("N" if want is None else str(want) for want in shape) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} must be ({words}); this is {given.shape}")
    if kind.kind in "iu" and given.size:
        whole = numpy.iinfo(kind)
        if not (numpy.isfinite(given).all() and numpy.all(given == numpy.floor(given)) and
                int(given.min()) >= whole.min and int(given.max()) <= whole.max):
            raise ValueError(f"{name}: numbers must be whole, from {whole.min} to {whole.max}")
    if given.dtype == kind:  # nothing to round, and errstate takes longer than all the rest
        made = given if given.flags.c_contiguous else given.copy()
    else:
        with numpy.errstate(over="ignore", invalid="ignore"):
            made = numpy.ascontiguousarray(given, dtype=kind).reshape(given.shape)  # which may be ()
    return made if made.flags.aligned else made.copy()


def copied(address, kind, shape):
    """A copy of the library's numbers at an address, which may be an int, a pointer or None."""
    kind = numpy.dtype(kind)
    if isinstance(address, ctypes._Pointer) or isinstance(address, ctypes.c_void_p):
        address = ctypes.cast(address, ctypes.c_void_p).value
    size = math.prod(map(int, shape)) * kind.itemsize
    if not address or not size:
        return numpy.empty(shape, dtype=kind)
    return numpy.frombuffer((ctypes.c_char * size).from_address(address), dtype=kind).reshape(shape).copy()


def address(array):
    """The address of an array's first number; quicker than array.ctypes.data."""
    return array.__array_interface__["data"][0]
