"""Loads the C library and calls it: errors and misuse become exceptions, objects are released with their last user.

A function of the C API is an attribute of `runtime` or `author`: runtime.ex_rig_joint_count(rig). ctypes lets other
threads of the interpreter run during a call.
"""
import ctypes
import os
import pathlib
import threading

from . import _abi
from .errors import ERRORS, Error

_misuse = threading.local()


def _open():
    """The library beside this file, or the one that EXEMPLAR_LIBRARY names."""
    path = os.environ.get("EXEMPLAR_LIBRARY") or str(pathlib.Path(__file__).resolve().parent / "libexemplar.so")
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"exemplar: {path} cannot be loaded ({error}). Reinstall the package for this machine.") from None


class Library:
    """Functions of the library, with the types that the headers give them."""

    def __init__(self, library, functions):
        for function, (result, arguments) in functions.items():
            call = getattr(library, function)
            call.restype, call.argtypes = result, arguments
            setattr(self, function, call)


@_abi.ex_misuse_hook
def _note_misuse(function, what):
    _misuse.text = what.decode("utf-8", "replace")


def check_misuse():
    """Raises what the last calls of this thread did wrong, if anything."""
    text = getattr(_misuse, "text", None)
    if text:
        _misuse.text = None
        raise ValueError(text)


def checked(call, *arguments):
    """Calls a function that returns ex_result and takes an ex_error last; raises its sentence."""
    error = _abi.ex_error()
    result = call(*arguments, ctypes.byref(error))
    check_misuse()
    if result != _abi.EX_OK:
        text = error.text.decode("utf-8", "replace") or runtime.ex_result_text(result).decode("utf-8", "replace")
        raise ERRORS.get(result, Error)(text, result)


class Handle:
    """A pointer to a C object. It is destroyed when the last Python object that uses it is gone."""
    __slots__ = ("pointer", "_destroy")

    def __init__(self, pointer, destroy):
        self.pointer, self._destroy = pointer, destroy

    def __del__(self):
        pointer, self.pointer = self.pointer, None
        if pointer:
            self._destroy(pointer)

    def __copy__(self):
        return self  # a second owner would destroy it again

    def __deepcopy__(self, memo):
        return self

    def __reduce_ex__(self, protocol):
        raise TypeError("an object of the library cannot be pickled: save it to a file")


def path_bytes(path):
    """A path for the library. One with a NUL character is refused."""
    given = os.fsencode(path)
    if b"\0" in given:
        raise ValueError("a path cannot contain a NUL character")
    return given


def text_of(characters):
    """A string of the library, or '' for NULL."""
    return characters.decode("utf-8", "replace") if characters else ""


_library = _open()
runtime = Library(_library, _abi.RUNTIME)
author = Library(_library, _abi.AUTHOR)
pool_create, pool_destroy, pool_tasks = (getattr(_library, f"exi_pool_{name}") for name in ("create", "destroy", "tasks"))
pool_create.restype, pool_create.argtypes = ctypes.c_void_p, [ctypes.c_int]
pool_destroy.restype, pool_destroy.argtypes = None, [ctypes.c_void_p]
pool_tasks.restype, pool_tasks.argtypes = ctypes.POINTER(_abi.ex_tasks), [ctypes.c_void_p]
runtime.ex_set_misuse_hook(_note_misuse)
