"""One pose of a rig for the library: from a Pose, from {axis: value}, or rest."""
import ctypes
from collections.abc import Mapping

import numpy

from . import _abi, _given, _places
from ._arrays import address
from ._library import author, checked, runtime
from .motion import RigMotion
from .rig import Pose, Rig


class Posed:
    """`pointer` is an ex_pose with all its arrays, valid as long as this object."""

    def __init__(self, rig, pose=None, name="pose"):
        if not isinstance(rig, Rig):
            raise TypeError(f"rig must be an exemplar.Rig, not {type(rig).__name__}")
        self.rig = rig
        self.struct = author.ex_pose_create(rig._handle.pointer)
        if not self.struct.inputs:
            raise MemoryError("there is not enough memory for a pose")
        self.pointer = ctypes.pointer(self.struct)
        if isinstance(pose, Mapping):
            for key, value in pose.items():
                self._set(key, value, name)
        elif isinstance(pose, (Pose, RigMotion)):
            self._copy(pose.pose if isinstance(pose, RigMotion) else pose, name)
        elif isinstance(pose, (numpy.ndarray, list, tuple)):
            self._copy(rig._poses(pose), name)
        elif pose is not None:
            raise TypeError(f"{name} must come from rig.pose, or be a dictionary such as {{'elbow': 70}}, not "
                            f"{type(pose).__name__}")

    def __del__(self):
        struct = self.__dict__.get("struct")
        if struct is not None and struct.inputs:
            _given.free(struct.inputs)
            struct.inputs = None

    def _set(self, key, value, name):
        text, pointer = _given.text(key, f"{name}: the name of an axis"), self.rig._handle.pointer
        index, setting = runtime.ex_rig_input_find(pointer, text), _abi.ex_setting()
        joint = index < 0 and key.startswith(_places.JOINT)
        if index < 0 and not joint:
            raise KeyError(self.rig._unknown(key))
        kind = runtime.ex_rig_input_axis(pointer, index).kind if index >= 0 else None
        if joint:
            key = key[len(_places.JOINT):]
            skeleton = runtime.ex_rig_skeleton(pointer)
            joint = not (skeleton and runtime.ex_skeleton_find(skeleton, key.encode()) < 0)
        _places.fill(setting, key, value, kind, joint)
        setting.joint = index < 0 and text.startswith(_places.JOINT.encode())
        checked(author.ex_pose_set, pointer, ctypes.byref(setting), self.pointer)

    def _copy(self, pose, name):
        if pose._rig._handle is not self.rig._handle:
            raise ValueError(f"{name} is of another rig")
        if len(pose) != 1:
            raise ValueError(f"{name} has {len(pose)} poses; give one of them")
        dials = numpy.ascontiguousarray(pose.dials, dtype=numpy.float64)
        if dials.shape != (1, runtime.ex_rig_pose_size(self.rig._handle.pointer)):
            raise ValueError(f"the arrays of {name} have lost their shapes")
        ctypes.memmove(self.struct.inputs, address(dials), dials.nbytes)
        if pose.joints is not None:
            joints = numpy.ascontiguousarray(pose.joints, dtype=numpy.float32)
            if joints.shape != (1, runtime.ex_rig_joint_count(self.rig._handle.pointer), 10):
                raise ValueError(f"the arrays of {name} have lost their shapes")
            ctypes.memmove(self.struct.joints, address(joints), joints.nbytes)
        driver = getattr(pose, "driver", None)
        if driver is not None and self.struct.driver:
            found = _abi.ex_rig_driver()
            runtime.ex_rig_get_driver(self.rig._handle.pointer, ctypes.byref(found), None)
            form = numpy.ascontiguousarray(driver, dtype=numpy.float32)
            if form.size != 3 * found.driver.vertex_count:
                raise ValueError(f"the arrays of {name} have lost their shapes")
            ctypes.memmove(self.struct.driver, address(form), form.nbytes)
