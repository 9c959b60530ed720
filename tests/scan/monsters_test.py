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
    """Points and triangles of one scan in metres with y up, and clicked landmarks."""

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


def between(first, second, share):
    """A pose on the way from one to another."""
    pose = {}
    for name in {**first, **second}:
        a, b = first.get(name, (0, 0, 0)), second.get(name, (0, 0, 0))
        pose[name] = {k: (1 - share) * a[k] + share * b[k] for k in a} if isinstance(a, dict) \
            else tuple((1 - share) * x + share * y for x, y in zip(a, b))
    return pose


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
        # A sequence: from the step on, a little further in every frame.
        ways = [subject.POSES["step_left"], subject.POSES["reach_up"]]
        self.frames = [scan_of(self.person, between(*ways, share), marks, 20) for share in (0, 0.25, 0.5)]
        stranger = subject.Person(data, **subject.PEOPLE["woman"], uneven=0.006)
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


# ---- the monsters ----

def turned_up(points):
    return points @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])


def mapped(scans, change):
    """All scans with their points, moved by one map."""
    for scan in scans.values():
        scan.points = change(scan.points)
        scan.landmarks = {n: change(p) for n, p in scan.landmarks.items()}
    return scans


def crowd(ground):
    """One session in which most scans are wrong, each in its own way: none of them may bend the good ones."""
    scans, why = ground.good(), {}

    def add(name, scan, *words):
        scans[name], why[name] = scan, words

    step = ground.scans["step_left"]
    add("sides", Scan(step.points, step.triangles, exchanged(step.landmarks)), "left and right are exchanged")
    add("stranger", ground.stranger, "another person, 1.6")
    add("other_points", Scan(step.points, step.triangles, ground.scans["elbows_bent"].landmarks), "from its surface")
    add("dog", dog(), "whether the scan shows this person")
    add("ball", ball(step.landmarks), "whether the scan shows this person")
    add("empty", Scan(np.zeros((0, 3)), np.zeros((0, 3), int), step.landmarks), "empty.ply")
    hole = step.copy()
    hole.points[7, 1] = np.nan
    add("not_a_number", hole, "not a number", "not finite")
    add("one_place", Scan(0 * step.points + 0.5, step.triangles, step.landmarks), "in one place")
    names = list(step.landmarks)
    mixed = dict(zip(names, [step.landmarks[n] for n in names[9:] + names[:9]]))
    add("wrong_names", Scan(step.points, step.triangles, mixed), "names and places")
    few = {f"{n}_mark": p for n, p in list(step.landmarks.items())[:9]}
    add("own_names", Scan(step.points, step.triangles, few), "none of its names")
    add("millimetres", Scan(1000 * step.points, step.triangles, {n: 1000 * p for n, p in step.landmarks.items()}), "unit")
    return scans, why


def harmless(ground):
    """One session with things that look wrong and need not hurt."""
    scans = ground.good()
    stand, step, bent = (scans[name] for name in SCANS)
    for scan in (step, bent):  # half of the landmarks are gone
        scan.landmarks = dict(list(scan.landmarks.items())[::2])
    step.triangles = step.triangles[:, ::-1]  # inside out
    beside = ground.stranger.points + [1.1, 0, 0.2]  # someone else stands beside them
    bent.points, bent.triangles = joined([(bent.points, bent.triangles), (beside, ground.stranger.triangles)])
    return scans


def write_frames(ground, folder):
    """A sequence with landmarks on the first frame, and a dog in the third."""
    frames = [*ground.frames[:2], dog(), ground.frames[2]]
    (folder / "walk").mkdir()
    for number, scan in enumerate(frames):
        scanner.write_ply(folder / f"walk/f{number + 8}.ply", scan.points, scan.triangles)  # f8, f9, f10, f11
    make_session.write_labels(folder / "landmarks/walk_001.csv", "marker,x,y,z", list(frames[0].landmarks),
                              list(frames[0].landmarks.values()))
    session = json.loads((folder / "scan.json").read_text())
    session["scans"].append({"name": "walk", "frames": "walk/f*.ply"})
    (folder / "scan.json").write_text(json.dumps(session))


def test_frames(ground, folder, errors):
    check("'walk_003' is left out" in errors, f"a dog runs in the sequence:\n{errors}")
    for name, scan in zip(("walk_001", "walk_002", "walk_004"), ground.frames):
        path = folder / f"registered/{name}.ply"
        check(path.exists(), f"{name} is not registered:\n{errors}")
        if path.exists():
            off = np.linalg.norm(read_ply(path) - scan.surface, axis=1)[ground.person.outer()]
            rms = 1000 * np.sqrt((off ** 2).mean())
            print(f"    {name}: vertices are {rms:.1f} mm from their own places")
            check(rms < 12, f"{name}: {rms:.1f} mm off")


def test_crowd(ground, folder):
    scans, why = crowd(ground)
    write_session(folder, scans)
    write_frames(ground, folder)
    done = run("scan", "run", folder)
    print(f"a crowd: exit {done.returncode}")
    check(done.returncode == 0 and (folder / "body.glb").exists(), f"a crowd: refused:\n{done.stderr}")
    for name in scans:
        line = next((line for line in done.stderr.splitlines() if f"'{name}' is left out" in line), "")
        if name not in why:
            check(not line, f"a crowd: a good scan is left out: {line}")
            continue
        print(f"    {line}")
        check(any(words in line for words in why[name]), f"a crowd: '{name}' has another reason: {line}")
        check(not (folder / f"registered/{name}.ply").exists(), f"a crowd: '{name}' is registered")
        check(len(line.split()) < 60, f"a crowd: a long sentence: {line}")
        if name not in ("empty", "not_a_number", "one_place"):  # there is nothing to draw
            check(f"look/{name}.png" in line and is_picture(folder / f"look/{name}.png"), f"a crowd: no picture: {line}")
    test_frames(ground, folder, done.stderr)
    if done.returncode == 0:
        ground.is_right(folder, "a crowd", SCANS)


def test_harmless(ground, folder):
    write_session(folder, harmless(ground))
    done = run("scan", "carry", folder)
    print(f"harmless: exit {done.returncode}")
    check(done.returncode == 0, f"harmless: refused:\n{done.stderr}")
    check("left out:" not in done.stderr, f"harmless: scans are left out:\n{done.stderr}")
    if done.returncode == 0:
        ground.is_right(folder, "harmless", SCANS)


def references(ground):
    """{case: (the reference scan, words of the refusal, has a picture)}: nothing can be built."""
    stand = ground.scans["stand"]

    def alike(change):
        scan = stand.copy()
        return mapped({"": scan}, change)[""]

    names = list(stand.landmarks)
    mixed = dict(zip(names, [stand.landmarks[n] for n in names[7:] + names[:7]]))
    hole = stand.copy()
    hole.points[7, 1] = np.nan
    two = stand.copy()  # two people, and landmarks on both
    two.points, two.triangles = joined([(two.points, two.triangles), (ground.stranger.points + [1.1, 0, 0],
                                                                      ground.stranger.triangles)])
    two.landmarks = {n: p if i % 2 else ground.stranger.landmarks[n] + [1.1, 0, 0]
                     for i, (n, p) in enumerate(two.landmarks.items())}
    return {
        "mirrored": (alike(lambda p: p * [-1, 1, 1]), ["left and right are exchanged"], True),
        "sides exchanged": (Scan(stand.points, stand.triangles, exchanged(stand.landmarks)), ["left and right"], True),
        "files of two scans exchanged": (Scan(ground.scans["step_left"].points, ground.scans["step_left"].triangles,
                                              stand.landmarks), ["of another scan"], True),
        "wrong names": (Scan(stand.points, stand.triangles, mixed), ["names and places", "from where"], True),
        "names of another program": (Scan(stand.points, stand.triangles,
                                          {f"LM_{i}": p for i, p in enumerate(stand.landmarks.values())}), ["names"], True),
        "a dog": (dog(), ["person"], True),
        "a ball": (ball(stand.landmarks), ["person"], True),
        "two people": (two, ["person"], True),
        "not a number": (hole, ["not a number", "not finite"], False),
        "empty": (Scan(np.zeros((0, 3)), np.zeros((0, 3), int), stand.landmarks), ["stand.ply"], False),
        "one place": (Scan(0 * stand.points + 0.5, stand.triangles, stand.landmarks), ["in one place", "are not on it"], False),
        "five landmarks": (Scan(stand.points, stand.triangles, dict(list(stand.landmarks.items())[:5])), ["at least 6"], True),
    }


def test_reference(ground, folder, case, scan, words, pictured):
    write_session(folder, {"stand": scan, "elbows_bent": ground.scans["elbows_bent"]})
    done = run("scan", "run", folder)
    line = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else ""
    print(f"{case}: exit {done.returncode}\n    {line}", flush=True)
    check(done.returncode == 1, f"{case}: exit status {done.returncode}")
    check(not (folder / "body.glb").exists() and not (folder / "fit.json").exists(), f"{case}: something is built")
    check(any(word in line for word in words), f"{case}: the sentence is about something else")
    check(len(line.split()) < 60, f"{case}: a long sentence")
    if pictured:
        check("look/stand.png" in line and is_picture(folder / "look/stand.png"), f"{case}: no picture")


def test_axes(ground, folder, case, change):
    """Another unit or axis: found or refused."""
    scans = ground.good()
    del scans["elbows_bent"]
    write_session(folder, mapped(scans, change))
    done = run("scan", "carry", folder)
    print(f"{case}: exit {done.returncode}\n    " + (done.stderr.strip().splitlines() or [""])[-1])
    if done.returncode == 0:
        ground.is_right(folder, case, SCANS)
    else:
        check(not (folder / "fit.json").exists(), f"{case}: something is built")
        check("look/" in done.stderr or '"unit"' in done.stderr or '"up"' in done.stderr, f"{case}: {done.stderr}")


def main():
    data = skips.data_folder(sys.argv[2])
    skips.need_data(data, "makehuman/3dobjs/base.obj")
    ground = Ground(data / "makehuman")
    chosen = sys.argv[3:]
    tests = {"crowd": lambda f: test_crowd(ground, f), "harmless": lambda f: test_harmless(ground, f),
             "z up": lambda f: test_axes(ground, f, "z up", turned_up),
             "centimetres": lambda f: test_axes(ground, f, "centimetres", lambda p: 100 * p)}
    for case, (scan, words, pictured) in references(ground).items():
        tests[case] = lambda f, c=case, s=scan, w=words, p=pictured: test_reference(ground, f, c, s, w, p)
    with tempfile.TemporaryDirectory() as made:
        for number, (case, test) in enumerate(tests.items()):
            if case in chosen or (not chosen and case not in ("z up", "centimetres")):  # oracle.ways has them
                test(Path(made, str(number)))
    print("wrong input: fine" if not failures else f"{len(failures)} failures")
    skips.finish(failures)


if __name__ == "__main__":
    main()
