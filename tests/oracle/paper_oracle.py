"""Trajectories by the energies of the trajectory-warping paper, solved a second time.

An independent solve (numpy, scipy) of the same energy: unknowns v and w as in the paper, weights from assembled
Hessians, derivatives by complex steps, Levenberg-Marquardt with sparse factorisation. The tool's energy must be within
1 % of it on a bent bar, with all terms and with each term left out. Chains of rigid links must be exact at all times
with appended bases, and not without.
"""
import subprocess
import sys

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg
from scipy.spatial.transform import Rotation

TIMES = [0.1, 0.25, 0.5, 0.75, 0.9]


# ---- meshes ----

def grid_box(low, high, counts):
    """The surface of a box, each side divided; vertices on edges are shared."""
    index, places, quads = {}, [], []

    def vertex(i, j, k):
        key = (i, j, k)
        if key not in index:
            index[key] = len(places)
            places.append([low[a] + (high[a] - low[a]) * key[a] / counts[a] for a in range(3)])
        return index[key]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, counts[axis]):
            for i in range(counts[u]):
                for j in range(counts[v]):
                    ring = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        key = [0, 0, 0]
                        key[axis], key[u], key[v] = side, i + a, j + b
                        ring.append(vertex(*key))
                    quads.append(ring if side else ring[::-1])
    triangles = [t for q in quads for t in ((q[0], q[1], q[2]), (q[0], q[2], q[3]))]
    return np.array(places, float), np.array(triangles)


def bend(places, angle, length):
    """Bends a bar along x evenly in the plane of x and y."""
    radius = length / angle
    a = places[:, 0] / radius
    r = radius - places[:, 1]
    return np.stack([r * np.sin(a), radius - r * np.cos(a), places[:, 2]], 1)


def chain(shared, angles, lengths):
    """Links along x that turn about z; returns start, triangles and the form at time t."""
    places, triangles, links, joints = [], [], [], []
    x = 0.0
    index = {}
    for k, length in enumerate(lengths):
        gap = 0.0 if shared else 0.1
        box, faces = grid_box([x + gap, 0, 0], [x + length - gap, 0.4, 0.5], [4, 2, 2])
        if shared:  # wedges: both ends come down to an edge at y = 0, which is the hinge
            for end in (x, x + length):
                at = np.abs(box[:, 0] - end) < 1e-9
                inner = x + 0.15 if end == x else x + length - 0.15
                box[at & (box[:, 1] > 0), 0] = inner
        names = []
        for p in box:
            key = tuple(np.round(p, 6)) if shared else (k,) + tuple(np.round(p, 6))
            if key not in index:
                index[key] = len(places)
                places.append(p)
                links.append(k)
            names.append(index[key])
        triangles += [[names[i] for i in f] for f in faces]
        joints.append(np.array([x, 0.0, 0.25]))
        x += length
    places, triangles, links = np.array(places), np.array(triangles), np.array(links)

    def form(t):
        turned, at = places.copy(), joints[0].copy()
        for k in range(len(lengths)):
            r = Rotation.from_rotvec([0, 0, t * angles[k]]).as_matrix()
            mine = links == k
            turned[mine] = at + (places[mine] - joints[k]) @ r.T
            if k + 1 < len(lengths):
                at = at + r @ (joints[k + 1] - joints[k])
        return turned

    return places, triangles, form


# ---- the energy ----

def cross_matrix(w):
    o = np.zeros_like(w[:, 0])
    return np.stack([np.stack([o, -w[:, 2], w[:, 1]], 1), np.stack([w[:, 2], o, -w[:, 0]], 1),
                     np.stack([-w[:, 1], w[:, 0], o], 1)], 1)


def warp(w, v):
    """R~(w) v by equation 7; also for complex numbers."""
    angle = np.sqrt((w * w).sum(1) + 0j)
    small = np.abs(angle) < 1e-4
    safe = np.where(small, 1, angle)
    b = np.where(small, 0.5 - angle**2 / 24, (1 - np.cos(safe)) / safe**2)
    c = np.where(small, 1 / 6 - angle**2 / 120, (safe - np.sin(safe)) / safe**3)
    once = np.cross(w, v)
    out = v + b[:, None] * once + c[:, None] * np.cross(w, once)
    return out if np.iscomplexobj(w) or np.iscomplexobj(v) else out.real


def pair_derivative(w, v):
    """Derivatives of R~(w) v by v and w: [n][3][6], by complex steps."""
    out = np.zeros((len(w), 3, 6))
    for k in range(3):
        step = np.zeros(3, complex)
        step[k] = 1e-30j
        out[:, :, k] = warp(w + 0j, v + step).imag / 1e-30
        out[:, :, 3 + k] = warp(w + step, v + 0j).imag / 1e-30
    return out


class Problem:
    def __init__(self, start, end, triangles, factors):
        n, m = len(start), len(triangles)
        size = np.linalg.norm(start.max(0) - start.min(0))
        corner = start[triangles]
        normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        area = np.linalg.norm(normal, axis=1) / 2
        normal /= 2 * area[:, None]
        weight = np.zeros(n)
        np.add.at(weight, triangles.ravel(), np.repeat(area / 3, 3))
        ca, cb = weight @ start / weight.sum(), weight @ end / weight.sum()
        u, _, vt = np.linalg.svd((start - ca).T @ (weight[:, None] * (end - cb)))
        r = u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt
        p0 = start / size
        p1 = ((end - cb) @ r.T + ca) / size
        self.n, self.m, self.d = n, m, p1 - p0

        def frames(p):
            c = p[triangles]
            e1, e2 = c[:, 0] - c[:, 2], c[:, 1] - c[:, 2]
            across = np.cross(e1, e2)
            return np.stack([e1, e2, across / np.linalg.norm(across, axis=1)[:, None]], 2)

        inverse = np.linalg.inv(frames(p0))
        u, s, vt = np.linalg.svd(frames(p1) @ inverse)
        assert (np.linalg.det(u @ vt) > 0).all()
        turns = Rotation.from_matrix(u @ vt).as_rotvec()
        stretch = np.swapaxes(vt, 1, 2) @ (s[:, :, None] * vt)
        half = Rotation.from_rotvec(turns / 2).as_matrix() @ (np.eye(3) + stretch) / 2
        flat = np.eye(3) - normal[:, :, None] * normal[:, None, :]
        operator = np.array([[1, 0, 0], [0, 1, 0], [-1, -1, 0]]) @ inverse  # equation 14: [m][corner][3]
        goal = half @ flat - np.einsum('mci,mcj->mij', p0[triangles], operator)
        rows, columns, values = [], [], []
        for c in range(3):
            for i in range(3):
                for j in range(3):
                    rows.append(9 * np.arange(m) + 3 * i + j)
                    columns.append(3 * triangles[:, c] + i)
                    values.append(operator[:, c, j])
        self.gradient = sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
                                          (9 * m, 3 * n))
        self.goal = goal.ravel()

        q = p0[triangles] - p0[triangles].mean(1)[:, None]
        qx = np.stack([cross_matrix(q[:, c]) for c in range(3)], 1)
        inertia = np.linalg.inv((qx @ qx).sum(1))
        count = np.bincount(triangles.ravel(), minlength=n)
        rows, columns, values = [], [], []
        for c in range(3):
            block = -inertia @ qx[:, c]
            for k in range(3):
                for i in range(3):
                    for j in range(3):
                        rows.append(3 * triangles[:, k] + i)
                        columns.append(3 * triangles[:, c] + j)
                        values.append(block[:, i, j] / count[triangles[:, k]])
        self.curl = sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))),
                                      (3 * n, 3 * n))
        w = np.zeros((n, 3))
        np.add.at(w, triangles.ravel(), np.repeat(turns, 3, axis=0))
        self.w = w / count[:, None]
        self.v = np.linalg.solve(pair_derivative(self.w, self.d)[:, :, :3], self.d[:, :, None])[:, :, 0]
        self.weights = np.ones(3)
        norms = [linalg.norm(2 * j.T @ j) for j in self.derivatives(self.v, self.w)]
        self.weights = np.array(factors)**2 * norms[0] / np.array(norms)

    def residuals(self, v, w):
        return [(warp(w, v) - self.d).ravel(), w.ravel() - self.curl @ v.ravel(),
                self.gradient @ (warp(w / 2, v) / 2).ravel() - self.goal]

    def derivatives(self, v, w):
        """Derivatives of the three terms by (v, w), interleaved by vertex."""
        n = self.n
        rows = np.repeat(np.arange(3 * n), 6)
        columns = (6 * np.arange(n)[:, None, None] + np.arange(6) + np.zeros((1, 3, 1), int)).ravel()

        def blocks(values):
            return sparse.csr_matrix((values.ravel(), (rows, columns)), (3 * n, 6 * n))

        pick_v = np.zeros((n, 3, 6))
        pick_w = np.zeros((n, 3, 6))
        pick_v[:, range(3), range(3)] = 1
        pick_w[:, range(3), range(3, 6)] = 1
        half = pair_derivative(w / 2, v) / 2
        half[:, :, 3:] /= 2
        return [blocks(pair_derivative(w, v)), blocks(pick_w) - self.curl @ blocks(pick_v),
                self.gradient @ blocks(half)]

    def energies(self, v, w):
        return np.array([a * (r @ r) for a, r in zip(self.weights, self.residuals(v, w))])

    def solve(self, steps=200):
        v, w, damping = self.v, self.w, 1e-6
        energy = self.energies(v, w).sum()
        for _ in range(steps):
            scale = np.sqrt(self.weights)
            j = sparse.vstack([s * d for s, d in zip(scale, self.derivatives(v, w))]).tocsr()
            f = np.concatenate([s * r for s, r in zip(scale, self.residuals(v, w))])
            h = (j.T @ j).tocsc()
            floor = 1e-12 * h.diagonal().max()
            while True:
                x = linalg.spsolve(h + sparse.diags(damping * h.diagonal() + floor), -(j.T @ f)).reshape(-1, 6)
                trial = self.energies(v + x[:, :3], w + x[:, 3:]).sum()
                if trial < energy or damping > 1e8:
                    break
                damping = max(damping * 10, 1e-6)
            if not trial < energy:
                break
            v, w, damping = v + x[:, :3], w + x[:, 3:], max(damping / 10, 1e-12)
            fall, energy = energy - trial, trial
            if fall < 1e-9 * energy or energy < 1e-25:
                break
        return v, w, self.energies(v, w)


# ---- comparison ----

def ask(probe, start, end, triangles, steps=0, bases=0, root=-1, without=0, weights=(0, 0, 0), times=()):
    text = ' '.join(['%d %d %d %d %d %d' % (len(start), len(triangles), steps, bases, root, without),
                     '%g %g %g %d' % (*weights, len(times)), ' '.join(map(str, triangles.ravel()))] +
                    [' '.join('%.17g' % x for x in list(a)) for a in (start.ravel(), end.ravel(), times)])
    done = subprocess.run([probe], input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit('the probe failed: ' + done.stderr)
    if done.stderr:
        print(done.stderr)
    lines = done.stdout.split('\n')
    first = lines[0].split()
    segments = int(lines[1])
    numbers = list(map(int, lines[2].split()))
    return {'steps': int(first[0]), 'converged': int(first[1]), 'energies': np.array(list(map(float, first[2:]))),
            'parents': numbers[:segments], 'segments': numbers[segments:],
            'turns': np.array(list(map(float, lines[3].split()))).reshape(-1, 3),
            'forms': [np.array(list(map(float, x.split()))).reshape(-1, 3) for x in lines[4:4 + len(times)]]}


def check(holds, what):
    print(('ok   ' if holds else 'FAIL ') + what)
    check.failed += not holds


check.failed = 0


def compare_bar(probe):
    start, triangles = grid_box([0, 0, 0], [4, 1, 1], [12, 3, 3])
    end = bend(start, np.pi / 2, 4)
    for without, name in ((0, 'all terms'), (1, 'no pose'), (2, 'no rotation'), (4, 'no gradient')):
        factors = [f * (not without >> k & 1) for k, f in enumerate((1, 0.1, 0.05))]
        problem = Problem(start, end, triangles, factors)
        got = ask(probe, start, end, triangles, without=without)
        _, w, energies = problem.solve()
        begin = problem.energies(problem.v, problem.w).sum()
        mine, theirs = got['energies'][0], energies.sum()
        # If a term is left out, the minimum may be zero; then the remaining share of the start counts.
        check(mine <= 1.01 * theirs + 1e-4 * begin and mine >= 0.99 * theirs - 1e-12 * begin,
              'bar, %s: energy %.6e, independent solve %.6e, at the start %.6e' % (name, mine, theirs, begin))
        check(got['steps'] <= 10, 'bar, %s: %d steps, converged %d' % (name, got['steps'], got['converged']))
        if not without:
            check(np.allclose(got['energies'][1:], energies, rtol=2e-3, atol=1e-6 * theirs),
                  'bar: energies of the terms %s' % got['energies'][1:])
            far = np.abs(got['turns'] - w).max()
            check(far < 0.01, 'bar: turns differ by %.2e at most' % far)


def compare_chains(probe):
    lengths, angles = [1.0, 1.2, 0.9, 1.1], [0.0, 0.9, -0.4, 1.0]
    for shared in (False, True):
        start, triangles, form = chain(shared, angles, lengths)
        name = 'links that share hinges' if shared else 'separate links'
        size = np.linalg.norm(start.max(0) - start.min(0))
        for bases in (1, 0):
            got = ask(probe, start, form(1.0), triangles, bases=bases, root=0 if bases else -1, times=TIMES)
            far = max(np.abs(f - form(t)).max() for f, t in zip(got['forms'], TIMES)) / size
            print('     %s: segments %d, parents %s, steps %d' % (name, len(got['parents']), got['parents'],
                                                                   got['steps']))
            check(far < 1e-5 if bases else far > 1e-2, '%s, %s bases: off by %.2e of the size' %
                  (name, 'with' if bases else 'without', far))


def stretch(start, form, goal, triangles):
    """The largest |sqrt(lambda) - 1| of every triangle of a form, relative to metrics `goal` in the triangles'
    planes."""
    c, f = start[triangles], form[triangles]
    e1 = c[:, 1] - c[:, 0]
    e1 /= np.linalg.norm(e1, axis=1)[:, None]
    normal = np.cross(e1, c[:, 2] - c[:, 0])
    e2 = np.cross(normal / np.linalg.norm(normal, axis=1)[:, None], e1)
    plane = np.stack([e1, e2], 1)
    edges = np.einsum('mki,mji->mkj', np.stack([c[:, 1] - c[:, 0], c[:, 2] - c[:, 0]], 1), plane)
    moved = np.linalg.solve(edges, np.stack([f[:, 1] - f[:, 0], f[:, 2] - f[:, 0]], 1))
    metric = moved @ np.swapaxes(moved, 1, 2)
    if goal is None:
        return metric
    values = np.linalg.eigvals(np.linalg.solve(goal, metric)).real
    return np.abs(np.sqrt(np.maximum(values, 0)) - 1).max(1)


def compare_stretched(probe):
    """Figure 3: a bar stretched to more than twice its length, and bent. The gradient term keeps it in shape."""
    start, triangles = grid_box([0, 0, 0], [4, 1, 1], [24, 6, 6])
    thin = 1 - 0.15 * start[:, 0]
    end = bend(np.stack([start[:, 0] + 1.5 * start[:, 0]**2 / 4, (start[:, 1] - 0.5) * thin + 0.5,
                         (start[:, 2] - 0.5) * thin], 1), 2.6, 10.0)
    values, vectors = np.linalg.eigh(stretch(start, end, None, triangles))
    half = vectors @ (((1 + np.sqrt(values)) / 2)[:, :, None]**2 * np.swapaxes(vectors, 1, 2))
    worst = []
    for without, weight in ((4, 0), (0, 0), (0, 0.5)):
        got = ask(probe, start, end, triangles, without=without, weights=(0, 0, weight), times=[0.5])
        worst.append(np.percentile(stretch(start, got['forms'][0], half, triangles), 99))
        check(got['steps'] <= 10, 'stretched bar: %d steps' % got['steps'])
    check(worst[1] < 0.8 * worst[0] and worst[2] < 0.25 * worst[0],
          'stretched bar: 99th percentile of stretch half-way %.3f without the gradient term, %.3f with it, %.3f with ten '
          'times its weight' % tuple(worst))


def main():
    compare_stretched(sys.argv[1])
    compare_bar(sys.argv[1])
    compare_chains(sys.argv[1])
    sys.exit(1 if check.failed else 0)


if __name__ == '__main__':
    main()
