"""Lack of memory: commands run with an allocation that fails (fail_malloc.c). Each either does what it does with enough
memory, to the byte, or fails with one sentence about memory; files are complete or untouched.

Called as memory.py TOOL REPOSITORY LIBRARY. As a test it fails a few allocations of each command. For all of them:

    python3 -B tests/cli/memory.py TOOL REPOSITORY LIBRARY --every 1 [--only WORDS] [--trace] [--slow]

--every N fails every N-th allocation, --only takes the commands with these WORDS, --trace says where in the code the
allocation was (build with -g), and --slow adds commands that take seconds. With --every 7 it runs for minutes."""
import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import harness
from scenes import Scene

QUICK = 4  # allocations to fail per command and mode in the test
SECONDS = 60  # until a run counts as hanging


# ---- inputs ----

def tube(rings, sides, radius, bend):
    """The vertices of a tube along x that bends."""
    points = []
    for r in range(rings):
        s = r / (rings - 1)
        x, y = (s, 0) if bend == 0 else (math.sin(bend * s) / bend, (1 - math.cos(bend * s)) / bend)
        for k in range(sides):
            a = 2 * math.pi * k / sides
            up = radius * math.cos(a)
            points.append([x - up * math.sin(bend * s), y + up * math.cos(bend * s), radius * math.sin(a)])
    return points


def tube_text(rings, sides, points):
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in points]
    for r in range(rings - 1):
        if r in (0, rings // 2):
            lines.append("g low" if r == 0 else "g high")
        lines += ["f " + " ".join(str(v + 1) for v in (r * sides + k, r * sides + (k + 1) % sides,
                                                       (r + 1) * sides + (k + 1) % sides, (r + 1) * sides + k))
                  for k in range(sides)]
    return "\n".join(lines) + "\n"


def pc2(frames):
    flat = [number for frame in frames for point in frame for number in point]
    return (struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), 0, 0.04, len(frames)) +
            struct.pack(f"<{len(flat)}f", *flat))


BVH = ("HIERARCHY\nROOT hips\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
       "JOINT arm_L\n{\nOFFSET 0.2 0.5 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0.2 0 0\n}\n}\n}\n"
       "MOTION\nFrames: 2\nFrame Time: 0.04\n0 0 0 0 0 0 10 20 30\n0 0 0 0 0 0 30 0 60\n")


class Inputs:
    """Folders with the files that commands work on; each is made once, when a command first needs it."""

    def __init__(self, tool, root):
        self.tool, self.root, self.made = tool, root, {}

    def folder(self, name):
        if name not in self.made:
            path = self.root / name
            path.mkdir()
            self.path = path
            getattr(self, "make_" + name)(path)
            self.made[name] = path
        return self.made[name]

    def run(self, *words):
        subprocess.run([self.tool, *words, "-q"], cwd=self.path, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)

    def make_nothing(self, path):
        pass

    def make_band(self, path):
        harness.write_project(path)
        self.run("build", "band.json")
        (path / "poses.csv").write_text("time,bend,girth\n0,0,0\n0.5,45,1\n1,90,0.25\n")
        (path / "walk.bvh").write_text(BVH)
        (path / "skin.png").write_bytes(harness.png(4, 3))
        (path / "sculpt.obj").write_text(harness.obj_text(harness.bent(0.5, 0.2)))
        (path / "unit.obj").write_text(harness.obj_text(harness.bent(0.7, 0.3)))
        self.run("pose", "band.glb", "bend=20", "-o", "posed.ply")
        self.run("pose", "band.glb", "bend=20", "-o", "posed.glb")
        self.run("bake", "band.glb", "--motion", "poses.csv", "-o", "move.pc2")
        self.run("bake", "band.glb", "--motion", "poses.csv", "-o", "move.mdd")
        self.run("bake", "band.glb", "--motion", "poses.csv", "-o", "move.glb")

    def make_figure(self, path):
        """A tube with a skeleton, and a sculpt of it."""
        points = tube(9, 4, 0.1, 0)
        points = [[2 * x - 1, y, z] for x, y, z in points]
        joints = [("spine", None, 0), ("arm_L", 0, 0.4), ("arm_R", 0, -0.4)]
        (path / "body.obj").write_text(tube_text(9, 4, points))
        scene = Scene()
        weights = [([0, 1 if p[0] > 0 else 2, 0, 0], [1 - min(abs(p[0]), 1), min(abs(p[0]), 1), 0, 0]) for p in points]
        mesh = scene.mesh("body", points, influences=weights)
        for name, parent, x in joints:
            scene.node(shown=parent is None, name=name, translation=[x, 0, 0],
                       **({"children": [1, 2]} if parent is None else {}))
        skin = scene.skin([0, 1, 2], binds=False)
        binds = [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, 0, 0, 1] for _, _, x in joints]
        scene.json["skins"][skin]["inverseBindMatrices"] = scene.array(binds)
        scene.node(name="body", mesh=mesh, skin=skin)
        scene.write(path / "skeleton.gltf")
        (path / "body.json").write_text(json.dumps(
            {"exemplar": 1, "mesh": "body.obj", "skeleton": "skeleton.gltf", "layers": []}))
        self.run("build", "body.json")
        self.run("pose", "body.glb", "joint:arm_L=z40", "--no-normals", "-o", "bent.obj")
        form = harness.positions_of((path / "bent.obj").read_text())
        (path / "bent.obj").write_text(tube_text(9, 4, [[x, y + (0.05 if v == 30 else 0), z]
                                                        for v, (x, y, z) in enumerate(form)]))
        self.run("example", "add", "body.json", "--name", "bent_L", "--at", "joint:arm_L=z40", "bent.obj")
        self.run("build", "body.json")
        (path / "walk.bvh").write_text(BVH)
        (path / "map.json").write_text(json.dumps({"joints": {"spine": "hips", "arm_L": "arm_L"}}))

    def make_sleeve(self, path):
        """A tube, a sleeve around it, and a rig of two keys that makes the sleeve follow."""
        bends = (0.0, 0.4, 0.8, 1.2, 1.6)
        (path / "bar.obj").write_text(tube_text(6, 5, tube(6, 5, 0.1, 0)))
        (path / "sleeve.obj").write_text(tube_text(4, 6, tube(4, 6, 0.13, 0)))
        (path / "bar.pc2").write_bytes(pc2([tube(6, 5, 0.1, bend) for bend in bends]))
        (path / "sleeve.pc2").write_bytes(pc2([tube(4, 6, 0.13 + 0.01 * bend, bend) for bend in bends]))
        self.run("drive", "learn", "--driver", "bar.pc2", "--driver-mesh", "bar.obj", "--driven", "sleeve.pc2",
                 "--driven-mesh", "sleeve.obj", "--at", "1,2,3", "-o", "sleeve.glb")
        examples = []
        for i, bend in enumerate((0.0, 0.7, 1.4)):
            (path / f"bar_{i}.obj").write_text(tube_text(6, 5, tube(6, 5, 0.1, bend)))
            (path / f"sleeve_{i}.obj").write_text(tube_text(4, 6, tube(4, 6, 0.13, bend)))
            examples.append({"name": f"k{i}", "mesh": f"sleeve_{i}.obj", "at": {"body": f"bar_{i}.obj"}})
        (path / "p.json").write_text(json.dumps(
            {"exemplar": 1, "mesh": "sleeve.obj", "driver": {"mesh": "bar.obj", "frames": 2},
             "layers": [{"name": "driven", "space": [{"name": "body", "driver": True}], "weigh": {"kind": "convex"},
                         "examples": examples}]}))
        self.run("build", "p.json")

    def make_bumps(self, path):
        """A tube whose refined surface is displaced."""
        (path / "cage.obj").write_text(tube_text(4, 6, tube(4, 6, 0.3, 0)))
        count = 6 * 2 * (3 * 2 + 1)
        head = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\nproperty float displacement\nend_header\n"
        for name, step in (("none", 0), ("rough", 0.01)):
            (path / f"{name}.ply").write_bytes(head.encode() + struct.pack(f"<{count}f", *[step * (v % 3)
                                                                                           for v in range(count)]))
        (path / "p.json").write_text(json.dumps(
            {"exemplar": 1, "mesh": "cage.obj", "layers": [
                {"name": "skin", "space": [{"name": "t", "min": 0, "max": 1}], "weigh": {"kind": "nearest", "k": 2},
                 "shape": "displacement", "examples": [{"name": "none", "map": "none.ply", "at": {"t": 0}},
                                                       {"name": "rough", "map": "rough.ply", "at": {"t": 1}}]}],
             "subdivide": {"scheme": "catmull_clark", "levels": 1, "limit": "all"}}))
        self.run("build", "p.json")

    def make_bars(self, path):
        """Bent bars for warping, and a scene with morph targets for init."""
        for name, bend in (("a", 0.0), ("b", 2.0), ("c", -1.0)):
            (path / f"{name}.obj").write_text(tube_text(4, 4, tube(4, 4, 0.1, bend)))
        self.run("warp", "a.obj", "b.obj", "-o", "bar.glb")
        scene = Scene()
        mesh = scene.mesh("m", targets=[[[1, 0, 0]] * 3, [[0, 2, 0]] * 3], names=["wide", "a=b"], weights=[0, 0.5])
        scene.json["meshes"][mesh]["primitives"][0]["material"] = 0
        scene.json["materials"] = [{"name": "red", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]},
                                    "extras": {"kept": 1}}]
        scene.node(mesh=mesh, name="shown", scale=[2, 2, 2])
        scene.write(path / "it.gltf")

    def make_bird(self, path):
        """Motion capture of markers on three joints."""
        joints = [("trunk", None, [0, 1, 0]), ("wing", "trunk", [0.2, 0.1, 0])]
        markers = [("A", "trunk", [0.1, 0, 0.1]), ("B", "trunk", [-0.1, 0, 0.1]), ("C", "trunk", [0, 0.2, -0.1]),
                   ("D", "wing", [0.1, 0.05, 0]), ("E", "wing", [0.25, 0, 0.05]), ("F", "wing", [0.1, -0.05, 0.1])]
        (path / "bird.json").write_text(json.dumps({"exemplar_skeleton": 1, "name": "bird", "joints": [
            {"name": n, "joint": "ball" if p else "base", "translation": t, **({"parent": p} if p else {})}
            for n, p, t in joints], "markers": [{"name": n, "joint": j, "at": at} for n, j, at in markers]}))
        lines = ["PathFileType\t4\t(X/Y/Z)", "DataRate\tNumFrames\tNumMarkers\tUnits", "50\t6\t6\tmm",
                 "Frame#\tTime\t" + "\t\t\t".join("abcdef"), ""]
        for f in range(6):
            cells = []
            for _, joint, (x, y, z) in markers:
                a = 0.3 * f if joint == "wing" else 0
                x, y = x * math.cos(a) - y * math.sin(a), x * math.sin(a) + y * math.cos(a)
                at = [x + 0.2, y + 1.1, z] if joint == "wing" else [x, y + 1, z]
                cells += [f"{1000 * number:.3f}" for number in at]
            lines.append("\t".join([str(f + 1), f"{f / 50}"] + cells))
        (path / "flap.trc").write_text("\n".join(lines) + "\n")

    def make_board(self, path):
        """A scan session of one painted board."""
        side, pitch = 21, 0.004
        spots = [(-0.02, -0.02, (30, 60, 170)), (0.02, -0.02, (30, 120, 60)), (0.02, 0.021, (30, 60, 170))]
        (path / "s" / "scans").mkdir(parents=True)
        head = ["ply", "format binary_little_endian 1.0", f"element vertex {side * side}", "property float x",
                "property float y", "property float z", "property uchar red", "property uchar green",
                "property uchar blue", f"element face {2 * (side - 1) ** 2}",
                "property list uchar int vertex_indices", "end_header", ""]
        body = b""
        for j in range(side):
            for i in range(side):
                x, y = pitch * (i - side // 2), pitch * (j - side // 2)
                colour = next((c for a, b, c in spots if math.hypot(x - a, y - b) < 0.009), (224, 172, 140))
                body += struct.pack("<3f3B", x, y, 0, *colour)
        for j in range(side - 1):
            for i in range(side - 1):
                v = j * side + i
                body += struct.pack("<B3iB3i", 3, v, v + 1, v + side + 1, 3, v, v + side + 1, v + side)
        (path / "s/scans/one.ply").write_bytes("\n".join(head).encode() + body)
        (path / "s/markers.csv").write_text("marker,joint,r,g,b\n" + "".join(f"m{i},base,30,60,170\n" for i in range(3)))
        (path / "s/skeleton.json").write_text(json.dumps({"exemplar_skeleton": 1, "name": "board", "joints": [
            {"name": "base", "joint": "base", "translation": [0, 0, 0]}], "markers": []}))
        (path / "s/scan.json").write_text(json.dumps({
            "exemplar_scan": 1, "skeleton": "skeleton.json", "markers": "markers.csv", "reference": "one",
            "parts": [{"name": "all", "joints": ["base"], "covers": ["base"]}],
            "scans": [{"name": "one", "part": "all", "files": ["scans/one.ply"]}]}))

    def make_arm(self, path):
        self.run("demo", "arm")
        (path / "poses.csv").write_text("name,part,elbow,gender\nstraight,arm,0,0\nbent,arm,90,0\n")

    def make_body(self, path):
        """The session of the demo, with all its steps done."""
        self.run("demo", "body", "--quick", "-o", "body")


# ---- the commands ----

# Folder of inputs, and words; at least one for each command and each way through its code.
COMMANDS = [
    ("band", "build band.json -o new.glb"),
    ("band", "check band.json"),
    ("band", "check band.json --json"),
    ("band", "info band.json"),
    ("band", "info band.glb --json"),
    ("band", "info posed.glb"),
    ("band", "info bent.obj --json"),
    ("band", "info posed.ply"),
    ("band", "info skin.png"),
    ("band", "info walk.bvh"),
    ("band", "info move.pc2"),
    ("band", "info move.mdd --json"),
    ("band", "diff bent.obj thick.obj"),
    ("band", "diff band.glb band.glb --json"),
    ("band", "weights band.glb bend=30"),
    ("band", "weights band.glb bend=30 --json"),
    ("band", "pose band.glb bend=30 -o new.obj"),
    ("band", "pose band.glb bend=30 -o new.ply"),
    ("band", "pose band.glb bend=30 -o new.glb"),
    ("band", "pose band.glb --poses poses.csv -o new"),
    ("band", "bake band.glb --motion poses.csv -o new.glb"),
    ("band", "bake band.glb --motion poses.csv --targets 1 --thin 1% -o new.glb"),
    ("band", "bake band.glb --motion poses.csv -o new.pc2"),
    ("band", "bake band.glb --motion poses.csv -o new.mdd"),
    ("band", "render band.glb bend=30 --size 24x20 -o new.png"),
    ("band", "render bent.obj --show difference --with thick.obj --size 24x20 -o new.png"),
    ("band", "render band.glb --sweep bend=0:30 --frames 4 --size 24x20 -o new.png"),
    ("band", "render band.glb --motion poses.csv --fps 5 --colours full --size 24x20 -o new.png"),
    ("band", "render bent.obj --texture skin.png --size 24x20 -o new.png"),
    ("band", "sheet band.glb --axes bend,girth --grid 2x2 --cell 48 -o new.png"),
    ("band", "plot band.glb -o new.svg"),
    ("band", "plot band.glb --axes bend -o new.svg"),
    ("band", "plot band.glb --axes bend -o new.png"),
    ("band", "unpack band.glb -o new"),
    ("band", "edit --export new.html band.glb"),
    ("band", "example list band.json"),
    ("band", "example list band.json --moved --json"),
    ("band", "example add band.json --name new --at bend=40 girth=0.4 -- sculpt.obj"),
    ("band", "example add band.json --pseudo --layer body --at bend=10 girth=0 --from bend=20 girth=0"),
    ("band", "example move band.json --name bent --at bend=80"),
    ("band", "example mute band.json --name bent"),
    ("band", "example remove band.json --name both"),
    ("band", "init straight.obj bent.obj thick.obj -o new"),
    ("band", "init straight.obj bent.obj thick.obj --space x,y --at bent:1,0 --at thick:0,1 -o new"),
    ("band", "completion bash"),
    ("band", "completion --words -- pose band.glb be"),
    ("band", "pose band.glb --help"),
    ("figure", "build body.json -o new.glb"),
    ("figure", "check body.json"),
    ("figure", "info body.glb"),
    ("figure", "example add body.json --name bent_R --at joint:arm_R=z40 --force -- bent.obj"),
    ("figure", "example mirror body.json --name bent_L"),
    ("figure", "pose body.glb joint:arm_L=z20 -o new.obj"),
    ("figure", "bake body.glb --motion walk.bvh --map map.json -o new.glb"),
    ("figure", "unpack body.glb -o new"),
    ("sleeve", "drive learn --driver bar.pc2 --driver-mesh bar.obj --driven sleeve.pc2 --driven-mesh sleeve.obj "
               "--keys 2 -o new.glb"),
    ("sleeve", "drive apply sleeve.glb --driver bar.pc2 -o new.pc2"),
    ("sleeve", "drive apply sleeve.glb --driver bar.pc2 -o new.obj --group low"),
    ("sleeve", "drive report sleeve.glb --driver bar.pc2 --truth sleeve.pc2"),
    ("sleeve", "drive keys sleeve.glb"),
    ("sleeve", "drive keys sleeve.glb --json"),
    ("sleeve", "drive add sleeve.glb --driver bar.pc2 --driven sleeve.pc2 --at 4 --name new"),
    ("sleeve", "drive remove sleeve.glb frame_001"),
    ("sleeve", "build p.json -o new.glb"),
    ("sleeve", "pose p.glb body=bar_1.obj -o new.obj"),
    ("sleeve", "unpack p.glb -o new"),
    ("bumps", "build p.json -o new.glb"),
    ("bumps", "pose p.glb t=0.5 -o new.obj"),
    ("bumps", "unpack p.glb -o new"),
    ("bars", "warp a.obj b.obj c.obj -o new.glb"),
    ("bars", "warp a.obj b.obj --report --picture new.png"),
    ("bars", "warp a.obj b.obj c.obj --report --mixtures 1 --rigid new.obj"),
    ("bars", "unpack bar.glb -o new"),
    ("bars", "init it.gltf -o new"),
    ("bars", "info it.gltf"),
    ("bird", "scan fit flap.trc --skeleton bird.json --up +Y --bvh new.bvh -o new.json"),
    ("bird", "info flap.trc"),
    ("board", "scan markers s"),
]
SLOW = [
    ("nothing", "demo blob"),
    ("nothing", "demo arm"),
    ("nothing", "demo bar"),
    ("nothing", "figures --only blob --cell 24 -o new"),
    ("body", "scan label body --force"),
    ("body", "scan fit body"),
    ("body", "scan template body"),
    ("body", "scan build body --force"),
    ("body", "scan report body"),
    ("arm", "scan simulate arm/arm.glb --poses poses.csv --pitch 20mm,16mm --marker-size 40mm -o new "
            "--part arm=forearm,hand:shoulder,forearm,hand"),
]


# ---- one run ----

def listing(folder):
    """The files' bytes; without the times of saved versions."""
    files = {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
             for path in folder.rglob("*")}
    return {name: re.sub(rb'"time": ?"[^"]*"', b'"time": T', data, count=1)
            if data and name.endswith((".undo", ".redo")) else data for name, data in files.items()}


def plain(text):
    """Without times, which differ from run to run, and without lines of progress."""
    text = re.sub(rb"^exemplar: (.*, \d+% done(, \d+ (s|min|h) left)?|learning will take .*)\n", b"", text, flags=re.M)
    text = re.sub(rb'"seconds": ?[\d.e+-]+', b'"seconds": T', text)
    return re.sub(rb"[\d.]+ m?s\b", b"T", text)


class Place:
    """A folder in which one command runs again and again, restored after each run."""

    def __init__(self, options, source, words, root):
        self.options, self.words = options, words.split() + ["--threads", "1"]
        if "--" in self.words:
            at = self.words.index("--")
            self.words = self.words[:at] + ["--threads", "1"] + self.words[at:-2]
        self.source, self.before = source, listing(source)
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=root))
        self.restore()

    def restore(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.source, self.folder)

    def run(self, at=0, onwards=False):
        """Outcome as exit code, stdout, stderr, files, number of allocations, and callers of the failing one."""
        counted, count_end = os.pipe()
        environment = dict(os.environ, LD_PRELOAD=self.options.library, FAIL_COUNT=str(count_end), MALLOC_PERTURB_="165")
        traced, trace_end = os.pipe()
        if self.options.trace:
            environment["FAIL_TRACE"] = str(trace_end)
        if at:
            environment["FAIL_AT"] = str(at)
        if onwards:
            environment["FAIL_ALL"] = "1"
        try:
            process = subprocess.run([self.options.tool, *self.words], cwd=self.folder, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, timeout=SECONDS,
                                     pass_fds=(count_end, trace_end))
            code, out, err = process.returncode, process.stdout, process.stderr
        except subprocess.TimeoutExpired:
            code, out, err = "hangs", b"", b""
        os.close(count_end)
        os.close(trace_end)
        with os.fdopen(counted, "rb") as pipe:
            text = pipe.read()
            count = int(text) if text.strip() else 0
        with os.fdopen(traced, "rb") as pipe:
            trace = pipe.read().decode()
        files = listing(self.folder)
        if files != self.before:
            self.restore()
        return code, plain(out), plain(err), files, count, trace

    def judge(self, good, got):
        """Says what is wrong with a run that had a failed allocation; None if nothing is."""
        code, out, err, files = got[:4]
        if code == 0:
            if out != good[1] or sorted(err.splitlines()) != sorted(good[2].splitlines()):
                return "exit 0 with another output: " + repr((out + err)[:200])
            if files != good[3]:
                return "exit 0 with other files: " + " ".join(sorted(n for n in files.keys() | good[3].keys()
                                                                     if files.get(n) != good[3].get(n)))
            return None
        if code != 1:
            return f"exit code {code}: {err[-200:].decode(errors='replace')}"
        rest = err[len(good[2]):] if good[2] and err.startswith(good[2]) else err
        lines = rest.decode(errors="replace").splitlines()
        if not lines or "not enough memory" not in lines[-1]:
            return f"told as: {rest.decode(errors='replace')!r}"
        if len(lines) > 1 and not any(line.encode() in good[2] for line in lines[:-1]):
            return f"more than a sentence: {rest.decode(errors='replace')!r}"
        for name in files.keys() | self.before.keys():
            now = files.get(name, 0)
            if now != self.before.get(name, 0) and now != good[3].get(name, 0):
                return f"fails and leaves '{name}' neither old nor new"
        return None


def explain(options, trace):
    """The callers as function:line, from the innermost."""
    places = re.findall(re.escape(os.path.basename(options.tool)) + r"\(\+(0x[0-9a-f]+)\)", trace)
    if not places:
        return trace
    lines = subprocess.run(["addr2line", "-fse", options.tool, *places], capture_output=True, text=True).stdout.split("\n")
    return " < ".join(f"{a}:{b.split(':')[-1]}" for a, b in zip(lines[::2], lines[1::2]))


def sweep(options, folder, words, root, inputs):
    """Faults of one command as (mode, number, fault, callers), and the number of runs."""
    place = Place(options, inputs.folder(folder), words, root)
    good = place.run()
    if good[0] != 0:
        return [("plainly", 0, f"exit code {good[0]}: {good[2].decode(errors='replace')}", "")], 1, 0
    count, faults, runs = good[4], [], 1
    if count == 0:
        return [("none", 0, "no allocation was counted: the library was not loaded", "")], 1, 0
    every = options.every or max(1, count // QUICK)
    for onwards in (False, True):
        first = 1 if options.every else 1 + (every // 2 if onwards else 0)
        for at in range(first, count + 1, every):
            got = place.run(at, onwards)
            runs += 1
            fault = place.judge(good, got)
            if fault:
                faults.append(("all from" if onwards else "only", at, fault, got[5]))
    return faults, runs, count


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tool")
    parser.add_argument("repository")
    parser.add_argument("library")
    parser.add_argument("--every", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--slow", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    options.tool, options.library = os.path.abspath(options.tool), harness.preloadable(options.library)
    commands = [(f, w) for f, w in COMMANDS + (SLOW if options.slow else []) if options.only in w]
    runs = faulty = allocations = 0
    with tempfile.TemporaryDirectory(prefix="exemplar-memory-") as root:
        root = pathlib.Path(root)
        inputs = Inputs(options.tool, root)
        for folder, _ in commands:
            inputs.folder(folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            jobs = [pool.submit(sweep, options, folder, words, root, inputs) for folder, words in commands]
            for (folder, words), job in zip(commands, jobs):
                faults, some, count = job.result()
                runs, faulty, allocations = runs + some, faulty + len(faults), allocations + count
                if options.every:
                    print(f"{words}: {count} allocations, {some} runs, {len(faults)} faults", flush=True)
                seen = {}
                for mode, at, fault, trace in faults:
                    where = explain(options, trace) if trace else ""
                    seen.setdefault((fault, where), []).append(f"{mode} {at}")
                for (fault, where), numbers in seen.items():
                    print(f"exemplar {words}\n  allocation {', '.join(numbers[:3])}"
                          f"{f' and {len(numbers) - 3} others' if len(numbers) > 3 else ''}: {fault}\n  {where}", flush=True)
    print(f"{len(commands)} commands, {allocations} allocations, {runs} runs, {faulty} faults")
    sys.exit(1 if faulty else 0)


main()
