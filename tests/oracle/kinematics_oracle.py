"""The fit of a skeleton compared with scipy's least squares: the same markers, in another formulation.

Here, rotations are rotation vectors, axes are three numbers normalised to length 1, and derivatives are differences.
scipy starts from the true solution, so the two can only meet in the minimum. Usage: kinematics_oracle.py PROBE
"""

import subprocess
import sys

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import lil_matrix
from scipy.spatial.transform import Rotation

PARENTS = [-1, 0, 1, 2]
KINDS = ["base", "ball", "hinge", "hinge"]
SIZES = {"base": 6, "ball": 3, "hinge": 1}


def problem(seed, scans, sites=5, noise=1e-3):
    """A trunk, an arm, a forearm that bends and a hand that turns; the truth, a first guess, and the measured
    markers."""
    random = np.random.default_rng(seed)
    bones = np.array([[0, 1, 0], [0.2, 0.4, 0], [0.3, 0, 0], [0.25, 0, 0]]) + random.uniform(-0.02, 0.02, (4, 3))
    bones[0] = [0, 1, 0]
    axes = np.array([[0, 0, 0], [0, 0, 0], [0, -1.0, 0], [0, 0, -1.0]])
    axes[2:] += random.uniform(-0.2, 0.2, (2, 3))
    joints = np.repeat(np.arange(4), sites)
    locals_ = random.uniform(-0.1, 0.1, (len(joints), 3))
    poses = [random.uniform(-0.8, 0.8, 11) for _ in range(scans)]
    poses[0][:] = 0
    for pose in poses:
        pose[:3] = pose[:3] * 0.2 + [0, 1, 0]
    poses[0][:3] = [0, 1, 0]
    seen = [(i, s) for i in range(scans) for s in range(len(joints)) if i == 0 or random.random() > 0.15]
    x = pack(bones, axes, locals_, poses)
    at = predict(x, joints, scans, seen) + random.normal(0, noise, (len(seen), 3))
    return joints, seen, at, x, bones + random.uniform(-0.02, 0.02, (4, 3)) * [[0], [1], [1], [1]]


def pack(bones, axes, locals_, poses):
    return np.concatenate([bones[1:].ravel(), axes[2:].ravel(), locals_.ravel()] + [p for p in poses[1:]])


def unpack(x, joints, scans):
    n = len(joints)
    bones = np.vstack([[0, 1, 0], x[:9].reshape(3, 3)])
    axes = x[9:15].reshape(2, 3)
    axes = axes / np.linalg.norm(axes, axis=1)[:, None]
    poses = np.vstack([[0, 1, 0] + [0] * 8, x[15 + 3 * n:].reshape(scans - 1, 11)])
    return bones, axes, x[15:15 + 3 * n].reshape(n, 3), poses


def predict(x, joints, scans, seen):
    bones, axes, locals_, poses = unpack(x, joints, scans)
    frames = []
    for pose in poses:
        turns = [Rotation.from_rotvec(pose[3:6]), Rotation.from_rotvec(pose[6:9]),
                 Rotation.from_rotvec(pose[9] * axes[0]), Rotation.from_rotvec(pose[10] * axes[1])]
        rotation, place, chain = turns[0], pose[:3], []
        chain.append((rotation.as_matrix(), place))
        for j in range(1, 4):
            place = place + rotation.apply(bones[j])
            rotation = rotation * turns[j]
            chain.append((rotation.as_matrix(), place))
        frames.append(chain)
    return np.array([frames[i][joints[s]][0] @ locals_[s] + frames[i][joints[s]][1] for i, s in seen])


def sparsity(joints, scans, seen, size):
    n = len(joints)
    pattern = lil_matrix((3 * len(seen), size), dtype=int)
    for row, (i, s) in enumerate(seen):
        pattern[3 * row:3 * row + 3, :15] = 1
        pattern[3 * row:3 * row + 3, 15 + 3 * s:18 + 3 * s] = 1
        if i > 0:
            first = 15 + 3 * n + 11 * (i - 1)
            pattern[3 * row:3 * row + 3, first:first + 11] = 1
    return pattern


def run(probe, seed):
    scans = 5
    joints, seen, at, truth, guess = problem(seed, scans)
    lines = [f"joint {PARENTS[j]} {KINDS[j]} " + " ".join(map(repr, map(float, guess[j]))) +
             {2: " 0 -1 0", 3: " 0 0 -1"}.get(j, " 0 0 0") for j in range(4)]
    lines += [f"site {j}" for j in joints] + ["scan"] * scans
    lines += [f"sight {i} {s} " + " ".join(map(repr, map(float, p))) for (i, s), p in zip(seen, at)]
    out = subprocess.run([probe], input="\n".join(lines), capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    got = {}
    for line in out.stdout.splitlines():
        word, *numbers = line.split()
        got.setdefault(word, []).append([float(v) for v in numbers])
    best = least_squares(lambda x: (predict(x, joints, scans, seen) - at).ravel(), truth, method="trf",
                         jac_sparsity=sparsity(joints, scans, seen, len(truth)), xtol=1e-12, ftol=1e-12, gtol=1e-12,
                         max_nfev=60)
    errors = np.linalg.norm(predict(best.x, joints, scans, seen) - at, axis=1)
    _, axes, _, poses = unpack(best.x, joints, scans)
    ratio = got["sum"][0][0] / (2 * best.cost)
    angles = np.array(got["angle"]).reshape(scans, 2)
    turned = np.degrees(poses[:, 9:11])
    off = [np.abs(ratio - 1), np.abs(np.array(got["at"]).ravel() - errors).max(), np.abs(angles - turned).max(),
           np.degrees(np.arccos(np.minimum(1, (np.array(got["axis"]) * axes).sum(1)))).max()]
    print(f"seed {seed}: sums differ by {off[0]:.1e}, errors by {off[1] * 1e3:.1e} mm, angles by {off[2]:.1e} and axes "
          f"by {off[3]:.1e} degrees")
    assert off[0] < 1e-3 and off[1] < 2e-5 and off[2] < 0.03 and off[3] < 0.03, "too far apart"


if __name__ == "__main__":
    for number in (1, 3):
        run(sys.argv[1], number)
