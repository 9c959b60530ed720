"""Limit masks compared with the eigenvectors of subdivision matrices.

A fan of faces around vertex 0 is one ring. Its matrix, derived here from the subdivision rules alone, maps it to the
ring one level on. The limit of the vertex is the matrix's left eigenvector of the eigenvalue 1. The tangent plane is
spanned by the next leading ones that a mirror keeps and reverses, or, on a crease, by the curve's tangent and the
leading one across.
Semi-sharp creases multiply the matrices of their levels. Valences 3 to 12, boundaries of 1 to 12 faces, creases, darts,
corners, fractional sharpness.

    limit_oracle.py LIMIT_PROBE
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

FOREVER = 10.0
rng = np.random.default_rng(7)


class Ring:
    """Vertex 0, spokes 1 to n, and for quads the far corners behind them."""

    def __init__(self, loop, faces, closed, sharp=None, corner=0.0):
        self.loop, self.faces, self.closed = loop, faces, closed
        self.spokes = faces if closed else faces + 1
        self.sharp = dict(sharp or {})
        self.corner = corner
        self.size = 1 + self.spokes + (0 if loop else faces)
        if not closed:
            self.sharp[0] = self.sharp[self.spokes - 1] = FOREVER

    def spoke(self, i):
        return 1 + i % self.spokes

    def far(self, i):
        return 1 + self.spokes + i % self.faces

    def obj(self):
        lines = ["v %g %g %g" % tuple(p) for p in rng.normal(size=(self.size, 3))]
        for i in range(self.faces):
            corners = [0, self.spoke(i)] + ([] if self.loop else [self.far(i)]) + [self.spoke(i + 1)]
            lines.append("f " + " ".join(str(c + 1) for c in corners))
        for i, s in self.sharp.items():
            lines.append("t crease 2/1/0 0 %d %g" % (self.spoke(i), s))
        if self.corner:
            lines.append("t corner 1/1/0 0 %g" % self.corner)
        return "\n".join(lines) + "\n"

    def vertex_row(self, sharp, corner):
        row = np.zeros(self.size)
        edges = [i for i in range(self.spokes) if sharp.get(i, 0) > 0]
        n = self.spokes
        if corner > 0 or len(edges) > 2:
            row[0] = 1
        elif len(edges) == 2:
            row[0] = 3 / 4
            for i in edges:
                row[self.spoke(i)] += 1 / 8
        elif self.loop:
            beta = (5 / 8 - (3 / 8 + np.cos(2 * np.pi / n) / 4) ** 2) / n
            row[0] = 1 - n * beta
            row[1:1 + n] = beta
        else:
            row[0] = (n - 2) / n
            row[1:1 + n] = 1 / n ** 2
            for i in range(self.faces):
                row += self.middle(i) / n ** 2
        return row

    def middle(self, i):
        row = np.zeros(self.size)
        row[[0, self.spoke(i), self.spoke(i + 1), self.far(i)]] = 1 / 4
        return row

    def edge_row(self, i, s):
        crease, smooth = np.zeros(self.size), np.zeros(self.size)
        crease[[0, self.spoke(i)]] = 1 / 2
        part = min(max(s, 0), 1)
        if part < 1:
            if self.loop:
                smooth[[0, self.spoke(i)]] = 3 / 8
                smooth[self.spoke(i - 1)] += 1 / 8
                smooth[self.spoke(i + 1)] += 1 / 8
            else:
                smooth[[0, self.spoke(i)]] = 1 / 4
                smooth += (self.middle(i - 1) + self.middle(i)) / 4
        return part * crease + (1 - part) * smooth

    def matrix(self, sharp, corner):
        fade = lambda s: s if s >= FOREVER else max(s - 1, 0)
        child = {i: fade(s) for i, s in sharp.items()}
        child_corner = fade(corner)
        m = np.zeros((self.size, self.size))
        before, after = self.vertex_row(sharp, corner), self.vertex_row(child, child_corner)
        ending = [s for i, s in sharp.items() if s > 0 and child[i] == 0]
        ending += [corner] if corner > 0 and child_corner == 0 else []
        share = min(np.mean(ending), 1) if ending else 1
        smooth = corner == 0 and sum(s > 0 for s in sharp.values()) < 2
        m[0] = before if smooth or not ending else share * before + (1 - share) * after
        for i in range(self.spokes):
            m[self.spoke(i)] = self.edge_row(i, sharp.get(i, 0))
        for i in range(0 if self.loop else self.faces):
            m[self.far(i)] = self.middle(i)
        return m, child, child_corner

    def stationary(self):
        """The matrix after all sharpness has faded, and the product of the matrices before."""
        sharp, corner, lead = self.sharp, self.corner, np.eye(self.size)
        while True:
            m, child, child_corner = self.matrix(sharp, corner)
            if child == sharp and child_corner == corner:
                return m, lead, {i: s for i, s in sharp.items() if s > 0}, corner
            lead = m @ lead
            sharp, corner = child, child_corner


    def mirror(self, axis):
        """The permutation that reflects the ring in a spoke (closed), or in the middle of its sector (open)."""
        order = [0] + [self.spoke(2 * axis - i if self.closed else self.spokes - 1 - i) for i in range(self.spokes)]
        if not self.loop:
            order += [self.far(2 * axis - 1 - i if self.closed else self.faces - 1 - i) for i in range(self.faces)]
        return np.eye(self.size)[order]


def leading_left(m, mirror, sign):
    """Of the left eigenvectors that the mirror keeps (sign 1) or reverses (-1), that of the largest eigenvalue below
    1."""
    u, s, _ = np.linalg.svd((np.eye(len(m)) + sign * mirror) / 2)
    basis = u[:, s > 0.5].T
    values, vectors = np.linalg.eig((basis @ m @ basis.T).T)
    order = [i for i in np.argsort(-values.real) if values[i].real < 1 - 1e-9]
    assert abs(values[order[0]].imag) < 1e-12
    return vectors[:, order[0]].real @ basis


def angle_between(a, b):
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    return np.linalg.norm(a - b)


def expected(ring):
    """The limit's row, and two rows that span the tangents, or None."""
    m, lead, sharp, corner = ring.stationary()
    point = np.linalg.matrix_power(m, 300)[0]
    if corner > 0 or len(sharp) > 2:
        return point @ lead, None
    if len(sharp) == 2 and ring.closed:
        a, b = sorted(sharp)
        if 2 * (b - a) != ring.spokes:
            return point @ lead, None  # the two sides have separate tangent planes
        side = Ring(ring.loop, b - a, False)
        along, across = np.zeros(ring.size), np.zeros(ring.size)
        along[ring.spoke(a)], along[ring.spoke(b)] = 1, -1
        if side.faces == 1:
            row = np.zeros(side.size)
            row[0], row[1], row[2] = -2, 1, 1
        else:
            row = leading_left(side.stationary()[0], side.mirror(0), 1)
        for start, sign in ((a, 1), (b, -1)):  # into one side is out of the other
            across[0] += sign * row[0]
            for i in range(side.spokes):
                across[ring.spoke(start + i)] += sign * row[side.spoke(i)]
            for i in range(0 if ring.loop else side.faces):
                across[ring.far(start + i)] += sign * row[side.far(i)]
        return point @ lead, (along @ lead, across @ lead)
    if len(sharp) == 2:
        along = np.zeros(ring.size)
        along[1], along[ring.spokes] = 1, -1
        if ring.faces == 1:
            across = np.zeros(ring.size)
            across[0], across[1], across[2] = -2, 1, 1
        else:
            across = leading_left(m, ring.mirror(0), 1)
        return point @ lead, (along @ lead, across @ lead)
    axis = list(sharp)[0] if sharp else 0
    even, odd = leading_left(m, ring.mirror(axis), 1), leading_left(m, ring.mirror(axis), -1)
    return point @ lead, (even @ lead, odd @ lead)


def cases():
    for loop in (False, True):
        for n in range(3, 13):
            yield Ring(loop, n, True)
            yield Ring(loop, n, True, {1: FOREVER})
            yield Ring(loop, n, True, {0: FOREVER, n // 2: FOREVER})
            yield Ring(loop, n, True, {0: FOREVER, 1: FOREVER})
            yield Ring(loop, n, True, {0: 1.3})
            yield Ring(loop, n, True, {0: 2.6, n // 2: 2.6})
            yield Ring(loop, n, True, {0: 0.4, 1: 3.5, 2: 1.0})
            yield Ring(loop, n, True, {0: FOREVER, 1: 2.5})
            yield Ring(loop, n, True, {}, 1.7)
            yield Ring(loop, n, True, {}, FOREVER)
            yield Ring(loop, n, True, {2: 0.8}, 0.5)
        for n in range(1, 13):
            yield Ring(loop, n, False)
            yield Ring(loop, n, False, {}, FOREVER)
            yield Ring(loop, n, False, {}, 2.2)
            if n > 1:
                yield Ring(loop, n, False, {1: 1.4})


def check(ring, line):
    words = line.split()
    ours = np.zeros((3, ring.size))
    for i in range(0, len(words), 4):
        ours[:, int(words[i])] = [float(w) for w in words[i + 1:i + 4]]
    point, tangents = expected(ring)
    worst = np.abs(ours[0] - point).max()
    off_plane = 0.0
    if tangents is not None:
        for _ in range(3):
            places = rng.normal(size=(ring.size, 3))
            # ours is counter-clockwise; the sign of numpy's vectors is arbitrary
            normal = np.cross(tangents[0] @ places, tangents[1] @ places)
            our_normal = np.cross(ours[1] @ places, ours[2] @ places)
            off_plane = max(off_plane, min(angle_between(normal, our_normal), angle_between(-normal, our_normal)))
    return worst, off_plane, tangents is not None


def outward(ring, line):
    """On a flat ring of the right orientation the normal points up."""
    words = line.split()
    places = np.zeros((ring.size, 2))
    step = 2 * np.pi / ring.spokes if ring.closed else min(np.pi / 2, np.pi / ring.faces)
    for i in range(ring.spokes):
        places[1 + i] = np.cos(i * step), np.sin(i * step)
    for i in range(0 if ring.loop else ring.faces):
        places[ring.far(i)] = 1.4 * np.cos((i + 0.5) * step), 1.4 * np.sin((i + 0.5) * step)
    t = np.zeros((2, 2))
    for i in range(0, len(words), 4):
        for k in range(2):
            t[k] += float(words[i + 2 + k]) * places[int(words[i])]
    return t[0, 0] * t[1, 1] - t[0, 1] * t[1, 0]


def main():
    probe = sys.argv[1]
    worst_point = worst_plane = 0.0
    count = planes = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for scheme, loop in (("catmull-clark", False), ("loop", True)):
            rings = [r for r in cases() if r.loop == loop]
            paths = []
            for i, ring in enumerate(rings):
                paths.append(os.path.join(folder, "%s_%d.obj" % (scheme, i)))
                with open(paths[-1], "w") as file:
                    file.write(ring.obj())
            answer = subprocess.run([probe, scheme] + paths, check=True, capture_output=True, text=True)
            lines = answer.stdout.splitlines()
            assert len(lines) == len(rings)
            for ring, line in zip(rings, lines):
                point, plane, has_plane = check(ring, line)
                count += 1
                planes += has_plane
                worst_point, worst_plane = max(worst_point, point), max(worst_plane, plane)
                up = outward(ring, line)
                if point > 2e-7 or plane > 2e-4 or not up > 1e-4:
                    failures += 1
                    kind = "closed" if ring.closed else "open"
                    print("%s, %d faces, %s, sharp %s, corner %g: point %.2g, plane %.2g, up %.3g" %
                          (scheme, ring.faces, kind, ring.sharp, ring.corner, point, plane, up))
    print("%d rings, %d with a tangent plane: weights within %.1e, planes within %.1e" %
          (count, planes, worst_point, worst_plane))
    return 1 if failures or count < 250 or planes < 120 else 0


if __name__ == "__main__":
    sys.exit(main())
