"""From a sculpt to an example, as a rigger works: pose, sculpt, add, build, and check that it holds. Then other
commands on examples, and refusals. The body is a tube along x with a spine and two arms with joints in arbitrary
directions."""
import json
import math
import random
import re
import subprocess

import harness
from scenes import Scene

RINGS, SIDES = 33, 6
JOINTS = {"spine": (None, 0.0), "arm_L": ("spine", 0.5), "fore_L": ("arm_L", 1.25),
          "arm_R": ("spine", -0.5), "fore_R": ("arm_R", -1.25)}


# ---- rotations, x y z w ----

def times(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return [aw * bx + bw * ax + ay * bz - az * by, aw * by + bw * ay + az * bx - ax * bz,
            aw * bz + bw * az + ax * by - ay * bx, aw * bw - ax * bx - ay * by - az * bz]


def inverse(q):
    return [-q[0], -q[1], -q[2], q[3]]


def rotated(q, v):
    return times(times(q, [*v, 0.0]), inverse(q))[:3]


def some_rotation(numbers):
    q = [numbers.gauss(0, 1) for _ in range(4)]
    length = math.sqrt(sum(x * x for x in q))
    return [x / length for x in q]


# ---- the body ----

def rest_form():
    return [[-2 + 4 * ring / (RINGS - 1), 0.2 * math.sin(2 * math.pi * side / SIDES),
             0.2 * math.cos(2 * math.pi * side / SIDES)] for ring in range(RINGS) for side in range(SIDES)]


def faces():
    return [[ring * SIDES + side, ring * SIDES + (side + 1) % SIDES, (ring + 1) * SIDES + (side + 1) % SIDES,
             (ring + 1) * SIDES + side] for ring in range(RINGS - 1) for side in range(SIDES)]


def obj(positions, polygons=None, texcoords=True):
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in positions]
    polygons = polygons or faces()
    if not texcoords:
        return "\n".join(lines + ["f " + " ".join(str(v + 1) for v in face) for face in polygons]) + "\n"
    lines += [f"vt {v % SIDES / SIDES!r} {v // SIDES / RINGS!r}" for v in range(len(positions))]
    return "\n".join(lines + ["f " + " ".join(f"{v + 1}/{v + 1}" for v in face) for face in polygons]) + "\n"


def influences(position):
    def share(a, b, x):  # of the joint at b against its parent at a
        return min(1.0, max(0.0, 0.5 + (x - b) / 0.5))

    x, side = abs(position[0]), "L" if position[0] >= 0 else "R"
    arm, fore = share(0, 0.5, x), share(0.5, 1.25, x)
    names = list(JOINTS)
    shares = [0.0] * 5
    shares[0] = 1 - arm
    shares[names.index(f"arm_{side}")] = arm * (1 - fore)
    shares[names.index(f"fore_{side}")] = arm * fore
    used = sorted(range(5), key=lambda i: -shares[i])[:4]
    return used, [shares[i] for i in used]


def write_skeleton(path, seed=7, upright=False):
    numbers = random.Random(seed)
    names = list(JOINTS)
    worlds = {name: some_rotation(numbers) for name in names}
    if upright:
        worlds["spine"] = [0, 0, 0, 1]
    scene = Scene()
    positions = rest_form()
    mesh = scene.mesh("body", positions, influences=[influences(p) for p in positions])
    binds = []
    for name, (parent, x) in JOINTS.items():
        turn, place = worlds[name], [x, 0, 0]
        if parent:
            back = inverse(worlds[parent])
            place = rotated(back, [x - JOINTS[parent][1], 0, 0])
            turn = times(back, turn)
        children = [names.index(child) for child, (of, _) in JOINTS.items() if of == name]
        scene.node(shown=not parent, name=name, rotation=turn, translation=place,
                   **({"children": children} if children else {}))
        columns = [rotated(inverse(worlds[name]), axis) for axis in ([1, 0, 0], [0, 1, 0], [0, 0, 1])]
        moved = rotated(inverse(worlds[name]), [-x, 0, 0])
        binds.append([*columns[0], 0, *columns[1], 0, *columns[2], 0, *moved, 1])
    skin = scene.skin(list(range(5)), binds=False)
    scene.json["skins"][skin]["inverseBindMatrices"] = scene.array(binds)
    scene.node(name="body", mesh=mesh, skin=skin)
    scene.write(path)


def bulge(positions, centre, amount):
    """A sculpt: vertices near the centre move outwards, the rest stays."""
    out = []
    for p in positions:
        near = max(0.0, 1 - math.dist(p, centre) ** 2 / 0.16) ** 2
        out.append([p[0] + amount * near * 0.3, p[1] + amount * near, p[2] - amount * near * 0.5])
    return out


def mirrored(positions):
    """The body's vertices mirrored across x = 0."""
    out = [None] * len(positions)
    for v, (x, y, z) in enumerate(positions):
        out[(RINGS - 1 - v // SIDES) * SIDES + v % SIDES] = [-x, y, z]
    return out


def offsets(a, b):
    return [[x - y for x, y in zip(p, q)] for p, q in zip(a, b)]


def apart(a, b):
    return max(math.dist(p, q) for p, q in zip(a, b))


SIZE = math.dist([-2, -0.2, -0.2], [2, 0.2, 0.2])
POSE = "joint:fore_L=x60y-20"


class Example(harness.Case):
    def setUp(self):
        super().setUp()
        self.home = self.folder / "body"
        self.home.mkdir()
        (self.home / "body.obj").write_text(obj(rest_form()))
        write_skeleton(self.home / "skeleton.gltf")
        self.write({"exemplar": 1, "mesh": "body.obj", "skeleton": "skeleton.gltf", "layers": []})

    def write(self, description):
        (self.home / "body.json").write_text(json.dumps(description))

    def project(self):
        return json.loads((self.home / "body.json").read_text())

    def posed(self, *words):
        """The form of the current project at a pose."""
        self.succeed("build", "body/body.json", "-q", "-o", "rig.glb")
        self.succeed("pose", "rig.glb", *words, "--no-normals", "-q", "-o", "posed.obj")
        return harness.positions_of((self.folder / "posed.obj").read_text())

    def sculpt(self, name, *words, amount=0.1):
        """A sculpt of the form at a pose, in a file outside the project."""
        form = self.posed(*words)
        centre = form[26 * SIDES + 1] if "_R" not in "".join(words) else form[6 * SIDES + 1]
        made = bulge(form, centre, amount)
        (self.folder / name).write_text(obj(made))
        return made

    def example(self, command, *words, code=0):
        outcome = self.run_tool("example", command, "body/body.json", *words)
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome

    def refused(self, *words, code=1, fragments=()):
        """One sentence says why, and nothing is changed."""
        before = self.listing()
        outcome = self.run_tool("example", *words)
        self.sentence(outcome, code, *fragments)
        self.assertEqual(self.listing(), before)

    def add_bent(self):
        made = self.sculpt("bent.obj", POSE)
        self.example("add", "--name", "bent_L", "--at", POSE, "bent.obj")
        return made

    # ---- adding a sculpt ----

    def test_sculpt_holds(self):
        before = (self.home / "body.json").read_bytes()
        made = self.sculpt("bent.obj", POSE)
        outcome = self.example("add", "--name", "bent_L", "--at", POSE, "bent.obj", "--json")
        answer = outcome.json()
        self.assertEqual((answer["layer"], answer["example"], answer["mesh"]), ("fore_L", "bent_L", "fore_L/bent_L.obj"))
        self.assertTrue(answer["new_layer"])
        self.assertFalse(answer["reordered"])
        form = self.run_tool("pose", "rig.glb", POSE, "-o", "-").out
        moved = sum(math.dist(p, q) > 5e-6 * SIZE for p, q in zip(harness.positions_of(form), made))
        self.assertEqual(answer["moved"], moved)
        self.assertLess(answer["error"], 1e-6 * SIZE)
        self.assertIn("'fore_L' is added", outcome.err)
        self.assertEqual((self.home / "body.json~").read_bytes(), before)
        # After build and skin the form is the sculpt; at rest nothing changed.
        self.assertLess(apart(self.posed(POSE), made), 1e-5 * SIZE)
        self.assertLess(apart(self.posed(), rest_form()), 1e-5 * SIZE)
        layer, = self.project()["layers"]
        self.assertEqual(layer["space"], [{"name": "fore_L", "joint": "fore_L", "rotation": "full"}])
        self.assertEqual((layer["shape"], layer["protect"], layer["weigh"]), ("offsets", True, {"kind": "calm"}))
        self.assertEqual(layer["examples"], [{"name": "bent_L", "mesh": "fore_L/bent_L.obj",
                                              "at": {"fore_L": {"x": 60, "y": -20}}}])

    def test_rounding_is_no_sculpt(self):
        """A vertex that is off by a few last places of a float counts at the edge of a sculpt, not alone."""
        form = self.posed(POSE)
        made = self.sculpt("bent.obj", POSE)
        moved = {v for v, (p, q) in enumerate(zip(form, made)) if p != q}
        edge = next(v for face in faces() for v in face if v not in moved and moved & set(face))
        alone = [ring * SIDES for ring in (2, 6, 10)]
        for v in [edge, *alone]:
            made[v] = [made[v][0], made[v][1], made[v][2] + 8e-7]
        (self.folder / "bent.obj").write_text(obj(made))
        answer = self.example("add", "--name", "bent_L", "--at", POSE, "bent.obj", "--json").json()
        self.assertEqual(answer["moved"], len(moved) + 1)
        after = self.posed(POSE)
        self.assertTrue(all(after[v] == form[v] for v in alone))
        self.assertGreater(after[edge][2] - form[edge][2], 5e-7)

    def test_a_form_without_a_sculpt_is_told(self):
        """The wrong object exported, most likely; but it may be meant to hold the layer at zero."""
        (self.folder / "plain.obj").write_text(obj(self.posed(POSE)))
        outcome = self.example("add", "--name", "bent_L", "--at", POSE, "plain.obj")
        self.assertIn("'bent_L' moves no vertex: is this the form that you sculpted?", outcome.err)
        self.assertIn("0 of ", outcome.out)
        self.assertNotIn("moves no vertex", self.example("move", "--name", "bent_L", "--at", "fore_L=x50").err)
        self.sculpt("bent.obj", POSE)
        outcome = self.example("add", "--replace", "--name", "bent_L", "bent.obj")
        self.assertNotIn("moves no vertex", outcome.err)

    def test_a_turn_about_one_axis_is_an_angle(self):
        made = self.sculpt("bent.obj", "joint:fore_L=z90")
        self.example("add", "--name", "bent", "--at", "joint:fore_L=z90", "bent.obj")
        layer, = self.project()["layers"]
        self.assertEqual(layer["space"], [{"name": "fore_L.z", "unit": "°", "joint": "fore_L", "angle": "z", "min": 0,
                                           "max": 90}])
        self.assertEqual(layer["examples"][0]["at"], {"fore_L.z": 90})
        self.assertLess(apart(self.posed("fore_L.z=90"), made), 1e-5 * SIZE)
        # From now on, the joint's turn is a place in that layer, however it is written.
        second = self.sculpt("more.obj", "fore_L.z=45", amount=0.05)
        self.refused("add", "body/body.json", "--name", "half", "--at", "joint:fore_L=z45", "--falloff", "fore_L.z=40",
                     "more.obj", fragments=("layer 'fore_L.z' is calm: its examples have no falloff",))
        outcome = self.example("add", "--name", "half", "--at", "joint:fore_L=z45", "more.obj")
        self.assertIn("it goes to layer 'fore_L.z'", outcome.err)
        self.assertEqual([e["name"] for e in self.project()["layers"][0]["examples"]], ["bent", "half"])
        self.assertLess(apart(self.posed("fore_L.z=90"), made), 1e-5 * SIZE)
        self.assertLess(apart(self.posed("fore_L.z=45"), second), 1e-5 * SIZE)

    def test_layers_follow_from_the_axes(self):
        first = self.sculpt("one.obj", "joint:fore_L=z90")
        self.example("add", "--name", "one", "--at", "joint:fore_L=z90", "one.obj")
        both = ("fore_L.z=90", "joint:arm_L=x30")
        second = self.sculpt("two.obj", *both)
        outcome = self.example("add", "--name", "two", "--at", *both, "two.obj")
        self.assertIn("'fore_L.z_arm_L.x' is added", outcome.err)
        layers = self.project()["layers"]
        self.assertEqual([layer["name"] for layer in layers], ["fore_L.z", "fore_L.z_arm_L.x"])
        self.assertEqual(layers[1]["space"][0], layers[0]["space"][0])
        # Joints that are not part of the place are still part of the pose.
        third = self.sculpt("three.obj", "fore_L.z=40", "joint:spine=y50")
        self.example("add", "--name", "three", "--layer", "fore_L.z", "--at", "fore_L.z=40", "--joint",
                     "joint:spine=y50", "three.obj")
        self.assertEqual(self.project()["layers"][0]["examples"][1]["joints"], {"spine": {"y": 50}})
        self.assertLess(apart(self.posed("fore_L.z=40", "joint:spine=y50"), third), 1e-5 * SIZE)
        self.assertLess(apart(self.posed(*both), second), 1e-5 * SIZE)

    def test_inside_the_folder_it_stays_where_it_is(self):
        self.sculpt("body/sculpts.obj", POSE)
        before = set(self.listing())
        self.example("add", "--name", "bent", "--at", POSE, "body/sculpts.obj")
        self.assertEqual({name for name in set(self.listing()) - before if ".versions" not in name}, {"body/body.json~"})
        self.assertEqual(self.project()["layers"][0]["examples"][0]["mesh"], "sculpts.obj")

    def test_nothing_is_overwritten(self):
        (self.home / "fore_L").mkdir()
        (self.home / "fore_L/bent_L.obj").write_text("mine")
        self.add_bent()
        self.assertEqual((self.home / "fore_L/bent_L.obj").read_text(), "mine")
        self.assertEqual(self.project()["layers"][0]["examples"][0]["mesh"], "fore_L/bent_L_2.obj")

    def test_units(self):
        """The project is in centimetres with z up, and so are its sculpts."""
        def turned(positions):
            return [[100 * x, -100 * z, 100 * y] for x, y, z in positions]

        def posed(*words):
            """In metres with y up, from a form in the project's unit and up axis."""
            return [[x / 100, z / 100, -y / 100] for x, y, z in self.posed(*words)]

        def sculpt(*words):
            form = posed(*words)
            return bulge(form, form[26 * SIDES + 1], 0.1)

        description = self.project()
        self.write({**description, "unit": "cm", "up": "z"})
        (self.home / "body.obj").write_text(obj(turned(rest_form())))
        made = sculpt(POSE)
        (self.folder / "bent.obj").write_text(obj(turned(made)))
        answer = self.example("add", "--name", "bent_L", "--at", POSE, "bent.obj", "--json").json()
        self.assertLess(answer["error"], 1e-6 * SIZE)
        self.assertLess(apart(posed(POSE), made), 1e-5 * SIZE)
        # x stays x; y up there is z here. The body is symmetric about both.
        self.mirror("--name", "bent_L")
        other = self.project()["layers"][1]["examples"][0]["at"]["fore_R"]
        self.assertLess(apart(posed("joint:fore_R=q:" + ",".join(map(repr, other))), mirrored(made)), 1e-5 * SIZE)
        lean = "joint:spine=x20y5z30"
        self.write({**description, "unit": "cm", "up": "z"})
        made = sculpt(lean)
        (self.folder / "lean.obj").write_text(self.shuffled(turned(made), False))
        outcome = self.example("add", "--name", "up", "--at", lean, "lean.obj")
        self.assertIn("matched by posed positions", outcome.err)
        self.mirror("--name", "up", "--as", "down", "--plane", "z")
        other = self.project()["layers"][0]["examples"][1]["at"]["spine"]
        image = [None] * len(made)
        for v, (x, y, z) in enumerate(made):
            image[v // SIDES * SIDES + -v % SIDES] = [x, -y, z]
        self.assertLess(apart(posed("spine=q:" + ",".join(map(repr, other))), image), 1e-5 * SIZE)

    # ---- other programs ----

    def shuffled(self, made, texcoords):
        order = list(range(len(made)))
        random.Random(3).shuffle(order)
        number = {v: i for i, v in enumerate(order)}
        polygons = [[number[v] for v in face] for face in faces()]
        lines = [f"v {made[v][0]!r} {made[v][1]!r} {made[v][2]!r}" for v in order]
        if texcoords:
            lines += [f"vt {v % SIDES / SIDES!r} {v // SIDES / RINGS!r}" for v in order]
        lines += ["f " + " ".join(f"{v + 1}/{v + 1}" if texcoords else f"{v + 1}" for v in face) for face in polygons]
        return "\n".join(lines) + "\n"

    def test_another_order_is_put_right(self):
        description = self.project()
        for texcoords, spine, how in ((True, "y20", "texture coordinates"), (False, "y20", "posed positions"),
                                      (False, "y0", "rest positions")):
            with self.subTest(how=how):
                pose = (POSE, "joint:spine=" + spine)
                self.write(description)
                made = self.sculpt("bent.obj", *pose)
                (self.folder / "shuffled.obj").write_text(self.shuffled(made, texcoords))
                outcome = self.example("add", "--name", "bent", "--at", POSE, "--joint", pose[1], "shuffled.obj")
                self.assertIn("in another order than the mesh's; they were matched by " + how, outcome.err)
                self.assertLess(apart(self.posed(*pose), made), 1e-5 * SIZE)

    def test_what_cannot_be_put_right(self):
        made = self.sculpt("bent.obj", POSE)
        quads = faces()
        triangles = [[a, b, c] for a, b, c, d in quads] + [[a, c, d] for a, b, c, d in quads]
        lost = made[:-1], [[min(v, len(made) - 2) for v in face] for face in quads[:-6]]
        split = made + [made[quads[0][0]]], [[len(made), *quads[0][1:]], *quads[1:]]
        twisted = made, [quads[0][1:] + quads[0][:1], quads[1], [v for v in quads[2][:2]] + [5, 190], *quads[3:]]
        for text, fragment in ((obj(made, triangles), "triangulated on export: export it again with its polygons "),
                               (obj(*lost), "vertices were merged or deleted"),
                               (obj(*split, texcoords=False), "were split on export"),
                               (obj(*twisted), "no other order of its vertices")):
            with self.subTest(fragment=fragment):
                (self.folder / "bad.obj").write_text(text)
                self.refused("add", "body/body.json", "--name", "bent", "--at", POSE, "bad.obj",
                             fragments=("bad.obj: not a sculpt of 'body.obj'", "the vertex order kept"
                                        if "polygons" not in fragment else "kept", fragment))

    # ---- refusals ----

    def test_a_place_that_is_taken(self):
        self.add_bent()
        self.sculpt("again.obj", POSE, amount=0.02)
        add = ("add", "body/body.json")
        self.refused(*add, "--name", "other", "--at", POSE, "again.obj",
                     fragments=("example 'bent_L' of layer 'fore_L' is already at that place", "--replace"))
        self.refused(*add, "--name", "bent_L", "--at", "joint:fore_L=x10y10", "again.obj",
                     fragments=("layer 'fore_L' already has an example 'bent_L'",))
        self.refused(*add, "--replace", "--at", "joint:fore_L=x10y10", "again.obj",
                     fragments=("nothing to replace", "layer 'fore_L'"))
        self.refused(*add, "--replace", "--name", "bent_R", "again.obj",
                     fragments=("no layer has an example 'bent_R'; did you mean 'bent_L'?",))

    def test_replace(self):
        self.add_bent()
        for words in (("--at", POSE), ("--name", "bent_L"), ("--name", "other", "--at", POSE)):
            made = self.sculpt("again.obj", POSE, amount=0.02 * len(words))
            outcome = self.example("add", "--replace", *words, "again.obj")
            self.assertEqual([e["name"] for e in self.project()["layers"][0]["examples"]], ["bent_L"])
            self.assertLess(apart(self.posed(POSE), made), 1e-5 * SIZE)
        self.assertIn("is called 'bent_L' and keeps its name", outcome.err)
        self.assertEqual(self.project()["layers"][0]["examples"][0]["mesh"], "fore_L/bent_L_4.obj")

    def test_commands_at_once_lose_nothing(self):
        """Each waits for the one before, also with the same name, which only the first can have."""
        self.sculpt("s.obj", "joint:fore_L=z20")
        start = ("example", "add", "body/body.json", "--at", "joint:fore_L=z")
        jobs = [subprocess.Popen([harness.TOOL, *start[:-1], start[-1] + str(20 + 15 * i), "--name", name, "s.obj"],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for i, name in enumerate(("a", "b", "c", "c"))]
        ends = [(job.communicate(timeout=100)[1].decode(), job.returncode) for job in jobs]
        self.assertEqual(sorted(code for _, code in ends), [0, 0, 0, 1], ends)
        self.assertIn("has an example 'c'", "".join(text for text, code in ends if code))
        layer, = self.project()["layers"]
        self.assertEqual(sorted(e["name"] for e in layer["examples"]), ["a", "b", "c"])
        self.assertEqual(sorted(p.name for p in (self.home / layer["name"]).iterdir()), ["a.obj", "b.obj", "c.obj"])
        self.assertEqual({p.name for p in self.home.iterdir() if p.name.startswith(".")}, {".body.json.versions"})
        self.succeed("build", "body/body.json", "-q", "-o", "rig.glb")

    def test_sentences(self):
        self.add_bent()
        self.sculpt("s.obj", POSE)
        add = ("add", "body/body.json", "--name", "n")
        for words, fragments in (
                ((*add, "--at", "joint:fore=x10", "s.obj"), ("the skeleton has no joint 'fore'; did you mean",)),
                ((*add, "--at", "fore_l=x10", "s.obj"), ("no axis 'fore_l'; did you mean 'fore_L'?",)),
                ((*add, "--at", "zzz=1", "s.obj"), ("no axis 'zzz'; its axes are: fore_L",)),
                ((*add, "--at", "fore_L=ten", "s.obj"), ("fore_L=ten: a rotation is written",)),
                ((*add, "--at", "fore_L=x1", "fore_L=x2", "s.obj"), ("'fore_L' is given twice",)),
                ((*add, "--at", "fore_L=x0", "s.obj"), ("every axis of that place is at rest",)),
                ((*add, "--at", "fore_L=x5", "--falloff", "arm=3", "s.obj"), ("is calm: its examples have no falloff",)),
                ((*add, "--at", "fore_L=x5", "--falloff", "-3", "s.obj"), ("falloff",)),
                ((*add, "--at", "fore_L=x5", "none.obj"), ("none.obj",)),
                ((*add, "--at", "joint:arm_L=x5", "--layer", "fore_L", "s.obj"), ("no axis of the project reads joint",)),
                ((*add, "--at", "fore_L=x5", "--layer", "fore_K", "s.obj"), ("no layer 'fore_K'; did you mean 'fore_L'?",)),
                ((*add, "--at", "fore_L=x5", "body/skeleton.gltf"), ("not a sculpt of 'body.obj'",)),
                (("move", "body/body.json", "--name", "bent", "--at", "fore_L=x5"), ("did you mean 'bent_L'?",)),
                (("mute", "body/body.json", "--name", "bent_L"), ("mute the layer instead",)),
                (("remove", "body/body.json", "--layer", "fore_L", "--pseudo", "1"), ("has no pseudo-example 1",)),
                (("mirror", "body/body.json", "--name", "bent_L", "--plane", "y=1"),
                 ("example 'bent_L': none of its 27 vertices has a counterpart within the tolerance, 0.02 sizes of the mesh",
                  "does the mesh have another side? (--plane names its plane")),
                (("list", "rig.glb"), ("rig.glb",))):
            with self.subTest(words=words):
                self.refused(*words, fragments=fragments)

    def test_usage(self):
        for words, fragment in (
                (("add", "body/body.json", "s.obj"), "--name is required"),
                (("add", "body/body.json", "--name", "n", "--at", POSE), "the file of the sculpt is"),
                (("add", "body/body.json", "--name", "n", "--at", "x", "s.obj"), "'x' is not of the form name=value"),
                (("add", "body/body.json", "--pseudo", "--at", "a=1"), "--pseudo needs --layer, --at"),
                (("add", "body/body.json", "--replace", "s.obj"), "--replace needs --at or --name"),
                (("move", "body/body.json", "--name", "n"), "--at or --falloff"),
                (("move", "body/body.json", "--pseudo", "1", "--at", "a=1"), "--pseudo needs --layer"),
                (("move", "body/body.json", "--layer", "l", "--pseudo", "1", "--falloff", "1"), "is for examples"),
                (("remove", "body/body.json"), "--name NAME is required"),
                (("remove", "body/body.json", "--layer", "l", "--pseudo", "0"), "a whole number from 1"),
                (("mute", "body/body.json"), "--name NAME is required"),
                (("mirror", "body/body.json", "--name", "n", "--plane", "w"), "--plane needs x, y or z"),
                (("mirror", "body/body.json", "--name", "n", "--plane", "x=a"), "--plane needs x, y or z"),
                (("mirror", "body/body.json"), "--name"),
                (("ad", "body/body.json"), "did you mean 'example add'?"),
                (("zzzz",), "use add, move, rename, remove, mute, mirror or list"),
                ((), "an argument is missing")):
            with self.subTest(words=words):
                self.refused(*words, code=2, fragments=("exemplar example", fragment))

    def test_a_folder_that_cannot_be_written(self):
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        self.sculpt("bent.obj", POSE)
        before = self.listing()
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            words = ("example", "add", "body/body.json", "--name", "bent", "--at", POSE, "bent.obj")
            self.sentence(self.run_tool(*words, modes=True), 1, "cannot write 'body/body.json'")
        finally:
            for path in [self.folder, *self.folder.rglob("*")]:
                path.chmod(0o755)
        self.assertEqual(self.listing(), before)

    def test_a_full_disk(self):
        self.sculpt("bent.obj", POSE)
        before = self.listing()
        words = ("example", "add", "body/body.json", "--name", "bent", "--at", POSE, "bent.obj")
        if not harness.THREAD_SANITIZED:
            self.sentence(self.run_tool(*words, file_size=1000), 1, "bent.obj")
            self.assertEqual(self.listing(), before)
            # The sculpt fits, but the project does not.
            self.write({**self.project(), "layers": []} | {"up": "y"})
            (self.home / "body.json").write_text((self.home / "body.json").read_text() + " " * 60000)
            before = self.listing()
            self.sentence(self.run_tool(*words, file_size=40000), 1, "body.json")
            self.assertEqual(self.listing(), before)

    # ---- mirrors ----

    def mirror(self, *words):
        """At any pose, a sculpt comes back at it. But only at the mirrored pose does it move as little: as many
        vertices as its source."""
        def moved():
            return [(layer["name"], e["name"], e["moved"])
                    for layer in self.example("list", "--moved", "--json").json()["layers"] for e in layer["examples"]]

        name = words[words.index("--name") + 1]
        before = [count for _, example, count in moved() if example == name]
        outcome = self.example("mirror", *words, "--json")
        self.assertEqual([outcome.json()["moved"]], before)
        self.assertLess(outcome.json()["error"], 1e-6 * SIZE)
        return outcome

    def test_mirror_there_and_back(self):
        made = self.add_bent()
        outcome = self.mirror("--name", "bent_L")
        self.assertIn("'fore_R' is added", outcome.err)
        left, right = self.project()["layers"]
        self.assertEqual(right["space"], [{"name": "fore_R", "joint": "fore_R", "rotation": "full"}])
        self.assertEqual(right["examples"][0]["name"], "bent_R")
        turn = right["examples"][0]["at"]["fore_R"]
        other = "fore_R=q:" + ",".join(map(repr, turn))
        self.assertLess(apart(self.posed(other), mirrored(made)), 1e-5 * SIZE)
        self.assertLess(apart(self.posed("fore_L=x60y-20"), made), 1e-5 * SIZE)
        self.refused("mirror", "body/body.json", "--name", "bent_L", "--as", "new",
                     fragments=("example 'bent_R' of layer 'fore_R' is already at the mirrored place",))
        # Back again, the first one is what it was.
        self.mirror("--name", "bent_R", "--replace")
        again = self.project()["layers"][0]
        self.assertEqual((again["name"], again["space"], again["examples"][0]["at"]),
                         (left["name"], left["space"], left["examples"][0]["at"]))
        back = harness.positions_of((self.home / again["examples"][0]["mesh"]).read_text())
        self.assertLess(apart(back, made), 1e-6)

    def test_mirrored_angles_keep_their_values(self):
        made = self.sculpt("bent.obj", "joint:fore_L=z90", "joint:arm_L=x-25y10")
        description = self.project()
        description["layers"] = []
        self.write(description)
        self.example("add", "--name", "left", "--at", "joint:fore_L=z90", "--joint", "joint:arm_L=x-25y10",
                     "--falloff", "fore_L.z=60", "bent.obj")
        description = self.project()
        description["layers"][0]["mask"] = {"joints": ["arm_L", "fore_L"]}
        description["layers"][0]["protect"] = False
        self.write(description)
        self.mirror("--name", "left")
        layer = self.project()["layers"][1]
        axis, = layer["space"]
        self.assertEqual((layer["name"], axis["name"], axis["joint"]), ("fore_R.z", "fore_R.z", "fore_R"))
        self.assertEqual((axis["min"], axis["max"]), (0, 90))
        self.assertEqual(layer["mask"], {"joints": ["arm_R", "fore_R"]})
        self.assertFalse(layer["protect"])
        entry, = layer["examples"]
        self.assertEqual((entry["name"], entry["at"], entry["falloff"]),
                         ("right", {"fore_R.z": 90}, {"fore_R.z": 60}))
        turn = entry["joints"]["arm_R"]
        form = self.posed("joint:arm_R=q:" + ",".join(map(repr, turn)), "fore_R.z=90")
        self.assertLess(apart(form, mirrored(made)), 1e-5 * SIZE)
        description = self.project()
        description["layers"] = [layer]
        self.write(description)
        self.mirror("--name", "right")
        back = self.project()["layers"][1]
        self.assertEqual(back["examples"][0]["at"], {"fore_L.z": 90})
        self.assertEqual(back["mask"], {"joints": ["arm_L", "fore_L"]})
        for a, b in zip(self.numbers(back["space"][0]["angle"]), (0, 0, 1)):
            self.assertAlmostEqual(a, b, delta=1e-6)

    @staticmethod
    def numbers(direction):
        return [float(direction == letter) for letter in "xyz"] if isinstance(direction, str) else direction

    def test_a_joint_in_the_middle_mirrors_to_itself(self):
        pose = "joint:spine=x20y5z30"
        made = self.sculpt("lean.obj", pose)
        self.example("add", "--name", "lean left", "--at", pose, "lean.obj")
        self.mirror("--name", "lean left")
        layer, = self.project()["layers"]
        self.assertEqual([e["name"] for e in layer["examples"]], ["lean left", "lean right"])
        turn = layer["examples"][1]["at"]["spine"]
        form = self.posed("spine=q:" + ",".join(map(repr, turn)))
        self.assertLess(apart(form, mirrored(made)), 1e-5 * SIZE)
        self.assertLess(apart(self.posed("spine=x20y5z30"), made), 1e-5 * SIZE)

    def test_angles_of_the_middle_change_sign_or_not(self):
        write_skeleton(self.home / "skeleton.gltf", upright=True)
        for letter, sign in (("x", 1), ("y", -1), ("z", -1)):
            with self.subTest(axis=letter):
                self.write({"exemplar": 1, "mesh": "body.obj", "skeleton": "skeleton.gltf", "layers": []})
                pose = (f"joint:spine={letter}30", "joint:arm_L=x40")
                made = self.sculpt("lean.obj", *pose)
                self.example("add", "--name", "left", "--at", *pose, "lean.obj")
                base = self.posed(*pose, "--mute", self.project()["layers"][0]["name"])
                self.mirror("--name", "left")
                at = self.project()["layers"][1]["examples"][0]["at"]
                self.assertEqual(at, {f"spine.{letter}": 30 * sign, "arm_R.x": 40})
                # The source's layer acts here too, through the spine: what is mirrored is the offset.
                there = (f"spine.{letter}={30 * sign}", "arm_R.x=40")
                form, without = self.posed(*there), self.posed(*there, "--mute", self.project()["layers"][1]["name"])
                self.assertLess(apart(offsets(form, without), mirrored(offsets(made, base))), 1e-5 * SIZE)
                self.assertLess(apart(self.posed(*there, "--mute", ",".join(one["name"] for one in
                                                                           self.project()["layers"])), mirrored(base)),
                                1e-5 * SIZE)

    def test_dials_are_mirrored_by_name(self):
        dials = [{"name": name, "min": 0, "max": 1} for name in ("smile.L", "smile.R", "open")]
        self.write({"exemplar": 1, "mesh": "body.obj", "layers": [
            {"name": name, "shape": "offsets", "space": [dials[i], dials[2]], "weigh": {"kind": "gaussian"},
             "examples": [{"name": "none", "mesh": "body.obj", "at": {dials[i]["name"]: 0.25}}]}
            for i, name in enumerate(("left", "right"))]})
        made = self.sculpt("smile.obj", "smile.L=1", "open=0.5")
        self.example("add", "--name", "smile.L", "--at", "smile.L=1", "open=0.5", "smile.obj")
        base = self.posed("smile.L=1", "open=0.5", "--mute", "left")
        without = self.posed("smile.R=1", "open=0.5")
        self.mirror("--name", "smile.L")
        self.assertEqual(self.project()["layers"][1]["examples"][1],
                         {"name": "smile.R", "mesh": "right/smile.R.obj", "at": {"smile.R": 1, "open": 0.5}})
        self.refused("mirror", "body/body.json", "--name", "none",
                     fragments=("layers 'left' and 'right' both have an example 'none': name the layer with --layer",))
        written = harness.positions_of((self.home / "right/smile.R.obj").read_text())
        self.assertLess(apart(offsets(written, without), mirrored(offsets(made, base))), 1e-7)

    def test_several_layers_over_the_same_axes(self):
        layer = {"shape": "offsets", "space": [{"name": "d", "min": 0, "max": 1}], "weigh": {"kind": "gaussian"},
                 "examples": [{"name": "one", "mesh": "body.obj", "at": {"d": 1}}]}
        self.write({"exemplar": 1, "mesh": "body.obj", "layers": [{"name": name, **layer} for name in "ab"]})
        self.refused("add", "body/body.json", "--name", "half", "--at", "d=0.5", "body/body.obj",
                     fragments=("several layers are over d: name the layer with --layer",))
        self.example("add", "--name", "half", "--layer", "b", "--at", "d=0.5", "body/body.obj")
        self.assertEqual([len(layer["examples"]) for layer in self.project()["layers"]], [1, 2])

    def test_a_plane_that_is_elsewhere(self):
        def moved(positions):
            return [[x + 3, y, z] for x, y, z in positions]

        dials = [{"name": name, "min": 0, "max": 1} for name in ("smile.L", "smile.R")]
        (self.home / "body.obj").write_text(obj(moved(rest_form())))
        made = bulge(rest_form(), rest_form()[26 * SIDES + 1], 0.1)
        (self.home / "smile.obj").write_text(obj(moved(made)))
        self.write({"exemplar": 1, "mesh": "body.obj", "layers": [
            {"name": "smiles", "shape": "offsets", "space": dials, "weigh": {"kind": "gaussian"},
             "examples": [{"name": "smile.L", "mesh": "smile.obj", "at": {"smile.L": 1}}]}]})
        self.mirror("--name", "smile.L", "--plane", "x=3")
        entry = self.project()["layers"][0]["examples"][1]
        self.assertEqual(entry, {"name": "smile.R", "mesh": "smiles/smile.R.obj", "at": {"smile.R": 1}})
        written = harness.positions_of((self.home / entry["mesh"]).read_text())
        self.assertLess(apart(written, moved(mirrored(made))), 1e-6)

    # ---- other changes ----

    def set_kind(self, kind):
        description = self.project()
        description["layers"][0]["weigh"] = {"kind": kind}
        self.write(description)

    def test_move_mute_remove(self):
        self.add_bent()
        self.sculpt("half.obj", "fore_L=x30y-10", amount=0.03)
        self.example("add", "--name", "half", "--at", "fore_L=x30y-10", "half.obj")
        self.refused("move", "body/body.json", "--name", "half", "--at", "fore_L=x60y-20",
                     fragments=("example 'bent_L' of layer 'fore_L' is already at that place",))
        self.assertEqual(self.example("move", "--name", "half", "--at", "fore_L=x35").out,
                         "body/body.json: example 'half' moved\n")
        self.assertEqual(self.project()["layers"][0]["examples"][1]["at"], {"fore_L": {"x": 35}})
        self.refused("move", "body/body.json", "--name", "half", "--falloff", "fore_L=20",
                     fragments=("layer 'fore_L' is calm: its examples have no falloff",))
        self.set_kind("gaussian")
        self.assertEqual(self.example("move", "--name", "half", "--falloff", "fore_L=20").out,
                         "body/body.json: example 'half' changed\n")
        self.assertEqual(self.project()["layers"][0]["examples"][1]["falloff"], {"fore_L": 20})
        self.assertIn("falloff fore_L=20\n", self.example("list").out)
        self.refused("move", "body/body.json", "--name", "half", "--falloff", "arm=20", fragments=("arm",))
        self.example("move", "--name", "half", "--falloff", "layer")
        self.assertNotIn("falloff", self.project()["layers"][0]["examples"][1])
        self.example("mute", "--name", "half")
        self.assertTrue(self.project()["layers"][0]["examples"][1]["muted"])
        listed = self.example("list", "--json", "--moved").json()["layers"][0]["examples"]
        self.assertEqual([(e["name"], e["muted"]) for e in listed], [("bent_L", False), ("half", True)])
        self.refused("remove", "body/body.json", "--name", "bent_L", fragments=("is not muted",))
        self.example("mute", "--name", "half", "--off")
        self.assertNotIn("muted", self.project()["layers"][0]["examples"][1])
        self.example("mute", "--layer", "fore_L")
        self.assertTrue(self.project()["layers"][0]["muted"])
        self.assertIn("muted", self.example("list").out.splitlines()[0])
        self.example("mute", "--layer", "fore_L", "--off")
        self.example("remove", "--name", "half")
        self.assertEqual([e["name"] for e in self.project()["layers"][0]["examples"]], ["bent_L"])
        outcome = self.example("remove", "--name", "bent_L")
        self.assertIn("was the last example of layer 'fore_L', which is removed too", outcome.err)
        self.assertEqual(self.project()["layers"], [])
        self.assertTrue((self.home / "fore_L/bent_L.obj").exists())
        self.assertEqual(self.example("list").out, "body/body.json: no layers yet\n")

    def test_pseudo_examples(self):
        self.sculpt("one.obj", "joint:fore_L=z90")
        self.example("add", "--name", "one", "--at", "joint:fore_L=z90", "one.obj")
        self.example("add", "--pseudo", "--layer", "fore_L.z", "--at", "fore_L.z=60", "--weights", "one=0.9")
        added = self.example("add", "--pseudo", "--layer", "fore_L.z", "--at", "fore_L.z=120", "--from", "fore_L.z=90")
        self.assertEqual(added.out, "body/body.json: layer 'fore_L.z', pseudo-example 2\n")
        self.assertEqual(re.findall(r"pseudo (\d+)  fore_L.z=(\d+)", self.example("list").out), [("1", "60"), ("2", "120")])
        self.assertEqual(self.project()["layers"][0]["pseudo"],
                         [{"weights": {"one": 0.9}, "at": {"fore_L.z": 60}},
                          {"from": {"fore_L.z": 90}, "at": {"fore_L.z": 120}}])
        listed = self.example("list", "--json").json()["layers"][0]["pseudo"]
        self.assertEqual([(p["at"], p.get("weights"), p.get("from")) for p in listed],
                         [({"fore_L.z": 60}, {"one": 0.9}, None), ({"fore_L.z": 120}, None, {"fore_L.z": 90})])
        self.example("move", "--layer", "fore_L.z", "--pseudo", "1", "--at", "fore_L.z=50", "--weights", "one=0.5")
        self.assertEqual(self.project()["layers"][0]["pseudo"][0], {"weights": {"one": 0.5}, "at": {"fore_L.z": 50}})
        self.example("remove", "--layer", "fore_L.z", "--pseudo", "2")
        self.assertEqual([pseudo["at"] for pseudo in self.project()["layers"][0]["pseudo"]], [{"fore_L.z": 50}])
        self.refused("add", "body/body.json", "--pseudo", "--layer", "fore_L.z", "--at", "fore_L.z=20", "--weights",
                     "two=1", fragments=("two",))

    def test_list(self):
        self.add_bent()
        answer = self.example("list", "--json", "--moved").json()
        layer, = answer["layers"]
        self.assertEqual((layer["name"], layer["shape"], layer["muted"], layer["pseudo"]),
                         ("fore_L", "offsets", False, []))
        entry, = layer["examples"]
        self.assertEqual((entry["name"], entry["mesh"], entry["muted"]), ("bent_L", "fore_L/bent_L.obj", False))
        self.assertGreater(entry["moved"], 5)
        # Values in the text can be typed.
        words = self.example("list").out.splitlines()[1].split()
        self.assertEqual(words[0], "bent_L")
        self.assertLess(apart(self.posed(words[1]), self.posed("fore_L=x60y-20")), 1e-5)

    def test_places_where_a_layer_does_nothing_are_told(self):
        self.sculpt("one.obj", "joint:fore_L=z90", "joint:arm_L=x30")
        outcome = self.example("add", "--name", "one", "--at", "joint:fore_L=z90", "joint:arm_L=x30", "one.obj")
        self.assertIn("has just the axes fore_L.z and arm_L.x", outcome.err)
        self.assertNotIn("held at zero", outcome.err)  # but at rest
        # Over an axis that another layer has, a layer is zero at rest and at that layer's sculpts.
        self.sculpt("two.obj", "fore_L.z=60")
        outcome = self.example("add", "--name", "two", "--at", "fore_L.z=60", "--falloff", "fore_L.z=25", "two.obj")
        self.assertIn("'fore_L.z' is held at zero at 1 place where earlier layers have examples", outcome.err)
        layer = self.example("list", "--json").json()["layers"][1]
        self.assertEqual(layer["zeros"], [{"fore_L.z": 0}, {"fore_L.z": 90}])
        listed = self.example("list", "--layer", "fore_L.z").out.splitlines()
        self.assertEqual([line.split() for line in listed[2:]], [["zero", "fore_L.z=0"], ["zero", "fore_L.z=90"]])
        self.assertTrue(listed[1].endswith("  falloff fore_L.z=25"), listed[1])
        # With its own axis, it does not affect sculpts made where that axis is at rest.
        self.sculpt("three.obj", "fore_L.z=45", "joint:fore_R=z20")
        outcome = self.example("add", "--name", "three", "--at", "fore_L.z=45", "joint:fore_R=z20", "three.obj")
        self.assertIn("'fore_L.z_fore_R.z' is held at zero at 2 places where earlier layers have examples", outcome.err)
        zeros = self.example("list", "--json").json()["layers"][2]["zeros"]
        self.assertEqual(zeros, [{"fore_L.z": z, "fore_R.z": 0} for z in (0, 90, 60)])

    def test_sculpts_in_another_unit_are_refused(self):
        made = self.add_bent()
        add = ("add", "--name", "new", "--at", "fore_L=x30")
        before = self.listing()
        for factor, unit, scale in ((100, "centimetres", "0.01"), (1000, "millimetres", "0.001"),
                                    (1 / 0.0254, "inches", "0.0254")):
            (self.folder / "other.obj").write_text(obj([[factor * x for x in p] for p in made]))
            outcome = self.run_tool("example", "add", "body/body.json", *add[1:], "other.obj")
            self.sentence(outcome, 1, "other.obj is ", "times as large as the mesh", f"it is likely in {unit}",
                          f"export it in metres, or scale it by {scale} with --scale; --force takes it as it is")
        (self.folder / "other.obj").write_text(obj([[0.03 * x for x in p] for p in made]))
        outcome = self.run_tool("example", "add", "body/body.json", *add[1:], "other.obj")
        self.sentence(outcome, 1, "times as large as the mesh: it is likely in another unit; export it in metres")
        (self.folder / "other.obj").write_text(obj([[x + 100 * SIZE for x in p] for p in made]))
        outcome = self.run_tool("example", "add", "body/body.json", *add[1:], "other.obj")
        self.sentence(outcome, 1, "times the mesh's size away from the mesh", "--force takes it as it is")
        (self.folder / "other.obj").unlink()
        self.assertEqual(self.listing(), before)
        self.sentence(self.run_tool("example", "add", "body/body.json", *add[1:], "--scale", "much", "a.obj"), 2,
                      "--scale needs a number above 0, not 'much'")

    def test_sculpts_are_scaled(self):
        made = self.sculpt("metres.obj", "joint:fore_L=z90")
        (self.home / "large.obj").write_text(obj([[100 * x for x in p] for p in made]))
        self.example("add", "--name", "bent", "--at", "joint:fore_L=z90", "--scale", "0.01", "body/large.obj")
        # The file in the project's folder is in centimetres: the project refers to a copy.
        self.assertEqual(self.project()["layers"][0]["examples"][0]["mesh"], "fore_L.z/bent.obj")
        self.assertLess(apart(self.posed("fore_L.z=90"), made), 1e-5 * SIZE)

    def test_a_sculpt_of_another_pose_is_refused(self):
        """The form at rest with a vertex far off, given as a sculpt at a pose."""
        form = self.posed()
        size = max(max(p[c] for p in form) - min(p[c] for p in form) for c in range(3))
        off = [[p[0], p[1] + 0.9 * size, p[2]] if p == form[-1] else p for p in form]
        (self.folder / "off.obj").write_text(obj(off))
        self.refused("add", "body/body.json", "--name", "off", "--at", POSE, "off.obj",
                     fragments=("of the mesh's size away from the form at its pose: sculpt on what 'pose' writes",
                                "--force takes it as it is"))
        self.example("add", "--name", "off", "--at", POSE, "--force", "off.obj")

    def test_doubts_are_told(self):
        made = self.add_bent()
        (self.folder / "large.obj").write_text(obj([[100 * x for x in p] for p in made]))
        outcome = self.example("add", "--name", "large", "--at", "fore_L=x30", "--force", "large.obj")
        self.assertIn("away from the form at its pose: is it in the project's unit", outcome.err)
        self.example("remove", "--name", "large")
        # Two places close together with different forms, and falloffs far larger than their distance.
        self.sculpt("close.obj", "fore_L=x58y-20", amount=0.02)
        self.set_kind("gaussian")
        outcome = self.example("add", "--name", "close", "--at", "fore_L=x58y-20", "close.obj")
        self.assertNotIn("away from the form", outcome.err)
        self.assertRegex(outcome.err, r"layer 'fore_L' swings between its poses: the weight of '\w+' reaches -?\d")

    def test_a_moved_or_turned_object_is_told(self):
        form = self.posed(POSE)
        made = bulge(form, form[26 * SIDES + 1], 0.1)
        moved = "all vertices moved by about (0.1, 0, 0): was the object moved? Clear its location before you export"
        for number, (shift, told) in enumerate((([0.1, 0, 0], True), ([0, 0, 0], False))):
            (self.folder / "moved.obj").write_text(obj([[x + s for x, s in zip(p, shift)] for p in made]))
            outcome = self.example("add", "--name", f"moved{number}", "--at", POSE, "moved.obj")
            self.assertEqual(moved in outcome.err, told, outcome.err)
            self.example("remove", "--name", f"moved{number}")
        # Every vertex moves, each its own way.
        centre = [sum(p[c] for p in form) / len(form) for c in range(3)]
        (self.folder / "fat.obj").write_text(obj([[x + 0.1 * (x - c) for x, c in zip(p, centre)] for p in form]))
        outcome = self.example("add", "--name", "fat", "--at", POSE, "fat.obj")
        self.assertNotIn("was the object moved", outcome.err)
        self.example("remove", "--name", "fat")
        # An arm that is bent forwards lies in another plane after a turn about x.
        wide = "joint:arm_L=x50y40z30"
        form = self.posed(wide)
        for turn in (lambda x, y, z: [x, z, -y], lambda x, y, z: [x, -z, y]):
            (self.folder / "turned.obj").write_text(obj([turn(*p) for p in form]))
            outcome = self.example("add", "--name", "turned", "--at", wide, "--force", "turned.obj")
            self.assertIn("it lies on its side: export it with Up Axis Y", outcome.err)
            self.example("remove", "--name", "turned")

    def test_order_of_keys_is_kept(self):
        text = ('{"layers": [], "unit": "m", "mesh": "body.obj", "exemplar": 1, "skinning": "dual_quaternion", '
                '"skeleton": "skeleton.gltf"}')
        (self.home / "body.json").write_text(text)
        made = self.add_bent()
        self.assertEqual(list(self.project()), ["layers", "unit", "mesh", "exemplar", "skinning", "skeleton"])
        self.assertLess(apart(self.posed(POSE), made), 1e-5 * SIZE)


if __name__ == "__main__":
    harness.main()
