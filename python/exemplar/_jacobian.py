"""Derivatives of a rig's positions by its inputs."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import List

import numpy

from . import _abi
from ._arrays import address, take
from ._evaluate import level_of
from ._library import check_misuse, checked, runtime
from .pose import Pose

_TRANSFORMS = ctypes.POINTER(_abi.ex_transform)


def columns(rig) -> List[str]:
    """Names of the columns of `jacobian`: that of the axis, and for a rotation four: 'shoulder.x', … '.w'."""
    names = []
    for i, axis in enumerate(rig.axes.values()):
        kind = runtime.ex_rig_input_axis(rig._handle.pointer, i).kind
        if kind == _abi.EX_AXIS_SCALAR:
            names.append(axis.name)
        elif kind != _abi.EX_AXIS_DRIVER:
            names += [f"{axis.name}.{letter}" for letter in "xyzw"]
    return names


def _is_one(rig, poses):
    """True if the caller gave one pose: a Pose of one, axes with a number each, or a row of numbers."""
    if poses is None or isinstance(poses, Pose):
        return True
    if isinstance(poses, Mapping):
        return all(numpy.ndim(value) <= (rig._find(name).width > 1) for name, value in poses.items())
    return isinstance(poses, (list, tuple, numpy.ndarray)) and not any(isinstance(one, Pose) for one in poses) and \
        numpy.ndim(poses) == 1 and len(columns(rig)) != 1


def _muted(rig, muted):
    """The library's list of layers to leave out; None for those that the author muted."""
    if muted is None:
        return None
    if isinstance(muted, (str, bytes)) or not hasattr(muted, "__iter__"):
        raise TypeError("muted must be a list of layers")
    flags = (ctypes.c_bool * max(1, len(rig.layers)))()
    for layer in muted:
        flags[rig._layer(layer).index] = True
    return flags


def _weighers(rig, weighers):
    """The library's list of replaced weighers, and their handles; None for none."""
    if weighers is None:
        return None, []
    if not isinstance(weighers, dict):
        raise TypeError("weighers must be a dict of layers and weighers")
    listed, kept = (ctypes.c_void_p * max(1, len(rig.layers)))(), []
    for name, weigher in weighers.items():
        layer = rig._layer(name)
        handle = rig._weigher_handle(layer, weigher)
        listed[layer.index] = handle.pointer
        kept.append(handle)
    return listed, kept


def jacobian(rig, poses=None, level=0, unskinned=False, weighers=None, muted=None) -> numpy.ndarray:
    """See Rig.jacobian."""
    pose = rig._poses(poses)
    handle, found = rig._handle, level_of(rig, level)
    level, vertices = found.level, found.vertices
    count, width = len(pose), runtime.ex_rig_jacobian_width(handle.pointer)
    size, joint_count = runtime.ex_rig_pose_size(handle.pointer), runtime.ex_rig_joint_count(handle.pointer)
    dials = take(pose.dials, "f8", (count, size), "dials")
    joints = None if pose.joints is None else take(pose.joints, "f4", (count, joint_count, 10), "joints")
    out = numpy.zeros((count, vertices, 3, width))
    (listed, kept), flags = _weighers(rig, weighers), _muted(rig, muted)
    evaluation = _abi.ex_evaluation(level=level, unskinned=bool(unskinned))
    if listed is not None:
        evaluation.weighers = ctypes.addressof(listed)
    if flags is not None:
        evaluation.muted = ctypes.addressof(flags)
    if width:
        for i in range(count):
            one = _abi.ex_pose()
            one.inputs = address(dials[i]) if size else None
            if joints is not None:
                one.joints = ctypes.cast(address(joints[i]), _TRANSFORMS)
            checked(runtime.ex_rig_jacobian, handle.pointer, ctypes.byref(one), ctypes.byref(evaluation), address(out[i]),
                    None)
    check_misuse()
    del kept
    return out[0] if count == 1 and _is_one(rig, poses) else out
