#!/usr/bin/python3
"""An independent fit of a skeleton to labelled markers, to compare the product's with: writes SESSION/fit.json.

  plain_fit.py SESSION [--prior 0.03] [--rounds 30]

Rigid markers on the bones of `full`, no mirror images. The start is what relative motion tells: each bone is turned
as its markers are turned from those of the reference (Kabsch), joints are between the nearest markers of two bones,
and a hinge's axis is the direction about which it turned most. Then Gauss-Newton over bones, axes, places of markers
and all poses. Markers have weights from their own residuals, and Huber's. The prior pulls every bone's length to that
of `full` at the person's size, by default with 3 cm.
"""
import argparse
import csv
import json
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

sys.path.insert(0, str(Path(__file__).resolve().parent))
import judge  # noqa: E402
import subject  # noqa: E402

NAMES, PARENTS = subject.NAMES, subject.PARENTS
KINDS = [subject.JOINTS[n][1] for n in NAMES]
# Metres, of an adult of 1.75 m: usual lengths of bones.
USUAL = {"waist": 0.1, "chest": 0.15, "neck": 0.27, "head": 0.1, "clavicle": 0.2, "shoulder": 0.15, "elbow": 0.28,
         "forearm": 0.02, "wrist": 0.24, "hip": 0.1, "knee": 0.43, "ankle": 0.4, "toe": 0.14}


def read_table(path):
    with open(path) as file:
        return list(csv.DictReader(file))


class Fit:
    def __init__(self, session, prior):
        session = Path(session)
        about = json.loads((session / "scan.json").read_text())
        joint = {row["marker"]: NAMES.index(row["joint"]) for row in read_table(session / about["markers"])}
        self.scans = [s["name"] for s in about["scans"]]
        self.scans.sort(key=lambda name: name != about["reference"])
        labels = [{r["marker"]: [float(r[c]) for c in "xyz"] for r in read_table(session / f"labels/{name}.csv")}
                  for name in self.scans]
        self.markers = sorted({m for rows in labels for m in rows})
        self.bone = np.array([joint[m] for m in self.markers])
        self.places = np.full((len(self.scans), len(self.markers), 3), np.nan)
        for k, rows in enumerate(labels):
            for i, m in enumerate(self.markers):
                self.places[k, i] = rows.get(m, np.nan)
        self.seen = np.isfinite(self.places[:, :, 0])
        self.prior = prior
        self.start()

    # ---- the start ----

    def start(self):
        first = self.places[0]
        turns = np.tile(np.eye(3), (len(self.scans), len(NAMES), 1, 1))
        for k in range(1, len(self.scans)):
            for j in range(len(NAMES)):
                both = self.seen[0] & self.seen[k] & (self.bone == j)
                if both.sum() >= 3:
                    a, b = first[both], self.places[k][both]
                    u, _, v = np.linalg.svd((b - b.mean(axis=0)).T @ (a - a.mean(axis=0)))
                    turns[k, j] = u @ np.diag([1, 1, np.linalg.det(u @ v)]) @ v
                elif PARENTS[j] >= 0:
                    turns[k, j] = turns[k, PARENTS[j]]
            for side in "LR":  # the elbow has no markers; it is turned as the forearm
                turns[k, NAMES.index(f"elbow.{side}")] = turns[k, NAMES.index(f"forearm.{side}")]
        at = np.zeros((len(NAMES), 3))
        for j, name in enumerate(NAMES):
            above = PARENTS[j]
            own = self.bone == (j + 1 if name.startswith("elbow") else j)
            other = self.bone == above
            a, b = first[own & self.seen[0]], first[other & self.seen[0]]
            if above < 0:
                at[j] = a.mean(axis=0)
            elif name.startswith("forearm"):
                continue
            else:
                gap = np.linalg.norm(a[:, None] - b[None], axis=2)
                at[j] = (a[np.argsort(gap.min(axis=1))[:4]].mean(axis=0) + b[np.argsort(gap.min(axis=0))[:4]].mean(axis=0)) / 2
        self.moves = np.zeros((len(NAMES), 3))
        self.axes = np.zeros((len(NAMES), 3))
        for side in "LR":
            e, f, w = (NAMES.index(f"{n}.{side}") for n in ("elbow", "forearm", "wrist"))
            at[f] = at[e] + 0.02 * subject._unit(at[w] - at[e])
            self.axes[f] = subject._unit(at[w] - at[e])
        for j, p in enumerate(PARENTS):
            self.moves[j] = at[j] - (at[p] if p >= 0 else 0)
        local = np.array([[t[j] if p < 0 else t[p].T @ t[j] for j, p in enumerate(PARENTS)] for t in turns])
        for j, name in enumerate(NAMES):
            if name.startswith("elbow"):  # its turn is a bend, then a twist about the forearm
                q = Rotation.from_matrix(local[:, j]).as_quat()
                twist = 2 * np.arctan2(q[:, :3] @ self.axes[j + 1], q[:, 3])
                local[:, j + 1] = Rotation.from_rotvec(twist[:, None] * self.axes[j + 1]).as_matrix()
                local[:, j] = local[:, j] @ local[:, j + 1].transpose(0, 2, 1)
        for j, kind in enumerate(KINDS):
            if kind == "hinge":
                vectors = Rotation.from_matrix(local[:, j]).as_rotvec()
                if not NAMES[j].startswith("forearm"):
                    self.axes[j] = np.linalg.eigh(vectors.T @ vectors)[1][:, -1]
                local[:, j] = Rotation.from_rotvec((vectors @ self.axes[j])[:, None] * self.axes[j]).as_matrix()
        self.turns = local
        self.bases = np.zeros((len(self.scans), 3))
        self.sites = np.zeros((len(self.markers), 3))
        for i, j in enumerate(self.bone):
            rows = np.flatnonzero(self.seen[:, i])
            k = rows[0]
            self.sites[i] = self.places[0, i] - at[j] if k == 0 else 0
        self.place_bases(at)
        # Markers that the reference does not show, from where the others put their bones.
        for i in np.flatnonzero(~self.seen[0]):
            spots = []
            for k in np.flatnonzero(self.seen[:, i]):
                world, there = self.stand(k)
                spots.append(world[self.bone[i]].T @ (self.places[k, i] - there[self.bone[i]]))
            self.sites[i] = np.mean(spots, axis=0)
        self.size = max(np.nanmax(first[:, 1]) - np.nanmin(first[:, 1]), 0.5) / 1.7

    def place_bases(self, at):
        self.bases[0] = at[0]
        good = self.seen[0]
        for k in range(1, len(self.scans)):
            both = good & self.seen[k]
            off = self.places[k][both] - self.predict(k)[both]
            near = np.isin(self.bone[both], [0, 1, 2])
            self.bases[k] += off[near if near.any() else slice(None)].mean(axis=0)

    def stand(self, k):
        world, at = np.zeros((len(NAMES), 3, 3)), np.zeros((len(NAMES), 3))
        for j, p in enumerate(PARENTS):
            world[j] = self.turns[k, j] if p < 0 else world[p] @ self.turns[k, j]
            at[j] = self.bases[k] if p < 0 else at[p] + world[p] @ self.moves[j]
        return world, at

    def predict(self, k):
        world, at = self.stand(k)
        return at[self.bone] + np.einsum("mab,mb->ma", world[self.bone], self.sites)

    # ---- Gauss-Newton ----

    def columns(self):
        """Shared unknowns: bones, two tangents for each axis, sites. Those of a pose: turns and base."""
        shared = [(j, c, "move") for j in range(1, len(NAMES)) for c in range(3)]
        shared += [(j, c, "axis") for j, kind in enumerate(KINDS) if kind == "hinge" for c in range(2)]
        pose = []
        for j, kind in enumerate(KINDS):
            pose += [(j, -1)] if kind == "hinge" else [(j, c) for c in range(3)]
        return shared, pose

    def round(self, scale):
        shared, pose = self.columns()
        first_site, count = len(shared), len(shared) + 3 * len(self.markers)
        above = np.zeros((len(NAMES), len(NAMES)), bool)
        for j, p in enumerate(PARENTS):
            above[j] = above[p] if p >= 0 else False
            above[j, j] = True
        tangents = {}
        for j, kind in enumerate(KINDS):
            if kind == "hinge":
                u = np.cross(self.axes[j], np.eye(3)[np.argmin(np.abs(self.axes[j]))])
                u /= np.linalg.norm(u)
                tangents[j] = (u, np.cross(self.axes[j], u))
        normal, right, blocks = np.zeros((count, count)), np.zeros(count), []
        for k in range(len(self.scans)):
            rows = np.flatnonzero(self.seen[k])
            bone = self.bone[rows]
            world, at = self.stand(k)
            now = self.predict(k)[rows]
            off = now - self.places[k][rows]
            size = np.linalg.norm(off, axis=1) / scale[rows]
            weight = np.sqrt(np.minimum(1, 2 / np.maximum(size, 1e-9))) / scale[rows]
            own = np.zeros((len(rows), 3, len(pose) + 3))
            common = np.zeros((len(rows), 3, count))
            frames = [world[p] if p >= 0 else np.eye(3) for p in PARENTS]
            for c, (j, axis) in enumerate(pose):
                line = frames[j] @ (self.axes[j] if axis < 0 else np.eye(3)[axis])
                moved = above[bone, j]
                own[moved, :, c] = np.cross(line, (now - at[j])[moved])
            own[:, :, len(pose):] = np.eye(3)
            for c, (j, axis, kind) in enumerate(shared):
                moved = above[bone, j]
                if kind == "move":
                    common[moved, :, c] = frames[j][:, axis]
                else:
                    # Turns by the angle about an axis that leans towards a tangent.
                    angle = Rotation.from_matrix(self.turns[k, j]).as_rotvec() @ self.axes[j]
                    u = tangents[j][axis]
                    lean = np.sin(angle) * u + (1 - np.cos(angle)) * np.cross(self.axes[j], u)
                    common[moved, :, c] = np.cross(frames[j] @ lean, (now - at[j])[moved])
            for c in range(3):
                common[np.arange(len(rows)), :, first_site + 3 * rows + c] = world[bone][:, :, c]
            own *= weight[:, None, None]
            common *= weight[:, None, None]
            own, common = own.reshape(-1, own.shape[2]), common.reshape(-1, count)
            error = (off * weight[:, None]).ravel()
            if k == 0:  # the reference is not turned
                own = own[:, len(pose):]
            block = own.T @ own + np.diag(np.full(own.shape[1], 1e-3))
            cross = own.T @ common
            solved = np.linalg.solve(block, np.column_stack([cross, own.T @ error]))
            normal += common.T @ common - cross.T @ solved[:, :-1]
            right += common.T @ error - cross.T @ solved[:, -1]
            blocks.append(solved)
        for c in range(0, 3 * (len(NAMES) - 1), 3):  # lengths
            j = c // 3 + 1
            length = np.linalg.norm(self.moves[j])
            way = self.moves[j] / length
            off = (length - USUAL[NAMES[j].split(".")[0]] * self.size) / self.prior
            normal[c:c + 3, c:c + 3] += np.outer(way, way) / self.prior ** 2
            right[c:c + 3] += way * off / self.prior
        normal[np.diag_indices(count)] += 1.0
        step = -np.linalg.solve(normal, right)
        self.take(step, blocks, shared, pose, tangents, first_site)
        return float(np.abs(step).max())

    def take(self, step, blocks, shared, pose, tangents, first_site):
        angles = {j: [Rotation.from_matrix(t).as_rotvec() @ self.axes[j] for t in self.turns[:, j]] for j in tangents}
        for c, (j, axis, kind) in enumerate(shared):
            if kind == "move":
                self.moves[j, axis] += np.clip(step[c], -0.05, 0.05)
            else:
                self.axes[j] += np.clip(step[c], -0.2, 0.2) * tangents[j][axis]
        self.axes[list(tangents)] = subject._unit(self.axes[list(tangents)])
        self.sites += step[first_site:].reshape(-1, 3)
        for k, solved in enumerate(blocks):
            own = -solved[:, -1] - solved[:, :-1] @ step
            self.bases[k] += own[-3:]
            for c, (j, axis) in enumerate(pose):
                if axis < 0:
                    angle = angles[j][k] + (np.clip(own[c], -0.5, 0.5) if k else 0)
                    self.turns[k, j] = Rotation.from_rotvec(angle * self.axes[j]).as_matrix()
                elif axis == 0 and k:
                    self.turns[k, j] = Rotation.from_rotvec(np.clip(own[c:c + 3], -0.5, 0.5)).as_matrix() @ self.turns[k, j]

    def residuals(self):
        off = np.array([np.linalg.norm(self.predict(k) - self.places[k], axis=1) for k in range(len(self.scans))])
        return np.where(self.seen, off, np.nan)

    def solve(self, rounds):
        for number in range(rounds):
            off = self.residuals()
            scale = np.sqrt(np.clip(np.nanmean(off ** 2, axis=0) / 3, 0.003 ** 2, 0.03 ** 2)) if number > 3 \
                else np.full(len(self.markers), 0.01)
            if self.round(scale) < 1e-5:
                break
        return judge.rms(self.residuals()[self.seen])

    def write(self, path):
        rows = []
        for j, name in enumerate(NAMES):
            row = {"name": name, "joint": KINDS[j], "translation": (self.bases[0] if j == 0 else self.moves[j]).tolist()}
            if PARENTS[j] >= 0:
                row["parent"] = NAMES[PARENTS[j]]
            if KINDS[j] == "hinge":
                row["axis"] = self.axes[j].tolist()
            rows.append(row)
        off = self.residuals()
        scans = []
        for k, name in enumerate(self.scans):
            pose = {n: (float(np.degrees(Rotation.from_matrix(t).as_rotvec() @ self.axes[j])) if KINDS[j] == "hinge"
                        else Rotation.from_matrix(t).as_quat().tolist())
                    for j, (n, t) in enumerate(zip(NAMES, self.turns[k]))}
            scans.append({"name": name, "rms": judge.rms(off[k][self.seen[k]]), "base": self.bases[k].tolist(), "pose": pose})
        sites = [{"name": m, "joint": NAMES[j], "at": s.tolist()} for m, j, s in zip(self.markers, self.bone, self.sites)]
        skeleton = {"exemplar_skeleton": 1, "name": "plain", "joints": rows, "markers": sites}
        Path(path).write_text(json.dumps({"exemplar_fit": 1, "skeleton": skeleton, "scans": scans}, indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("session")
    parser.add_argument("--prior", type=float, default=0.03, help="metres (default: 0.03)")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    fit = Fit(options.session, options.prior)
    print(f"start: {1000 * judge.rms(fit.residuals()[fit.seen]):.2f} mm RMS")
    print(f"{len(fit.scans)} scans, {len(fit.markers)} markers: {1000 * fit.solve(options.rounds):.2f} mm RMS")
    fit.write(Path(options.session) / "fit.json")


if __name__ == "__main__":
    main()
