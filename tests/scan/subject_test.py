#!/usr/bin/python3
"""Tests the test ground itself: subject.py, scanner.py, make_session.py and judge.py.

  subject_test.py EXEMPLAR DATA
"""
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "oracle")]
import judge  # noqa: E402
import make_session  # noqa: E402
import scanner  # noqa: E402
import skips  # noqa: E402
import subject  # noqa: E402

failures = []


def check(good, text):
    if not good:
        failures.append(text)
        print(f"FAILED: {text}")


# ---- the person ----

def winding(point, points, triangles):
    """The number of times that the surface goes round a point: the sum of solid angles (van Oosterom and Strackee) over 4 pi."""
    a, b, c = (points[triangles[:, k]] - point for k in range(3))
    x, y, z = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    up = (a * np.cross(b, c)).sum(axis=1)
    down = x * y * z + (a * b).sum(axis=1) * z + (b * c).sum(axis=1) * x + (c * a).sum(axis=1) * y
    return 2 * np.arctan2(up, down).sum() / (4 * np.pi)


def test_closed(person, name):
    edges = person.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    forth = {(a, b) for a, b in edges.tolist()}
    check(len(forth) == len(edges), f"{name}: an edge has two triangles on one side")
    check(all((b, a) in forth for a, b in forth), f"{name}: the surface is not closed")
    check(len(person.points) - len(edges) // 2 + len(person.triangles) == 2, f"{name}: the surface is no sphere")
    a, b, c = (person.points[person.triangles[:, k]] for k in range(3))
    litres = 1000 * (a * np.cross(b, c)).sum() / 6
    bulk = litres / person.height ** 2  # nearly the body mass index
    check(12 < bulk < 45, f"{name}: {litres:.0f} litres at {person.height:.2f} m are no person's")
    check(np.allclose(person.weights.sum(axis=1), 1, atol=1e-9), f"{name}: weights do not sum to 1")


def test_joints(person, posed, name):
    for joint, place in zip(subject.NAMES, posed.joints):
        around = winding(place, posed.surface, person.triangles)
        check(abs(around - 1) < 0.02, f"{name}, {posed.name}: {joint} is not inside the body ({around:.2f})")


def test_symmetry(person):
    other = cKDTree(person.points).query(person.points * [-1, 1, 1])
    check(other[0].max() < 1e-6, "the person is not symmetric at rest")
    posed = person.pose(subject.POSES["stand"], still=True)
    off = np.abs(posed.surface[other[1]] - posed.surface * [-1, 1, 1]).max()
    # Quadrangles are cut alike on both sides, not mirrored, so that normals differ.
    check(off < 5e-4, f"a symmetric pose is not symmetric: {1000 * off:.3f} mm")
    left = posed.joints[[subject.NAMES.index(n[:-1] + "L") if n.endswith(".R") else j
                         for j, n in enumerate(subject.NAMES)]]
    right = np.array([n.endswith(".R") for n in subject.NAMES])
    check(np.abs(left[right] * [-1, 1, 1] - posed.joints[right]).max() < 1e-9, "joints are not symmetric")


def angle_at(posed, a, b, c):
    """Degrees by which the line a b c bends at b."""
    p, q, r = (posed.joints[subject.NAMES.index(n)] for n in (a, b, c))
    return np.degrees(np.arccos(np.clip(subject._unit(q - p) @ subject._unit(r - q), -1, 1)))


def test_angles(person):
    for side in "LR":
        for degrees in (5, 60, 135):
            posed = person.pose(subject.angles(arms=dict(elbow=degrees)))
            bent = angle_at(posed, f"shoulder.{side}", f"elbow.{side}", f"wrist.{side}")
            check(abs(bent - degrees) < 0.01, f"an elbow of {degrees} degrees bends by {bent:.2f}")
        straight = angle_at(person.pose(subject.angles(legs=dict(knee=0))), f"hip.{side}", f"knee.{side}", f"ankle.{side}")
        posed = person.pose(subject.angles(legs=dict(knee=90)))
        bent = angle_at(posed, f"hip.{side}", f"knee.{side}", f"ankle.{side}")
        check(abs(bent - 90) < straight + 0.5, f"a knee of 90 degrees bends by {bent:.2f}")
    posed = person.pose(subject.angles(arms=dict(out=90, elbow=5)))
    arm = posed.joints[subject.NAMES.index("elbow.L")] - posed.joints[subject.NAMES.index("shoulder.L")]
    check(subject._unit(arm)[0] > 0.999, f"an arm held out to the side points to {subject._unit(arm).round(3)}")
    posed = person.pose(subject.angles(arms=dict(out=0, fore=90, elbow=5)))
    arm = posed.joints[subject.NAMES.index("elbow.L")] - posed.joints[subject.NAMES.index("shoulder.L")]
    check(subject._unit(arm)[2] > 0.999, f"an arm held forwards points to {subject._unit(arm).round(3)}")


def test_bones(person, poses):
    for j, p in enumerate(subject.PARENTS):
        if p >= 0:
            lengths = [np.linalg.norm(q.joints[j] - q.joints[p]) for q in poses]
            check(np.ptp(lengths) < 1e-9, f"the bone of {subject.NAMES[j]} changes its length")


def test_rigid(data):
    """Without the skin's own motion, skin of one bone alone moves with it."""
    person = subject.Person(data, slide=0, bulge=0, drift=0, **subject.PEOPLE["adult"])
    posed = person.pose(subject.POSES["arms_crossed"])
    for name in ("head", "wrist.L", "ankle.R"):
        j = subject.NAMES.index(name)
        skin = person.drive[:, j] > 1 - 1e-9
        there = (person.points[skin] - person.centres[j]) @ posed.turns[j].T + posed.joints[j]
        check(skin.sum() > 20 and np.abs(there - posed.surface[skin]).max() < 1e-9, f"{name}: the skin leaves its bone")


def test_blends():
    """One bone: both blends are its motion. Two bones turned by 90 and 0 degrees about z: dual quaternions give 45."""
    turn = Rotation.from_rotvec([[0, 0, np.pi / 2], [0, 0, 0]]).as_matrix()
    point, moves = np.array([[1.0, 0, 0.5]]), np.array([[0.2, 0, 0.1], [0.2, 0, 0.1]])
    for blend in (subject.blend_linear, subject.blend_dual):
        alone = blend(point, np.array([[1.0, 0]]), turn, moves)
        check(np.allclose(alone, [[0.2, 1, 0.6]]), f"{blend.__name__}: one bone gives {alone}")
    both = subject.blend_dual(point, np.array([[0.5, 0.5]]), turn[:1].repeat(2, 0) @ np.array([np.eye(3), turn[0].T]),
                              np.zeros((2, 3)))
    check(np.allclose(both, [[np.sqrt(0.5), np.sqrt(0.5), 0.5]]), f"dual quaternions give {both}")


def test_skin(person, poses):
    most = max(q.slide.max() for q in poses)
    check(0.018 < most <= 0.025 + 1e-9, f"skin slides by {1000 * most:.1f} mm at most, 25 wanted")
    kept, person.slide_share = person.slide_share, 0.0
    swollen = [np.linalg.norm(person.moved_skin(person.local_turns(subject.POSES[n]), None)[0] - person.points, axis=1).max()
               for n in ("squat", "crouch", "arms_up")]
    person.slide_share = kept
    check(0.012 < max(swollen) <= 0.025 + 1e-9, f"skin swells by {1000 * max(swollen):.1f} mm at most, 25 wanted")
    again = person.pose(subject.POSES["squat"], seed=5).surface
    check(np.array_equal(again, person.pose(subject.POSES["squat"], seed=5).surface), "the same seed gives another skin")
    off = np.linalg.norm(again - person.pose(subject.POSES["squat"], seed=6).surface, axis=1)
    check(0.0005 < judge.rms(off) < 0.006, f"another seed changes the skin by {1000 * judge.rms(off):.1f} mm RMS")


def test_library():
    check(len(subject.POSES) >= 40 and len(subject.HELD_OUT) == 10, "there are not 40 poses and 10 held out")
    for name, pose in (subject.POSES | subject.HELD_OUT).items():
        for side in "LR":
            arm, leg = pose[f"arm.{side}"], pose[f"leg.{side}"]
            check(0 <= arm["elbow"] <= 140 and 0 <= leg["knee"] <= 130, f"{name}: no person bends so")


# ---- the scanner ----

def test_depth():
    """A small square before a large one: the near one is seen, and nothing joins the two."""
    def square(half, z, start):
        points = np.array([[-half, 1 - half, z], [half, 1 - half, z], [half, 1 + half, z], [-half, 1 + half, z]])
        return points, np.array([[0, 1, 2], [0, 2, 3]]) + start

    near, far = square(0.1, 0.5, 0), square(0.3, 0.0, 4)
    points, triangles = np.concatenate([near[0], far[0]]), np.concatenate([near[1], far[1]])
    camera = scanner.look([0, 1, 3], np.array([0, 1.0, 0]), 0.004)
    view = scanner.scan_view(camera, points, triangles, points, None, np.random.default_rng(1), noise=0)
    depth = view.points[:, 2]
    check(np.all(np.minimum(np.abs(depth), np.abs(depth - 0.5)) < 1e-9), "samples are off the squares")
    check(np.ptp(depth[view.triangles], axis=1).max() < 1e-9, "a triangle bridges the jump in depth")
    hidden = (np.abs(depth) < 1e-9) & (np.abs(view.points[:, :2] - [0, 1]).max(axis=1) < 0.115)
    check(not hidden.any(), "samples behind the near square")
    area = np.linalg.norm(np.cross(view.points[view.triangles[:, 1]] - view.points[view.triangles[:, 0]],
                                   view.points[view.triangles[:, 2]] - view.points[view.triangles[:, 0]]), axis=1) / 2
    close = np.abs(depth[view.triangles[:, 0]] - 0.5) < 1e-9
    check(abs(area[close].sum() - 0.04) < 0.002, f"the near square has {area[close].sum():.4f} square metres, not 0.04")
    facing = np.cross(view.points[view.triangles[:, 1]] - view.points[view.triangles[:, 0]],
                      view.points[view.triangles[:, 2]] - view.points[view.triangles[:, 0]])[:, 2]
    check((facing > 0).all(), "triangles face away from the camera")


def read_ply(path):
    """Points, triangles and colours of a file of scanner.py."""
    data = Path(path).read_bytes()
    head, _, body = data.partition(b"end_header\n")
    counts = [int(line.split()[2]) for line in head.decode().splitlines() if line.startswith("element")]
    fields = [(f, "<f4") for f in "xyz"] + [(f, "u1") for f in "rgb"]
    rows = np.frombuffer(body, fields, counts[0])
    faces = np.frombuffer(body, [("n", "u1"), ("v", "<i4", 3)], counts[1], rows.nbytes)
    return (np.stack([rows[f] for f in "xyz"], axis=1).astype(float), faces["v"],
            np.stack([rows[f] for f in "rgb"], axis=1).astype(float))


def test_session(exemplar, data, folder):
    options = make_session.options_of([str(folder), "--data", str(data), "--poses", "3", "--pitch", "0.004", "--views", "5"])
    make_session.write_session(options, say=lambda text: None)
    truth = np.load(folder / "truth.npz")
    session = json.loads((folder / "scan.json").read_text())
    for k, scan in enumerate(session["scans"]):
        surface = judge.Surface(truth["surfaces"][k].astype(float), truth["triangles"])
        parts = [read_ply(folder / file) for file in scan["files"]]
        points, colours = (np.concatenate([part[n] for part in parts]) for n in (0, 2))
        off = surface.distances(points[::7])
        # Along the normal, noise of a ray is smaller by the cosine: 0.77, over the angles at which skin is seen.
        check(0.7 * options.noise < judge.rms(off) < 0.84 * options.noise,
              f"{scan['name']}: samples are {1000 * judge.rms(off):.3f} mm off, with {1000 * options.noise} mm of noise")
        check(off.max() < 6 * options.noise, f"{scan['name']}: a sample is {1000 * off.max():.2f} mm off")
        skin = truth["surfaces"][k][truth["outer"]]
        gap = cKDTree(points).query(skin)[0]
        check(0.75 < (gap < 0.008).mean() < 1, f"{scan['name']}: {100 * (gap < 0.008).mean():.0f} % of the skin is scanned")
        test_labels(folder, truth, k, scan["name"], surface, points, colours, options)
    # The product reads the session, and finds the spots of the scanner.
    for words in (["markers", folder, "-q"], ["label", folder, "--csv", folder / "labels/stand.csv", "-q"]):
        done = subprocess.run([exemplar, "scan", *words], capture_output=True, text=True)
        check(done.returncode == 0, f"the session cannot be read by 'scan {words[0]}': {done.stderr}")
    with open(folder / "found/stand.csv") as file:
        found = np.array([[float(row[c]) for c in "xyz"] for row in csv.DictReader(file)])
    off = cKDTree(found).query(truth["markers"][0][truth["seen"][0]])[0]
    check((off < 0.004).mean() > 0.85, f"{100 * (off < 0.004).mean():.0f} % of the spots are found by 'scan markers'")


def test_labels(folder, truth, k, name, surface, points, colours, options):
    with open(folder / f"labels/{name}.csv") as file:
        labels = {row["marker"]: np.array([float(row[c]) for c in "xyz"]) for row in csv.DictReader(file)}
    with open(folder / "markers.csv") as file:
        table = {row["marker"]: row for row in csv.DictReader(file)}
    check(set(labels) <= set(table) and len(labels) > 150, f"{name}: {len(labels)} labels")
    places = np.array(list(labels.values()))
    check(surface.distances(places).max() < 1e-5, f"{name}: a label is not on the surface")
    gap, nearest = cKDTree(points).query(places)
    check(gap.max() < 2 * options.pitch, f"{name}: a label that is called seen has no sample near it")
    paint = np.array([[float(table[m][c]) for c in "rgb"] for m in labels])
    near = np.abs(colours[nearest] - paint).max(axis=1) < 70
    check(near[gap < 0.004].mean() > 0.97, f"{name}: {100 * near.mean():.0f} % of the spots have their colour")
    plain = np.abs(colours - scanner.SKIN).max(axis=1) < 70
    check(plain.mean() > 0.95, f"{name}: {100 * plain.mean():.0f} % of the samples have the colour of skin")


# ---- the judge ----

def true_fit(truth, stretch=None):
    """A fit.json with the truth; stretch {joint: factor} of bones."""
    reference, parents, rows = truth["turns"][0], truth["parents"], []
    names = [str(n) for n in truth["joint_names"]]
    for j, name in enumerate(names):
        place = truth["joints"][0, j] - (truth["joints"][0, parents[j]] if parents[j] >= 0 else 0)
        row = {"name": name, "joint": subject.JOINTS[name][1], "translation": (place * (stretch or {}).get(name, 1)).tolist()}
        if parents[j] >= 0:
            row["parent"] = names[parents[j]]
        if row["joint"] == "hinge":
            row["axis"] = truth["axes"][j].tolist()
        rows.append(row)
    scans = []
    for k in np.flatnonzero(~truth["held"]):
        world = truth["turns"][k] @ reference.transpose(0, 2, 1)
        local = [world[p].T @ world[j] if p >= 0 else world[j] for j, p in enumerate(parents)]
        pose = {n: (float(np.degrees(Rotation.from_matrix(t).as_rotvec() @ truth["axes"][j]))
                    if subject.JOINTS[n][1] == "hinge" else Rotation.from_matrix(t).as_quat().tolist())
                for j, (n, t) in enumerate(zip(names, local))}
        scans.append({"name": str(truth["names"][k]), "base": truth["joints"][k, 0].tolist(), "pose": pose})
    middle = truth["surfaces"][0][truth["triangles"][truth["marker_triangles"]]].mean(axis=1)
    sites = [{"name": str(m), "joint": str(n), "at": (p - truth["joints"][0, names.index(str(n))]).tolist()}
             for m, n, p in zip(truth["marker_names"], truth["marker_joints"], middle)]
    return {"skeleton": {"joints": rows, "markers": sites}, "scans": scans}


def test_judge(folder):
    truth = dict(np.load(folder / "truth.npz"))
    for name in ("names", "held", "joints", "turns", "surfaces", "slides", "markers", "seen"):
        truth[name] = truth[name][:6]  # three are held out
    np.savez(folder / "truth.npz", **truth)
    options = SimpleNamespace(pose="truth", level=None, keep=None)
    (folder / "fit.json").write_text(json.dumps(true_fit(truth)))
    result = judge.Judge(None, folder, options).run()
    check(result["bone_worst_mm"] < 1e-6 and result["centre_rms_mm"] < 1e-6, "the true skeleton is called wrong")
    check(result["angle_rms"] < 1e-3, f"true angles are called {result['angle_rms']:.4f} degrees wrong")
    one, true = result["one_scan"]["rms_mm"], result["one_scan_true_pose"]["rms_mm"]
    check(abs(one - true) < 1e-3, f"skinning with the true skeleton gives {one:.3f} and {true:.3f} mm")
    check(4 < true < 9, f"skinning one scan is {true:.1f} mm off: it should be as with real people, 4 to 9 mm")
    check(result["unsound"] == ["there is no body.glb"], f"the true skeleton is called unsound: {result['unsound']}")
    (folder / "fit.json").write_text(json.dumps(true_fit(truth, {"knee.L": 1.3})))
    result = judge.Judge(None, folder, options).run()
    check(abs(result["bones"]["knee.L"]["percent"] - 30) < 1e-6, "a thigh that is 30 % too long is not found")
    check(any("knee.L" in line for line in result["unsound"]), "a thigh that is 30 % too long is called sound")
    check(result["angle_rms"] < 1e-3, "a long thigh changes angles")
    test_fit_pose(truth)


def test_fit_pose(truth):
    """A pose is found again from rigid markers, from another pose."""
    skeleton = judge.Skeleton(true_fit(truth)["skeleton"])
    scans = [skeleton.read_pose(s) for s in true_fit(truth)["scans"]]
    turns, at = skeleton.stand(*scans[2])
    places = {name: at[j] + turns[j] @ p for name, j, p in skeleton.sites}
    local, base, off = judge.fit_pose(skeleton, places, scans[:1])
    again = skeleton.stand(local, base)[1]
    check(off < 1e-4 and np.abs(again - at).max() < 5e-4, f"a pose is found {1000 * np.abs(again - at).max():.2f} mm off")


def test_distances():
    """A plane of two triangles: heights inside, and the distance to the edge outside."""
    surface = judge.Surface(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]), np.array([[0, 1, 2], [0, 2, 3]]))
    off = surface.distances(np.array([[0.5, 0.4, 0.3], [1.3, 0.5, 0.4], [-0.3, -0.4, 0]]))
    check(np.allclose(off, [0.3, 0.5, 0.5], atol=1e-6), f"distances to a square are {off}")


def main():
    exemplar, data = sys.argv[1], skips.data_folder(sys.argv[2]) / "makehuman"
    skips.need_data(data.parent, "makehuman/3dobjs/base.obj", "makehuman/rigs/default.mhskel",
                    "makehuman/targets/macrodetails/caucasian-male-child.target")
    test_blends()
    test_library()
    test_depth()
    test_distances()
    for name in ("adult", "child", "heavy_woman", "giant"):
        person = subject.Person(data, **subject.PEOPLE[name])
        check(abs(person.height - subject.PEOPLE[name]["height"]) < 1e-6, f"{name}: {person.height:.3f} m")
        test_closed(person, name)
        test_joints(person, person.pose(subject.POSES["stand"], name="stand"), name)
        test_joints(person, person.pose(subject.POSES["throw"], name="throw"), name)
    person = subject.Person(data, **subject.PEOPLE["woman"])
    poses = subject.all_poses(person, subject.library(14, degrees=0))
    test_symmetry(person)
    test_angles(person)
    test_bones(person, poses)
    test_skin(person, poses)
    test_rigid(data)
    with tempfile.TemporaryDirectory() as folder:
        test_session(exemplar, data, Path(folder))
        test_judge(Path(folder))
    print(f"{len(failures)} failures")
    skips.finish(bool(failures))


if __name__ == "__main__":
    main()
