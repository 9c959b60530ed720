"""Runs the examples of 'exemplar COMMAND -h' verbatim, with files like those that they name.

    examples.py TOOL REPOSITORY [COMMAND…]     help pages of these commands, or all

Each help page has its own folder. FILES has the contents of it before the examples run. NOT_RUN names examples that are
not run, with reasons. For those, the command and its options must exist.
"""
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

import pages
import shell

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from scenes import Scene  # noqa: E402

LIMIT = 400  # seconds per page; shared machines are slow
NOT_RUN = {
    "exemplar bake arm/arm.glb --motion bend.csv --fps 600 -o bend.pc2 --gpu": "needs a GPU; cli.gpu runs such a one",
    "exemplar bench": "minutes of work; a case is run below",
    "exemplar bench --json > bench.json": "minutes of work; a case is run above",
    "exemplar bench --gpu crowd": "needs a GPU",
    "exemplar build blob/blob.json --watch": "runs until Ctrl-C; cli.watch tests it",
    "exemplar demo shirt": "a minute of simulation; demos.garment tests it",
    "exemplar demo body -o body": "minutes of work; with --quick it is made beforehand",
    "exemplar edit blob/blob.json": "opens a browser and runs until Ctrl-C; cli.edit tests it",
    "exemplar edit --new face.json": "opens a browser and runs until Ctrl-C; cli.edit_start tests it",
    "exemplar edit blob/blob.json --port 8080 --no-open": "runs until Ctrl-C; cli.edit tests it",
    "exemplar scan articulate kick/shell*.obj -o kick.glb": "needs meshes of a kick; cli.scan_articulate makes some",
    "exemplar scan articulate poses/*.obj --weights man.glb -o body.glb": "needs such meshes, as above",
    "exemplar pose body.glb joint:elbow.L=y-60 -o bent.obj": "poses the rig of the example above",
    "exemplar scan report anna --picture errors": "needs scans of a person; oracle.person_body makes some",
    "exemplar scan label anna --page landmarks.html": "needs scans of a person; cli.scan_label makes some",
    "exemplar scan label anna --csv ~/Downloads/landmarks.csv": "needs scans of a person; cli.scan_label makes some",
    "exemplar scan carry anna": "needs scans of a person; oracle.person makes some",
    "exemplar scan carry anna --scan reach --scan squat": "needs scans of a person; oracle.person_pieces makes some",
    "exemplar farm submit job --to slurm --partition cpu --time 1:00:00": "needs a cluster; the tests of the farm start one",
    "exemplar farm retry job --to slurm --memory 16G": "needs a cluster, as above",
    "parallel -j8 < commands.txt": "needs GNU parallel; the tests of the farm run it",
    "watch exemplar farm status job": "runs until Ctrl-C",
    "exemplar figures": "half a minute; cli.figures makes them smaller",
    "exemplar figures -o figures --cell 300 --force": "a minute; cli.figures makes them smaller",
}
# Smaller pictures, and medians of fewer samples: the same work in less time.
SMALLER = [(r"^(exemplar render (?!.*--size).*)$", r"\1 --size 250x250"), (r"--size 400x400", "--size 80x80"),
           (r"^(exemplar sheet (?!.*--cell ).*)$", r"\1 --cell 60"), (r"^(exemplar figures .*--only.*)$", r"\1 --cell 60"),
           (r"--repeat 100", "--repeat 5")]
NO_DATA = "no data beyond the repository (EX_DATA)"
ONE_CORE = "this machine has no core 1"


# ---- files ----

def rows_of(path, kind):
    return [line.split()[1:] for line in path.read_text().splitlines() if line.startswith(kind + " ")]


def write_obj(path, positions, faces, groups=()):
    """groups: (first face, name)."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in positions]
    for number, face in enumerate(faces):
        lines += [f"g {name}" for first, name in groups if first == number]
        lines.append("f " + " ".join(str(v + 1) for v in face))
    path.write_text("\n".join(lines) + "\n")


def write_glb(path, scene):
    """A Scene as a binary file."""
    scene.json["buffers"] = [{"byteLength": len(scene.bytes)}]
    text = json.dumps(scene.json).encode()
    text += b" " * (-len(text) % 4)
    body = scene.bytes + b"\0" * (-len(scene.bytes) % 4)
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(body)) + struct.pack("<I4s", len(text), b"JSON") +
                     text + struct.pack("<I4s", len(body), b"BIN\0") + body)


def write_pc2(path, frames):
    flat = [number for frame in frames for point in frame for number in point]
    path.write_bytes(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), 0.0, 0.04, len(frames)) +
                     struct.pack(f"<{len(flat)}f", *flat))


def lumpy(path, out):
    """A sculpt: the form with a bump on it."""
    lines, rows = [], rows_of(path, "v")
    middle = [float(x) for x in rows[len(rows) // 2][:3]]
    for line in path.read_text().splitlines():
        if line.startswith("v "):
            p = [float(x) for x in line.split()[1:4]]
            near = max(0.0, 1 - math.dist(p, middle) ** 2 / 0.01)
            line = f"v {p[0]:.9g} {p[1] + 0.02 * near:.9g} {p[2]:.9g}"
        lines.append(line)
    out.write_text("\n".join(lines) + "\n")


class Folder:
    """The folder of one page. Files that several pages need are made once, in `made`."""

    def __init__(self, path, made, environment):
        self.path, self.made, self.environment = path, made, environment

    def run(self, command, folder=None):
        done = subprocess.run(command, shell=True, cwd=folder or self.path, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.exit(f"FAILED: the files for an example: '{command}' ends with {done.returncode}\n{done.stdout}")

    def demo(self, name, *options):
        """A copy of a demo's folder, since examples change it."""
        if not (self.made / name).exists():
            self.run(f"exemplar demo {name} -q -o {name} {' '.join(options)}", self.made)
        return self.made / name

    def blob(self):
        shutil.copytree(self.demo("blob"), self.path / "blob")

    def changed_arm(self):
        """bent_arm, after more changes."""
        self.bent_arm()
        for _ in range(2):
            self.run("exemplar example mute arm/arm.json --name bent -q")
            self.run("exemplar example mute arm/arm.json --name bent --off -q")

    def undone_arm(self):
        """changed_arm, with some of the changes taken back."""
        self.changed_arm()
        self.run("exemplar undo arm/arm.json --steps 5 -q")

    def bent_arm(self):
        """The demos arm and blob; in the arm's project 'bent' is a sculpt in a layer forearm.x, with another one."""
        shutil.copytree(self.demo("arm"), self.path / "arm")
        shutil.copytree(self.demo("blob"), self.path / "blob", dirs_exist_ok=True)
        for name, angle in (("bent", 60), ("half", 30)):
            self.run(f"exemplar pose arm/arm.glb joint:forearm=x{angle} --level cage -q -o at.obj")
            lumpy(self.path / "at.obj", self.path / f"sculpt_{name}.obj")
            self.run(f"exemplar example add arm/arm.json --name {name} --at joint:forearm=x{angle} sculpt_{name}.obj -q")

    def bare_arm(self):
        """A project arm.json with a skeleton and no layer; better.obj is a sculpt at forearm x 90."""
        arm = self.demo("arm")
        shutil.copy(arm / "skeleton.glb", self.path)
        shutil.copy(arm / "straight_female.obj", self.path / "mesh.obj")
        (self.path / "arm.json").write_text('{"exemplar": 1, "mesh": "mesh.obj", "skeleton": "skeleton.glb", "layers": []}')
        self.run("exemplar build arm.json -q && exemplar pose arm.glb joint:forearm=x90 --level cage -q -o at.obj")
        lumpy(self.path / "at.obj", self.path / "better.obj")

    def arms(self):
        """A tube with a spine and two arms, arms.json: 'bent_L' is a sculpt at one of them, 'lean' at the spine."""
        rings, sides, scene = 17, 8, Scene()
        positions = [[-2 + 4 * r / (rings - 1), 0.2 * math.sin(math.tau * (k + 0.5) / sides),
                      0.2 * math.cos(math.tau * (k + 0.5) / sides)] for r in range(rings) for k in range(sides)]
        faces = [[r * sides + k, r * sides + (k + 1) % sides, (r + 1) * sides + (k + 1) % sides, (r + 1) * sides + k]
                 for r in range(rings - 1) for k in range(sides)]
        write_obj(self.path / "arms.obj", positions, faces)
        shares = [(min(1.0, max(0.0, abs(x) - 0.5)), x > 0) for x, _, _ in positions]
        mesh = scene.mesh("arms", positions, influences=[([0, 1 if left else 2, 0, 0], [1 - share, share, 0, 0])
                                                         for share, left in shares])
        scene.node(name="spine", children=[1, 2])
        for name, x in (("arm_L", 1), ("arm_R", -1)):
            scene.node(shown=False, name=name, translation=[x, 0, 0])
        skin = scene.skin([0, 1, 2], binds=False)
        scene.json["skins"][skin]["inverseBindMatrices"] = scene.array(
            [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, -x, 0, 0, 1] for x in (0, 1, -1)])
        scene.node(name="arms", mesh=mesh, skin=skin)
        write_glb(self.path / "skeleton.glb", scene)
        (self.path / "arms.json").write_text('{"exemplar": 1, "mesh": "arms.obj", "skeleton": "skeleton.glb", "layers": []}')
        for name, pose in (("bent_L", "joint:arm_L=z60"), ("lean", "joint:spine=x30")):
            self.run("exemplar build arms.json -q")
            self.run(f"exemplar pose arms.glb {pose} --no-normals -q -o at.obj")
            lumpy(self.path / "at.obj", self.path / f"{name}.obj")
            self.run(f"exemplar example add arms.json --name {name} --at {pose} {name}.obj -q")

    def robot(self):
        """A glTF file with a morph target 'smile'."""
        scene = Scene()
        scene.node(name="head", mesh=scene.mesh("head", targets=[[[0, 0.1, 0], [0, 0, 0], [0, 0, 0.2]]], names=["smile"]))
        scene.json["meshes"][0]["primitives"][0]["indices"] = scene.array([[0], [1], [2]], "H", 5123)
        write_glb(self.path / "robot.glb", scene)

    def shapes(self):
        """Forms of one mesh."""
        for name, source in (("stand", "thin"), ("kick", "left"), ("thin", "thin"), ("left", "left"), ("right", "right"),
                             ("thick", "thick")):
            shutil.copy(self.demo("blob") / f"{source}.obj", self.path / f"{name}.obj")

    def clothes(self):
        """An animation of a bending blob and of a larger one around it, as caches and as numbered files."""
        made = self.made / "clothes"
        if not made.exists():
            made.mkdir()
            blob = self.demo("blob")
            (made / "bend.csv").write_text("time,bend,thickness\n0,-1,0.2\n1,0.9,0.4\n1.6,0,0.8\n")
            self.run(f"exemplar bake {blob}/blob.glb --motion bend.csv --fps 25 --level cage -q -o body.obj", made)
            bodies, shirts = [], []
            for path in sorted(made.glob("body_*.obj")):
                positions = [[float(x) for x in row[:3]] for row in rows_of(path, "v")]
                faces = [[int(word.split("/")[0]) - 1 for word in row] for row in rows_of(path, "f")]
                bodies.append(positions)
                shirts.append([[1.1 * x for x in p] for p in positions])
                write_obj(path, positions, faces)
                write_obj(made / path.name.replace("body", "shirt"), shirts[-1], faces, [(0, "shirt"), (900, "hood")])
            for name, frames in (("body", bodies), ("shirt", shirts)):
                shutil.copy(made / f"{name}_0001.obj", made / f"{name}.obj")
                write_pc2(made / f"{name}.pc2", frames)
            self.run("exemplar drive learn --driver body.pc2 --driver-mesh body.obj --driven shirt.pc2 "
                     "--driven-mesh shirt.obj --keys 5 --at 1,37 --frames 1 -q -o learned.glb", made)
            self.run(f"exemplar bake {blob}/blob.glb --motion bend.csv --fps 10 --level cage -q -o walk.pc2 &&"
                     f"exemplar bake {blob}/blob.glb --motion bend.csv --fps 10 --level cage -q -o walk.mdd", made)
        return made

    def body_and_shirt(self):
        for path in self.clothes().glob("body*"):
            shutil.copy(path, self.path)
        for path in self.clothes().glob("shirt*"):
            shutil.copy(path, self.path)
        for take in ("walk", "run"):
            shutil.copy(self.clothes() / "body.pc2", self.path / f"{take}.pc2")
            shutil.copy(self.clothes() / "shirt.pc2", self.path / f"{take}_s.pc2")

    def shirt(self):
        """A driven rig shirt.glb, animations to follow, and forms to add."""
        made = self.clothes()
        for name, source in (("shirt.glb", "learned.glb"), ("walk.pc2", "walk.pc2"), ("walk.mdd", "walk.mdd"),
                             ("b.pc2", "body.pc2"), ("s.pc2", "shirt.pc2"), ("arms_up.obj", "body_0021.obj"),
                             ("shirt_up.obj", "shirt_0021.obj"), ("coat.glb", "learned.glb"), ("w.pc2", "body.pc2"),
                             ("w_shirt.pc2", "shirt.pc2"), ("shirt.obj", "shirt.obj")):
            shutil.copy(made / source, self.path / name)
        self.run("exemplar drive apply shirt.glb --driver walk.pc2 -q -o walk_sim.pc2")

    def no_37(self):
        self.run("exemplar drive remove shirt.glb frame_037 -q")

    def body(self):
        """The quick demo's session, with scans called arm_03 and arm_07, names for one of them, and a cage."""
        made = self.made / "session"
        if not made.exists():
            shutil.copytree(self.demo("body", "--quick"), made)
            for old, new in (("arm_02", "arm_03"), ("arm_13", "arm_07")):
                for path in sorted(made.rglob(f"*{old}*")):
                    path.rename(path.parent / path.name.replace(old, new))
                for path in [*made.rglob("*.json"), *made.rglob("*.csv")]:
                    text = path.read_text()
                    if old in text:
                        stamp = path.stat()
                        path.write_text(text.replace(old, new))
                        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            self.run("exemplar build body.json -q", made)
        # Files are replaced, never changed, so links will do.
        shutil.copytree(made, self.path / "body", copy_function=os.link)
        (self.path / "home/Downloads").mkdir(parents=True)
        rows = (made / "labels/arm_07.csv").read_text().splitlines()
        (self.path / "home/Downloads/names.csv").write_text(
            "\n".join([f"scan,{rows[0]}"] + [f"arm_07,{row}" for row in rows[1:]]) + "\n")
        shutil.copy(made / "template/cage.obj", self.path / "mine.obj")

    def walk(self):
        """Motion capture from elsewhere; without it, that example is not run."""
        data = pathlib.Path(os.environ.get("EX_DATA") or pathlib.Path(sys.argv[2]).resolve().parent / "shared/data")
        if (data / "mocap/c3d/02_01.c3d").exists():
            for name in ("walk.c3d", "static.c3d"):
                shutil.copy(data / "mocap/c3d/02_01.c3d", self.path / name)

    def people(self):
        """A template, a scan of it turned and thicker, two halves of that, landmarks, and frames of a sequence."""
        def form(name, thicker=1.0, turn=0.0, part=(0, 1), along=14, around=16):
            places, faces = [], []
            for i in range(along + 1):
                u = part[0] + (part[1] - part[0]) * i / along
                for k in range(around):
                    t = 2 * math.pi * k / around
                    wide = thicker * (0.02 + 0.3 * math.sin(math.pi * u)) * (1 + 0.2 * math.cos(t) + 0.1 * math.sin(6 * u))
                    x, z = wide * math.cos(t + turn), wide * math.sin(t + turn)
                    places.append((x, 1.6 * u, z))
                    if i < along:
                        faces.append((i * around + k, (i + 1) * around + k, (i + 1) * around + (k + 1) % around,
                                      i * around + (k + 1) % around))
            if name.endswith(".ply"):
                head = ["ply", "format ascii 1.0", f"element vertex {len(places)}", "property float x",
                        "property float y", "property float z", f"element face {len(faces)}",
                        "property list uchar int vertex_indices", "end_header"]
                lines = head + ["%f %f %f" % p for p in places] + ["4 %d %d %d %d" % f for f in faces]
            else:
                lines = ["v %f %f %f" % p for p in places] + ["f " + " ".join(str(v + 1) for v in f) for f in faces]
            (self.path / name).write_text("\n".join(lines) + "\n")
            return places

        form("body.obj")
        form("posed.obj", turn=0.05)
        form("f1.obj", turn=0.05)
        form("scan.ply", 1.05, 0.1, along=60, around=60)
        form("f2.ply", 1.05, 0.1, along=60, around=60)
        form("front.ply", 1.05, 0.1, (0, 0.6), 60, 60)
        form("back.ply", 1.05, 0.1, (0.4, 1), 60, 60)
        true = form("true.obj", 1.05, 0.1)
        (self.path / "true.obj").unlink()
        rows = ["%d,%f,%f,%f" % (v, *true[v]) for v in range(3, len(true), 25)]
        (self.path / "clicked.csv").write_text("\n".join(["marker,x,y,z", *rows]) + "\n")

    def job(self):
        """A job for the farm: caches of a blob that bends."""
        self.blob()
        (self.path / "bend.csv").write_text("time,bend\n" + "".join(f"{i / 24},{i / 40}\n" for i in range(41)))
        (self.path / "job.json").write_text(json.dumps(
            {"work": "bake", "rigs": "blob/blob.glb", "motions": "bend.csv", "output": "made/{rig}.pc2"}))

    def planned(self):
        self.job()
        self.run("exemplar farm plan job.json -o job --pieces 20 --no-sample -q")

    def finished(self):
        self.planned()
        self.run("exemplar farm submit job -q")

    def shells(self):
        for name in (".zsh/completions", ".config/fish/completions"):
            (self.path / "home" / name).mkdir(parents=True)

    def sculpts(self):
        """Two forms, and two equal rigs."""
        self.blob()
        shutil.copytree(self.path / "blob", self.path / "old")
        shutil.copy(self.path / "blob/thin.obj", self.path / "sculpt-old.obj")
        lumpy(self.path / "blob/thin.obj", self.path / "sculpt.obj")


FILES = {
    "build": ["blob"], "check": ["blob"], "completion": ["shells"], "diff": ["sculpts"], "info": ["blob"],
    "init": ["robot", "shapes"], "plot": ["blob"], "pose": ["blob"], "render": ["blob"], "sheet": ["blob"],
    "unpack": ["blob"], "weights": ["blob"], "example": ["blob"], "example add": ["bare_arm"],
    "example list": ["blob"], "example mirror": ["arms"], "example move": ["bent_arm"], "example mute": ["bent_arm"],
    "example remove": ["bent_arm"], "example rename": ["bent_arm"],
    "undo": ["changed_arm"], "redo": ["undone_arm"], "drive": ["shirt"], "drive learn": ["body_and_shirt"], "drive gather": ["body_and_shirt"], "drive apply": ["shirt"],
    "drive report": ["shirt"], "drive keys": ["shirt"], "drive add": ["shirt", "no_37"], "drive remove": ["shirt"], "drive suggest": ["shirt"],
    "farm": ["job"], "farm plan": ["job"], "farm submit": ["planned"], "farm status": ["planned"], "farm retry": ["planned"],
    "farm merge": ["finished"], "farm do": ["planned"],
    "scan": ["body"], "scan run": ["body"], "scan markers": ["body"], "scan label": ["body"],
    "scan fit": ["body", "walk"], "scan template": ["body"], "scan build": ["body"], "scan report": ["body"],
    "scan register": ["people"],
}


def reason_for(command, folder):
    """The reason why an example is not run; None if it is run."""
    if command in NOT_RUN:
        return NOT_RUN[command]
    if "walk.c3d" in command and not (folder / "walk.c3d").exists():
        return NO_DATA
    if command.startswith("taskset -c 1 ") and 1 not in os.sched_getaffinity(0):
        return ONE_CORE
    return None


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, failed, ran, reasons, unused = os.path.abspath(sys.argv[1]), 0, 0, {}, set(NOT_RUN)
    asked = pages.Tool(tool)
    everything = [words for words in asked.everything() if not sys.argv[3:] or (words and words[0] in sys.argv[3:])]
    with tempfile.TemporaryDirectory(prefix="exemplar-examples-") as name:
        top = pathlib.Path(name)
        for part in ("bin", "made"):
            (top / part).mkdir()
        environment = shell.environment_for(tool, top / "bin")
        for words in everything:
            folder = top / ("-".join(words) or "overview")
            folder.mkdir()
            title = " ".join(words)
            for method in FILES.get(title, []):
                getattr(Folder(folder, top / "made", environment), method)()
            steps = []
            for line, command in pages.commands_of(asked.examples(*words), 1):
                one = re.sub(r"\s*\\\n\s*", " ", command)
                reason = reason_for(one, folder)
                unused.discard(one)
                if reason:
                    reasons.setdefault(reason, []).append(one)
                    for _, mention in pages.mentions_in_shell(one):
                        fault = asked.fault(mention)
                        if fault:
                            failed += 1
                            print(f"FAILED: exemplar {title} -h: '{one}': {fault}")
                else:
                    # An example that writes to /tmp writes to the test's folder instead.
                    command = command.replace(" /tmp/", f" {folder}/")
                    for pattern, instead in SMALLER:
                        command = re.sub(pattern, instead, command)
                    steps.append(shell.Step(line, "sh", command))
            if not asked.examples(*words):
                failed += 1
                print(f"FAILED: exemplar {title} -h has no examples")
            in_time = shell.run(steps, folder, dict(environment, HOME=str(folder / "home")), LIMIT) if steps else True
            for step in steps:
                if step.printed is None:
                    break
                fault = shell.fault_of(step, in_time, LIMIT)
                if step.had_no_editor():
                    reasons.setdefault("this build has no editor", []).append(step.command)
                else:
                    ran += 1
                if fault:
                    failed += 1
                    print(f"FAILED: exemplar {title} -h, example {step.line}: {fault}")
                if step.seconds > 1:
                    print(f"{step.seconds:.1f} s: {step.command}")
            # The pages of 'scan' use the body that an example of 'demo' made.
            if (folder / "somebody/body.glb").exists():
                (folder / "somebody").rename(top / "made/body")
            shutil.rmtree(folder)
    if not sys.argv[3:]:
        for command in sorted(unused):
            failed += 1
            print(f"FAILED: '{command}' is in NOT_RUN, and no help has it")
    print(f"{ran} examples ran, {sum(len(commands) for commands in reasons.values())} did not:")
    for reason, commands in reasons.items():
        for command in commands:
            print(f"  {command}: {reason}")
    print(f"{failed} failed")
    sys.exit(bool(failed))


main()
