"""Rigs on an NVIDIA GPU: poses in, surfaces out, all in the GPU's memory. Needs libexemplar_cuda.

>>> character = exemplar.gpu.Character(rig)
>>> positions = character.evaluate(dials, normals=False)    # (N, V, 3), on the GPU
>>> torch.as_tensor(positions), positions.numpy()

Arrays of other packages (PyTorch, CuPy, JAX, Numba) are taken and given by __cuda_array_interface__ and DLPack, without
a copy. The library is looked for in the package, then where the system has its libraries; EXEMPLAR_CUDA_LIBRARY names
another file.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import math
import os
import pathlib
import threading
from collections.abc import Mapping
from typing import NamedTuple, Optional, Union

import numpy

from . import _abi
from ._arrays import take
from ._evaluate import level_of
from ._given import whole
from ._library import Handle, Library, checked, runtime, text_of
from .pose import Pose
from .rig import Rig
from .weigher import Weigher

_HERE = pathlib.Path(__file__).resolve().parent
_NUMBERS = {"float": ("<f4", 3), "half": ("<f2", 4), "snorm": ("<i2", 4)}
_lock = threading.Lock()
_state: dict = {}


def _library():
    """The functions of libexemplar_cuda; raises ImportError with the reason if it is not there."""
    with _lock:
        if "library" not in _state:
            name = f"libexemplar_cuda.so.{_abi.EX_ABI}"
            named = os.environ.get("EXEMPLAR_CUDA_LIBRARY")
            places = [named] if named else [str(_HERE / name), name]
            reasons = []
            for place in places:
                try:
                    _state["library"] = Library(ctypes.CDLL(place), _abi.CUDA)
                    break
                except (OSError, AttributeError) as error:
                    reasons.append(str(error))
            else:
                raise ImportError(f"there is no GPU library: {reasons[-1]}. Build Exemplar with EX_CUDA=ON, or name the "
                                  "file in EXEMPLAR_CUDA_LIBRARY")
        return _state["library"]


class Device(NamedTuple):
    """A GPU: its name, compute capability such as (9, 0), and bytes of memory."""
    name: str
    capability: tuple
    memory: int
    memory_free: int


def available() -> bool:
    """True if the GPU library and at least one GPU are there."""
    try:
        return _library().ex_cuda_device_count() > 0
    except ImportError:
        return False


def devices() -> list:
    """The GPUs that this program can use, as a list of Device."""
    library, found = _library(), []
    for i in range(library.ex_cuda_device_count()):
        info = _abi.ex_cuda_device()
        checked(library.ex_cuda_get_device, i, ctypes.byref(info))
        found.append(Device(text_of(info.name), (info.major, info.minor), info.memory, info.memory_free))
    return found


class Array:
    """Numbers in the GPU's memory, released with the last user. shape, dtype; `numpy()` copies them to the host."""

    def __init__(self, shape, dtype, device: int = 0):
        self.shape, self.dtype = tuple(whole(n, "shape", 0, 1 << 62) for n in shape), numpy.dtype(dtype)
        self.device = whole(device, "device")
        if self.dtype.kind not in _CODES or not self.dtype.isnative:
            raise ValueError(f"an array on the GPU is of native numbers, not {dtype}")
        self.nbytes = math.prod(self.shape) * self.dtype.itemsize
        made = ctypes.c_void_p()
        checked(_library().ex_cuda_use_device, device)
        checked(_library().ex_cuda_allocate, max(self.nbytes, 1), ctypes.byref(made))
        self._handle = Handle(made.value, _library().ex_cuda_release)

    @property
    def __cuda_array_interface__(self):
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._handle.pointer, False), "version": 3,
                "strides": None, "stream": 1}

    def __dlpack_device__(self):
        return 2, self.device

    def __dlpack__(self, **_unused):
        return _capsule(self)

    def __len__(self):
        return self.shape[0]

    def __repr__(self):
        return f"<exemplar.gpu.Array {self.shape} {self.dtype} on GPU {self.device}>"

    def numpy(self):
        """A copy in host memory, when the work before it is done."""
        made, library = numpy.empty(self.shape, dtype=self.dtype), _library()
        checked(library.ex_cuda_use_device, self.device)
        checked(library.ex_cuda_copy, made.ctypes.data, self._handle.pointer, self.nbytes, None)
        checked(library.ex_cuda_wait, None)
        return made

    def __array__(self, *_unused, **_more):
        raise TypeError("this array is on the GPU: numpy() copies it")


# ---- DLPack (dmlc/dlpack, version 0: DLManagedTensor) ----

class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
    pass


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_Managed._fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _DELETER)]
_CODES = {"i": 0, "u": 1, "f": 2}
_given: dict = {}  # tensors that other packages hold, with what they need


@_DELETER
def _let_go(managed):
    _given.pop(ctypes.addressof(managed.contents), None)


_python = ctypes.pythonapi
_python.PyCapsule_New.restype = ctypes.py_object
_python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_GetPointer.restype = ctypes.c_void_p
_python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
_CAPSULE, _USED = b"dltensor", b"used_dltensor"  # kept alive: capsules keep the address of their name
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _python))
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _python))


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _drop_capsule(capsule):
    """A capsule that nobody took."""
    if _valid(capsule, _CAPSULE):
        _given.pop(_pointer(capsule, _CAPSULE), None)


def _capsule(array):
    shape = (ctypes.c_int64 * len(array.shape))(*array.shape)
    tensor = _Tensor(array._handle.pointer, 2, array.device, len(array.shape), _CODES[array.dtype.kind],
                     8 * array.dtype.itemsize, 1, shape, None, 0)
    managed = _Managed(tensor, None, _let_go)
    _given[ctypes.addressof(managed)] = managed, shape, array._handle
    return _python.PyCapsule_New(ctypes.addressof(managed), _CAPSULE, ctypes.cast(_drop_capsule, ctypes.c_void_p))


class _Borrowed(NamedTuple):
    """An array of another package: its address, its strides in bytes, and what keeps it alive."""
    pointer: int
    shape: tuple
    dtype: numpy.dtype
    strides: tuple
    keep: object
    readonly: bool


def _packed_strides(shape, size):
    strides = []
    for n in reversed(shape):
        strides.insert(0, size)
        size *= n
    return tuple(strides)


class _Taken:
    """Calls the deleter of a DLPack tensor at its end."""

    def __init__(self, managed):
        self.managed = managed

    def __del__(self):
        if self.managed is not None and self.managed.contents.deleter:
            self.managed.contents.deleter(self.managed)


def _borrow(value, name) -> Optional[_Borrowed]:
    """An array in the GPU's memory as another package describes it; None if it is none."""
    described = getattr(value, "__cuda_array_interface__", None)
    if described is not None:
        dtype, shape = numpy.dtype(described["typestr"]), tuple(described["shape"])
        strides = described.get("strides") or _packed_strides(shape, dtype.itemsize)
        pointer, readonly = described["data"]
        return _Borrowed(int(pointer or 0), shape, dtype, tuple(strides), value, bool(readonly))
    if not hasattr(value, "__dlpack__") or isinstance(value, numpy.ndarray) or value.__dlpack_device__()[0] != 2:
        return None
    capsule = value.__dlpack__(stream=1)  # after the work that made it: 1 is the default stream
    if not _python.PyCapsule_IsValid(capsule, _CAPSULE):
        raise TypeError(f"{name}: this DLPack capsule is of a version that is not known here")
    managed = ctypes.cast(_python.PyCapsule_GetPointer(capsule, _CAPSULE), ctypes.POINTER(_Managed))
    _python.PyCapsule_SetName(capsule, _USED)
    keep, tensor = _Taken(managed), managed.contents.tensor
    kinds = {code: kind for kind, code in _CODES.items()}
    if tensor.lanes != 1 or tensor.code not in kinds:
        raise TypeError(f"{name}: this is no array of numbers")
    dtype = numpy.dtype(f"{kinds[tensor.code]}{tensor.bits // 8}")
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = (tuple(tensor.strides[i] * dtype.itemsize for i in range(tensor.ndim)) if tensor.strides
               else _packed_strides(shape, dtype.itemsize))
    return _Borrowed((tensor.data or 0) + tensor.offset, shape, dtype, strides, keep, False)


class Character:
    """A rig in the GPU's memory. The rig itself may go. Used by one thread at a time."""

    def __init__(self, rig, device: int = 0):
        library = _library()
        if not isinstance(rig, Rig):
            raise TypeError("a Character is made from a Rig")
        checked(library.ex_cuda_use_device, whole(device, "device"))
        made = ctypes.c_void_p()
        checked(library.ex_cuda_rig_create, rig._handle.pointer, None, ctypes.byref(made))
        self._handle, self._rig, self.device = Handle(made.value, library.ex_cuda_rig_destroy), rig, device
        self._scratch: dict = {}

    @property
    def nbytes(self) -> int:
        """Bytes in the GPU's memory."""
        return _library().ex_cuda_rig_size(self._handle.pointer)

    def __repr__(self):
        return f"<exemplar.gpu.Character on GPU {self.device}, {self.nbytes / 1e6:.1f} MB of {self._rig!r}>"

    def set_weigher(self, layer: str, weigher, stream: int = 0):
        """Replaces a layer's weigher by an edited one with as many examples and axes."""
        if layer not in self._rig.layers:
            raise KeyError(f"there is no layer '{layer}'; there are {', '.join(self._rig.layers)}")
        if not isinstance(weigher, Weigher):
            raise TypeError("weigher must be a Weigher")
        stream = whole(stream, "stream", 0, (1 << 64) - 1)
        checked(_library().ex_cuda_use_device, self.device)
        checked(_library().ex_cuda_set_weigher, self._handle.pointer, self._rig.layers[layer].index,
                weigher._handle.pointer, stream or None)

    def evaluate(self, dials=None, joints=None, *, normals: bool = False, weights: bool = False, box: bool = False,
                 level: Union[int, str] = 0, split: bool = False, number: str = "float", frame=(0, 0, 0, 1), out=None,
                 stream: int = 0, wait: bool = True):
        """Evaluates N poses: positions (N, V, 3) on the GPU, as an Array or in `out`.

        dials: (N, D) numbers, a Pose of the rig, or None for rest; joints: (N, J, 10) floats: translation, rotation
        x y z w, scale. On the GPU they are float32 and packed; numpy arrays are copied there. number: 'float', 'half' or
        'snorm', which have 4 numbers an entry; frame: centre x y z and half width that snorm positions are relative to.
        With normals, weights or box the result is a tuple, in this order: positions, normals, weights (N, E), boxes
        (N, 2, 3). out: an array on the GPU, (N, V, 3), of any strides that are multiples of 4. stream: the address of a
        CUDA stream; wait=False returns before the work is done.
        """
        library, rig = _library(), self._rig
        if number not in _NUMBERS:
            raise ValueError(f"number is '{number}'; use {', '.join(_NUMBERS)}")
        if isinstance(dials, Mapping):
            dials = rig.pose(dials)
        if isinstance(dials, Pose):
            if dials.rig._handle is not rig._handle or joints is not None:
                raise TypeError("poses must come from rig.pose of this rig")
            dials, joints = dials.dials, dials.joints
        checked(library.ex_cuda_use_device, self.device)
        stream = whole(stream, "stream", 0, (1 << 64) - 1) or None
        keep, poses = [], _abi.ex_cuda_poses()
        counts = set()
        for name, value, shape in (("dials", dials, (rig._pose_size,)), ("joints", joints, (rig._joint_count, 10))):
            if value is not None:
                pointer, count, held = self._given(name, value, shape, stream)
                keep.append(held)
                counts.add(count)
                if name == "dials":
                    poses.inputs = pointer
                else:
                    poses.joints = ctypes.cast(pointer, ctypes.POINTER(_abi.ex_transform))
        if len(counts) > 1:
            raise ValueError(f"dials and joints are of different numbers of poses: {sorted(counts)}")
        count = counts.pop() if counts else 1
        if count >= 2 ** 31:
            raise ValueError(f"{count} poses are too many for one call: 2147483647 at most")
        level = level_of(rig, level).level
        mesh = runtime.ex_rig_level_mesh(rig._handle.pointer, level)
        vertices = mesh.split_count if split else mesh.vertex_count
        evaluation = _abi.ex_cuda_evaluation(level=level, split=bool(split), stream=stream)
        output, results = _abi.ex_cuda_output(frame=(ctypes.c_float * 4)(*take(frame, "f4", (4,), "frame"))), []
        dtype, lanes = _NUMBERS[number]
        output.positions.number = output.normals.number = list(_NUMBERS).index(number)
        if out is None:
            made = Array((count, vertices, lanes), dtype, self.device)
            output.positions.data = made._handle.pointer
            results.append(made)
        else:
            self._target(out, (count, vertices, lanes), numpy.dtype(dtype), output.positions)
            results.append(out)
        if normals:
            made = Array((count, vertices, lanes), dtype, self.device)
            output.normals.data = made._handle.pointer
            results.append(made)
        for wanted, name, shape in ((weights, "weights", (count, len(rig.examples))), (box, "boxes", (count, 2, 3))):
            if wanted:
                made = Array(shape, "<f4", self.device)
                setattr(output, name, made._handle.pointer)
                results.append(made)
        scratch = self._room(evaluation, output, count, stream)
        checked(library.ex_cuda_evaluate, self._handle.pointer, count, ctypes.byref(poses), ctypes.byref(output),
                ctypes.byref(evaluation), scratch)
        if wait or any(isinstance(held, Array) for held in keep):
            checked(library.ex_cuda_wait, stream)
        return results[0] if len(results) == 1 else tuple(results)

    def _given(self, name, value, shape, stream):
        """Poses on the GPU: their address, their number, and what keeps them alive."""
        borrowed = _borrow(value, name)
        if borrowed is None:
            packed = take(value, "f4", (None, *shape), name)
            made = Array(packed.shape, "<f4", self.device)
            checked(_library().ex_cuda_copy, made._handle.pointer, packed.ctypes.data, packed.nbytes, stream)
            return made._handle.pointer, len(packed), made
        if borrowed.dtype != numpy.dtype("<f4") or borrowed.shape[1:] != shape or len(borrowed.shape) != 1 + len(shape):
            raise ValueError(f"{name} must be float32 of shape (N, {', '.join(map(str, shape))}); this is "
                             f"{borrowed.dtype} of {borrowed.shape}")
        if borrowed.shape[0] > 1 and borrowed.strides != _packed_strides(borrowed.shape, 4):
            raise ValueError(f"{name} must be packed on the GPU: use .contiguous() or its like")
        return borrowed.pointer, borrowed.shape[0], borrowed.keep

    @staticmethod
    def _target(out, shape, dtype, array):
        borrowed = _borrow(out, "out")
        if borrowed is None:
            raise TypeError("out must be an array on the GPU")
        if borrowed.dtype != dtype or borrowed.shape != shape or borrowed.readonly:
            raise ValueError(f"out must be writeable {dtype} of shape {shape}; this is {borrowed.dtype} of {borrowed.shape}")
        instance, entry, lane = borrowed.strides
        if lane != dtype.itemsize or entry < lane * shape[2] or (shape[0] > 1 and instance < entry * shape[1]):
            raise ValueError("out must have packed entries that do not overlap")
        array.data, array.stride, array.instance_stride = borrowed.pointer, entry, instance if shape[0] > 1 else 0

    def _room(self, evaluation, output, count, stream):
        """Scratch memory, kept for each stream: work in one stream runs in order."""
        library = _library()
        size = library.ex_cuda_scratch_size(self._handle.pointer, ctypes.byref(evaluation), ctypes.byref(output), count)
        if stream not in self._scratch or self._scratch[stream].nbytes < size:
            if stream in self._scratch:
                checked(library.ex_cuda_wait, stream)
            self._scratch[stream] = Array((size,), "u1", self.device)
        return self._scratch[stream]._handle.pointer
