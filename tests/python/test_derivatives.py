"""Derivatives of weights and of positions, beside differences of a second computation in numpy, all in double."""
import ctypes

import numpy
import pytest

import exemplar
from exemplar import _abi
from exemplar._jacobian import columns, jacobian
from exemplar._library import runtime
from exemplar.weigher import Weigher


def differences(function, x, step):
    """Of fourth order: (…, numbers)."""
    x = numpy.asarray(x, dtype=float)
    steps = numpy.broadcast_to(step, x.shape)
    out = []
    for k in range(len(x)):
        h = numpy.zeros_like(x)
        h[k] = steps[k]
        near, far = function(x + h) - function(x - h), function(x + 2 * h) - function(x - 2 * h)
        out.append((8 * near - far) / (12 * steps[k]))
    return numpy.stack(out, axis=-1)


# ---- weighers a second time ----


def bspline(r):
    return numpy.where(r < 1, 2 / 3 - r**2 + r**3 / 2, numpy.maximum(2 - r, 0) ** 3 / 6)


class Cardinal:
    """Shape by Example, equations 2 and 4 to 6: a plane by least squares, the rest by radial bases."""

    def __init__(self, points, ranges):
        self.low, self.scale = ranges[:, 0], 1 / (ranges[:, 1] - ranges[:, 0])
        self.points = (points - self.low) * self.scale
        distances = self.distances(self.points)
        self.radii = (distances + 1e9 * numpy.eye(len(points))).min(0)
        flat = numpy.hstack([numpy.ones((len(points), 1)), self.points])
        self.plane = numpy.linalg.lstsq(flat, numpy.eye(len(points)), rcond=None)[0]
        self.radial = numpy.linalg.solve(bspline(distances / self.radii), numpy.eye(len(points)) - flat @ self.plane)

    def distances(self, x):
        return numpy.linalg.norm(x[:, None] - self.points[None], axis=2)

    def __call__(self, x):
        x = ((x - self.low) * self.scale)[None]
        return (numpy.hstack([[[1.0]], x]) @ self.plane + bspline(self.distances(x) / self.radii) @ self.radial)[0]


class Calm:
    """docs/mathematics.md, calm weights: rounded distances and a plane in one system, then the bound."""

    def __init__(self, points, ranges, overshoot):
        self.low, self.scale, self.bound = ranges[:, 0], 1 / (ranges[:, 1] - ranges[:, 0]), overshoot
        self.points = (points - self.low) * self.scale
        n, d = self.points.shape
        distances = numpy.linalg.norm(self.points[:, None] - self.points[None], axis=2)
        self.radii = min(0.5, 2.5 * overshoot) * (distances + 1e9 * numpy.eye(n)).min(0)
        flat = numpy.hstack([numpy.ones((n, 1)), self.points])
        system = numpy.block([[self.kernel(distances), flat], [flat.T, numpy.zeros((d + 1, d + 1))]])
        self.solved = numpy.linalg.solve(system, numpy.vstack([numpy.eye(n), numpy.zeros((d + 1, n))]))

    def kernel(self, distance):
        t = numpy.minimum(distance / self.radii, 1)
        return numpy.where(distance < self.radii, self.radii * (3 + 6 * t**2 - t**4) / 8, distance)

    @staticmethod
    def bend(x, limit):
        past = numpy.maximum(x - 0.75 * limit, 0) / (0.25 * limit)
        return numpy.minimum(x, 0.75 * limit) + 0.25 * limit * past / (1 + past)

    @staticmethod
    def small(x, soft):
        return x**2 / (x + soft)

    def __call__(self, x):
        x = (x - self.low) * self.scale
        row = self.kernel(numpy.linalg.norm(self.points - x, axis=1))
        v = numpy.concatenate([row, [1], x]) @ self.solved
        whole = numpy.append(v, 1 - v.sum())
        plus, minus = numpy.maximum(whole, 0), self.bend(numpy.maximum(-whole, 0), self.bound)
        below, room = minus.sum(), 0.75 * self.bound * plus.sum() ** 2 / (plus**2).sum()
        if below > 0:
            minus = minus - (1 - self.bend(below, room) / below) * self.small(minus, self.bound / 4 / len(whole))
        taken = self.small(plus, min(self.bound / 8, 0.5 / len(whole)))
        excess = max(plus.sum() - minus.sum() - 1, 0)
        return (plus - excess / taken.sum() * taken - minus)[:-1]


POINTS = numpy.array([[0, 0], [40, 1], [90, 0.2], [140, 0.9], [60, 0.5], [10, 0.8]])
RANGES = numpy.array([[0, 140], [0, 1.0]])


@pytest.mark.parametrize("kind, second", [("cardinal", Cardinal(POINTS, RANGES)), ("calm", Calm(POINTS, RANGES, 0.05))])
def test_a_second_computation_agrees(kind, second):
    more, rng, bounded = {"overshoot": 0.05} if kind == "calm" else {}, numpy.random.default_rng(5), 0
    weigher = Weigher(POINTS, kind=kind, ranges=RANGES, **more)
    for x in rng.uniform(RANGES[:, 0], RANGES[:, 1], (40, 2)):
        numpy.testing.assert_allclose(weigher.weights(x), second(x), atol=1e-12)
        step = 1e-5 * (RANGES[:, 1] - RANGES[:, 0])
        expected, found = differences(second, x, step), weigher.gradient(x)
        numpy.testing.assert_allclose(found * step * 1e5, expected * step * 1e5, atol=2e-6 if kind == "calm" else 1e-8)
        bounded += bool((weigher.weights(x) < -0.0375).any())
    assert kind == "cardinal" or bounded > 0  # some weights are bent


@pytest.mark.parametrize("kind", ["cardinal", "calm", "gaussian", "shepard", "nearest"])
def test_many_places_and_all_kinds(kind):
    rng = numpy.random.default_rng(2)
    axes = [dict(kind="scalar", range=(0, 90), limit="fade"), dict(kind="swing", about=(0, 0, 1)), dict(kind="twist")]
    points = numpy.hstack([rng.uniform(0, 90, (7, 1)), rng.normal(size=(7, 8))])
    weigher = Weigher(points, kind=kind, axes=axes, pseudos=[{"at": rng.normal(size=9), "weights": numpy.eye(7)[2]}])
    places = numpy.hstack([rng.uniform(-10, 100, (50, 1)), rng.normal(size=(50, 8))])
    weights, slopes = weigher.gradient(places, weights=True)
    assert weights.shape == (50, 7) and slopes.shape == (50, 7, 9)
    assert numpy.array_equal(weights, weigher.weights(places))
    assert numpy.array_equal(slopes[3], weigher.gradient(places[3]))
    assert numpy.array_equal(slopes[:, :, ::2], weigher.gradient(places[::-1][::-1])[:, :, ::2])
    assert numpy.abs(numpy.einsum("nek,nk->ne", slopes[:, :, 1:5], places[:, 1:5])).max() < 1e-12 * numpy.abs(slopes).max()
    size = numpy.array([90.0] + [1] * 8)
    close = [numpy.abs(differences(weigher.weights, x, 1e-5 * size) * size - s * size).max() < 1e-5 * (1 + numpy.abs(s * size).max())
             for x, s in zip(places, slopes)]
    assert sum(close) >= 45  # a few are next to corners


# ---- positions a second time ----


def compose(translation, q, scale):
    x, y, z, w = q / numpy.linalg.norm(q)
    matrix = numpy.eye(4)
    matrix[:3, :3] = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]) * scale
    matrix[:3, 3] = translation
    return matrix


def product(a, b):
    v = a[3] * b[:3] + b[3] * a[:3] + numpy.cross(a[:3], b[:3])
    return numpy.append(v, a[3] * b[3] - a[:3] @ b[:3])


class Second:
    """A rig with forms, offsets at rest, dials and angles of joints, in double: everything but the weights is numpy."""

    def __init__(self, rig):
        self.rig, pointer = rig, rig._handle.pointer
        count, joints = runtime.ex_rig_vertex_count(pointer), runtime.ex_rig_joint_count(pointer)

        def floats(call, *arguments, shape):
            room = numpy.zeros(shape, dtype=numpy.float32)
            call(pointer, *arguments, room.ctypes.data)
            return room.astype(float)

        self.mesh, self.layers = floats(runtime.ex_rig_rest_mesh, shape=(count, 3)), []
        self.sources = [runtime.ex_rig_input_source(pointer, i) for i in range(runtime.ex_rig_input_count(pointer))]
        for layer in range(runtime.ex_rig_layer_count(pointer)):
            if runtime.ex_rig_layer_stage(pointer, layer) != _abi.EX_STAGE_REST:
                continue
            weigher = Weigher._of(runtime.ex_rig_weigher(pointer, layer), rig)
            inputs = [runtime.ex_rig_layer_input(pointer, layer, a) for a in range(len(weigher.axes))]
            deltas = numpy.stack([floats(runtime.ex_rig_example_delta, layer, k, shape=(count, 3)) for k in range(len(weigher))])
            shifts = numpy.stack([floats(runtime.ex_rig_example_shifts, layer, k, shape=(joints, 3))
                                  for k in range(len(weigher))]) if joints else None
            self.layers.append((weigher, inputs, deltas, shifts))
        self.joints, skeleton = joints, runtime.ex_rig_skeleton(pointer)
        if joints:
            self.parents = [runtime.ex_skeleton_parent(skeleton, j) for j in range(joints)]
            rest = [runtime.ex_skeleton_rest(skeleton, j) for j in range(joints)]
            self.rest = [(numpy.array(t.translation[:]), numpy.array(t.rotation[:]), numpy.array(t.scale[:])) for t in rest]
            self.inverse = []
            for j in range(joints):
                matrix = numpy.zeros(12, dtype=numpy.float32)
                runtime.ex_skeleton_inverse_bind(skeleton, j, matrix.ctypes.data)
                self.inverse.append(numpy.vstack([matrix.astype(float).reshape(3, 4), [0, 0, 0, 1]]))
            self.skin = numpy.zeros((count, joints))
            indices, weights = (ctypes.c_uint32 * 1024)(), (ctypes.c_float * 1024)()
            for v in range(count):
                found = runtime.ex_skin_influences(runtime.ex_rig_skin(pointer), v, ctypes.addressof(indices),
                                                   ctypes.addressof(weights))
                for i in range(found):
                    self.skin[v, indices[i]] += weights[i]

    def __call__(self, values):
        form, shift = self.mesh.copy(), numpy.zeros((self.joints, 3))
        for weigher, inputs, deltas, shifts in self.layers:
            weights = weigher.weights(values[inputs][None])[0]
            form += numpy.einsum("k,kvc->vc", weights, deltas)
            shift += numpy.einsum("k,kjc->jc", weights, shifts) if self.joints else 0
        if not self.joints:
            return form
        rotations = [q.copy() for _, q, _ in self.rest]
        for value, source in zip(values, self.sources):
            if source.joint < 0:
                continue
            assert source.reading.kind == _abi.EX_READING_ANGLE
            about, half = numpy.array(source.reading.about[:]), numpy.radians(value) / 2
            turn = numpy.append(about / numpy.linalg.norm(about) * numpy.sin(half), numpy.cos(half))
            rotations[source.joint] = product(rotations[source.joint], turn)
        worlds, out = [], numpy.zeros_like(form)
        for j, parent in enumerate(self.parents):
            translation, _, scale = self.rest[j]
            if parent >= 0:
                translation = translation + self.inverse[parent][:3, :3] @ (shift[j] - shift[parent])
            else:
                assert numpy.abs(shift[j]).max() < 1e-7
            local = compose(translation, rotations[j], scale)
            worlds.append(local if parent < 0 else worlds[parent] @ local)
            back = numpy.eye(4)
            back[:3, 3] = -shift[j]
            matrix = worlds[j] @ self.inverse[j] @ back
            out += self.skin[:, j, None] * (form @ matrix[:3, :3].T + matrix[:3, 3])
        return out


def check_rig(rig, poses):
    """The largest error, as a share of the mesh's size and per range of each axis."""
    second, axes, worst = Second(rig), list(rig.axes.values()), 0
    size = numpy.ptp(rig.mesh.vertices, axis=0).max()
    ranges = numpy.array([axis.max - axis.min for axis in axes])
    for values in poses:
        pose = rig.pose(**{axis.name: value for axis, value in zip(axes, values)})
        numpy.testing.assert_allclose(rig.evaluate(pose)[0], second(values), atol=2e-6 * size)
        found = jacobian(rig, pose)
        assert found.shape == (rig.mesh.vertex_count, 3, len(axes)) and found.dtype == numpy.float64
        expected = differences(second, values, 1e-4 * ranges)
        assert numpy.abs(expected).max() > 0
        worst = max(worst, numpy.abs((found - expected) * ranges).max() / size)
        floats = differences(lambda x: rig.evaluate(rig.pose(**{a.name: v for a, v in zip(axes, x)}))[0].astype(float),
                             values, 0.005 * ranges)
        assert numpy.abs((found - floats) * ranges).max() / size < 1e-3
    return worst


@pytest.mark.parametrize("name", ["blob", "arm", "elbow"])
def test_demos(demo, name):
    rig = exemplar.load(demo(name) / f"{name}.glb")
    axes, rng = list(rig.axes.values()), numpy.random.default_rng(4)
    inside = [[rng.uniform(axis.min, axis.max) for axis in axes] for _ in range(6)]
    assert columns(rig) == list(rig.axes)
    assert check_rig(rig, [numpy.array(values) for values in inside]) < 1e-6


def test_a_calm_layer(demo):
    """The elbow's layers are calm; here beyond their examples too, where weights are held, and with an edited space."""
    rig = exemplar.load(demo("elbow") / "elbow.glb")
    assert {layer.kind for layer in rig.layers.values()} == {"calm"}
    far = numpy.array([axis.max + 0.2 * (axis.max - axis.min) for axis in rig.axes.values()])
    assert check_rig(rig, [far]) < 1e-6
    name, layer = next(iter(rig.layers.items()))
    own = Weigher._of(runtime.ex_rig_weigher(rig._handle.pointer, layer.index), rig)
    other = own.move(0, own.points[0] + 5)
    pose = rig.pose(**{axis: 0.3 * rig.axes[axis].max for axis in rig.axes})
    assert not numpy.array_equal(jacobian(rig, pose), jacobian(rig, pose, weighers={name: other}))
    assert numpy.array_equal(jacobian(rig, pose), jacobian(rig, pose, weighers={name: own}))


def test_levels_and_many_poses(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    poses = rig.pose(elbow=[10, 70, 120], gender=[0, 0.5, 1])
    many = jacobian(rig, poses)
    assert many.shape == (3, 1335, 3, 4)
    assert numpy.array_equal(many[1], jacobian(rig, rig.pose(elbow=70, gender=0.5)))
    assert numpy.array_equal(jacobian(rig), jacobian(rig, rig.pose()))
    assert not numpy.array_equal(jacobian(rig, unskinned=True), jacobian(rig))
    with pytest.raises(ValueError, match="no level 9"):
        jacobian(rig, level=9)
    with pytest.raises(ValueError, match="no level"):
        jacobian(rig, level="1")
    with pytest.raises(TypeError, match="this rig"):
        jacobian(rig, exemplar.load(demo("blob") / "blob.glb").pose())
    with pytest.raises(KeyError, match="no layer"):
        jacobian(rig, weighers={"knee": None})
    with pytest.raises(ValueError, match="another number"):
        jacobian(rig, weighers={"arm": Weigher([[0], [1]])})


def test_poses_and_layers_as_of_evaluate(demo):
    rig = exemplar.load(demo("arm") / "arm.glb")
    one = rig.jacobian({"elbow": 70})
    assert one.ndim == 3 and numpy.array_equal(rig.jacobian([rig.pose(elbow=70)]), one[None])
    assert numpy.array_equal(rig.jacobian({"elbow": [70]}), one[None])
    assert numpy.array_equal(rig.jacobian(rig.pose(elbow=70).values), one[None])
    layer = rig.layers["arm"]
    assert numpy.array_equal(rig.jacobian({"elbow": 70}, weighers={layer: rig.weigher(layer)}), one)
    muted = rig.jacobian({"elbow": 70}, muted=["arm"])
    assert not numpy.array_equal(muted, one) and not muted[..., rig.jacobian_columns().index("gender")].any()
