#!/usr/bin/python3
"""The body of a session with a template person: scans held back, pictures, dials, baking, and what is no body.

  body_test.py EXEMPLAR ROOT

Scans are made from the template by `exemplar pose`. Registered scans are then changed by hand, so that the body made
from them is none.
"""
import json
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import template  # noqa: E402

TOOL = Path(sys.argv[1]).resolve()
FIGURE = ["figure_1=0.4", "figure_2=-0.5", "figure_3=0.5"]
POSES = {"stand": ["joint:shoulder.L=z-60", "joint:shoulder.R=z60"],
         "step": ["joint:shoulder.L=z-50", "joint:shoulder.R=z40", "joint:hip.L=x-35", "joint:knee.L=x30",
                  "joint:hip.R=x15", "joint:chest=y12"],
         "bent": ["joint:shoulder.L=z-20", "joint:elbow.L=y-80", "joint:shoulder.R=z70", "joint:elbow.R=y30",
                  "joint:waist=x20", "joint:head=y20"],
         "back": ["joint:shoulder.L=z-40", "joint:elbow.L=y-40", "joint:shoulder.R=z55", "joint:hip.L=x-18",
                  "joint:knee.L=x15", "joint:waist=x10"]}
SCANS = ["stand", "step", "bent"]


def run(*words, fails=False):
    done = subprocess.run([str(TOOL), *map(str, words)], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        sys.exit(f"exemplar {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout, done.stderr


def check(good, text):
    if not good:
        sys.exit(f"wrong: {text}")


def read_obj(path):
    return np.array([line.split()[1:4] for line in open(path) if line.startswith("v ")], float)


class Ply:
    """A registered scan, of which positions and colours can be changed."""
    SIZES = {"float": "<f4", "double": "<f8", "uchar": "u1"}

    def __init__(self, path):
        self.path, data = path, Path(path).read_bytes()
        start = data.index(b"end_header\n") + len(b"end_header\n")
        kinds, count, element = [], 0, None
        for line in data[:start].decode().splitlines():
            words = line.split()
            if words[0] == "element":
                element, count = words[1], int(words[2]) if words[1] == "vertex" else count
            elif words[0] == "property" and element == "vertex":
                kinds.append((words[2], self.SIZES[words[1]]))
        self.rows = np.frombuffer(data, np.dtype(kinds), count, start).copy()
        self.head, self.tail = data[:start], data[start + self.rows.nbytes:]

    def places(self):
        return np.stack([self.rows[c].astype(float) for c in "xyz"], axis=1)

    def write(self, places=None, unseen=None):
        for number, c in enumerate("xyz"):
            if places is not None:
                self.rows[c] = places[:, number]
        for c in ("red", "green", "blue"):
            if unseen is not None:
                self.rows[c][unseen] = 0
        self.path.write_bytes(self.head + self.rows.tobytes() + self.tail)


def write_session(folder, forms, marks, held):
    (folder / "landmarks").mkdir(parents=True)
    for name in POSES:
        rows = [f"{mark},{','.join(f'{x:.5f}' for x in forms[name][vertex])}" for mark, vertex in marks.items()]
        (folder / f"landmarks/{name}.csv").write_text("marker,x,y,z\n" + "\n".join(rows) + "\n")
    scans = [{"name": name, "files": [f"../{name}.obj"], **({"held": True} if name in held else {})} for name in POSES]
    (folder / "scan.json").write_text(json.dumps({"exemplar_scan": 1, "skeleton": "full", "reference": "stand",
                                                  "scans": scans}))


# ---- glTF, as any program reads it ----

def glb(path):
    data = Path(path).read_bytes()
    size, = struct.unpack("<I", data[12:16])
    return json.loads(data[20:20 + size]), data[28 + size:]


def accessor(document, blob, number):
    a = document["accessors"][number]
    kind = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}[a["componentType"]]
    width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}[a["type"]]

    def view(number, kind, count, width, offset=0):
        v = document["bufferViews"][number]
        assert "byteStride" not in v or v["byteStride"] == width * np.dtype(kind).itemsize
        start = v.get("byteOffset", 0) + offset
        return np.frombuffer(blob, kind, count * width, start).reshape(count, width)

    values = np.zeros((a["count"], width), np.dtype(kind))
    if "bufferView" in a:
        values = view(a["bufferView"], kind, a["count"], width, a.get("byteOffset", 0)).copy()
    if "sparse" in a:
        s = a["sparse"]
        where = {5121: "u1", 5123: "<u2", 5125: "<u4"}[s["indices"]["componentType"]]
        rows = view(s["indices"]["bufferView"], where, s["count"], 1, s["indices"].get("byteOffset", 0))[:, 0]
        values[rows] = view(s["values"]["bufferView"], kind, s["count"], width, s["values"].get("byteOffset", 0))
    if a.get("normalized"):
        return values / np.iinfo(values.dtype).max
    return values.astype(float)


def matrix(t, q, s):
    x, y, z, w = q / np.linalg.norm(q)
    r = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                  [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                  [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])
    m = np.eye(4)
    m[:3, :3], m[:3, 3] = r * s, t
    return m


def play(path, time):
    """Vertices of a baked file at the time of a key: morph targets, then a linear skin."""
    document, blob = glb(path)
    nodes = [dict(n) for n in document["nodes"]]
    for channel in document["animations"][0]["channels"]:
        sampler = document["animations"][0]["samplers"][channel["sampler"]]
        times = accessor(document, blob, sampler["input"])[:, 0]
        values = accessor(document, blob, sampler["output"]).reshape(len(times), -1)
        key = np.searchsorted(times, time - 1e-4) if len(times) > 1 else 0
        nodes[channel["target"]["node"]][channel["target"]["path"]] = values[min(key, len(times) - 1)]
    skinned = next(n for n in nodes if "mesh" in n and "skin" in n)
    primitive = document["meshes"][skinned["mesh"]]["primitives"][0]
    points = accessor(document, blob, primitive["attributes"]["POSITION"])
    weights = skinned.get("weights", document["meshes"][skinned["mesh"]].get("weights", []))
    for weight, target in zip(weights, primitive.get("targets", [])):
        points = points + weight * accessor(document, blob, target["POSITION"])
    parents = {child: number for number, n in enumerate(nodes) for child in n.get("children", [])}

    def world(number):
        n = nodes[number]
        own = matrix(np.array(n.get("translation", [0, 0, 0]), float), np.array(n.get("rotation", [0, 0, 0, 1]), float),
                     np.array(n.get("scale", [1, 1, 1]), float))
        return world(parents[number]) @ own if number in parents else own

    skin = document["skins"][skinned["skin"]]
    binds = accessor(document, blob, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1)
    moves = np.array([world(j) for j in skin["joints"]]) @ binds
    joints = accessor(document, blob, primitive["attributes"]["JOINTS_0"]).astype(int)
    shares = accessor(document, blob, primitive["attributes"]["WEIGHTS_0"])
    whole = np.concatenate([points, np.ones((len(points), 1))], axis=1)
    return np.einsum("vi,vijk,vk->vj", shares, moves[joints], whole)[:, :3], len(weights)


def pose_of(session, row):
    """Words for the pose of a row of poses.csv."""
    table = (session / "poses.csv").read_text().splitlines()
    values = dict(zip(table[0].split(","), table[1 + row].split(",")))
    joints = sorted({key[6:-2] for key in values if key != "time"})
    return [f"joint:{j}=q:{','.join(values[f'joint:{j}.{c}'] for c in 'xyzw')}" for j in joints]


# ---- the tests ----

def held(session):
    """The body is the same without the scan that is held back, and predicts it."""
    out, _ = run("scan", "report", session)
    check("predicted: 1 scan held back" in out and "one scan" in out, out)
    report = json.loads(run("scan", "report", session, "--json")[0])
    scans = {scan["name"]: scan for scan in report["scans"]}
    check([n for n in scans if scans[n]["held"]] == ["back"] and report["held_count"] == 1, f"held: {report}")
    back = scans["back"]
    check("rms" not in back and "left_out_rms" not in scans["step"], f"what is said of whom: {report}")
    check(back["left_out_rms"] < 0.006 and back["one_rms"] < 0.02, f"a poor prediction: {back}")
    check(abs(back["ratio"] - back["left_out_rms"] / back["one_rms"]) < 1e-6, f"ratio: {back}")
    check(abs(report["left_out_rms"] - back["left_out_rms"]) < 1e-9, "the sum of one scan is that scan")
    alone = json.loads((session / "scan.json").read_text())
    alone["scans"] = [scan for scan in alone["scans"] if scan["name"] != "back"]
    other = session.parent / "alone"
    shutil.copytree(session, other)
    (other / "scan.json").write_text(json.dumps(alone))
    run("scan", "build", session, "-q")
    run("scan", "build", other, "-q")
    check((session / "body.glb").read_bytes() == (other / "body.glb").read_bytes(), "a held scan changes the body")
    out, _ = run("scan", "report", other)
    check("predicted: from the other scans" in out and "back" not in out, out)
    # A distance by hand: the rig in the pose of `stand`, moved onto the registered scan by the best translation.
    run("pose", other / "body.glb", *pose_of(other, 0), "-o", session.parent / "own.obj")
    ply = Ply(other / "registered/stand.ply")
    sure = ply.rows["red"].astype(float) / (255 if ply.rows["red"].dtype == np.uint8 else 1)
    off = read_obj(session.parent / "own.obj") - ply.places()
    off -= (sure[:, None] * off).sum(axis=0) / sure.sum()
    by_hand = np.sqrt((sure * (off ** 2).sum(axis=1)).sum() / sure.sum())
    said = next(s for s in json.loads(run("scan", "report", other, "--json")[0])["scans"] if s["name"] == "stand")
    check(abs(by_hand - said["rms"]) < 0.0004, f"the report says {said['rms']}, by hand {by_hand}")


def pictures(folder, session):
    run("scan", "report", session, "--picture", folder / "errors")
    for name in POSES:
        data = (folder / f"errors/{name}.png").read_bytes()
        check(data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) > 20000, f"{name}.png: {len(data)} bytes")
        check(struct.unpack(">II", data[16:24]) == (1040, 760), f"{name}.png: size")


def dials(folder, session):
    def form(*words):
        run("pose", session / "body.glb", *words, "-o", folder / "dial.obj")
        return read_obj(folder / "dial.obj")
    rest = form()
    size = np.ptp(rest, axis=0)
    check(abs(np.ptp(form("height=0.2"), axis=0)[1] - size[1] - 0.2) < 0.005, "height")
    check(abs(np.ptp(form("leg.length=0.1"), axis=0)[1] - size[1] - 0.1) < 0.003, "leg.length")
    check(abs(np.ptp(form("trunk.length=-0.1"), axis=0)[1] - size[1] + 0.1) < 0.01, "trunk.length")
    check(abs(np.ptp(form("arm.length=0.1"), axis=0)[0] - size[0] - 0.2) < 0.006, "arm.length, of both sides")
    wide = form("girth=0.3")
    check(abs(np.ptp(wide, axis=0)[1] - size[1]) < 0.03, "girth changes the height")
    middle = np.abs(rest[:, 1] - rest[:, 1].mean() - 0.05) < 0.05  # the waist, without arms
    grown = np.ptp(wide[middle], axis=0)[2] / np.ptp(rest[middle], axis=0)[2]
    check(1.1 < grown < 2, f"girth 0.3 makes the waist {grown:.2f} times as deep")
    # The skeleton goes along: behind a bent knee, a longer shank reaches farther, and a longer thigh does not.
    back = {words: form("joint:knee.L=x90", *words)[:, 2].min() for words in ((), ("ankle.length=0.1",),
                                                                            ("knee.length=0.1",))}
    check(abs(back[()] - back["ankle.length=0.1",] - 0.1) < 0.01, f"the shank does not grow with its bone: {back}")
    check(abs(back[()] - back["knee.length=0.1",]) < 0.01, f"the knee does not go along with the thigh: {back}")


def baked(folder, session):
    table = (session / "poses.csv").read_text().splitlines()
    check(len(table) == 1 + len(SCANS) and table[0].startswith("time,joint:hips.x"), f"poses.csv: {table[0][:60]}")
    run("bake", session / "body.glb", "--motion", session / "poses.csv", "--fps", "4", "-o", folder / "baked.glb")
    document, _ = glb(folder / "baked.glb")
    check("EXEMPLAR_rig" not in json.dumps(document), "the file needs Exemplar")
    for row, name in enumerate(SCANS):
        run("pose", session / "body.glb", *pose_of(session, row), "-o", folder / "pose.obj")
        points, targets = play(folder / "baked.glb", row)
        truth = read_obj(folder / "pose.obj")
        layers = run("info", session / "body.glb")[0].count("\nlayer ")  # one of dials, others of what skinning leaves
        check((targets > 0) == (layers > 1), f"{targets} corrective targets of {layers} layers")
        # Vertices on seams are doubled for display: every point of the rig has its own within a tenth of a millimetre.
        off = max(np.sqrt(((points - p) ** 2).sum(axis=1).min()) for p in truth[::37])
        check(off < 1e-4, f"{name}: the baked file is {1000 * off:.2f} mm off the rig")


def no_body(folder, session):
    """Registered scans of which no body can be made: one sentence, a picture, and no files."""
    rest = read_obj(folder / "rest.obj")
    cases = {"limb": "no scan shows the limb from shoulder.L to elbow.L",
             "torn": "its skin is torn at .*scan 'step' fits least",
             "far": "scan 'step' does not fit the body",
             "bone": "this is no body|is not a person"}
    for case, words in cases.items():
        copy = folder / case
        shutil.copytree(session, copy)
        (copy / "body.glb").unlink()
        random = np.random.default_rng(4)
        for name in SCANS:
            ply = Ply(copy / f"registered/{name}.ply")
            places = ply.places()
            if case == "limb":
                ply.write(unseen=rest[:, 0] > 0.14)
            elif case == "torn" and name == "step":
                patch = np.flatnonzero((rest[:, 0] > 0.2) & (rest[:, 0] < 0.6))
                places[patch] += random.normal(scale=0.03, size=(len(patch), 3))
                ply.write(places)
            elif case == "far" and name == "step":
                ply.write(places + 0.09 * np.sin(17 * places[:, [1, 2, 0]]))
            elif case == "bone":
                reach = np.clip(-0.2 - rest[:, 1], 0, None)  # legs of half a metre more
                places[:, 1] -= 0.8 * reach
                ply.write(places)
        _, errors = run("scan", "build", copy, "-q", fails=True)
        lines = [line for line in errors.splitlines() if line]
        check(re.search(words, errors), f"{case}: {errors}")
        check(len(lines) == 2 and "wrong.png shows" in lines[1], f"{case}: {errors}")
        check((copy / "wrong.png").stat().st_size > 10000, f"{case}: no picture")
        check(not (copy / "body.glb").exists(), f"{case}: something was built")
        run("scan", "report", copy, fails=True)
    # Hands that no scan shows are named, and built.
    hand = folder / "hand"
    shutil.copytree(session, hand)
    for name in SCANS:
        Ply(hand / f"registered/{name}.ply").write(unseen=rest[:, 0] > 0.58)
    _, errors = run("scan", "build", hand)
    check("no scan shows the skin of wrist.L" in errors and "elbow.L" not in errors, errors)


def refusals(session):
    text = (session / "scan.json").read_text()
    data = json.loads(text)
    for change, words in (({"reference": "back"}, "cannot be held back"),
                          ({"template": "cage", "parts": [{"name": "body", "joints": ["waist"], "covers": ["hips"]}]},
                           "only sessions with a template person")):
        (session / "scan.json").write_text(json.dumps({**data, **change}))
        _, errors = run("scan", "report", session, fails=True)
        check(words in errors, errors)
    (session / "scan.json").write_text(text)


def main(folder):
    forms = {}
    for name, turns in POSES.items():
        run("pose", template.FILE, *FIGURE, *turns, "-o", folder / f"{name}.obj")
        forms[name] = read_obj(folder / f"{name}.obj")
    run("pose", template.FILE, "-o", folder / "rest.obj")
    session = folder / "anna"
    write_session(session, forms, template.landmarks(read_obj(folder / "rest.obj")), ["back"])
    run("scan", "run", session)
    held(session)
    pictures(folder, session)
    dials(folder, session)
    baked(folder, session)
    no_body(folder, session)
    refusals(session)
    print("the body of a template person: fine")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
