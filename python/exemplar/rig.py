"""Rigs: load one, look inside, pose it, evaluate it."""
import concurrent.futures
import ctypes
import os
import pathlib
import threading

import numpy

from . import _abi
from ._library import Handle, check_misuse, checked, runtime, text_of

LIMIT = -1
"""The level of the limit surface."""

_POSE = numpy.dtype([("inputs", "u8"), ("joints", "u8"), ("driver", "u8"), ("elapsed", "f8")])
_OUTPUTS = ["positions", "position_stride", "normals", "normal_stride", "weights"]
_OUTPUT = numpy.dtype({"names": _OUTPUTS, "formats": ["u8"] * len(_OUTPUTS),
                       "offsets": [getattr(_abi.ex_output, name).offset for name in _OUTPUTS],
                       "itemsize": ctypes.sizeof(_abi.ex_output)})
_TRANSFORMS = ctypes.POINTER(_abi.ex_transform)
_BATCH = 64  # poses per call of the library: more gain nothing and need more scratch memory


_kept = threading.local()


def _address(array):
    return array.__array_interface__["data"][0]


def load(path, *, storage="float"):
    """Loads a rig from a .glb file that `exemplar build` or the editor wrote. storage: 'float', or 'short' for 16 bit."""
    data = pathlib.Path(os.fspath(path)).read_bytes()
    return Rig._unpack(data, storage)


class Axis:
    """One input of a rig: its name, unit ('deg', '' …), range and rest value; width 1, or 4 for a rotation."""

    def __init__(self, rig, index):
        axis = runtime.ex_rig_input_axis(rig, index)
        self.index, self.name = index, text_of(runtime.ex_rig_input_name(rig, index))
        self.unit = text_of(runtime.ex_rig_input_unit(rig, index))
        self.width = runtime.ex_axis_width(ctypes.byref(axis))
        self.min, self.max, self.rest = axis.min, axis.max, axis.rest
        self.is_dial = runtime.ex_rig_input_offset(rig, index) >= 0
        """False if the value is read from a joint of the skeleton, or from a driver."""

    def __repr__(self):
        return f"<exemplar.Axis {self.name}: {self.min:g} to {self.max:g}{' ' + self.unit if self.unit else ''}>"


class Layer:
    """A layer of a rig: its name, the names of its examples, and the names of its axes."""

    def __init__(self, rig, index):
        weigher = runtime.ex_rig_weigher(rig, index)
        self.index, self.name = index, text_of(runtime.ex_rig_layer_name(rig, index))
        self.kind = text_of(runtime.ex_weigher_kind_name(runtime.ex_weigher_get_kind(weigher)))
        self.examples = [text_of(runtime.ex_rig_example_name(rig, index, k))
                         for k in range(runtime.ex_weigher_example_count(weigher))]
        self.axes = [text_of(runtime.ex_rig_input_name(rig, runtime.ex_rig_layer_input(rig, index, a)))
                     for a in range(runtime.ex_weigher_axis_count(weigher))]

    def __repr__(self):
        return f"<exemplar.Layer {self.name}: {self.kind}, {len(self.examples)} examples over {', '.join(self.axes)}>"


class Skeleton:
    """Joints: names, parents (-1: none), and rest transforms (J, 10): translation, rotation x y z w, scale."""

    def __init__(self, skeleton):
        count = runtime.ex_skeleton_joint_count(skeleton)
        self.names = [text_of(runtime.ex_skeleton_name(skeleton, j)) for j in range(count)]
        self.parents = numpy.array([runtime.ex_skeleton_parent(skeleton, j) for j in range(count)], dtype=numpy.int32)
        self.rest = numpy.empty((count, 10), dtype=numpy.float32)
        for j in range(count):
            transform = runtime.ex_skeleton_rest(skeleton, j)
            self.rest[j] = numpy.ctypeslib.as_array((ctypes.c_float * 10).from_buffer_copy(transform))

    def __len__(self):
        return len(self.names)

    def __repr__(self):
        return f"<exemplar.Skeleton, {len(self)} joints>"


class Mesh:
    """Vertices (V, 3) at rest in metres, triangles (T, 3) of vertices, and faces as a list of arrays."""

    def __init__(self, handle, level):
        rig = handle.pointer
        mesh = runtime.ex_rig_level_mesh(rig, level)
        self.vertex_count = mesh.vertex_count

        def numbers(address, kind, shape):
            count = int(numpy.prod(shape))
            if not address or not count:
                return numpy.empty(shape, dtype=kind)
            kind = numpy.dtype(kind)
            memory = (ctypes.c_char * (count * kind.itemsize)).from_address(address)
            return numpy.frombuffer(memory, dtype=kind).reshape(shape).copy()

        sources = numbers(mesh.split_source, "u4", (mesh.split_count,)) if mesh.split_source else None
        self.split_source = sources if sources is not None else numpy.arange(mesh.vertex_count, dtype="u4")
        """(S,) the vertex of each split vertex: a vertex with several texture coordinates is split for display."""
        self.texcoords = numbers(mesh.texcoords, "f4", (mesh.split_count, 2)) if mesh.texcoords else None
        """(S, 2) of split vertices, or None."""
        self.triangles = self.split_source[numbers(mesh.triangles, "u4", (mesh.triangle_count, 3))].astype(numpy.int32)
        corners = self.split_source[numbers(mesh.corners, "u4", (mesh.corner_count,))].astype(numpy.int32)
        sizes = numbers(mesh.face_sizes, "u4", (mesh.face_count,))
        self.faces = numpy.split(corners, numpy.cumsum(sizes)[:-1]) if len(sizes) else []
        self.vertices = None
        if level == 0:
            self.vertices = numpy.empty((mesh.vertex_count, 3), dtype=numpy.float32)
            runtime.ex_rig_rest_mesh(rig, self.vertices.ctypes.data)

    def __iter__(self):
        """As a tuple (vertices, triangles), which other packages take."""
        return iter((self.vertices, self.triangles))

    def __repr__(self):
        return f"<exemplar.Mesh, {self.vertex_count} vertices, {len(self.triangles)} triangles>"


class Pose:
    """A pose, or many: dials (N, D) doubles, and joints (N, J, 10) floats: translation, rotation x y z w, scale."""

    def __init__(self, rig, count=1):
        self._rig = rig
        pose_size, joints = rig._pose_size, rig._joint_count
        self.dials = numpy.zeros((count, pose_size))
        self.joints = numpy.zeros((count, joints, 10), dtype=numpy.float32) if joints else None
        if count:
            rest = _abi.ex_pose(inputs=self.dials.ctypes.data if pose_size else None)
            if joints:
                rest.joints = ctypes.cast(self.joints.ctypes.data, _TRANSFORMS)
            runtime.ex_rig_rest_pose(rig._handle.pointer, ctypes.byref(rest))
            self.dials[1:] = self.dials[0]
            if joints:
                self.joints[1:] = self.joints[0]

    def __len__(self):
        return len(self.dials)

    def __repr__(self):
        return f"<exemplar.Pose, {len(self)} of {self._rig!r}>"

    def set(self, **values):
        """Sets axes by name: a number for all poses, or one number (or four, for rotations) for each. Returns itself."""
        rig = self._rig
        for name, value in values.items():
            axis = rig._find(name)
            numbers = numpy.asarray(value, dtype=numpy.float64)
            wanted = (len(self), axis.width)
            try:
                numbers = numpy.broadcast_to(numbers.reshape(-1, axis.width) if axis.width > 1 or numbers.ndim else numbers,
                                             wanted)
            except ValueError:
                raise ValueError(f"{name}: {numbers.shape} does not fit {len(self)} poses") from None
            offset = runtime.ex_rig_input_offset(rig._handle.pointer, axis.index)
            if offset >= 0:
                self.dials[:, offset:offset + axis.width] = numbers
            elif self.joints is None:
                raise ValueError(f"{name}: its value comes from a driver and cannot be set")
            else:
                self._turn(axis, numpy.ascontiguousarray(numbers))
        return self

    def _turn(self, axis, numbers):
        """An axis that is read from a joint changes that joint."""
        pose, rig = _abi.ex_pose(), self._rig._handle.pointer
        for i in range(len(self)):
            pose.inputs = self.dials[i:].ctypes.data
            pose.joints = ctypes.cast(self.joints[i:].ctypes.data, _TRANSFORMS)
            runtime.ex_rig_set_input(rig, axis.index, numbers[i:].ctypes.data, ctypes.byref(pose))


class Rig:
    """A character: immutable, and safe to use from any number of threads. `load` makes one from a file."""

    @classmethod
    def _unpack(cls, data, storage):
        kinds = {"float": 0, "short": 1}
        if storage not in kinds:
            raise ValueError(f"storage is '{storage}': use 'float' or 'short'")
        memory = numpy.frombuffer(data, dtype=numpy.uint8).copy() if len(data) else numpy.zeros(1, dtype=numpy.uint8)
        options = _abi.ex_rig_options(storage=kinds[storage])
        made = ctypes.c_void_p()
        checked(runtime.ex_rig_unpack, memory.ctypes.data, len(data), ctypes.byref(options), None, ctypes.byref(made))
        rig = cls.__new__(cls)
        rig._handle = Handle(made.value, runtime.ex_rig_destroy)
        rig._describe()
        return rig

    def _describe(self):
        rig = self._handle.pointer
        self._pose_size, self._joint_count = runtime.ex_rig_pose_size(rig), runtime.ex_rig_joint_count(rig)
        self.axes = {axis.name: axis for axis in (Axis(rig, i) for i in range(runtime.ex_rig_input_count(rig)))}
        self.layers = {layer.name: layer for layer in (Layer(rig, i) for i in range(runtime.ex_rig_layer_count(rig)))}
        self.examples = [name for layer in self.layers.values() for name in layer.examples]
        skeleton = runtime.ex_rig_skeleton(rig)
        self.skeleton = Skeleton(skeleton) if skeleton else None
        self.mesh = Mesh(self._handle, 0)
        self.level_count = runtime.ex_rig_level_count(rig)

    def __repr__(self):
        joints = f", {self._joint_count} joints" if self._joint_count else ""
        return (f"<exemplar.Rig {self.mesh.vertex_count} vertices, {len(self.examples)} examples in {len(self.layers)} "
                f"layers over {', '.join(self.axes) or 'no axes'}{joints}>")

    def _find(self, name):
        if name not in self.axes:
            raise KeyError(f"there is no axis '{name}'; there are {', '.join(self.axes) or 'none'}")
        return self.axes[name]

    def vertex_count(self, level=0):
        """The number of vertices at a level: 0 the mesh, 1 and up, or LIMIT."""
        return runtime.ex_rig_level_vertex_count(self._handle.pointer, level)

    def pose(self, **values):
        """The rest pose with these axes set: rig.pose(elbow=70). Arrays make many poses."""
        counts = {numpy.asarray(value).size // self._find(name).width for name, value in values.items()
                  if numpy.ndim(value)} - {1}
        if len(counts) > 1:
            raise ValueError(f"axes have different numbers of poses: {', '.join(str(n) for n in sorted(counts))}")
        return Pose(self, counts.pop() if counts else 1).set(**values)

    def evaluate(self, poses=None, *, normals=False, weights=False, level=0, threads=1, out=None):
        """Evaluates poses: positions (N, V, 3) floats in metres; with normals or weights a tuple with (N, V, 3) unit
        vectors, (N, E) weights. out: an array (N, V, 3) of floats to write to, of any strides that are multiples of 4
        and with packed triples. threads: how many work at once; the result does not depend on it.
        """
        pose = Pose(self) if poses is None else poses
        if isinstance(pose, (list, tuple)):
            pose = self._together(pose)
        if not isinstance(pose, Pose) or pose._rig._handle is not self._handle:
            raise TypeError("poses must come from rig.pose of this rig")
        count, vertices = len(pose), self.vertex_count(level)
        if vertices == 0:
            raise ValueError(f"the rig has no level {level}; it has 0 to {self.level_count}")
        positions = self._target(out, count, vertices)
        wanted = numpy.empty((count, vertices, 3), dtype=numpy.float32) if normals else None
        shares = numpy.empty((count, len(self.examples))) if weights else None
        self._run(pose, positions, wanted, shares, level, threads)
        results = [positions] + [part for part in (wanted, shares) if part is not None]
        return results[0] if len(results) == 1 else tuple(results)

    def _together(self, poses):
        if not all(isinstance(p, Pose) and p._rig._handle is self._handle for p in poses):
            raise TypeError("poses must come from rig.pose of this rig")
        joined = Pose(self, sum(len(p) for p in poses))
        if poses:
            joined.dials[:] = numpy.concatenate([p.dials for p in poses])
            if joined.joints is not None:
                joined.joints[:] = numpy.concatenate([p.joints for p in poses])
        return joined

    @staticmethod
    def _target(out, count, vertices):
        if out is None:
            return numpy.empty((count, vertices, 3), dtype=numpy.float32)
        if not isinstance(out, numpy.ndarray) or out.dtype != numpy.dtype("=f4") or out.shape != (count, vertices, 3):
            raise ValueError(f"out must be an array of float32 of shape ({count}, {vertices}, 3)")
        if not out.flags.writeable or out.strides[2] != 4 or out.strides[1] < 12 or out.strides[1] % 4 or \
                out.strides[0] % 4 or out.ctypes.data % 4 or (count > 1 and abs(out.strides[0]) < vertices * out.strides[1]
                                                              and vertices > 0 and out.strides[0] < 12):
            raise ValueError("out must be writeable, with packed triples that do not overlap")
        return out

    def _run_one(self, dials, joints, positions, normals, weights, level):
        """One pose, with little around the call: its scratch memory is kept for the thread."""
        pose, output, evaluation = _abi.ex_pose(), _abi.ex_output(), _abi.ex_evaluation(level=level)
        handle = self._handle
        size = runtime.ex_rig_scratch_size(handle.pointer, evaluation, 1)
        if getattr(_kept, "size", -1) < size:
            _kept.size, _kept.scratch = size, ctypes.create_string_buffer(size + 16)
        if dials.size:
            pose.inputs = _address(dials)
        if joints is not None:
            pose.joints = ctypes.cast(_address(joints), _TRANSFORMS)
        output.positions, output.position_stride = _address(positions), positions.strides[1]
        if normals is not None:
            output.normals = _address(normals)
        if weights is not None and weights.size:
            output.weights = _address(weights)
        runtime.ex_rig_evaluate(handle.pointer, pose, output, evaluation, _kept.scratch)
        check_misuse()

    def _run(self, pose, positions, normals, weights, level, threads):
        count, handle = len(pose), self._handle
        dials = numpy.ascontiguousarray(pose.dials, dtype=numpy.float64)
        joints = None if pose.joints is None else numpy.ascontiguousarray(pose.joints, dtype=numpy.float32)
        if dials.shape != (count, self._pose_size) or (joints is not None and joints.shape != (count, self._joint_count, 10)):
            raise ValueError("the arrays of the pose have lost their shapes")
        if count == 1:
            self._run_one(dials, joints, positions, normals, weights, level)
            return
        index = numpy.arange(count, dtype=numpy.uint64)
        given = numpy.zeros(count, dtype=_POSE)
        if self._pose_size:
            given["inputs"] = dials.ctypes.data + index * (8 * self._pose_size)
        if joints is not None:
            given["joints"] = joints.ctypes.data + index * (40 * self._joint_count)
        outputs = numpy.zeros(count, dtype=_OUTPUT)
        outputs["positions"] = positions.ctypes.data + index.astype(numpy.int64) * positions.strides[0]
        outputs["position_stride"] = positions.strides[1]
        if normals is not None:
            outputs["normals"] = normals.ctypes.data + index * normals.strides[0]
        if weights is not None and weights.shape[1]:
            outputs["weights"] = weights.ctypes.data + index * weights.strides[0]
        evaluation = _abi.ex_evaluation(level=level)

        def run(first, last):
            size = min(_BATCH, last - first)
            scratch = ctypes.create_string_buffer(
                runtime.ex_rig_scratch_size(handle.pointer, ctypes.byref(evaluation), size) + 16)
            for begin in range(first, last, _BATCH):
                batch = min(_BATCH, last - begin)
                runtime.ex_rig_evaluate_many(
                    handle.pointer, batch,
                    ctypes.cast(given.ctypes.data + begin * _POSE.itemsize, ctypes.POINTER(_abi.ex_pose)),
                    ctypes.cast(outputs.ctypes.data + begin * _OUTPUT.itemsize, ctypes.POINTER(_abi.ex_output)),
                    ctypes.byref(evaluation), scratch)
                check_misuse()

        workers = max(1, min(int(threads), (count + _BATCH - 1) // _BATCH))
        if workers == 1:
            run(0, count)
            return
        ends = [count * k // workers for k in range(workers + 1)]
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for done in [pool.submit(run, a, b) for a, b in zip(ends, ends[1:])]:
                done.result()

