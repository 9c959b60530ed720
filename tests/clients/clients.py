#!/usr/bin/python3
"""Bakes motion into standard files and plays them in other programs: do they show the same as Exemplar?

  clients.py TOOL NPM WORK DATA [PART…]
      NPM is a folder with three.js and the validator in it, WORK a folder to work in, DATA one with makehuman/, mocap/
      and gltf/; without them their parts are skipped. PART: arm, offsets, body or characters (default: all). Prints a
      table, then "N passed, M failed"; exit 1 if any failed

Each case bakes a rig with four influences per vertex. The validator checks the file. Blender and three.js play it, and
so do a reader in numpy (gltf_oracle.py) and Exemplar itself, which makes a rig of the file and bakes that. At ten key
times, positions are within 1e-4 of the figure's size (its largest extent) of the numpy reader's, and normals within a
degree. Normals are those of the deformed faces on both sides: seams closed, faces weighed by their area.

Characters of other people go through init, build and bake, clip by clip. Each program then plays the original file too.
Every vertex of one has a vertex of the other that stays with it all the time, with its texture coordinates, material
and normal; materials and pictures are the same.
"""
import copy
import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

sys.dont_write_bytecode = True  # leaves nothing in the source tree
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracle"))

import gltf_oracle
import skips
from point_cache import read_pc2
from weigh_oracle import Tally

POSITIONS, DEGREES, OWN = 1e-4, 1.0, 1e-5
ORIGINAL = 1e-5  # as a part of the size: a baked file from the original, in the same program
COORDINATES, COLOURS = 1e-6, 1e-6
# Shading normals in degrees. Vertices with equal normals become one. Blender keeps normals relative to the faces around
# a vertex, which then has more of them.
SHADING = {"three.js": 0.01, "Blender": 3.0}
NEAR = 1e-4  # the goal of baking if it cannot be exact
TIMES = 10
# At a flat fold, a normal is a small difference of large areas and means nothing.
FOLDED = 1e-2


# ---- programs ----

def call(words, folder=None):
    """The output of a program, which must succeed."""
    run = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{Path(words[0]).name} {words[1]} … ended with status {run.returncode}:\n{run.stdout[-3000:]}"
                 f"{run.stderr[-3000:]}")
    return run.stdout + run.stderr


class Shown:
    """A file as a program shows it."""

    def __init__(self, out, time_count):
        self.places = np.fromfile(out, "<f4").reshape(time_count, -1, 3).astype(float)
        looks = np.fromfile(f"{out}.looks", "<f4").reshape(-1, 6).astype(float)
        self.texcoords, self.material, self.normals = looks[:, :2], looks[:, 2].astype(int), looks[:, 3:]
        self.materials = json.loads(Path(f"{out}.json").read_text())

    def seen(self):
        """Without vertices that no visible face has."""
        seen = copy.copy(self)
        keep = self.material >= 0
        seen.places, seen.texcoords, seen.material, seen.normals = (
            self.places[:, keep], self.texcoords[keep], self.material[keep], self.normals[keep])
        return seen


class Programs:
    def __init__(self, tool, npm, work):
        self.tool, self.npm, self.work = Path(tool).resolve(), Path(npm).resolve(), Path(work).resolve()
        self.versions = {}

    def exemplar(self, *words):
        return call([self.tool, *words], self.work)

    def validate(self, path):
        """Errors, warnings, messages."""
        counts, messages = call(["node", HERE / "validate_file.mjs", self.npm, self.work / path]).split("\n", 1)
        return [int(count) for count in counts.split()], messages

    def played(self, name, words, times):
        out = self.work / "played.bin"
        out.unlink(missing_ok=True)
        said = call(words(out) + [repr(float(time)) for time in times])
        found = re.search(rf"^{name} (\S+)", said, re.M)
        self.versions[name] = found.group(1) if found else "?"
        return Shown(out, len(times))

    def play_three(self, path, times):
        return self.played("three.js", lambda out: ["node", HERE / "play_three.mjs", self.npm, self.work / path, out],
                           times)

    def play_blender(self, path, times):
        return self.played("Blender", lambda out: ["blender", "--background", "--factory-startup", "--python",
                                                   HERE / "play_blender.py", "--", self.work / path, out], times)


# ---- the baked file ----

class Baked:
    """A file with one mesh in one node, in the numpy reader."""

    def __init__(self, path):
        self.file = gltf_oracle.File(str(path))
        primitives = self.file.json["meshes"][0]["primitives"]
        triangles, self.rows, start = [], [], 0
        for primitive in primitives:
            attributes = primitive["attributes"]
            names = ["POSITION"] + sorted(name for name in attributes if name.startswith(("JOINTS", "WEIGHTS")))
            columns = [self.file.array(attributes[name]) for name in names]
            columns += [self.file.array(target["POSITION"]) for target in primitive.get("targets", [])]
            self.rows.append(np.hstack(columns))
            triangles.append(self.file.array(primitive["indices"]).astype(int).reshape(-1, 3) + start)
            start += len(columns[0])
        self.count, self.triangles = start, np.vstack(triangles)
        self.used = np.unique(self.triangles)
        # Vertices moved by exactly the same data are one vertex, split at a seam.
        self.merged = np.unique(np.vstack(self.rows), axis=0, return_inverse=True)[1].reshape(-1)

    def influences(self):
        """The largest number of sets of four."""
        return max(sum(name.startswith("JOINTS") for name in primitive["attributes"])
                   for primitive in self.file.json["meshes"][0]["primitives"])

    def key_times(self, count):
        """Times of the channel with the most keys: the first, the last, and some between."""
        inputs = {sampler["input"] for sampler in self.file.json["animations"][0]["samplers"]}
        keys = max((self.file.array(number)[:, 0] for number in inputs), key=len)
        return keys[np.unique(np.linspace(0, len(keys) - 1, count).round().astype(int))]

    def play(self, times):
        return np.array([np.vstack(list(gltf_oracle.pose(self.file, gltf_oracle.moved_by(self.file, 0, t)).values()))
                         for t in times])

    def normals(self, places):
        """Normals of the merged vertices, and a mask of those that mean nothing."""
        a, b, c = (places[self.triangles[:, k]] for k in range(3))
        areas = np.cross(b - a, c - a)
        total, plain = np.zeros((self.merged.max() + 1, 3)), np.zeros(self.merged.max() + 1)
        for k in range(3):
            np.add.at(total, self.merged[self.triangles[:, k]], areas)
            np.add.at(plain, self.merged[self.triangles[:, k]], np.linalg.norm(areas, axis=1))
        lengths = np.linalg.norm(total, axis=1)
        return total / np.maximum(lengths, 1e-30)[:, None], lengths <= FOLDED * plain


def degrees_between(a, b):
    """Exact for small angles too, where an arc cosine is not."""
    return np.degrees(2 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)))


def compare(tally, group, baked, got, expected, size, used):
    """got: [times][vertices][3] of the vertices in used."""
    if got.shape != (len(expected), len(used), 3):
        tally.add(f"{group}: positions", np.inf, POSITIONS, f"{got.shape[1]} vertices, not {len(used)}")
        return
    whole = expected.copy()  # vertices without faces do not affect normals
    whole[:, used] = got
    for number, (now, then) in enumerate(zip(whole, expected)):
        distances = np.linalg.norm(now - then, axis=1) / size
        worst = int(np.argmax(distances))
        tally.add(f"{group}: positions", distances[worst], POSITIONS,
                  f"time {number}: vertex {worst} is {distances[worst]:.1e} of the size off")
        (a, folded), (b, folded_then) = baked.normals(now), baked.normals(then)
        angles = np.where(folded | folded_then, 0, degrees_between(a, b))
        for _ in range(int(np.sum(folded | folded_then))):
            tally.aside(f"{group}: normals")
        worst = int(np.argmax(angles))
        tally.add(f"{group}: normals", angles[worst], DEGREES, f"time {number}: {angles[worst]:.2f} degrees off")


def apart(source, shown):
    """The largest distance between the vertices of a rig and of a file over all times. The file splits vertices at
    seams and may reorder them, so each vertex is matched with the one that stays nearest over all times."""
    ways = [places.transpose(1, 0, 2).reshape(places.shape[1], -1) for places in (source, shown)]
    found = [cKDTree(ways[k]).query(ways[1 - k])[1] for k in (0, 1)]
    return max(np.linalg.norm(source[:, found[0]] - shown, axis=2).max(),
               np.linalg.norm(shown[:, found[1]] - source, axis=2).max())


def frames_at(path, times):
    """The frames of a point cache at these times after its first."""
    cache = read_pc2(path)
    numbers = np.asarray(times) / cache.step
    assert np.abs(numbers - numbers.round()).max() < 1e-2, f"{path} has no frames at {times}"
    return cache.frames[numbers.round().astype(int)].astype(float)


# ---- cases ----

def bake(programs, name, rig, *motion):
    """Bakes NAME.glb with four influences, and NAME.pc2 from the evaluation. Returns the report on the file."""
    words = ["bake", rig, *motion, "-o"]
    print(f"---- {name}\n{programs.exemplar(*words, f'{name}.glb', '--influences', '4').strip()}", flush=True)
    programs.exemplar(*words, f"{name}.pc2", "--quiet")
    return json.loads(programs.exemplar(*words, f"{name}.glb", "--influences", "4", "--json", "--quiet"))


def play_own(programs, name, times):
    """Makes a rig from the baked file, and bakes that rig with the file's own motion."""
    programs.exemplar("init", f"{name}.glb", "-o", f"{name}_again", "--force")
    programs.exemplar("build", f"{name}_again/{name}.json", "-o", f"{name}_again.glb")
    programs.exemplar("bake", f"{name}_again.glb", "--motion", f"{name}.glb", "-o", f"{name}_again.pc2")
    return frames_at(programs.work / f"{name}_again.pc2", times)


def check(tally, programs, name, report, loss_most):
    """report: from baking; loss_most: the allowed error of the file, as a part of the size."""
    (errors, warnings), messages = programs.validate(f"{name}.glb")
    tally.add(f"{name}: the validator", errors + warnings, 0, f"{errors} errors, {warnings} warnings:\n{messages}")
    baked = Baked(programs.work / f"{name}.glb")
    tally.add(f"{name}: sets of influences", abs(baked.influences() - 1), 0, f"{baked.influences()} sets of four")
    times = baked.key_times(TIMES)
    expected = baked.play(times)
    size = np.ptp(expected[0], axis=0).max()
    tally.add(f"{name}: it moves", 0.05, float(np.ptp(expected, axis=0).max() / size), "hardly anything moves")

    everything = np.arange(baked.count)
    shown = {"three.js": programs.play_three(f"{name}.glb", times),
             "Blender": programs.play_blender(f"{name}.glb", times)}
    compare(tally, f"{name}: three.js", baked, shown["three.js"].places, expected, size, everything)
    compare(tally, f"{name}: Blender", baked, shown["Blender"].places, expected, size, baked.used)
    far = apart(play_own(programs, name, times), expected)
    tally.add(f"{name}: Exemplar on the baked file", far / size, OWN, f"a vertex is {far / size:.1e} of the size off")
    far = apart(frames_at(programs.work / f"{name}.pc2", times), expected)
    tally.add(f"{name}: the file against the rig", far / size, loss_most,
              f"a vertex is {far / size:.1e} of the size off")
    said = report["error"]["largest"]
    tally.add(f"{name}: no farther than baking says", (far - said) / size, OWN,
              f"{far:.3e} m off, and it said {said:.3e}")
    print(f"the file against the rig at {len(times)} times: up to {far:.2e} m, {far / size:.1e} of the size")
    return times, size, shown


def write_motion(path, **columns):
    """Two seconds of functions of time."""
    times = [frame / 24 for frame in range(49)]
    rows = [",".join(["time", *columns])]
    rows += [",".join(repr(float(value)) for value in [t, *(column(t) for column in columns.values())]) for t in times]
    path.write_text("\n".join(rows) + "\n")


def raise_arm(t):
    return -50 + 50 * t


def bend_arm(t):
    return 65 + 60 * np.sin(4 * t)


def arm_cases(tally, programs):
    """The sample that moves joints and blends forms, with weights below 0 and at most two influences. Then with dual
    quaternions, which a file can only approximate, by targets made for the motion."""
    programs.exemplar("demo", "arm", "-o", "arm", "--force", "--quiet")
    write_motion(programs.work / "arm.csv", shoulder=raise_arm, elbow=bend_arm, wrist=lambda t: 40 * np.sin(5 * t),
                 gender=lambda t: t / 2)
    project = json.loads((programs.work / "arm/arm.json").read_text())
    project["skinning"] = "dual_quaternion"
    (programs.work / "arm/dual.json").write_text(json.dumps(project))
    programs.exemplar("build", "arm/dual.json")
    for name, limit in (("arm", OWN), ("dual", 2 * NEAR)):
        report = bake(programs, f"{name}_baked", f"arm/{name}.glb", "--motion", "arm.csv")
        check(tally, programs, f"{name}_baked", report, limit)


def offset_cases(tally, programs):
    """Gaussian correctives: the samples, one over numbers, one over an arm's direction. Then arms as correctives
    applied after skinning, which a file can only approximate."""
    for name in ("elbow", "shoulder"):
        programs.exemplar("demo", name, "-o", name, "--force", "--quiet")
    write_motion(programs.work / "elbow.csv", elbow=bend_arm, load=lambda t: t / 2)
    swings = {"x": lambda t: -0.2 * t, "y": lambda t: 0.4 - 0.8 * t, "z": lambda t: 0.5 * np.sin(3 * t),
              "w": lambda t: 1}
    write_motion(programs.work / "shoulder.csv", **{f"shoulder.{c}": part for c, part in swings.items()})
    write_motion(programs.work / "after.csv", shoulder=raise_arm, elbow=bend_arm)
    project = json.loads((programs.work / "arm/arm.json").read_text())
    axes = {axis["name"]: axis for axis in project["layers"][0]["space"]}
    project["layers"] = [
        {"name": axis, "space": [axes[axis]], "shape": "offsets", "frame": "skinned", "weigh": {"kind": "gaussian"},
         "protect": axis == "elbow",
         "examples": [{"name": name, "mesh": f"{name}_female.obj", "at": {axis: value}} for name, value in examples]}
        for axis, examples in (("shoulder", [("up", 60), ("down", -60)]), ("elbow", [("bent", 110)]))]
    (programs.work / "arm/after.json").write_text(json.dumps(project))
    programs.exemplar("build", "arm/after.json")
    for name, folder, limit in (("elbow", "elbow", OWN), ("shoulder", "shoulder", OWN), ("after", "arm", 2 * NEAR)):
        report = bake(programs, f"{name}_baked", f"{folder}/{name}.glb", "--motion", f"{name}.csv")
        check(tally, programs, f"{name}_baked", report, limit)


def body_case(tally, programs, data):
    """A walking body with correctives at elbows and shoulders."""
    import psd_body
    psd_body.convert(psd_body.makehuman.Source(data / "makehuman"), programs.work / "body")
    programs.exemplar("build", "body/body.json")
    motion = ["--motion", data / psd_body.MOTION, "--map", "body/map.json", "--fps", "30"]
    report = bake(programs, "body_baked", "body/body.glb", *motion)
    check(tally, programs, "body_baked", report, 0.05)


# ---- characters ----

CHARACTERS = {"RobotExpressive": ["Dance", "Walking", "Wave"], "CesiumMan": [1]}


def keep_one_clip(path, clip, out):
    """Writes a copy of a .glb with one of its animations, by name or by number from 1: Blender plays the first one.
    Returns its first and last time."""
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    tree = json.loads(data[20:20 + size])
    names = [animation.get("name") for animation in tree["animations"]]
    tree["animations"] = [tree["animations"][clip - 1 if isinstance(clip, int) else names.index(clip)]]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size:]
    out.write_bytes(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest)
    keys = [tree["accessors"][sampler["input"]] for sampler in tree["animations"][0]["samplers"]]
    return min(key["min"][0] for key in keys), max(key["max"][0] for key in keys)


def pairs(a, b, size):
    """The vertex of b that stays with each vertex of a, and looks like it."""
    def way(shown):
        places = shown.places.transpose(1, 0, 2).reshape(len(shown.material), -1) / size
        return np.column_stack([places, shown.texcoords, shown.material, shown.normals])
    return cKDTree(way(b)).query(way(a))[1]


def compare_original(tally, group, baked, original, size, shading):
    """Every visible vertex of either has a counterpart in the other, at all times."""
    baked, original = baked.seen(), original.seen()
    far, apart_on_image, other_material, angle = 0.0, 0.0, 0, 0.0
    for a, b in ((baked, original), (original, baked)):
        there = pairs(a, b, size)
        far = max(far, np.linalg.norm(a.places - b.places[:, there], axis=2).max() / size)
        apart_on_image = max(apart_on_image, np.abs(a.texcoords - b.texcoords[there]).max())
        names = [[material["name"] for material in shown.materials] for shown in (a, b)]
        other_material += sum(names[0][i] != names[1][k] for i, k in zip(a.material, b.material[there]))
        angle = max(angle, degrees_between(a.normals, b.normals[there]).max())
    print(f"{group}: {len(baked.material)} vertices, {len(original.material)} in the original; farthest {far:.1e} of "
          f"the size, texture coordinates {apart_on_image:.1e}, normals {angle:.3f} degrees")
    tally.add(f"{group}: from the original", far, ORIGINAL, f"a vertex is {far:.1e} of the size off")
    tally.add(f"{group}: texture coordinates", apart_on_image, COORDINATES, f"{apart_on_image:.1e} off")
    tally.add(f"{group}: faces' materials", other_material, 0, f"{other_material} vertices have another")
    tally.add(f"{group}: shading normals", angle, shading, f"{angle:.2f} degrees off")
    numbers = ("colour", "roughness", "metalness", "sides")
    made, given = ({material["name"]: material for material in shown.materials} for shown in (baked, original))
    tally.add(f"{group}: materials", 0 if made.keys() == given.keys() else 1, 0, f"{list(made)}, not {list(given)}")
    for name in made.keys() & given.keys():
        off = max(np.abs(np.subtract(made[name][key], given[name][key])).max() for key in numbers)
        tally.add(f"{group}: their settings", off, COLOURS, f"{made[name]}, not {given[name]}")
        tally.add(f"{group}: pictures", 0 if made[name]["picture"] == given[name]["picture"] else 1, 0,
                  f"{made[name]['picture']}, not {given[name]['picture']}")


def character_cases(tally, programs, data):
    for name, clips in CHARACTERS.items():
        source = data / "gltf" / f"{name}.glb"
        programs.exemplar("init", source, "-o", name, "--force")
        programs.exemplar("build", f"{name}/{name}.json")
        for clip in clips:
            case = f"{name}_{clip}"
            report = bake(programs, case, f"{name}/{name}.glb", "--clip", clip)
            first, _ = keep_one_clip(source, clip, programs.work / f"{case}_original.glb")
            times, size, shown = check(tally, programs, case, report, OWN)
            play = {"three.js": programs.play_three, "Blender": programs.play_blender}
            for program, baked in shown.items():
                # The baked animation begins at 0.
                original = play[program](f"{case}_original.glb", times + first)
                compare_original(tally, f"{case}: {program}", baked, original, size, SHADING[program])


def main():
    if len(sys.argv) < 5:
        sys.exit(f"usage: {sys.argv[0]} TOOL NPM WORK DATA [PART…]")
    programs, data = Programs(*sys.argv[1:4]), skips.data_folder(sys.argv[4])
    parts = sys.argv[5:] or ["arm", "offsets", "body", "characters"]
    tally = Tally()
    if "arm" in parts:
        arm_cases(tally, programs)
    if "offsets" in parts:
        offset_cases(tally, programs)
    if "body" in parts and skips.has_data(data, "makehuman", "mocap"):
        body_case(tally, programs, data)
    if "characters" in parts and skips.has_data(data, "gltf/RobotExpressive.glb", "gltf/CesiumMan.glb"):
        character_cases(tally, programs, data)
    print("\n" + ", ".join(f"{name} {version}" for name, version in programs.versions.items()))
    tally.report()
    skips.finish(tally.failed)


if __name__ == "__main__":
    main()
