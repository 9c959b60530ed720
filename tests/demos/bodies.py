#!/usr/bin/python3
"""One shirt for several bodies: simulated and learned on three of MakeHuman's bodies, and worn by others.

  bodies.py TOOL DRESS DATA           the test: few frames, coarse steps
  bodies.py TOOL DRESS DATA FOLDER    all of it, which docs/guides/drive.md reports; the files stay in FOLDER, with the
                                      guide's picture, and the rig of three bodies

DATA is the folder with makehuman, unless EX_DATA names one; DRESS is the program made of dress.c.

Bodies are the base mesh and macro targets, moved by MakeHuman's own skeleton and skin weights (linear blend skinning).
Angles of spine, neck, arms and hips follow waves of two frequencies each, as in the demo `shirt`. A T-shirt is cut out
of each body, as wide as it needs, and simulated. Each learned body has takes of its own. All bodies then do one motion
that none of the takes has.
"""
import json
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

tests = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(tests / "oracle"))
import bodies_shown  # noqa: E402
import makehuman  # noqa: E402
import skips  # noqa: E402
from bodies_files import read_cache, read_mesh  # noqa: E402

FPS = 30
LEAD = 30      # frames from rest to the motion, which are not learned from
ROOM = 0.018   # metres between body and shirt
UNSEEN = 0.85  # range of the motions that are not learned: within that of the takes, as in practice
MOST = 1.5     # error of a new body over that of the learned ones

# Weight (0: MakeHuman's least, 0.5: average, 1: most) and sex (0: female, 1: male) of each body.
LEARNED = {"woman": (0, 0), "average": (0.5, 0.5), "man": (1, 1)}
OTHERS = {"between": (0.75, 0.75), "aside": (0.3, 0.75), "outside": (1.15, 1.15)}


# ---- bodies ----

def make_body(source, weight, sex):
    """A young body of average muscle. Beyond 0 and 1, targets are extrapolated."""
    whole = source.points.copy()
    parts = {"min": max(1 - 2 * weight, 0), "average": 1 - abs(2 * weight - 1), "max": max(2 * weight - 1, 0)}
    for gender, share in ("female", 1 - sex), ("male", sex):
        if share:
            whole += share * source.target(f"caucasian-{gender}-young")
            for name, part in parts.items():
                if part:
                    whole += share * part * source.target(f"universal-{gender}-young-averagemuscle-{name}weight")
    return makehuman.Body(source, whole)


def joint(source, name):
    return source.base.heads[source.names.index(name)]


def worn(source):
    """{garment: which faces of the base body it covers}. The same faces for all bodies."""
    middles = source.base.form[source.faces].mean(axis=1)
    weights = source.weights[source.faces].mean(axis=1)

    def share(*stems):
        return weights[:, [i for i, name in enumerate(source.names) if name.split(".")[0] in stems]].sum(axis=1)

    trunk = share("spine01", "spine02", "spine03", "spine04", "spine05", "breast", "clavicle", "shoulder01", "root",
                  "pelvis", "upperleg01")
    arms = share("upperarm01", "upperarm02")
    mirror = np.sign(middles[:, :1]) * [1, 0, 0] + [0, 1, 1]
    shoulder, elbow = (joint(source, name) * mirror for name in ("upperarm01.L", "lowerarm01.L"))
    along = elbow - shoulder
    down_arm = ((middles - shoulder) * along).sum(axis=1) / (along ** 2).sum(axis=1)
    neck = joint(source, "neck01") + [0, 0.015, 0.02]
    hips, ankle = joint(source, "upperleg01.L")[1], joint(source, "foot.L")[1]
    shirt = (trunk + arms > 0.5) & ((arms < trunk) | (down_arm < 0.8))
    shirt &= (middles[:, 1] > hips - 0.055) & (np.linalg.norm((middles - neck) / [1, 1, 1.1], axis=1) > 0.085)
    shirt &= share("neck01", "neck02", "neck03", "head") < 0.5
    hands = share("upperarm01", "upperarm02", "lowerarm01", "lowerarm02", "wrist") + weights[:, [
        i for i, name in enumerate(source.names) if name.startswith(("finger", "metacarpal"))]].sum(axis=1)
    trousers = (middles[:, 1] < hips + 0.1) & (middles[:, 1] > ankle + 0.03) & (hands < 0.1)
    return {"shirt": largest(source, shirt), "trousers": largest(source, trousers)}


def largest(source, chosen):
    """The largest connected part of the chosen faces."""
    label = np.where(chosen, np.arange(len(chosen)), -1)
    while True:
        least = np.full(makehuman.VERTICES, len(chosen))
        np.minimum.at(least, source.faces[chosen].ravel(), np.repeat(label[chosen], 4))
        new = np.where(chosen, least[source.faces].min(axis=1), -1)
        if np.array_equal(new, label):
            break
        label = new
    names, counts = np.unique(label[chosen], return_counts=True)
    return label == names[counts.argmax()]


def write_mesh(path, source, form):
    """Groups name the garments that cover a face."""
    garments = worn(source)
    kinds = sum(2 ** i * faces for i, faces in enumerate(garments.values()))
    with open(path, "w") as file:
        np.savetxt(file, form, "v %.9g %.9g %.9g")
        for kind in range(2 ** len(garments)):
            names = [name for i, name in enumerate(garments) if kind >> i & 1]
            file.write(f"g {' '.join(['body', *names])}\n")
            np.savetxt(file, source.faces[kinds == kind] + 1, "f %d %d %d %d")


# ---- motion ----

# Bone (of a pair: the left one), axis, wave, and degrees: middle and swing. "bend" is the bone's own axis of bending.
TABLE = [("root", "y", "turn", 0, 70), ("spine04", "x", "bow", 3, 9), ("spine02", "x", "bow", 3, 8),
         ("spine03", "y", "twist", 0, 12), ("spine01", "y", "twist", 0, 10), ("spine04", "z", "lean", 0, 7),
         ("spine02", "z", "lean", 0, 6), ("neck01", "y", "look", 0, 15), ("clavicle.L", "z", "raise", 3, 6),
         ("upperarm01.L", "z", "raise", 15, 27), ("upperarm01.L", "y", "reach", -14, 26),
         ("upperarm01.L", "x", "roll", 0, 10), ("lowerarm01.L", "bend", "fold", 22, 22),
         ("upperleg01.L", "x", "step", -4, 14)]
TOGETHER = 0.35  # of the arms' motion, which both do alike


def wave(seed, name, seconds):
    """In [-1, 1], of two frequencies without a simple ratio."""
    random = np.random.default_rng([seed, *name.encode()])
    hertz = random.uniform([0.10, 0.24], [0.22, 0.45])
    phases = random.uniform(0, 2 * np.pi, 2)
    return np.array([0.65, 0.35]) @ np.sin(2 * np.pi * hertz[:, None] * seconds + phases[:, None])


def make_turns(source, seed, frames, speed, wide):
    """[frames, bones, 3, 3]: the turn of each bone relative to its parent, about axes of the base body at rest, and
    [frames, 3]: where it moves."""
    seconds = speed * np.arange(frames) / FPS
    ease = np.clip((np.arange(frames)) / LEAD, 0, 1)
    ease = ease * ease * (3 - 2 * ease)
    turns = np.tile(np.eye(3), (frames, len(source.names), 1, 1))
    for bone, axis, name, middle, swing in TABLE:
        for side in (".L", ".R") if bone.endswith(".L") else ("",):
            number = source.names.index(bone.removesuffix(".L") + side)
            both = wave(seed, name, seconds / 2 if name == "turn" else seconds)
            own = wave(seed, name + side, seconds)
            moved = wide * (both if not side else TOGETHER * both + (1 - TOGETHER) * own)
            if name == "step":
                moved = (1 if side == ".L" else -1) * np.sin(2 * np.pi * 0.55 * seconds)
            angle = np.radians(ease * (middle + swing * moved))
            way = source.frames[number][:, 0] if axis == "bend" else np.eye(3)["xyz".index(axis)]
            if side == ".R" and axis in "yz":  # mirrored
                angle = -angle
            turns[:, number] = turns[:, number] @ Rotation.from_rotvec(angle[:, None] * way).as_matrix()
    places = 0.2 * ease[:, None] * np.stack([wave(seed, "move" + c, seconds) for c in "xyz"], axis=1)
    return turns, places


def order(parents):
    """Parents before children."""
    done, left = [], list(range(len(parents)))
    while left:
        ready = [bone for bone in left if parents[bone] < 0 or parents[bone] in done]
        done += ready
        left = [bone for bone in left if bone not in ready]
    return done


def write_cache(path, forms):
    with open(path, "wb") as file:
        file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, forms.shape[1], 0, 1 / FPS, len(forms)))
        forms.astype("<f4").tofile(file)


def animate(source, body, turns, places):
    """[frames, vertices, 3] of a body."""
    frames, bones = turns.shape[:2]
    whole, shifts = np.zeros_like(turns), np.zeros((frames, bones, 3))
    for bone in order(source.parents):
        parent, head = source.parents[bone], body.heads[bone]
        if parent < 0:
            whole[:, bone] = turns[:, bone]
            at = head + places
        else:
            whole[:, bone] = whole[:, parent] @ turns[:, bone]
            at = whole[:, parent] @ head + shifts[:, parent]
        shifts[:, bone] = at - whole[:, bone] @ head
    # Most bones of face, hands and feet do not move by themselves: their weights go to the bone above that does.
    moved = {bone.removesuffix(".L") + side for bone, *_ in TABLE for side in ("", ".L", ".R")}
    kept = [bone for bone, name in enumerate(source.names) if name in moved]
    weights = np.zeros((makehuman.VERTICES, len(kept)))
    for bone in range(bones):
        owner = bone
        while owner not in kept:
            owner = source.parents[owner]
        weights[:, kept.index(owner)] += source.weights[:, bone]
    matrices = np.concatenate([whole.reshape(frames, bones, 9), shifts], axis=2)[:, kept]
    forms = np.empty((frames, makehuman.VERTICES, 3), np.float32)
    rest = body.form.astype(float)
    for f in range(frames):
        blended = weights @ matrices[f]
        forms[f] = np.einsum("vij,vj->vi", blended[:, :9].reshape(-1, 3, 3), rest) + blended[:, 9:]
    return forms


# ---- the experiment ----

class Experiment:
    """Takes of the learned bodies, and motions that are not learned, of all bodies. motions {name: (seed, speed)}."""

    def __init__(self, tool, dress, data, folder, takes, frames, motions, substeps):
        self.tool, self.dress, self.folder = tool, dress, Path(folder)
        self.takes, self.frames, self.motions, self.substeps = takes, frames, motions, substeps
        self.source = makehuman.Source(data / "makehuman")

    def path(self, *names):
        return str(self.folder / "_".join(names))

    def simulate(self, name, shape, takes):
        """Writes the body's and the shirt's mesh and takes {name: (seed, speed, range)}."""
        body = make_body(self.source, *shape)
        write_mesh(self.path(name, "body.obj"), self.source, body.form)
        words = [self.dress, str(ROOM), str(self.substeps), "free", "shirt", self.path(name, "body.obj"),
                 self.path(name, "shirt.obj")]
        for take, (seed, speed, wide) in takes.items():
            turns, places = make_turns(self.source, seed, LEAD + self.frames, speed, wide)
            write_cache(self.path(name, "body", take + ".pc2"), animate(self.source, body, turns, places))
            words += [self.path(name, kind, take + ".pc2") for kind in ("body", "shirt")]
        subprocess.run(words, check=True)

    def simulate_all(self):
        for number, (name, shape) in enumerate({**LEARNED, **OTHERS}.items()):
            takes = {f"take{t}": (100 * number + t, 0.8 + 0.2 * t, 1)
                     for t in range(self.takes)} if name in LEARNED else {}
            takes.update({motion: (*how, UNSEEN) for motion, how in self.motions.items()})
            began = time.time()
            self.simulate(name, shape, takes)
            print(f"{name}: {len(takes)} takes of {self.frames} frames simulated in {time.time() - began:.0f} s",
                  flush=True)

    def learn(self, bodies, options=()):
        words = [self.tool, "drive", "learn", "--method", "motion", "-q",
                 "--driver-mesh", self.path("average", "body.obj"), "--driven-mesh", self.path("average", "shirt.obj")]
        for name in bodies:
            for t in range(self.takes):
                words += ["--driver", self.path(name, "body", f"take{t}.pc2"),
                          "--driven", self.path(name, "shirt", f"take{t}.pc2"), "--range", f"{LEAD + 1}:"]
        subprocess.run([*words, *options, "-o", self.path("shirt.glb")], check=True)

    def report(self, name, motion):
        """The report of one body on one motion."""
        words = [self.tool, "drive", "report", self.path("shirt.glb"), "--json", "--frames", f"{LEAD + 1}:",
                 "--driver", self.path(name, "body", motion + ".pc2"),
                 "--truth", self.path(name, "shirt", motion + ".pc2")]
        return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)

    def measure(self, bodies):
        """Learns on some bodies, prints a table in millimetres, and returns {body: mean error over all motions}."""
        self.learn(bodies)
        print(f"learned on {', '.join(bodies)}:")
        reports = {name: [self.report(name, motion) for motion in self.motions] for name in {**LEARNED, **OTHERS}}
        means = {name: 1000 * np.array([report["mean"] for report in found]) for name, found in reports.items()}
        base = np.mean([means[name] for name in bodies], axis=0)
        for name, found in reports.items():
            cells = [f"{mean:5.2f} / {1000 * report['p95']:5.2f} mm, ratio {ratio:.2f}, far {report['far']:3d}"
                     for mean, ratio, report in zip(means[name], means[name] / base, found)]
            print(f"  {name:8s} {' | '.join(cells)}", flush=True)
        return {name: float(np.mean(mean)) for name, mean in means.items()}

    def check_cloth(self):
        """The simulation itself: the same faces on all bodies, and no edge torn. Returns failures."""
        failures, faces = [], None
        for name in {**LEARNED, **OTHERS}:
            rest, triangles = read_mesh(self.path(name, "shirt.obj"))
            same = faces is None or np.array_equal(faces, triangles)
            faces = triangles
            cloth = read_cache(self.path(name, "shirt", next(iter(self.motions)) + ".pc2"))[LEAD::20]
            edges = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0)

            def lengths(form):
                return np.linalg.norm(form[edges[:, 0]] - form[edges[:, 1]], axis=1)
            # A few edges in the armpits are a millimetre long, and may become three.
            stretch = np.percentile([lengths(form) / lengths(rest) for form in cloth], 99.9)
            longer = max((lengths(form) - lengths(rest)).max() for form in cloth)
            if not same or not stretch < 2.5 or not longer < 0.03:
                failures.append(f"{name}: same faces: {same}; one edge in a thousand is {stretch:.2f} times as long as"
                                f" at rest, one is {1000 * longer:.1f} mm longer")
        return failures


def run(tool, dress, data, folder=None):
    """Returns failures."""
    with tempfile.TemporaryDirectory() as scratch:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            experiment = Experiment(tool, dress, data, folder, 4, 300, {"first": (7777, 1), "second": (4242, 1.3)}, 40)
        else:
            experiment = Experiment(tool, dress, data, scratch, 2, 100, {"first": (7777, 1)}, 12)
        experiment.simulate_all()
        failures = experiment.check_cloth()
        errors = experiment.measure(list(LEARNED))
        two = experiment.measure(["woman", "man"])
        alone = experiment.measure(["average"])
        if folder:
            bodies_shown.show(experiment, list(LEARNED), LEAD)
    for known, found, names in (list(LEARNED), errors, ["between", "aside"]), (["woman", "man"], two, ["average"]):
        base = np.mean([found[name] for name in known])
        for name in names:
            if not found[name] <= MOST * base:
                failures.append(f"{name}: {found[name]:.2f} mm, more than {MOST} times the {base:.2f} mm of {known}")
    # Bodies differ enough to show something: a rig that knows one of them fails on the others.
    for name in "woman", "man", "outside":
        if not alone[name] > max(1.2 * alone["average"], 1.2 * errors[name]):
            failures.append(f"{name}: {alone[name]:.2f} mm if one body is known, {errors[name]:.2f} mm if three are")
    return failures


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(f"usage: {sys.argv[0]} TOOL DRESS DATA [FOLDER]")
    found = skips.data_folder(sys.argv[3])
    skips.need_data(found, "makehuman/3dobjs/base.obj", "makehuman/rigs/default_weights.mhw",
                    "makehuman/targets/macrodetails/universal-male-young-averagemuscle-maxweight.target")
    wrong = run(*sys.argv[1:3], found, *sys.argv[4:])
    for failure in wrong:
        print("FAILED:", failure)
    skips.finish(bool(wrong))
