"""Derivatives of a rig's positions by its inputs."""
from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Dict, List, Optional, Union

import numpy

from . import _abi
from ._arrays import address, take
from ._evaluate import level_of
from ._library import check_misuse, checked, runtime
from .weigher import Weigher

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


def _weighers(rig, weighers):
    """The library's list of replaced weighers, by names of layers; None for none."""
    if weighers is None:
        return None
    if not isinstance(weighers, dict):
        raise TypeError("weighers must be a dict of layer names and Weighers")
    names = list(rig.layers)
    listed = (ctypes.c_void_p * max(1, len(names)))()
    for name, weigher in weighers.items():
        if name not in names:
            raise KeyError(f"there is no layer '{name}'; there are {', '.join(names) or 'none'}")
        if not isinstance(weigher, Weigher):
            raise TypeError(f"the weigher of layer '{name}' must be a Weigher")
        own, index = runtime.ex_rig_weigher(rig._handle.pointer, names.index(name)), names.index(name)
        if (runtime.ex_weigher_example_count(own) != weigher.example_count
                or runtime.ex_weigher_dimension(own) != weigher.dimension
                or runtime.ex_weigher_set_weight_count(own) != runtime.ex_weigher_set_weight_count(weigher._handle.pointer)):
            raise ValueError(f"the weigher of layer '{name}' has another number of examples, axes or sets than the layer")
        listed[index] = weigher._handle.pointer
    return listed


def jacobian(rig, pose=None, *, level: Union[int, str] = 0, skinned: bool = True,
             weighers: Optional[Dict[str, Weigher]] = None) -> numpy.ndarray:
    """Derivatives of positions by the axes: (V, 3, columns) doubles in metres per unit of the axis (degree, …) at one
    pose, (N, V, 3, columns) at N poses; the rest pose by default.

    A column for each axis in the order of rig.axes, four for a rotation (by the numbers of its quaternion), none for a
    driver. An axis that is read from a joint turns the joint. From formulas, through weights, forms and linear skinning.
    pose: from rig.pose, or {axis: value}. level: 0 the mesh, 1 and up, or 'limit'. skinned=False: of the form at rest. weighers: {layer name: Weigher} to use
    instead of the rig's own. A rig with a driver, with dual quaternion skinning, or displaced at this level is refused.
    """
    if pose is None or isinstance(pose, Mapping):
        pose = rig.pose(pose)
    if getattr(getattr(pose, "_rig", None), "_handle", None) is not rig._handle:
        raise TypeError("the pose must come from rig.pose of this rig")
    handle, found = rig._handle, level_of(rig, level)
    level, vertices = found.level, found.vertices
    count, width = len(pose), runtime.ex_rig_jacobian_width(handle.pointer)
    size, joint_count = runtime.ex_rig_pose_size(handle.pointer), runtime.ex_rig_joint_count(handle.pointer)
    dials = take(pose.dials, "f8", (count, size), "dials")
    joints = None if pose.joints is None else take(pose.joints, "f4", (count, joint_count, 10), "joints")
    out = numpy.zeros((count, vertices, 3, width))
    listed = _weighers(rig, weighers)
    evaluation = _abi.ex_evaluation(level=level, unskinned=not skinned)
    if listed is not None:
        evaluation.weighers = ctypes.addressof(listed)
    if width:
        for i in range(count):
            one = _abi.ex_pose()
            one.inputs = address(dials[i]) if size else None
            if joints is not None:
                one.joints = ctypes.cast(address(joints[i]), _TRANSFORMS)
            checked(runtime.ex_rig_jacobian, handle.pointer, ctypes.byref(one), ctypes.byref(evaluation), address(out[i]),
                    None)
    check_misuse()
    return out[0] if count == 1 else out
