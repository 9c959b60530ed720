"""Makes the files of the demo `human` from MakeHuman's (CC0): demos/data/human.glb, and skins and hair as JPEG.

  python3 demos/data/maker DATA EXEMPLAR FOLDER

DATA is a folder with makehuman and makehuman_assets, EXEMPLAR the tool, and FOLDER where the project goes that the rig
is built from. numpy, scipy and Pillow are needed. The rig has no layers of pixels, which would take 26 MB in it: the
demo adds them to its project.

Layers of the rig: the figure over gender and age, the build over gender, muscle and weight, expressions as dials,
sculpts at elbows and knees of either gender, and at shoulders and hips. Clips: a walk, and poses one after the other.
"""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

import clips as motions
import cloth
import files
import images
import skin as skins
from person import Person
from sculpts import Sculptor
from source import Source

GENDERS = {"female": 0, "male": 1}
AGES = {"child": 10, "young": 25, "old": 80}
GENDER = {"name": "gender", "min": 0, "max": 1, "rest": 0}
AGE = {"name": "age", "min": 10, "max": 80, "rest": 25, "unit": "years"}
LEVELS = {"min": -1, "average": 0, "max": 1}
# Dials of the face, sums of MakeHuman's units. Units with {} have a left and a right one.
FACE = {
    "smile": {"mouth-corner-puller": 1, "eye-{}-slit": 0.25, "mouth-part-later": 0.15},
    "open": {"mouth-open": 0.72},  # beyond, teeth pierce the lip
    "pucker": {"mouth-protusion": 0.7, "mouth-pursing": 0.6},
    "grin": {"mouth-upward-retraction": 0.7, "mouth-retraction": 0.5},
    "frown": {"mouth-depression": 1},
    "blink.L": {"eye-left-closure": 1},
    "blink.R": {"eye-right-closure": 1},
    "wide": {"eye-{}-opened-up": 1},
    "squint": {"eye-{}-slit": 1},
    "brows_up": {"eyebrows-{}-up": 1, "eyebrows-{}-extern-up": 0.4},
    "brows_down": {"eyebrows-{}-down": 1},
    "brows_sad": {"eyebrows-{}-inner-up": 1},
    "sneer": {"nose-{}-elevation": 1, "nose-compression": 0.5},
}
HINGES = {"elbow": ("lowerarm01", (60, 115)), "knee": ("lowerleg01", (60, 115))}
# Directions in space for the left side: an axis and degrees. The right side is the mirror image.
BALLS = {"shoulder": ("upperarm01", 0.2, {"down": ((0, 0, 1), -38), "out": ((0, 0, 1), 42), "up": ((0, 0, 1), 105),
                                          "forward": ((0, 1, 0), -70)}),
         "hip": ("upperleg01", 0.26, {"forward": ((1, 0, 0), -80), "back": ((1, 0, 0), 30)})}
POSES = ("standing01", "standing04", "standing06", "fight01", "run01", "standing05")
SHOULDERS = 1.3  # metres: expressions do not move what is below
WALK_STEP, POSE_STEP, POSE_HOLD = 0.075, 0.9, 0.5  # seconds


class Maker:
    def __init__(self, data, folder):
        self.data, self.folder = Path(data), Path(folder)
        self.source = Source(data)
        self.canvas = skins.Canvas(self.source)
        self.person = Person(self.source, self.canvas.texcoords)
        self.sculptors = {gender: Sculptor(self.person, *self.person.form(self.young(gender))) for gender in GENDERS}

    def young(self, gender):
        return self.source.points + self.source.target(f"macrodetails/caucasian-{gender}-young")

    def example(self, name, form, heads=None, **more):
        files.write_obj(self.folder / f"{name}.obj", self.person, form)
        listed = {"name": name, "mesh": f"{name}.obj"}
        if heads is not None:
            files.write_joints(self.folder / f"{name}.glb", self.person, heads)
            listed["skeleton"] = f"{name}.glb"
        return listed | more

    def figure(self):
        examples = []
        for gender, g in GENDERS.items():
            for age, years in AGES.items():
                whole = self.source.points + self.source.target(f"macrodetails/caucasian-{gender}-{age}")
                form, heads = self.person.form(whole)
                examples.append(self.example(f"{gender}_{age}", form, heads, at={"gender": g, "age": years}))
        # Half-way between woman and man, children are as near as people of the same age: these say who counts.
        between = [{"weights": {f"{gender}_{age}": 0.5 for gender in GENDERS}, "at": {"gender": 0.5, "age": years}}
                   for age, years in AGES.items()]
        return {"name": "figure", "space": [GENDER, AGE], "weigh": {"kind": "calm"}, "examples": examples,
                "pseudo": between}

    def build(self):
        axes = [{"name": name, "min": -1, "max": 1, "rest": 0} for name in ("muscle", "weight")]
        examples = []
        for gender, g in GENDERS.items():
            for muscle, weight in (("average", "average"), ("min", "average"), ("max", "average"), ("average", "min"),
                                   ("average", "max")):
                change = self.source.target(f"macrodetails/universal-{gender}-young-{muscle}muscle-{weight}weight")
                form, heads = self.person.form(self.young(gender) + change)
                at = {"gender": g, "muscle": LEVELS[muscle], "weight": LEVELS[weight]}
                examples.append(self.example(f"{gender}_{muscle}muscle_{weight}weight", form, heads, at=at))
        return {"name": "build", "space": [GENDER, *axes], "weigh": {"kind": "calm"}, "examples": examples}

    def pictures(self, folder):
        for gender, g in GENDERS.items():
            for age in AGES:
                (folder / f"skin_{gender}_{age}.jpg").write_bytes(images.jpeg(self.canvas.image(g, age)))
        for age in AGES:
            (folder / f"hair_{age}.jpg").write_bytes(images.jpeg(images.hair(age)))
        for name, image in cloth.tiles().items():
            (folder / f"cloth_{name}.jpg").write_bytes(images.jpeg(image))

    def face(self):
        examples = []
        for name, units in FACE.items():
            whole = self.person.young_woman.copy()
            for unit, amount in units.items():
                for which in ("left", "right") if "{}" in unit else ("",):
                    whole += amount * self.source.target("expression/units/caucasian/" + unit.format(which))
            form, _ = self.person.form(whole)
            still = (np.linalg.norm(form - self.person.rest, axis=1) < 1e-5) | (self.person.rest[:, 1] < SHOULDERS)
            form[still] = self.person.rest[still]
            examples.append(self.example(name, form))
        return {"name": "face", "shape": "offsets", "posed": False,
                "space": [{"name": name, "min": 0, "max": 1, "rest": 0} for name in FACE],
                "weigh": {"kind": "direct"}, "examples": examples}

    def hinges(self):
        for kind, (joint, angles) in HINGES.items():
            for side in ".L", ".R":
                axis = {"name": kind + side, "joint": joint + side, "angle": "x", "min": 0, "max": 130, "unit": "°"}
                examples = []
                for gender, g in GENDERS.items():
                    for angle in angles:
                        form = self.sculptors[gender].hinge(kind, side, angle)
                        examples.append(self.example(f"{gender}_{kind}_{angle}{side}", form,
                                                     at={kind + side: angle, "gender": g}))
                straight = {"weights": {}, "at": {kind + side: 0, "gender": 1}}
                yield {"name": kind + side, "shape": "offsets", "posed": False, "space": [axis, GENDER],
                       "weigh": {"kind": "calm"}, "examples": examples, "pseudo": [straight]}

    def balls(self):
        for kind, (joint, reach, places) in BALLS.items():
            for side, mirror in ((".L", 1), (".R", -1)):
                axis = {"name": kind + side, "joint": joint + side, "rotation": "swing", "about": "y"}
                frame, examples = self.person.frames[self.source.index[joint + side]], []
                for name, (direction, angle) in places.items():
                    direction = np.array(direction, float) * ([1, mirror, mirror])
                    local = frame.T @ direction
                    local[1] = 0  # a swing has no turn about the bone
                    turn = Rotation.from_rotvec(np.radians(angle) * local / np.linalg.norm(local))
                    form = self.sculptors["female"].ball(joint, side, turn, reach)
                    examples.append(self.example(f"{kind}_{name}{side}", form,
                                                 at={kind + side: np.round(turn.as_quat(), 7).tolist()}))
                yield {"name": kind + side, "shape": "offsets", "posed": False, "space": [axis],
                       "weigh": {"kind": "calm"}, "examples": examples}

    def clips(self):
        assets = self.data / "makehuman_assets/poses"
        walk = motions.motion(self.data / "makehuman/animations/walks/walk1.bvh", self.person)
        walk[-1] = walk[0]
        times = [WALK_STEP * number for number in range(len(walk))]
        poses = [motions.motion(assets / f"{name}.bvh", self.person)[0] for name in POSES]
        frames, moments, now = [], [], 0.0
        for pose in poses + poses[:1]:
            frames += [pose, pose]
            moments += [now, now + POSE_HOLD]
            now += POSE_HOLD + POSE_STEP
        return {"walk": (times, walk, self.grounded(walk)), "poses": (moments, frames, self.grounded(frames))}

    def grounded(self, frames):
        """Places of the root that keep the lowest vertex on the ground."""
        places = []
        for frame in frames:
            matrices = self.sculptors["female"].linear(self.sculptors["female"].joints(frame))
            height = np.einsum("vb,vb->v", matrices[:, 1, :3], self.person.rest) + matrices[:, 1, 3]
            places.append(self.person.heads[0] - [0, height.min(), 0])
        return places

    def project(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        files.write_obj(self.folder / "human.obj", self.person, self.person.rest, whole=True)
        pictures = {name: images.jpeg(paint(self.person.patterns[name]), 84) for name, paint in cloth.GARMENTS.items()}
        pictures["skin"] = images.jpeg(self.canvas.image(0, "young"))
        files.write_person(self.folder / "person.glb", self.person, pictures, self.clips())
        layers = [self.figure(), self.build(), self.face(), *self.hinges(), *self.balls()]
        project = {"exemplar": 1, "mesh": "human.obj", "skeleton": "person.glb", "materials": "person.glb",
                   "clips": "person.glb", "layers": layers}
        (self.folder / "human.json").write_text(json.dumps(project, indent=1) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    maker, result = Maker(sys.argv[1], sys.argv[3]), Path(__file__).resolve().parent.parent
    maker.project()
    maker.pictures(result)
    subprocess.run([sys.argv[2], "build", str(maker.folder / "human.json"), "-o", str(result / "human.glb")], check=True)
