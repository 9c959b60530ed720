"""Sculpts at bent joints, as an artist would leave them: round elbows and knees, creases that touch without crossing,
muscles that swell. Each is given as a form at rest.

Linear skinning alone is mixed with dual quaternions, which keep limbs round, and smoothed as by Delta Mush (Mancewicz,
Derksen, Rijpkema, Wilson 2014); then the bone at the outside and the muscles are pushed out, and what crosses the plane
between the two halves of the limb goes back to its own side.
"""
import numpy as np
import scipy.sparse as sparse
from scipy.spatial.transform import Rotation

HINGES = {"elbow": ("upperarm01", "lowerarm01", "wrist"), "knee": ("upperleg01", "lowerleg01", "foot")}
UPPER = {"elbow": ("upperarm01", "upperarm02"), "knee": ("upperleg01", "upperleg02")}
LOWER = {"elbow": ("lowerarm01", "lowerarm02", "wrist"), "knee": ("lowerleg01", "lowerleg02", "foot")}
STRAIGHT = 140.0  # degrees at which muscles are swollen in full
LEAST = 2e-5      # metres: smaller offsets are left out
TUCKED = 0.014    # metres that skin is below cloth at shoulders and hips, where cloth of large faces folds


def multiply(p, q):
    """Products of quaternions x y z w."""
    vector = p[..., 3:] * q[..., :3] + q[..., 3:] * p[..., :3] + np.cross(p[..., :3], q[..., :3])
    scalar = p[..., 3] * q[..., 3] - (p[..., :3] * q[..., :3]).sum(axis=-1)
    return np.concatenate([vector, scalar[..., None]], axis=-1)


class Sculptor:
    """Sculpts a figure: its form and the heads of its joints, both at rest."""

    def __init__(self, person, rest, heads):
        self.person, self.source = person, person.source
        self.rest, self.heads, self.faces, self.weights = rest, heads, person.faces, person.weights
        count = len(self.rest)
        ends = np.concatenate([self.faces[:, [i, (i + 1) % 4]] for i in range(4)])
        near = sparse.csr_matrix((np.ones(len(ends)), ends.T), shape=(count, count))
        near = ((near + near.T) > 0).astype(float).tocsr()
        self.neighbour = near.indices[near.indptr[:-1]]
        mean = sparse.diags(1 / np.asarray(near.sum(axis=1)).ravel()) @ near
        self.smoother = 0.5 * (sparse.identity(count) + mean)
        self.coarse = np.concatenate([np.full(part.count, part.name in ("shirt", "trousers"))
                                      for part in person.parts])

    # ---- posing ----

    def joints(self, turns):
        """Matrices [joints, 4, 4] of joints that are turned in their own axes: {name: Rotation}."""
        found = np.zeros((len(self.source.names), 4, 4))
        frames, heads = self.person.frames, self.heads
        for number, (name, parent) in enumerate(zip(self.source.names, self.source.parents)):
            turn = turns[name].as_matrix() if name in turns else np.eye(3)
            local = np.eye(4)
            if parent < 0:
                local[:3, :3], local[:3, 3] = frames[number] @ turn, heads[number]
                found[number] = local
            else:
                local[:3, :3] = frames[parent].T @ frames[number] @ turn
                local[:3, 3] = frames[parent].T @ (heads[number] - heads[parent])
                found[number] = found[parent] @ local
        return found

    def moves(self, joints):
        """Rotations [joints, 3, 3] and translations [joints, 3] from rest."""
        turns = joints[:, :3, :3] @ self.person.frames.transpose(0, 2, 1)
        return turns, joints[:, :3, 3] - np.einsum("jab,jb->ja", turns, self.heads)

    def linear(self, joints):
        """Matrices [vertices, 3, 4] of linear skinning."""
        turns, shifts = self.moves(joints)
        return np.einsum("vj,jab->vab", self.weights, np.concatenate([turns, shifts[..., None]], axis=2))

    def dual(self, joints):
        """The form by dual quaternions."""
        turns, shifts = self.moves(joints)
        real = Rotation.from_matrix(turns).as_quat()
        real[real[:, 3] < 0] *= -1
        moved = 0.5 * multiply(np.column_stack([shifts, np.zeros(len(shifts))]), real)
        real, moved = self.weights @ real, self.weights @ moved
        size = np.linalg.norm(real, axis=1, keepdims=True)
        real, moved = real / size, moved / size
        return Rotation.from_quat(real).apply(self.rest) + 2 * multiply(moved, real * [-1, -1, -1, 1])[:, :3]

    # ---- smoothing ----

    def smooth(self, form, times):
        for _ in range(times):
            form = self.smoother @ form
        return form

    def normals(self, form):
        a, b, c, d = (form[self.faces[:, i]] for i in range(4))
        found = np.zeros_like(form)
        for i in range(4):
            np.add.at(found, self.faces[:, i], np.cross(c - a, d - b))
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-15)

    def axes(self, form):
        """A frame at every vertex: along an edge, and along the normal."""
        normal = self.normals(form)
        edge = form[self.neighbour] - form
        edge -= normal * (edge * normal).sum(axis=1, keepdims=True)
        edge /= np.maximum(np.linalg.norm(edge, axis=1, keepdims=True), 1e-15)
        return np.stack([edge, np.cross(normal, edge), normal], axis=2)

    def mush(self, form, times):
        def once(times):
            calm, base = self.smooth(form, times), self.smooth(self.rest, times)
            details = np.einsum("vab,va->vb", self.axes(base), self.rest - base)
            return calm + np.einsum("vab,vb->va", self.axes(calm), details)
        result, few = once(times), once(max(2, times // 4))
        result[self.coarse] = few[self.coarse]
        return result

    # ---- sculpts ----

    def share(self, names, side):
        return self.weights[:, [self.source.index[name + side] for name in names]].sum(axis=1)

    def around(self, place, reach):
        away = np.linalg.norm(self.rest - place, axis=1) / reach
        return np.clip(2.2 * np.clip(1 - away * away, 0, 1) ** 2, 0, 1)

    def at_rest(self, form, matrices, mask):
        """The sculpt without its pose; small offsets and those outside the mask are left out."""
        back = np.linalg.solve(matrices[:, :, :3], (form - matrices[:, :, 3])[..., None])[..., 0]
        offsets = self.smooth((back - self.rest) * np.clip(4 * mask, 0, 1)[:, None], 2)
        offsets[np.linalg.norm(offsets, axis=1) < LEAST] = 0
        return self.rest + offsets

    def hinge(self, kind, side, angle):
        """An elbow or a knee, bent by degrees from rest."""
        upper, middle, lower = (self.source.index[name + side] for name in HINGES[kind])
        joints = self.joints({HINGES[kind][1] + side: Rotation.from_euler("x", angle, degrees=True)})
        matrices = self.linear(joints)
        linear = np.einsum("vab,vb->va", matrices[:, :, :3], self.rest) + matrices[:, :, 3]
        size = np.linalg.norm(self.heads[middle] - self.heads[upper])
        limb = self.share(UPPER[kind], side) + self.share(LOWER[kind][:2], side)
        mask = self.around(self.heads[middle], 0.62 * size + 0.05) * np.clip(1.6 * limb - 0.3, 0, 1)
        form = linear + mask[:, None] * (self.mush(0.45 * linear + 0.55 * self.dual(joints), 16) - linear)

        centre, bent = joints[middle, :3, 3], angle / STRAIGHT
        up, down = (joints[end, :3, 3] - centre for end in (upper, lower))
        up, down = up / np.linalg.norm(up), down / np.linalg.norm(down)
        crease = (up + down) / np.linalg.norm(up + down)
        outward = self.normals(form)

        def near(place, reach):
            return np.exp(-((form - place) ** 2).sum(axis=1) / (reach * size) ** 2) * mask * bent * size
        reach, amount = (0.13, 0.05) if kind == "elbow" else (0.2, 0.085)
        form = form - crease * (amount * near(centre - 0.12 * size * crease, reach))[:, None]
        if kind == "elbow":
            form = form + outward * (0.04 * near(centre + size * (0.52 * up + 0.16 * crease), 0.26))[:, None]
            form = form + outward * (0.024 * near(centre + size * (0.3 * down + 0.13 * crease), 0.2))[:, None]
        else:
            form = form + outward * (0.025 * near(centre + size * (0.36 * down + 0.14 * crease), 0.22))[:, None]
        across = np.cross(joints[middle, :3, 0], crease)
        across *= np.sign(across @ up)
        own = np.where(self.share(LOWER[kind], side) < 0.5, 1.0, -1.0)
        deep = np.maximum(0, 0.005 * size - own * ((form - centre) @ across)) * ((form - centre) @ crease > 0) * mask
        return self.at_rest(form + across * (own * deep)[:, None], matrices, mask)

    def ball(self, joint, side, turn, reach):
        """A shoulder or a hip at a rotation in the joint's axes."""
        joints = self.joints({joint + side: turn})
        matrices = self.linear(joints)
        linear = np.einsum("vab,vb->va", matrices[:, :, :3], self.rest) + matrices[:, :, 3]
        mask = self.around(self.heads[self.source.index[joint + side]], reach)
        form = linear + mask[:, None] * (self.mush(0.5 * linear + 0.5 * self.dual(joints), 18) - linear)
        sculpt = self.at_rest(form, matrices, mask)
        form = np.einsum("vab,vb->va", matrices[:, :, :3], sculpt) + matrices[:, :, 3]
        inward = np.linalg.solve(matrices[:, :, :3], (self.person.tucked(form, TUCKED) - form)[..., None])[..., 0]
        return sculpt + inward * np.clip(4 * mask, 0, 1)[:, None]
