"""Bodies with their own skeletons, evaluated a second time in numpy and scipy: from the design, not from the C code.

Weights come from weigh_reference.py. The form and the joints' positions are summed with the same weights. Joints keep
their directions of the base body. Each is then turned about its own axes, parents carry their children, and vertices
follow by linear blending or by unit dual quaternions (Kavan et al. 2008). All in double.
"""
import numpy as np
from scipy.spatial.transform import Rotation

import makehuman
import weigh_reference


def homogeneous(axes, place):
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = axes, place
    return matrix


def linear(matrices, weights, points, _=None):
    blend = (weights @ matrices[:, :3].reshape(len(matrices), 12)).reshape(-1, 3, 4)
    return np.einsum("vjk,vk->vj", blend[:, :, :3], points) + blend[:, :, 3]


def linear_inverse(matrices, weights, points):
    blend = (weights @ matrices[:, :3].reshape(len(matrices), 12)).reshape(-1, 3, 4)
    return np.linalg.solve(blend[:, :, :3], (points - blend[:, :, 3])[:, :, None])[:, :, 0]


def dual(matrices, weights, points, real):
    """From rigid matrices, and their rotations as quaternions with the signs that the joints' turns give them."""
    place = matrices[:, :3, 3]
    other = np.column_stack([place * real[:, 3:] + np.cross(place, real[:, :3]),
                             -np.sum(place * real[:, :3], axis=1)]) / 2
    real, other = weights @ real, weights @ other
    length = np.linalg.norm(real, axis=1, keepdims=True)
    real, other = real / length, other / length
    moved = 2 * (real[:, 3:] * other[:, :3] - other[:, 3:] * real[:, :3] + np.cross(real[:, :3], other[:, :3]))
    return Rotation.from_quat(real).apply(points) + moved


SKINNING = {"linear": linear, "dual_quaternion": dual}


class Character:
    def __init__(self, source, examples):
        self.source, self.examples = source, examples
        axes = [weigh_reference.Axis(low=a["min"], high=a["max"], rest=a["rest"]) for a in makehuman.AXES]
        spec = weigh_reference.Spec(axes, [point for point, _ in examples.values()])
        self.solver = weigh_reference.solve(spec)
        self.forms = np.array([body.form for _, body in examples.values()], float)
        self.heads = np.array([body.heads for _, body in examples.values()])
        self.rest_point = [axis["rest"] for axis in makehuman.AXES]

    def weights(self, point):
        return self.solver.weights(np.array([point], float))[0]

    def form(self, point):
        """The base plus differences, as layers are defined; so the sum of the weights need not be 1."""
        base = self.source.base.form.astype(float)
        return base + np.einsum("k,kvc->vc", self.weights(point), self.forms - base)

    def joints(self, point):
        base = self.source.base.heads
        return base + np.einsum("k,kjc->jc", self.weights(point), self.heads - base)

    def matrices(self, point, turns):
        """The matrix of each bone for its vertices [bones, 4, 4]. turns: {joint: Rotation about its own axes}."""
        source, heads = self.source, self.joints(point)
        binds = [homogeneous(axes, head) for axes, head in zip(source.frames, heads)]
        worlds = [None] * len(binds)

        def world(j):
            if worlds[j] is None:
                parent = source.parents[j]
                at_rest = binds[j] if parent < 0 else world(parent) @ np.linalg.inv(binds[parent]) @ binds[j]
                turn = turns.get(source.names[j], Rotation.identity())
                worlds[j] = at_rest @ homogeneous(turn.as_matrix(), 0)
            return worlds[j]

        return np.array([world(j) @ np.linalg.inv(bind) for j, bind in enumerate(binds)])

    def quaternions(self, turns):
        """Rotations of those matrices [bones, 4]: products along the hierarchy of turns that take the shorter arc."""
        source, found = self.source, {}

        def product(a, b):
            return np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3])

        def world(j):
            if j not in found:
                turn = turns.get(source.names[j], Rotation.identity())
                frame = Rotation.from_matrix(source.frames[j])
                own = (frame * turn * frame.inv()).as_quat()
                own = -own if own[3] < 0 else own
                found[j] = own if source.parents[j] < 0 else product(world(source.parents[j]), own)
            return found[j]

        return np.array([world(j) for j in range(len(source.names))])

    def pose(self, point, turns, skinning, added=0):
        """added: the sum of other layers, on the form at rest."""
        moved = self.matrices(point, turns)
        return SKINNING[skinning](moved, self.source.weights, self.form(point) + added, self.quaternions(turns))
