"""Values by name: a place in a space, or a pose, as {axis: value}.

A value is a number; a rotation as text 'x30y-10z5' (degrees about a joint's own axes), or as four numbers x y z w; or
the file of a driver's form. A key 'joint:NAME' turns a joint.
"""
import ctypes
import math
import re
from collections.abc import Mapping

import numpy

from . import _abi, _given

JOINT = "joint:"
_TURN = re.compile(r"([xyz])([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")


def _rotation(value, name, setting):
    if isinstance(value, str) and value.startswith("q:"):
        try:
            value = [float(part) for part in value[2:].split(",")]
        except ValueError:
            value = ""
    if isinstance(value, str):
        turns = _TURN.findall(value)
        if not turns or "".join(a + b for a, b in turns) != value or len(turns) > _abi.EX_SETTING_TURN_MAX:
            raise ValueError(f"{name}: a rotation is text with letters for the joint's axes, such as 'x90' or "
                             f"'x30y-10z5' (degrees), or four numbers x y z w")
        setting.kind, setting.turn_count = _abi.EX_SETTING_TURNS, len(turns)
        for i, (axis, degrees) in enumerate(turns):
            setting.turns[i].axis = "xyz".index(axis)
            setting.turns[i].degrees = _given.number(float(degrees), name)
        return
    try:
        given = numpy.asarray(value, dtype=numpy.float64)
    except (TypeError, ValueError):
        given = numpy.empty(0)
    if given.shape != (4,) or not numpy.all(numpy.isfinite(given)) or not math.sqrt(float(given @ given)) > 1e-10:
        raise ValueError(f"{name}: a rotation is text such as 'x90' or 'x30y-10z5' (degrees), or four numbers x y z w")
    setting.kind = _abi.EX_SETTING_ROTATION
    setting.rotation[:] = given.tolist()


def fill(setting, name, value, kind, joint):
    """Fills in one ex_setting. kind: of the axis (EX_AXIS_…), or None if there is no such axis."""
    setting.name, setting.joint, setting.kind = _given.text(name, "the name of an axis"), joint, _abi.EX_SETTING_NUMBER
    if joint or kind == _abi.EX_AXIS_ROTATION:
        _rotation(value, name, setting)
    elif kind == _abi.EX_AXIS_DRIVER:
        setting.kind, setting.file = _abi.EX_SETTING_FILE, _given.file(value, name)
    elif kind == _abi.EX_AXIS_SCALAR:
        setting.number = _given.number(value, name)
    elif kind is not None:
        _rotation(value, name, setting)


def place(values, kind_of, name, *, joints=False):
    """An ex_place from {axis: value}, or an empty one for None. kind_of(axis): its kind, or None. joints: all keys are
    joints."""
    if values is None:
        return _abi.ex_place()
    if not isinstance(values, Mapping):
        raise TypeError(f"{name} must be a dictionary such as {{'elbow': 70}}, not {type(values).__name__}")
    settings = (_abi.ex_setting * len(values))()
    for setting, (key, value) in zip(settings, values.items()):
        if not isinstance(key, str):
            raise TypeError(f"{name}: the name of an axis must be text, not {type(key).__name__}")
        marked = key.startswith(JOINT) and len(key) > len(JOINT)
        bare = key[len(JOINT):] if marked else key
        fill(setting, bare, value, None if marked or joints else kind_of(bare), marked or joints)
    return _abi.ex_place(settings=ctypes.cast(settings, ctypes.POINTER(_abi.ex_setting)), count=len(values))


def numbers(values, name):
    """An ex_place of plain numbers by name."""
    return place(values, lambda _axis: _abi.EX_AXIS_SCALAR, name)


def falloff(value):
    """An ex_place of a falloff: one number, or {axis: number}."""
    if value is None or isinstance(value, Mapping):
        return numbers(value, "falloff")
    setting = (_abi.ex_setting * 1)()
    setting[0].kind, setting[0].number = _abi.EX_SETTING_NUMBER, _given.number(value, "falloff")
    return _abi.ex_place(settings=ctypes.cast(setting, ctypes.POINTER(_abi.ex_setting)), count=1)
