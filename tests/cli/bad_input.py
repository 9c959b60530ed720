"""Bad input: exit code 1, one sentence that names the file and the place, and nothing left behind or changed."""
import json
import struct

import harness
import scenes


def with_layer(change):
    """A project with its only layer changed."""
    description = harness.project()
    change(description["layers"][0])
    return json.dumps(description)


def moved_example(layer):
    layer["examples"][2]["at"] = dict(layer["examples"][1]["at"])


def unknown_key(layer):
    layer["examples"][3]["att"] = layer["examples"][3].pop("at")


def glb(length, chunk, body=b""):
    """The start of a .glb that promises more than it has; 100 bytes."""
    return (struct.pack("<4sIIII", b"glTF", 2, length, chunk, 0x4E4F534A) + body).ljust(100, b" ")


PROMISE = 3_000_000_000
FORM = harness.obj_text(harness.REST)

# name, files to add, words, fragments of the sentence
TABLE = [
    # files that do not exist, or are not files
    ("missing project", {}, ["build", "none.json"], ["none.json", "No such file"]),
    ("missing project, check", {}, ["check", "none.json"], ["none.json", "No such file"]),
    ("missing rig", {}, ["weights", "none.glb"], ["none.glb", "No such file"]),
    ("missing file", {}, ["info", "none"], ["none", "No such file"]),
    ("missing poses", {}, ["pose", "band.glb", "--poses", "none.csv", "-o", "out"], ["none.csv", "No such file"]),
    ("missing form", {"a.json": json.dumps(harness.project()).replace("thick.obj", "gone.obj")}, ["build", "a.json"],
     ["gone.obj", "No such file"]),
    ("missing mesh", {"a.json": '{"exemplar": 1, "mesh": "gone.obj", "layers": []}'}, ["build", "a.json"],
     ["a.json: mesh: cannot read 'gone.obj'", "No such file"]),
    ("missing skeleton", {"a.json": json.dumps({**harness.project(), "skeleton": "gone.glb"})}, ["build", "a.json"],
     ["a.json: skeleton: cannot read 'gone.glb'", "No such file"]),
    ("missing image", {"a.json": json.dumps({**harness.project(), "layers": [
        {**harness.project()["layers"][0], "shape": "pixels", "texture": "base_color",
         "examples": [{"name": "a", "image": "gone.png", "at": {}}]}]})}, ["build", "a.json"],
     ["image: cannot read 'gone.png'", "No such file"]),
    ("other connectivity", {"a.json": json.dumps(harness.project()).replace("thick.obj", "other.obj"),
                            "other.obj": "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"}, ["build", "a.json"],
     ["other.obj: not the form of", "('exemplar check' says if another order of vertices would repair it)"]),
    ("comments", {"a.json": '{"exemplar": 1, // one\n "mesh": "bent.obj"}'}, ["build", "a.json"],
     ["a.json:1:", "JSON has no comments"]),
    ("comment at the end", {"a.json": '{"exemplar": 1, "mesh": "bent.obj", "layers": []} /* done */'},
     ["build", "a.json"], ["a.json:1:", "JSON has no comments"]),
    ("endless device", {}, ["info", "/dev/zero"], ["'/dev/zero' is a device, not a file"]),
    ("table without rows", {"a.csv": "bend\n"}, ["pose", "band.glb", "--poses", "a.csv", "-o", "out"],
     ["a.csv has no rows"]),
    ("folder as a project", {}, ["build", "sub"], ["sub", "directory"]),
    ("folder as a rig", {}, ["weights", "sub"], ["sub", "directory"]),
    ("folder as a file", {}, ["info", "sub"], ["sub", "directory"]),
    ("folder as a table", {}, ["pose", "band.glb", "--poses", "sub", "-o", "out"], ["sub", "directory"]),
    ("folder as a form", {"a.json": json.dumps(harness.project()).replace("thick.obj", "sub.obj")}, ["build", "a.json"],
     ["sub.obj", "directory"]),
    # the wrong kind of file
    ("rig as a project", {}, ["build", "band.glb"], ["'band.glb' is a rig, not a project", "exemplar unpack band.glb"]),
    ("rig as a project, check", {}, ["check", "band.glb"], ["is a rig, not a project"]),
    ("project as a rig", {}, ["pose", "band.json", "-o", "a.obj"],
     ["'band.json' is a project, not a rig", "exemplar build band.json"]),
    ("form as a rig", {}, ["unpack", "bent.obj", "-o", "out"], ["'bent.obj' is a form, not a rig"]),
    ("form as a project", {}, ["build", "bent.obj"], ["'bent.obj' is a form, not a project"]),
    ("no known kind", {"a.txt": "hello"}, ["info", "a.txt"], ["'a.txt' is not a file that Exemplar reads"]),
    ("text as a rig", {"a.glb": "hello"}, ["info", "a.glb"], ["a.glb"]),
    ("empty rig", {"a.glb": ""}, ["weights", "a.glb"], ["a.glb"]),
    ("empty form", {"a.obj": ""}, ["info", "a.obj"], ["a.obj"]),
    ("empty project", {"a.json": ""}, ["build", "a.json"], ["a.json"]),
    # projects
    ("unknown key", {"a.json": with_layer(unknown_key)}, ["build", "a.json"], ["a.json", "layers[0].examples[3]", "att"]),
    ("NaN in a project", {"a.json": json.dumps(harness.project()).replace('"max": 90', '"max": NaN')},
     ["build", "a.json"], ["a.json"]),
    ("text after the end", {"a.json": json.dumps(harness.project()) + " more"}, ["build", "a.json"], ["a.json"]),
    ("two examples at one place", {"a.json": with_layer(moved_example)}, ["build", "a.json"], ["bent", "thick"]),
    ("mistyped axis", {"a.json": json.dumps(harness.project()).replace('"at": {"bend": 90, "girth": 1}',
                                                                        '"at": {"bned": 90, "girth": 1}')},
     ["build", "a.json"], ["layers[0].examples[3].at", "bned", "bend"]),
    # forms
    ("NaN in a form", {"thick.obj": FORM.replace("v 1 ", "v nan ", 1)}, ["build", "band.json"], ["thick.obj", "nan"]),
    ("other connectivity", {"thick.obj": FORM.replace("f 1/1 3/3 4/4 2/2", "f 1/1 4/4 3/3 2/2")},
     ["build", "band.json"], ["thick", "face"]),
    ("other vertex count", {"thick.obj": FORM.replace("vt", "v 9 9 9\nvt", 1)}, ["build", "band.json"],
     ["thick", "9", "8"]),
    ("index out of range", {"a.obj": "v 0 0 0\nf 1 2 3\n"}, ["info", "a.obj"], ["a.obj:2"]),
    # rigs that promise more than they have
    ("3 GB of file in 100 bytes", {"a.glb": glb(PROMISE, 20)}, ["info", "a.glb"], ["a.glb"]),
    ("3 GB of chunk in 100 bytes", {"a.glb": glb(100, PROMISE)}, ["weights", "a.glb"], ["a.glb"]),
    ("3 GB of both in 100 bytes", {"a.glb": glb(PROMISE, PROMISE)}, ["pose", "a.glb", "-o", "a.obj"], ["a.glb"]),
    # poses
    ("value that is no number", {}, ["weights", "band.glb", "bend=much"], ["bend", "much"]),
    ("value that is not finite", {}, ["weights", "band.glb", "bend=nan"], ["bend", "nan"]),
    ("unknown column", {"p.csv": "bend,grith\n1,2\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "out"],
     ["p.csv", "grith", "girth"]),
    ("short row", {"p.csv": "bend,girth\n1,2\n3\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "out"],
     ["p.csv:3: there is 1 field"]),
    ("word in a row", {"p.csv": "bend,girth\n1,2\n3,x\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "out"],
     ["p.csv:3: 'x' in column 'girth'"]),
    ("semicolons", {"p.csv": "bend;girth\n1;2\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "out"],
     ["p.csv:1: columns are separated by commas"]),
    ("UTF-16", {"p.csv": "\ufeffbend\r\n1\r\n".encode("utf-16-le")},
     ["pose", "band.glb", "--poses", "p.csv", "-o", "out"], ["p.csv: this is UTF-16"]),
    ("line breaks in a name", {}, ["weights", "no\nsuch\n.glb"], [r"no\nsuch\n.glb"]),
    # places that cannot be written to
    ("rig into a missing folder", {}, ["build", "band.json", "-o", "no/a.glb"], ["no/a.glb", "the folder 'no' does not exist"]),
    ("rig over a folder", {}, ["build", "band.json", "-o", "sub"], ["cannot write 'sub': it is a folder"]),
    ("form over a folder", {}, ["pose", "band.glb", "-o", "sub"], ["cannot write 'sub': it is a folder"]),
    ("forms into a file", {"p.csv": "bend\n1\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "band.json"],
     ["band.json"]),
    ("forms below a file", {"p.csv": "bend\n1\n"}, ["pose", "band.glb", "--poses", "p.csv", "-o", "band.json/x"],
     ["band.json"]),
    ("project below a file", {}, ["unpack", "band.glb", "-o", "band.json/x"], ["band.json"]),
    ("demo below a file", {}, ["demo", "blob", "-o", "band.json/x"], ["band.json"]),
    ("plot of a project", {}, ["plot", "band.json", "-o", "a.svg"], ["'band.json' is a project, not a rig"]),
    ("plot along an unknown axis", {}, ["plot", "band.glb", "--axes", "bned", "-o", "a.svg"], ["bned", "'bend'"]),
    ("plot over an unknown axis", {}, ["plot", "band.glb", "--axes", "bend,grith", "-o", "a.svg"], ["grith", "'girth'"]),
    ("plot over one axis twice", {}, ["plot", "band.glb", "--axes", "bend,bend", "-o", "a.svg"], ["'bend' is given twice"]),
    ("plot of an unknown layer", {}, ["plot", "band.glb", "--layer", "bodi", "-o", "a.svg"], ["bodi", "'body'"]),
    ("plotted axis with a value", {}, ["plot", "band.glb", "bend=3", "--axes", "bend", "-o", "a.svg"],
     ["'bend=3'", "which is plotted"]),
    ("plot that is too small", {}, ["plot", "band.glb", "--size", "20x20", "-o", "a.svg"], ["20 by 20", "240 by 180"]),
    ("plot that is too large", {}, ["plot", "band.glb", "--size", "1e6x400", "-o", "a.svg"], ["16384"]),
    ("plot on a full disk", {}, ["plot", "band.glb", "-o", "/dev/full"], ["/dev/full", "No space left"]),
    ("rig on a full disk", {}, ["build", "band.json", "-o", "/dev/full"], ["/dev/full", "No space left"]),
    ("form on a full disk", {}, ["pose", "band.glb", "-o", "/dev/full"], ["/dev/full", "No space left"]),
]

# words that print data to stdout
PRINTING = [["info", "band.glb"], ["info", "bent.obj", "--json"], ["weights", "band.glb"], ["check", "band.json"],
            ["build", "band.json"], ["pose", "band.glb", "-o", "-"], ["plot", "band.glb", "-o", "-"], ["info", "--capabilities"], ["-h"], ["build", "-h"],
            ["--version"]]

# words that write files, and file sizes at which the disk is full: at once, after some bytes, after complete files
WRITING = [
    (["build", "band.json", "-o", "new.glb"], (0, 100, 4000)),
    (["unpack", "band.glb", "-o", "out/deep"], (0, 100, 500)),
    (["pose", "band.glb", "-o", "new.obj"], (0, 100)),
    (["plot", "band.glb", "-o", "new.svg"], (0, 100)),
    (["plot", "band.glb", "-o", "new.png"], (0, 100)),
    (["pose", "band.glb", "--poses", "p.csv", "-o", "out/deep"], (0, 100)),
    (["pose", "band.glb", "--poses", "p.csv", "-o", "sub"], (0, 100)),
    (["demo", "blob", "-o", "out/deep"], (0, 100, 60000)),
    (["demo", "blob", "-o", "sub"], (0, 100, 60000)),
]


class BadInput(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        (self.folder / "sub").mkdir()
        (self.folder / "sub.obj").mkdir()
        self.succeed("build", "band.json")

    def write(self, files):
        for name, content in files.items():
            data = content if isinstance(content, bytes) else content.encode()
            (self.folder / name).write_bytes(data)

    def refuse(self, words, fragments, **how):
        """One sentence, exit code 1, no change."""
        before = self.listing()
        outcome = self.run_tool(*words, **how)
        self.sentence(outcome, 1, *fragments)
        self.assertEqual(outcome.out, "")
        self.assertEqual(self.listing(), before)

    def test_table(self):
        kept = self.listing()
        for name, files, words, fragments in TABLE:
            with self.subTest(name):
                self.write(files)
                self.refuse(words, fragments, memory=1 << 30)
            for path in files:
                (self.folder / path).unlink()
                if kept.get(path) is not None:
                    (self.folder / path).write_bytes(kept[path])

    def skeleton(self, change=None):
        """skeleton.gltf, in which `tip` hangs on `root` and moves the band's far end, and a project that slides it."""
        scene = scenes.Scene()
        mesh = scene.mesh("band", harness.REST, influences=[([0, 1, 0, 0], [1 - x / 3, x / 3, 0, 0])
                                                            for x, _, _ in harness.REST])
        scene.node(name="root", children=[1])
        scene.node(shown=False, name="tip")
        scene.node(mesh=mesh, skin=scene.skin([0, 1]))
        if change:
            change(scene.json["nodes"])
        scene.write(self.folder / "skeleton.gltf")
        description = harness.project()
        description["skeleton"] = "skeleton.gltf"
        description["layers"][0]["space"].append({"name": "lift", "joint": "root", "slide": "y", "min": -1, "max": 1})
        self.write({"posed.json": json.dumps(description)})

    def test_joints_are_not_moved_out_of_the_world(self):
        self.skeleton()
        self.succeed("build", "posed.json")
        self.succeed("weights", "posed.glb", "lift=1e6", "-q")
        for value in ("1e30", "-1e308"):
            self.refuse(["pose", "posed.glb", f"lift={value}", "-o", "a.obj"], [f"lift={value}: no joint can be moved"])
        self.write({"p.csv": "bend,lift\n0,0\n0,1e30\n"})
        self.refuse(["pose", "posed.glb", "--poses", "p.csv", "-o", "out"], ["p.csv:3: 'lift' is 1e+30: no joint"])
        text = (self.folder / "posed.json").read_text().replace('"bend": 90, "girth": 1}',
                                                                '"bend": 90, "girth": 1, "lift": 1e30}')
        self.write({"posed.json": text})
        self.refuse(["build", "posed.json"], ["layers[0].examples[3].at.lift: joint 'root' cannot be moved there: 1e+30 is too far"])

    def test_a_circle_is_found_behind_a_long_chain(self):
        def add_chain(nodes, length=100000):
            nodes[1]["children"] = [len(nodes)]
            nodes += [{"children": [len(nodes) + i + 1]} for i in range(length)]
            nodes += [{}, {"children": [len(nodes) + 2]}, {"children": [len(nodes) + 1]}]
        self.skeleton(add_chain)
        self.refuse(["build", "posed.json"], ["skeleton.gltf", "is its own ancestor"])

    def test_standard_output_on_a_full_disk(self):
        for words in PRINTING:
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                self.sentence(self.run_tool(*words, stdout=full), 1, "No space left")

    def test_a_disk_that_fills_up_leaves_nothing(self):
        if harness.THREAD_SANITIZED:
            self.skipTest("the thread sanitizer needs files of any size")
        self.write({"p.csv": "bend\n1\n2\n3\n"})
        for words, sizes in WRITING:
            for size in sizes:
                with self.subTest(words=words, size=size):
                    self.refuse(words, ["File too large"], file_size=size)

    def test_a_failed_build_keeps_the_old_rig(self):
        if harness.THREAD_SANITIZED:
            self.skipTest("the thread sanitizer needs files of any size")
        self.refuse(["build", "band.json"], ["band.glb"], file_size=100)
        self.succeed("weights", "band.glb")

    def test_a_protected_file_is_not_replaced(self):
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        (self.folder / "sub").chmod(0o555)
        self.refuse(["build", "band.json", "-o", "sub/a.glb"], ["sub/a.glb", "Permission denied"], modes=True)
        self.refuse(["unpack", "band.glb", "-o", "sub/a"], ["sub/a", "Permission denied"], modes=True)
        (self.folder / "band.glb").chmod(0o444)
        self.refuse(["build", "band.json"], ["band.glb", "Permission denied"], modes=True)
        (self.folder / "band.json").chmod(0o000)
        self.sentence(self.run_tool("build", "band.json", "-o", "a.glb", modes=True), 1, "band.json", "Permission denied")

    def test_truncated_rigs(self):
        rig = (self.folder / "band.glb").read_bytes()
        step = max(1, len(rig) // 60)
        for length in [*range(0, 40, 3), *range(40, len(rig), step), len(rig) - 1]:
            with self.subTest(length=length):
                self.write({"cut.glb": rig[:length]})
                self.refuse(["weights", "cut.glb"], ["cut.glb"], memory=1 << 30)

    def test_damaged_rigs_give_a_sentence_or_the_same_answer(self):
        rig = (self.folder / "band.glb").read_bytes()
        good = self.succeed("weights", "band.glb", "bend=40", "--json").out
        step = max(1, len(rig) // 60)
        for place in range(0, len(rig), step):
            with self.subTest(place=place):
                damaged = bytearray(rig)
                damaged[place] ^= 0x55
                self.write({"cut.glb": bytes(damaged)})
                outcome = self.run_tool("weights", "cut.glb", "bend=40", "--json", memory=1 << 30)
                if outcome.code == 0:
                    self.assertEqual(outcome.out, good)
                else:
                    self.sentence(outcome, 1, "cut.glb")
                    self.assertEqual(outcome.out, "")


harness.main()
