"""Rigs that follow a driver: what the functions of exemplar.drive share."""
from __future__ import annotations

import ctypes
import math
import os

from . import _abi
from ._given import number
from ._library import author, checked, path_bytes, runtime, text_of
from .motion import as_rig
from .rig import Rig


def write_rig(rig, path):
    """Writes a rig as a .glb file, completely or not at all."""
    name = path_bytes(path)
    if not name.lower().endswith(b".glb"):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .glb, the only kind that can be written here")
    checked(author.ex_rig_write, name, rig._handle.pointer)


def driven_rig(rig) -> Rig:
    """A rig that follows a driver: a Rig, its path, or what learned it."""
    rig = as_rig(rig if isinstance(rig, Rig) else getattr(rig, "rig", rig))
    driver = _abi.ex_rig_driver()
    if not runtime.ex_rig_get_driver(rig._handle.pointer, ctypes.byref(driver), None):
        raise ValueError("the rig does not follow a driver: exemplar.drive.learn makes one that does")
    return rig


def database_value(rig, database):
    """The value on the axis of databases; NaN for its rest."""
    if database is None:
        return math.nan
    pointer = rig._handle.pointer
    names = [text_of(runtime.ex_rig_input_name(pointer, i)) for i in range(runtime.ex_rig_input_count(pointer))
             if runtime.ex_rig_input_axis(pointer, i).kind == _abi.EX_AXIS_SCALAR]
    if isinstance(database, dict):
        if len(database) != 1:
            raise ValueError("database must name one axis")
        (axis, database), = database.items()
        if axis not in names:
            raise KeyError(f"the rig has no databases along '{axis}'")
    elif not names:
        raise ValueError("the rig has no databases")
    return number(database, "database")


def driven_layer(rig):
    """The layer that the driver weighs."""
    pointer = rig._handle.pointer
    for layer in range(runtime.ex_rig_layer_count(pointer)):
        if runtime.ex_rig_layer_regions(pointer, layer, None, None) or runtime.ex_rig_layer_predictor(pointer, layer):
            return layer
    return runtime.ex_rig_layer_count(pointer) - 1


def key_names(rig):
    """Names of the keys, or of the forms, that the driver weighs."""
    pointer, layer = rig._handle.pointer, driven_layer(rig)
    count = runtime.ex_weigher_example_count(runtime.ex_rig_weigher(pointer, layer))
    return tuple(text_of(runtime.ex_rig_example_name(pointer, layer, k)) for k in range(count))
