# SPDX-License-Identifier: GPL-3.0-or-later
"""Bones as joints of the library: rest, and the pose that Blender's evaluation gives, constraints and drivers included.

A joint's transform relative to its parent is L = P^-1 M, with M and P the matrices of bone and parent in the armature's
space; at rest L0. Axes read the rotation of L0^-1 L, which is what Blender's channels hold for a bone without constraints.
"""
import numpy

from .library import exemplar


class Bones:
    """The bones of an armature, in its order (parents first)."""

    def __init__(self, armature):
        bones = list(armature.data.bones)
        order = {bone.name: i for i, bone in enumerate(bones)}
        self.names = [bone.name for bone in bones]
        self.index = order
        self.parents = numpy.array([order[bone.parent.name] if bone.parent else -1 for bone in bones], dtype=numpy.int32)
        self.seen = _rest(armature)
        self.matrices = self.seen.reshape(-1, 4, 4).transpose(0, 2, 1).astype(numpy.float64)
        self.rest = transforms(relative(self.matrices, self.parents))

    def are(self, armature):
        """True if an armature still has these bones, where they were at rest."""
        bones = armature.data.bones
        return len(bones) == len(self.names) and bones.keys() == self.names and numpy.array_equal(_rest(armature), self.seen)

    def skeleton(self):
        return exemplar.Skeleton(self.names, self.parents, self.rest)

    def pose(self, armature):
        """(J, 10) transforms relative to the parents, of an evaluated armature."""
        return transforms(relative(matrices(armature), self.parents), self.rest)


def _rest(armature):
    """(J, 16) matrices of the bones at rest, as Blender has them."""
    bones = armature.data.bones
    out = numpy.empty((len(bones), 16), dtype=numpy.float32)
    bones.foreach_get("matrix_local", out.ravel())
    return out


def matrices(armature):
    """(J, 4, 4) of the bones of an evaluated armature, in its space."""
    bones = armature.pose.bones
    out = numpy.empty((len(bones), 16), dtype=numpy.float32)
    bones.foreach_get("matrix", out.ravel())
    return out.reshape(-1, 4, 4).transpose(0, 2, 1).astype(numpy.float64)


def relative(world, parents, joints=slice(None)):
    """(J, 4, 4) matrices relative to the parents, of all joints or of these. A parent that is scaled to 0 leaves its
    children no rotation: their scale is 0 then."""
    above = parents[joints]
    above = numpy.where((above >= 0)[:, None, None], world[above], numpy.eye(4))
    columns = above[:, :3, :3]
    flat = numpy.abs(numpy.linalg.det(columns)) <= 1e-6 * numpy.linalg.norm(columns, axis=1).prod(1)
    above[flat] = numpy.eye(4)
    out = numpy.linalg.solve(above, world[joints])
    out[flat, :3, :3] = 0
    return out


def transforms(matrix, rest=None):
    """(J, 10) translation, rotation x y z w, scale of (J, 4, 4) matrices; a shear is left out. rest: transforms whose
    rotation is taken where a scale of 0 leaves none, or None: no rotation."""
    columns = matrix[:, :3, :3]
    scale = numpy.linalg.norm(columns, axis=1)
    flat = scale <= 1e-12
    scale[numpy.linalg.det(columns) < 0] *= -1
    turns = columns / numpy.where(flat, 1.0, scale)[:, None, :]
    for axis in range(3) if flat.any() else ():
        one = flat[:, axis] & (flat.sum(1) == 1)
        turns[one, :, axis] = numpy.cross(turns[one, :, axis - 2], turns[one, :, axis - 1])
    lost = flat.sum(1) > 1
    out = numpy.empty((len(matrix), 10))
    out[:, :3] = matrix[:, :3, 3]
    out[:, 3:7] = quaternions(turns)
    out[lost, 3:7] = (0, 0, 0, 1) if rest is None else rest[lost, 3:7]
    out[:, 7:] = scale
    return out


def composed(transform):
    """(J, 4, 4) matrices of (J, 10) transforms: the reverse of `transforms`."""
    rows = numpy.asarray(transform, dtype=numpy.float64)
    x, y, z, w = rows[:, 3:7].T
    out = numpy.zeros((len(rows), 4, 4))
    out[:, :3, :3] = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)
    out[:, :3, :3] *= rows[:, None, 7:]
    out[:, :3, 3], out[:, 3, 3] = rows[:, :3], 1
    return out


def quaternions(r):
    """(J, 4) x y z w of (J, 3, 3) rotations: from the largest of its squares, so that none is divided by little."""
    d = numpy.einsum("jii->ji", r)
    squares = numpy.stack([1 + d[:, 0] - d[:, 1] - d[:, 2], 1 - d[:, 0] + d[:, 1] - d[:, 2],
                           1 - d[:, 0] - d[:, 1] + d[:, 2], 1 + d.sum(1)], axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    e, f, g = r[:, 0, 1] + r[:, 1, 0], r[:, 0, 2] + r[:, 2, 0], r[:, 1, 2] + r[:, 2, 1]
    rows = numpy.stack([numpy.stack([squares[:, 0], e, f, a], 1), numpy.stack([e, squares[:, 1], g, b], 1),
                        numpy.stack([f, g, squares[:, 2], c], 1), numpy.stack([a, b, c, squares[:, 3]], 1)], axis=1)
    picked = rows[numpy.arange(len(r)), squares.argmax(1)]
    return picked / numpy.linalg.norm(picked, axis=1, keepdims=True)


def product(p, q):
    """Quaternion p q, x y z w."""
    x, y, z, w = p
    a, b, c, d = q
    return numpy.array([w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a,
                        w * c + x * b - y * a + z * d, w * d - x * a - y * b - z * c])


def turn(rest, local):
    """The rotation L0^-1 L as a quaternion x y z w with w >= 0, of two rows of transforms."""
    made = product([-rest[3], -rest[4], -rest[5], rest[6]], local[3:7])
    return made if made[3] >= 0 else -made
