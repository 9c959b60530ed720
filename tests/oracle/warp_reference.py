"""In-betweens of two and of several forms, and their stretch, computed independently of the program.

A triangle is laid flat: X = [[l, m], [0, h]] are its edges as columns in its own frame O = (along the first edge,
across it, normal). Its deformation in its plane is F = X1 X0^-1. The polar decomposition of a 2 x 2 matrix has a closed
form, F = T S with T a turn by atan2(F21 - F12, F11 + F22). The rotation in space is then O1 T O0^T. This needs no
singular value decomposition of 3 x 3 matrices, nor the normal in them, as the program does.

A form x has in every triangle the 3 x 2 map J from the flat start. Its stretch at t comes from the singular values of
J ((1 - t) I + t S)^-1. Poisson's form has J nearest to R^t O0 ((1 - t) I + t S), weighed by area. The rigid one frees
the rotation: the nearest 3 x 2 matrix with orthonormal columns to J ((1 - t) I + t S) = M is M (M^T M)^-1/2.

Links hold components together: along the shortest tree between them, the nearest vertices of two components keep their
differences, turned with the surfaces around them. All links of two components share one rotation: separate rotations
feed back into the few triangles they are read from, and the form crumples after some dozens of steps.
"""
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linear
from scipy.sparse import csgraph
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

PERCENTILES = (50, 90, 99, 99.9)
LINKS = 24         # between two components
LINK_WEIGHT = 0.3  # of the mean diagonal entry of the Laplacian
SLIVER = 1e-12     # areas below this part of the mean are no triangles


def rigid_fit(target, points, weights):
    """(Q, c): points @ Q.T + c is nearest to the target."""
    weights = weights / weights.sum()
    a, b = weights @ target, weights @ points
    u, _, vt = np.linalg.svd((target - a).T @ ((points - b) * weights[:, None]))
    turn = u @ np.diag([1, 1, np.sign(np.linalg.det(u @ vt))]) @ vt
    return turn, a - turn @ b


def moved(points, motion):
    turn, shift = motion
    return points @ turn.T + shift


def nearest_turns(m):
    """Of matrices [..., 3, 3], by quaternions: the eigenvector of the largest eigenvalue of Horn's 4 x 4 matrix."""
    t = np.trace(m, axis1=-2, axis2=-1)
    n = np.zeros(m.shape[:-2] + (4, 4))
    n[..., :3, :3] = m + np.swapaxes(m, -1, -2) - t[..., None, None] * np.eye(3)
    n[..., 3, 3] = t
    axis = np.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1]], -1)
    n[..., :3, 3] = n[..., 3, :3] = axis
    return Rotation.from_quat(np.linalg.eigh(n)[1][..., 3]).as_matrix()


def inverse_root(c):
    """C^-1/2 of symmetric 2 x 2 matrices: the root is (C + d) / sqrt(tr C + 2 d), d its determinant."""
    d = np.sqrt(np.maximum(c[:, 0, 0] * c[:, 1, 1] - c[:, 0, 1] ** 2, 1e-300))
    scale = 1 / (d * np.sqrt(c[:, 0, 0] + c[:, 1, 1] + 2 * d))
    out = -c * scale[:, None, None]
    out[:, 0, 0], out[:, 1, 1] = (c[:, 1, 1] + d) * scale, (c[:, 0, 0] + d) * scale
    return out


class Between:
    def __init__(self, start, end, triangles, links=None):
        """links: (vertices [n, 2], weights [n]) from elsewhere."""
        self.start, self.triangles, self.count = start, triangles, len(start)
        flat, frames = self.lay_flat(start)
        self.areas = flat[:, 0, 0] * flat[:, 1, 1] / 2
        good = self.areas > SLIVER * self.areas.mean()
        self.triangles = triangles = triangles[good]
        self.areas, flat, self.frames = self.areas[good], flat[good], frames[good]
        self.flat_inverse = np.linalg.inv(flat)
        self.weights = np.bincount(triangles.ravel(), np.repeat(self.areas / 3, 3), self.count)
        self.alignment = rigid_fit(start, end, self.weights)
        self.end = moved(end, self.alignment)
        self.size = np.linalg.norm(np.ptp(start, axis=0))
        self.find_rotations()
        self.component_count, self.components = csgraph.connected_components(self.edges())
        self.make_system(links)

    # ---- triangles ----

    def lay_flat(self, form):
        corners = form[self.triangles]
        p, q = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
        length = np.linalg.norm(p, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            along = p / length[:, None]
            middle = np.sum(along * q, axis=1)
            across = q - middle[:, None] * along
            height = np.linalg.norm(across, axis=1)
            across = across / height[:, None]
        flat = np.zeros((len(p), 2, 2))
        flat[:, 0, 0], flat[:, 0, 1], flat[:, 1, 1] = length, middle, height
        return flat, np.stack([along, across, np.cross(along, across)], axis=2)

    def find_rotations(self):
        flat, frames = self.lay_flat(self.end)
        f = flat @ self.flat_inverse
        angle = np.arctan2(f[:, 1, 0] - f[:, 0, 1], f[:, 0, 0] + f[:, 1, 1])
        turn = np.zeros((len(f), 3, 3))
        turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
        turn[:, 1, 0] = np.sin(angle)
        turn[:, 0, 1] = -turn[:, 1, 0]
        turn[:, 2, 2] = 1
        self.stretches = np.swapaxes(turn[:, :2, :2], 1, 2) @ f
        self.rotations = frames @ turn @ np.swapaxes(self.frames, 1, 2)
        self.turns = self.choose_branches(Rotation.from_matrix(self.rotations).as_rotvec())

    def choose_branches(self, vectors):
        """Neighbours turn alike: from the triangle that turns least, along the tree of smallest differences, every
        rotation gets the number of full turns that brings it nearest to the one before."""
        first, second = self.neighbours()
        between = np.swapaxes(self.rotations[first], 1, 2) @ self.rotations[second]
        cost = 3 - np.trace(between, axis1=1, axis2=2) + 1e-9
        count = len(vectors)
        tree = csgraph.minimum_spanning_tree(sparse.csr_matrix((cost, (first, second)), (count, count)))
        tree = tree + tree.T
        angles = np.linalg.norm(vectors, axis=1)
        chosen = vectors.copy()
        part_count, parts = csgraph.connected_components(tree)
        for part in range(part_count):
            members = np.flatnonzero(parts == part)
            root = members[np.argmin(angles[members])]
            order, before = csgraph.breadth_first_order(tree, root, directed=False)
            for i in order[1:]:
                if angles[i] > 1e-9:
                    axis = vectors[i] / angles[i]
                    whole = np.round((chosen[before[i]] @ axis - angles[i]) / (2 * np.pi))
                    chosen[i] = axis * (angles[i] + 2 * np.pi * whole)
        return chosen

    def neighbours(self):
        """Pairs of triangles with a common edge."""
        edges = np.sort(np.concatenate([self.triangles[:, [i, (i + 1) % 3]] for i in range(3)]), axis=1)
        owner = np.tile(np.arange(len(self.triangles)), 3)
        order = np.lexsort(edges.T)
        same = (edges[order][1:] == edges[order][:-1]).all(axis=1)
        return owner[order][:-1][same], owner[order][1:][same]

    def edges(self):
        i = self.triangles[:, [0, 1, 2]].ravel()
        j = self.triangles[:, [1, 2, 0]].ravel()
        return sparse.csr_matrix((np.ones(len(i)), (i, j)), (self.count, self.count))

    # ---- measuring ----

    def maps(self, form):
        """J [m, 3, 2]."""
        corners = form[self.triangles]
        return np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2) @ self.flat_inverse

    def alone(self, t):
        return (1 - t) * np.eye(2) + t * self.stretches

    def stretch(self, form, t):
        values = np.linalg.svd(self.maps(form) @ np.linalg.inv(self.alone(t)), compute_uv=False)
        return np.abs(values - 1).max(axis=1)

    def percentiles(self, form, t):
        return np.percentile(self.stretch(form, t), PERCENTILES)

    def flipped(self, form, t):
        """True for flipped triangles of a form in the frame of the start, without the alignment."""
        corners = form[self.triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        wanted = Rotation.from_rotvec(t * self.turns).apply(self.frames[:, :, 2])
        return np.sum(normals * wanted, axis=1) < 0

    def centroids(self, form):
        sizes = np.bincount(self.components)
        return np.stack([np.bincount(self.components, form[:, k]) / sizes for k in range(3)], axis=1)

    # ---- in-betweens, in the frame of the start ----

    def make_system(self, links):
        m = len(self.triangles)
        inverse = self.flat_inverse
        # J = [p q] X0^-1: corner 1 has row 0 of the inverse, corner 2 row 1, corner 0 minus both.
        values = np.stack([-inverse.sum(axis=1), inverse[:, 0], inverse[:, 1]], axis=1)  # [m, corner, 2]
        rows = np.broadcast_to(2 * np.arange(m)[:, None, None] + np.arange(2), values.shape)
        columns = np.broadcast_to(self.triangles[:, :, None], values.shape)
        gradient = sparse.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), (2 * m, self.count))
        self.divergence = (gradient.T @ sparse.diags(np.repeat(self.areas, 2))).tocsr()
        laplacian = self.divergence @ gradient
        self.mean_diagonal = laplacian.diagonal().mean()
        self.links, self.link_weights = self.find_links() if links is None else links
        self.prepare_links()
        held = sparse.csc_matrix(([self.mean_diagonal], ([0], [0])), laplacian.shape)
        loose = sparse.diags((self.weights == 0) * self.mean_diagonal)  # vertices without a triangle stay anywhere
        linked = self.incidence.T @ sparse.diags(self.link_weights) @ self.incidence
        system = laplacian + linked + held + loose
        self.solver = linear.splu(system.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0,
                                  options={"SymmetricMode": True})

    def find_links(self):
        """Links between components with triangles, along the shortest tree of their distances."""
        pairs = []
        real = [np.flatnonzero(self.components == c) for c in range(self.component_count)]
        real = [members for members in real if self.weights[members].sum() > 0]
        trees = [cKDTree(self.start[members]) for members in real]
        distance = np.zeros((len(real), len(real)))
        for a in range(len(real)):
            for b in range(a):
                distance[a, b] = trees[b].query(self.start[real[a]])[0].min() + 1e-9 * self.size
        for a, b in zip(*csgraph.minimum_spanning_tree(sparse.csr_matrix(distance)).nonzero()):
            far, near = trees[b].query(self.start[real[a]])
            best = np.argsort(far, kind="stable")[:LINKS]
            pairs += list(zip(real[a][best], real[b][near[best]]))
        return np.array(pairs, int).reshape(-1, 2), np.full(len(pairs), LINK_WEIGHT * self.mean_diagonal)

    def prepare_links(self):
        count = len(self.links)
        self.incidence = sparse.csr_matrix((np.tile([1.0, -1.0], count), (np.repeat(np.arange(count), 2),
                                           self.links.ravel())), (count, self.count))
        m = len(self.triangles)
        at_corners = sparse.csr_matrix((np.repeat(self.areas, 3), (self.triangles.ravel(), np.repeat(np.arange(m), 3))),
                                       (self.count, m))
        self.around_links = abs(self.incidence) @ at_corners
        pairs = np.sort(self.components[self.links], axis=1)
        self.groups = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
        if count:
            whole = self.link_turns(Rotation.from_rotvec(self.turns).as_matrix())
            self.link_end = np.einsum("nji,nj->ni", whole, self.incidence @ self.end)

    def link_turns(self, rotations):
        """One rotation for all links between two components: nearest to the area-weighted sum of those at their
        ends."""
        sums = np.zeros((self.groups.max() + 1, 9))
        np.add.at(sums, self.groups, self.around_links @ rotations.reshape(-1, 9))
        return nearest_turns(sums.reshape(-1, 3, 3))[self.groups]

    def put_together(self, columns, t):
        """The form whose maps are nearest to columns [m, 3, 2] times each triangle's own stretch."""
        right = self.divergence @ np.swapaxes(columns @ self.alone(t), 1, 2).reshape(-1, 3)
        if len(self.links):
            normals = np.cross(columns[:, :, 0], columns[:, :, 1])
            rotations = np.concatenate([columns, normals[:, :, None]], 2) @ np.swapaxes(self.frames, 1, 2)
            wanted = (1 - t) * (self.incidence @ self.start) + t * self.link_end
            turned = np.einsum("nij,nj->ni", self.link_turns(rotations), wanted)
            right += self.incidence.T @ (self.link_weights[:, None] * turned)
        form = self.solver.solve(right)
        return form + (self.weights @ (self.start - form)) / self.weights.sum()

    def poisson(self, t):
        turns = Rotation.from_rotvec(t * self.turns).as_matrix()
        return self.put_together((turns @ self.frames)[:, :, :2], t)

    def rigid(self, t, iterations=30):
        form = first = self.poisson(t)
        for _ in range(iterations):
            m = self.maps(form) @ self.alone(t)
            form = self.put_together(m @ inverse_root(np.swapaxes(m, 1, 2) @ m), t)
        return moved(form, rigid_fit(first, form, self.weights))

    def linear(self, t):
        return (1 - t) * self.start + t * self.end


class Mixtures(Between):
    """In-betweens of a start and several ends. At weights x, a triangle alone turns by the sum of x times its rotation
    vectors, each on its branch, and has the stretch I + sum of x (S - I): that is an in-between at time 1."""

    def __init__(self, start, ends, triangles):
        self.items = [Between(start, ends[0], triangles)]
        links = self.items[0].links, self.items[0].link_weights
        self.items += [Between(start, end, triangles, links) for end in ends[1:]]
        vars(self).update({name: value for name, value in vars(self.items[0]).items()})

    def set(self, weights):
        base = self.incidence @ self.start

        def blended(rest, name):
            return rest + sum(x * (getattr(item, name) - rest) for x, item in zip(weights, self.items))

        self.turns = sum(x * item.turns for x, item in zip(weights, self.items))
        self.stretches = blended(np.eye(2), "stretches")
        self.end = blended(self.start, "end")
        if len(self.links):
            self.link_end = blended(base, "link_end")
