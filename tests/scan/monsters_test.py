#!/usr/bin/python3
"""Wrong input to `exemplar scan run`: each kind is refused or comes out right, with a sentence and a picture.

  monsters_test.py EXEMPLAR DATA [CASE …]

A made person is scanned coarsely in three poses, with clicked landmarks; then something goes wrong. Afterwards either
the body is the person's (height, bones, distance from the true surfaces), and scans that were wrong are left out by
name; or the tool fails, writes no body, and says what to do. A scan that is left out or refused has a picture.
"""
import copy
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import make_session  # noqa: E402
import scanner  # noqa: E402
import skips  # noqa: E402
import subject  # noqa: E402
import template  # noqa: E402

TOOL = Path(sys.argv[1]).resolve()
SCANS = ["stand", "step_left", "elbows_bent"]
failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print(f"FAILED: {text}")


# ---- scans ----

class Scan:
    """What one scan is: points and triangles in metres with y up, and clicked landmarks."""

    def __init__(self, points, triangles, landmarks, surface=None):
        self.points, self.triangles, self.landmarks, self.surface = points, triangles, landmarks, surface

    def copy(self):
        return copy.deepcopy(self)


def scan_of(person, pose, landmarks, seed):
    posed = person.pose(pose, seed=seed)
    random = np.random.default_rng([99, seed])
    options = SimpleNamespace(floor=False, views=4, pitch=0.01, noise=0.0005, spot=0.012)
    view = scanner.merge(make_session.scan(person, posed, None, options, random), 0.014)
    clicked = {name: posed.surface[v] + make_session.CLICK * random.normal(size=3) for name, v in landmarks.items()}
    return Scan(view.points, view.triangles, clicked, posed.surface)


def capsule(a, b, radius, end=None):
    """A closed tube from a to b with round ends."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    end = radius if end is None else end
    along = (b - a) / np.linalg.norm(b - a)
    side = np.cross(along, [0.3, 0.5, 0.8])
    side /= np.linalg.norm(side)
    other = np.cross(along, side)
    rows = [a + along * -radius * np.cos(t) for t in np.linspace(0.3, np.pi / 2, 4)]
    widths = [radius * np.sin(t) for t in np.linspace(0.3, np.pi / 2, 4)]
    for s in np.linspace(0, 1, max(3, int(np.linalg.norm(b - a) / 0.02))):
        rows.append(a + s * (b - a))
        widths.append((1 - s) * radius + s * end)
    rows += [b + along * end * np.cos(t) for t in np.linspace(np.pi / 2, 0.3, 4)]
    widths += [end * np.sin(t) for t in np.linspace(np.pi / 2, 0.3, 4)]
    turns = 2 * np.pi * np.arange(16) / 16
    points = np.concatenate([row + w * (np.cos(turns)[:, None] * side + np.sin(turns)[:, None] * other)
                             for row, w in zip(rows, widths)])
    first = (16 * np.arange(len(rows) - 1)[:, None] + np.arange(16)).ravel()
    second = (16 * np.arange(len(rows) - 1)[:, None] + (np.arange(16) + 1) % 16).ravel()
    return points, np.concatenate([np.stack([first, second, second + 16], axis=1),
                                   np.stack([first, second + 16, first + 16], axis=1)])


def joined(parts):
    points, triangles, count = [], [], 0
    for p, t in parts:
        points.append(p)
        triangles.append(t + count)
        count += len(p)
    return np.concatenate(points), np.concatenate(triangles)


def dog():
    """A dog of 60 cm at the shoulders, with landmarks where a patient person would click them."""
    parts = [capsule([0, 0.48, -0.3], [0, 0.5, 0.3], 0.13, 0.16), capsule([0, 0.58, 0.38], [0, 0.75, 0.55], 0.08, 0.07),
             capsule([0, 0.75, 0.55], [0, 0.72, 0.8], 0.08, 0.03), capsule([0, 0.52, -0.4], [0, 0.75, -0.65], 0.03, 0.01)]
    marks = {"head_top": [0, 0.84, 0.56], "nose": [0, 0.72, 0.83], "chin": [0, 0.68, 0.7], "neck_back": [0, 0.7, 0.4],
             "breastbone": [0, 0.38, 0.35], "navel": [0, 0.34, 0]}
    for side, x in (("L", 0.1), ("R", -0.1)):
        parts += [capsule([x, 0.45, 0.3], [x, 0.26, 0.26], 0.055, 0.04), capsule([x, 0.26, 0.26], [x, 0.04, 0.3], 0.035, 0.03),
                  capsule([x, 0.45, -0.3], [x, 0.28, -0.24], 0.07, 0.05), capsule([x, 0.28, -0.24], [x, 0.04, -0.34], 0.04, 0.03)]
        marks |= {f"shoulder_top.{side}": [x, 0.62, 0.28], f"elbow_tip.{side}": [x, 0.26, 0.22],
                  f"wrist_top.{side}": [x, 0.1, 0.32], f"fingertip.{side}": [x, 0.01, 0.34],
                  f"knee.{side}": [x, 0.28, -0.19], f"ankle_outside.{side}": [1.3 * x, 0.1, -0.3],
                  f"heel.{side}": [x, 0.1, -0.36], f"toe_tip.{side}": [x, 0.01, -0.3]}
    points, triangles = joined(parts)
    return Scan(points, triangles, {n: np.array(p, float) for n, p in marks.items()})


def ball(marks):
    """A sphere of the person's height, with the person's landmarks put on it."""
    rings, around = 24, 48
    t, u = np.meshgrid(np.linspace(0.05, np.pi - 0.05, rings), 2 * np.pi * np.arange(around) / around, indexing="ij")
    points = 0.9 * np.stack([np.sin(t) * np.sin(u), np.cos(t), np.sin(t) * np.cos(u)], axis=2).reshape(-1, 3) + [0, 0.9, 0]
    first = (around * np.arange(rings - 1)[:, None] + np.arange(around)).ravel()
    second = (around * np.arange(rings - 1)[:, None] + (np.arange(around) + 1) % around).ravel()
    triangles = np.concatenate([np.stack([first, first + around, second + around], axis=1),
                                np.stack([first, second + around, second], axis=1)])
    middle = np.array([0, 0.9, 0])
    return Scan(points, triangles, {n: middle + 0.9 * (p - middle) / np.linalg.norm(p - middle) for n, p in marks.items()})


def other_side(name):
    return name[:-1] + {"L": "R", "R": "L"}[name[-1]] if name[-2:] in (".L", ".R") else name


def exchanged(landmarks):
    return {other_side(name): place for name, place in landmarks.items()}


# ---- sessions ----

def write_session(folder, scans, **keys):
    (folder / "landmarks").mkdir(parents=True)
    for name, scan in scans.items():
        scanner.write_ply(folder / f"{name}.ply", scan.points, scan.triangles)
        if scan.landmarks:
            make_session.write_labels(folder / f"landmarks/{name}.csv", "marker,x,y,z", list(scan.landmarks),
                                      list(scan.landmarks.values()))
    session = {"exemplar_scan": 1, "skeleton": "full", "reference": next(iter(scans)),
               "scans": [{"name": name, "files": [f"{name}.ply"]} for name in scans], **keys}
    (folder / "scan.json").write_text(json.dumps(session))


def run(*words):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)
    check(done.returncode in (0, 1, 2), f"{' '.join(map(str, words))}: exit status {done.returncode}")
    return done


def read_ply(path):
    data = path.read_bytes()
    start = data.index(b"end_header\n") + len(b"end_header\n")
    kinds, count, element = [], 0, None
    for line in data[:start].decode().splitlines():
        words = line.split()
        if words[0] == "element":
            element, count = words[1], int(words[2]) if words[1] == "vertex" else count
        elif words[0] == "property" and element == "vertex":
            kinds.append((words[2], {"float": "<f4", "double": "<f8", "uchar": "u1"}[words[1]]))
    rows = np.frombuffer(data, np.dtype(kinds), count, start)
    return np.stack([rows[c].astype(float) for c in "xyz"], axis=1)


def is_picture(path):
    return path.exists() and path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" and path.stat().st_size > 5000


class Ground:
    """A person, their true bones, and the scans of everyone."""

    def __init__(self, data):
        marks = template.landmarks(template.rest(TOOL))
        poses = subject.library(12, 1)
        self.person = subject.Person(data, **subject.PEOPLE["adult"], uneven=0.006)
        self.scans = {name: scan_of(self.person, poses[name], marks, n) for n, name in enumerate(SCANS)}
        stranger = subject.Person(data, **subject.PEOPLE["heavy_woman"], uneven=0.006)
        self.stranger = scan_of(stranger, poses["step_left"], marks, 7)
        self.bones = {name: np.linalg.norm(self.person.joint(name) - self.person.joint(up))
                      for name, up in make_session_bones()}

    def good(self):
        return {name: scan.copy() for name, scan in self.scans.items()}

    def is_right(self, folder, case, scans):
        """The body is the person, whatever the unit and the axes of the files are."""
        fit = json.loads((folder / "fit.json").read_text())
        lengths = {j["name"]: np.linalg.norm(j["translation"]) for j in fit["skeleton"]["joints"]}
        for name, true in self.bones.items():
            check(abs(lengths[name] - true) < 0.12 * true + 0.01, f"{case}: the bone to {name} is {1000 * lengths[name]:.0f} mm, "
                  f"not {1000 * true:.0f}")
        for name in scans:
            path = folder / f"registered/{name}.ply"
            if name not in self.scans or not path.exists():
                continue
            vertices, true = read_ply(path), self.scans[name].surface
            vertices, true = vertices - vertices.mean(axis=0), true - true.mean(axis=0)
            turn, _, back = np.linalg.svd(vertices.T @ true)
            vertices = vertices @ (turn @ np.diag([1, 1, np.linalg.det(turn @ back)]) @ back)
            off = cKDTree(true).query(vertices[::5])[0]
            check(np.sqrt((off ** 2).mean()) < 0.02, f"{case}: '{name}' is {1000 * np.sqrt((off ** 2).mean()):.0f} mm off")


def make_session_bones():
    for side in "LR":
        yield from ((f"elbow.{side}", f"shoulder.{side}"), (f"knee.{side}", f"hip.{side}"), (f"ankle.{side}", f"knee.{side}"))


def judge(ground, folder, case, done, out=(), refused=False, either=False, words=(), picture=True):
    """out: scans that must be left out. refused: nothing may be built. either: built right, or refused. words: the
    sentence has one of them. picture: of a refused reference."""
    text, body = done.stderr, folder / "body.glb"
    lines = [line for line in text.splitlines() if "exemplar" in line]
    print(f"{case}: exit {done.returncode}\n    " + "\n    ".join(
        line for line in lines if "left out" in line or "error" in line.lower() or done.returncode), flush=True)
    check(len(max(lines, key=len, default="").split()) <= 60, f"{case}: a long sentence")
    if done.returncode:
        check(refused or either, f"{case}: refused:\n{text}")
        check(not body.exists(), f"{case}: refused, yet there is a body")
        check(not words or any(word in text for word in words), f"{case}: none of {words} is said:\n{text}")
        if picture:
            check("look/" in text and any(is_picture(p) for p in (folder / "look").glob("*.png")),
                  f"{case}: refused without a picture:\n{text}")
        return
    check(not refused, f"{case}: built\n{done.stdout}")
    check(body.exists(), f"{case}: no body")
    for name in out:
        line = next((line for line in lines if f"'{name}' is left out" in line), "")
        check(line, f"{case}: '{name}' is not left out:\n{text}")
        check(not words or any(word in line for word in words), f"{case}: none of {words} is said: {line}")
        check(not (folder / f"registered/{name}.ply").exists(), f"{case}: '{name}' is registered")
        if picture:
            check(f"look/{name}.png" in line and is_picture(folder / f"look/{name}.png"),
                  f"{case}: '{name}' has no picture: {line}")
    others = [line for line in lines if "left out" in line and not any(f"'{name}'" in line for name in out)]
    check(either or not others, f"{case}: good scans are left out: {others}")
    if body.exists():
        ground.is_right(folder, case, SCANS)


# ---- the monsters ----

def monsters(ground):
    """{case: (scans, keys of scan.json, what judge wants)}"""
    cases = {}

    def add(case, scans, wanted, **keys):
        cases[case] = (scans, keys, wanted)

    add("good", ground.good(), {})
    # All files alike
    for case, map_all in (("z up", lambda p: p @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])),
                          ("centimetres", lambda p: 100 * p),
                          ("mirrored", lambda p: p * [-1, 1, 1])):
        scans = ground.good()
        for scan in scans.values():
            scan.points = map_all(scan.points)
            scan.landmarks = {n: map_all(p) for n, p in scan.landmarks.items()}
        add(case, scans, dict(either=case != "mirrored", refused=case == "mirrored"))
    scans = ground.good()
    for scan in scans.values():
        scan.triangles = scan.triangles[:, ::-1]
    add("inside out", scans, dict(either=True, words=["inside out"]))
    scans = ground.good()
    for scan in scans.values():
        scan.landmarks = exchanged(scan.landmarks)
    add("sides exchanged everywhere", scans, dict(refused=True, words=["left and right"]))
    # One scan
    def one(case, change, name="step_left", **wanted):
        scans = ground.good()
        changed = change(scans[name])
        scans[name] = changed or scans[name]
        add(case, scans, {"out": [name], **wanted})

    one("sides exchanged", lambda s: setattr(s, "landmarks", exchanged(s.landmarks)), words=["left and right"])
    one("another person", lambda s: ground.stranger.copy(), words=["person"])
    one("landmarks of another scan", lambda s: setattr(s, "landmarks", ground.scans["elbows_bent"].landmarks))
    one("a dog", lambda s: dog())
    one("a ball", lambda s: ball(s.landmarks))
    return cases


def main():
    data = skips.data_folder(sys.argv[2])
    skips.need_data(data, "makehuman/3dobjs/base.obj")
    ground = Ground(data / "makehuman")
    chosen = sys.argv[3:]
    with tempfile.TemporaryDirectory() as made:
        for number, (case, (scans, keys, wanted)) in enumerate(monsters(ground).items()):
            if chosen and case not in chosen:
                continue
            folder = Path(made, str(number))
            write_session(folder, scans, **keys)
            judge(ground, folder, case, run("scan", "run", folder), **wanted)
    skips.finish(failures)


if __name__ == "__main__":
    main()
