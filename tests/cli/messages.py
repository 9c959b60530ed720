"""Messages for common mistakes: a file of another program, wrongly joined settings, outputs that cannot be written,
values outside an axis, sculpts in another unit. Each is one sentence that says what to do."""
import re
import shutil

import harness

FBX = b"Kaydara FBX Binary  \x00\x1a\x00" + bytes(200)
BLENDER = "import it into Blender and choose File > Export > glTF 2.0"

# name, bytes, words (FILE is the file), fragments of the sentence
FOREIGN = [
    ("model.fbx", FBX, ["init", "FILE"], ["this is an FBX file", "a scene is read from .glb or .gltf", BLENDER]),
    ("model.fbx", b"; FBX 7.4.0 project file\n", ["info", "FILE"], ["this is an FBX file", "a mesh is read from", BLENDER]),
    ("model.fbx", FBX, ["build", "FILE"], ["this is an FBX file", "a project is a .json file", BLENDER]),
    ("model.fbx", FBX, ["weights", "FILE"],
     ["this is an FBX file", "a rig is a .glb file that Exemplar has built", BLENDER, "'exemplar init' makes a project from that"]),
    ("model.fbx", FBX, ["check", "FILE"], ["this is an FBX file", BLENDER, "'exemplar init' makes a project from that"]),
    ("model.fbx", FBX, ["edit", "FILE", "--no-open"], ["this is an FBX file", BLENDER]),
    ("model.fbx", FBX, ["edit", "--export", "a.html", "FILE"], ["this is an FBX file", BLENDER]),
    ("model.usdz", b"PK\x03\x04" + bytes(60), ["init", "bent.obj", "FILE"], ["this is a USD file", BLENDER]),
    ("model.fbx", FBX, ["render", "FILE", "-o", "a.png"], ["this is an FBX file", "a mesh is read from"]),
    ("model.fbx", FBX, ["render", "FILE", "bend=1", "-o", "a.png"], ["this is an FBX file", "a mesh is read from"]),
    ("model.fbx", FBX, ["diff", "FILE", "bent.obj"], ["this is an FBX file", "a mesh is read from"]),
    ("model.fbx", FBX, ["example", "add", "band.json", "FILE", "--name", "new", "--at", "bend=10"], ["this is an FBX file", BLENDER]),
    ("model.fbx", FBX, ["warp", "bent.obj", "FILE", "-o", "out.glb"], ["this is an FBX file", BLENDER]),
    ("walk.fbx", FBX, ["bake", "band.glb", "--motion", "FILE", "-o", "a.glb"],
     ["this is an FBX file", "motion is read from .bvh, .glb, .gltf or .csv", "or Motion Capture (.bvh)"]),
    ("renamed.obj", FBX, ["info", "FILE"], ["this is an FBX file", "a mesh is read from"]),
    ("renamed.glb", FBX, ["init", "FILE"], ["this is an FBX file", BLENDER]),
    ("scene.blend", b"BLENDER-v300", ["init", "FILE"], ["a Blender file", "In Blender, choose File > Export > glTF 2.0"]),
    ("scene.ma", b"//Maya ASCII 2024 scene\n", ["init", "FILE"], ["a Maya file", "In Maya, export FBX"]),
    ("scene.mb", b"FOR8", ["info", "FILE"], ["a Maya file", "In Maya, choose File > Export Selection", "OBJexport"]),
    ("cloth.abc", b"\x89HDF\r\n\x1a\n", ["info", "FILE"], ["an Alembic file", "save it as Ogawa"]),
    ("cloth.obj", b"Ogawa\xff\x00\x01" + bytes(8), ["info", "FILE"], ["this is an Alembic file: rename it to end in .abc"]),
    ("a.usda", b"#usda 1.0\n", ["init", "FILE"], ["a USD file", BLENDER]),
    ("a.usdz", b"PK\x03\x04" + bytes(60), ["init", "FILE"], ["a USD file", BLENDER]),
    ("a.stl", b"solid a\n facet normal 0 0 1\n", ["info", "FILE"], ["an STL file", BLENDER]),
    ("a.dae", b"<?xml version='1.0'?>", ["init", "FILE"], ["a Collada file", BLENDER]),
    ("a.3ds", b"MM\x00\x00", ["info", "FILE"], ["a 3DS file", BLENDER]),
    ("a.max", b"\xd0\xcf\x11\xe0", ["init", "FILE"], ["a 3ds Max file", "Export it from 3ds Max as glTF"]),
    ("a.c4d", b"QC4DC4D6", ["init", "FILE"], ["a Cinema 4D file", "Export it from Cinema 4D as glTF"]),
    ("a.zip", b"PK\x03\x04" + bytes(60), ["info", "FILE"], ["an archive", "Unpack it and give the file inside"]),
    ("a.glb", b"version https://git-lfs.github.com/spec/v1\n", ["init", "FILE"], ["Git LFS", "Download the file again"]),
    ("a.obj", b"<!DOCTYPE html><html></html>", ["info", "FILE"], ["a web page", "Download the file again"]),
    ("a.xlsx", b"PK\x03\x04" + bytes(60), ["pose", "band.glb", "--poses", "FILE", "-o", "out"],
     ["a spreadsheet", "poses are read from .csv", "Save it as CSV"]),
    # own formats in the wrong place
    ("a.obj", harness.png(2, 2), ["example", "add", "band.json", "FILE", "--name", "new", "--at", "bend=10"],
     ["a PNG image", "a mesh is read from"]),
    ("b.obj", b"glTF\x02\x00\x00\x00" + bytes(60), ["example", "add", "band.json", "FILE", "--name", "new", "--at", "bend=10"],
     ["this is a glTF file: rename it to end in .glb"]),
]

# words, exit code, fragments of the sentence
JOINED = [
    (["weights", "band.glb", "bend=5,girth=1"], 1, ["write each setting as a word of its own: bend=5 girth=1"]),
    (["pose", "band.glb", "bend=5;girth=1", "-o", "a.obj"], 1, ["a word of its own: bend=5 girth=1"]),
    (["render", "band.glb", "bend=5, girth=1", "-o", "a.png"], 1, ["a word of its own: bend=5 girth=1"]),
    (["weights", "band.glb", "bend=1,5"], 1, ["bend=1,5: write a decimal point: bend=1.5"]),
    (["weights", "band.glb", "bend=90deg"], 1, ["bend=90deg: write the number alone: bend=90"]),
    (["weights", "band.glb", "girth=100%"], 1, ["girth=100%: write a fraction: girth=1"]),
    (["weights", "band.glb", "bend=50%"], 1, ["bend=50%: a number is needed after '=', from 0 to 90"]),
    (["weights", "band.glb", "girth=much"], 1, ["girth=much: a number is needed after '=', from 0 to 1"]),
    (["weights", "band.glb", "bend", "5"], 2, ["'bend' is not of the form axis=value: write it with '=': bend=5"]),
    (["sheet", "band.glb", "--axes", "girth", "bend", "=", "5", "-o", "a.png"], 2, ["write it without spaces: bend=5"]),
    (["weights", "band.glb", "bend", "=5"], 2, ["write it without spaces: bend=5"]),
    (["weights", "band.glb", "bend:5"], 2, ["write it with '=': bend=5"]),
    (["weights", "band.glb", "--bend=5"], 2, ["there is no option '--bend': an axis is set without dashes, bend=5"]),
    (["plot", "band.glb", "--axes", "bend", "girth", "-o", "a.svg"], 2,
     ["'girth' is not of the form axis=value; --axes takes names with commas between them"]),
    (["example", "add", "band.json", "bent.obj", "--name", "new", "--at", "bend=10,girth=1"], 1,
     ["bend=10,girth=1: write each setting as a word of its own: bend=10 girth=1"]),
    (["example", "move", "band.json", "--name", "bent", "--at", "bend:10"], 2,
     ["--at: 'bend:10' is not of the form name=value: write it with '=': bend=10"]),
]

# Commands that write: words with OUT for the output, and its ending; "" is a folder.
WRITING = [
    (["build", "band.json", "-o", "OUT"], ".glb"),
    (["pose", "band.glb", "-o", "OUT"], ".obj"),
    (["pose", "band.glb", "--poses", "poses.csv", "-o", "OUT"], ""),
    (["render", "band.glb", "-o", "OUT"], ".png"),
    (["render", "band.glb", "--turntable", "3", "-o", "OUT"], ".png"),
    (["sheet", "band.glb", "--axes", "bend", "-o", "OUT"], ".png"),
    (["plot", "band.glb", "-o", "OUT"], ".svg"),
    (["bake", "band.glb", "--motion", "poses.csv", "-o", "OUT"], ".glb"),
    (["bake", "band.glb", "--motion", "poses.csv", "-o", "OUT"], ".pc2"),
    (["warp", "bent.obj", "thick.obj", "-o", "OUT"], ".glb"),
    (["warp", "bent.obj", "thick.obj", "--report", "--picture", "OUT"], ".png"),
    (["drive", "learn", "--driver", "bent.obj", "--driven", "bent.obj", "--keys", "2", "-o", "OUT"], ".glb"),
    (["edit", "band.glb", "--export", "OUT"], ".html"),
    (["unpack", "band.glb", "-o", "OUT"], ""),
    (["figures", "-o", "OUT"], ""),
    (["demo", "blob", "-o", "OUT"], ""),
    (["init", "plain.gltf", "-o", "OUT"], ""),
]


class Messages(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")

    def test_the_help_of_demo_lists_all(self):
        names = re.findall(r'\.name = "(\w+)"', (harness.REPOSITORY / "demos/demos.c").read_text())
        page = " ".join(self.succeed("demo", "-h").out.split())
        self.assertIn(f"NAME is one of: {', '.join(names)}.", page)

    def test_foreign_formats(self):
        for name, data, words, fragments in FOREIGN:
            with self.subTest(" ".join(words), file=name):
                (self.folder / name).write_bytes(data)
                before = self.listing()
                outcome = self.run_tool(*[name if word == "FILE" else word for word in words])
                self.sentence(outcome, 1, name, *fragments)
                self.assertEqual(self.listing(), before)
                (self.folder / name).unlink()

    def test_a_foreign_ending_does_not_stop_what_can_be_read(self):
        shutil.copy(self.folder / "bent.obj", self.folder / "bent.max")
        self.assertIn("vertices  8", self.succeed("info", "bent.max").out)

    def test_settings_joined_wrongly(self):
        for words, code, fragments in JOINED:
            with self.subTest(" ".join(words)):
                self.sentence(self.run_tool(*words), code, *fragments)

    def test_a_folder_and_a_rig_that_is_not_built(self):
        harness.write_project(self.folder / "kick", name="stand.json")
        (self.folder / "kick/scan.json").write_text('{"exemplar_scan": 1}')
        project, built = "'kick' is a folder: its project is 'kick/stand.json'", "'kick/stand.glb' is not built yet"
        for words in (["build", "kick"], ["check", "kick"], ["example", "list", "kick"], ["undo", "kick"],
                      ["info", "kick"], ["edit", "kick", "--no-open"], ["example", "remove", "kick", "--name", "bent"]):
            with self.subTest(" ".join(words)):
                self.sentence(self.run_tool(*words), 1, project)
        for words in (["weights", "RIG"], ["render", "RIG", "-o", "a.png"], ["pose", "RIG", "-o", "a.obj"],
                      ["sheet", "RIG", "--axes", "bend", "-o", "a.png"], ["plot", "RIG", "-o", "a.svg"],
                      ["diff", "RIG", "RIG"], ["unpack", "RIG", "-o", "out"], ["edit", "RIG", "--export", "a.html"]):
            with self.subTest(" ".join(words)):
                self.sentence(self.run_tool(*["kick/stand.glb" if word == "RIG" else word for word in words]), 1,
                              built, "'exemplar build kick/stand.json' makes it")
                self.sentence(self.run_tool(*["kick" if word == "RIG" else word for word in words]), 1, project,
                              "'exemplar build kick/stand.json' makes the rig")
        self.succeed("build", "kick/stand.json", "-q")
        self.sentence(self.run_tool("weights", "kick"), 1, "'kick' is a folder: its rig is 'kick/stand.glb'")
        # With a second project it is unclear which is meant.
        harness.write_project(self.folder / "kick", name="second.json")
        self.sentence(self.run_tool("build", "kick"), 1, "'kick'", "Is a directory")
        self.sentence(self.run_tool("weights", "kick/third.glb"), 1, "No such file")

    def test_values_outside_the_range(self):
        note = "exemplar: bend=180 is outside its range, 0 to 90: no example is that far out\n"
        for words in (["weights", "band.glb", "bend=180"], ["pose", "band.glb", "bend=180", "-o", "a.obj"],
                      ["render", "band.glb", "bend=180", "--size", "40x40", "-o", "a.png"],
                      ["sheet", "band.glb", "--axes", "girth", "bend=180", "-o", "a.png"],
                      ["plot", "band.glb", "--axes", "girth", "bend=180", "-o", "a.svg"]):
            with self.subTest(" ".join(words)):
                outcome = self.run_tool(*words)
                self.assertEqual([outcome.code, harness.without_progress(outcome.err)], [0, note])
                self.succeed(*words, "--quiet")
        self.succeed("weights", "band.glb", "bend=90", "girth=0")
        clamped = harness.project()
        clamped["layers"][0]["space"][0]["clamp"] = True
        harness.write_project(self.folder, clamped, "clamped.json")
        self.succeed("build", "clamped.json", "-q")
        outcome = self.run_tool("weights", "clamped.glb", "bend=-1")
        self.assertEqual(outcome.code, 0)
        self.assertEqual(outcome.err, "exemplar: bend=-1 is outside its range, 0 to 90: the axis is clamped to it\n")

    def test_outputs_that_cannot_be_written(self):
        """All of them fail before the work starts: no progress, no result, nothing left behind."""
        (self.folder / "poses.csv").write_text("time,bend\n0,1\n1,2\n")
        (self.folder / "plain.gltf").write_text('{"asset": {"version": "2.0"}}')
        (self.folder / "sub.obj").mkdir()
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        (self.folder / "locked").mkdir()
        for ending in {ending for _, ending in WRITING}:
            if ending:
                (self.folder / f"folder{ending}").mkdir()
                (self.folder / f"protected{ending}").write_text("mine")
        for ending in {ending for _, ending in WRITING} - {""}:
            (self.folder / f"protected{ending}").chmod(0o444)
        (self.folder / "locked").chmod(0o555)
        for words, ending in WRITING:
            cases = [(f"missing/a{ending}", f"cannot write 'missing/a{ending}': the folder 'missing' does not exist"),
                     (f"band.json/a{ending}", f"cannot write 'band.json/a{ending}': 'band.json' is not a folder"),
                     (f"folder{ending}", f"cannot write 'folder{ending}': it is a folder; name a file in it"),
                     (f"locked/a{ending}", f"cannot write 'locked/a{ending}': Permission denied"),
                     (f"protected{ending}", f"cannot write 'protected{ending}': Permission denied")]
            if not ending:
                cases = [("band.json", "cannot make the folder 'band.json': a file has that name"),
                         ("band.json/a/b", "cannot make the folder 'band.json/a/b': 'band.json' is a file"),
                         ("locked/a/b", "cannot make the folder 'locked/a/b': Permission denied"),
                         ("locked", "cannot write into the folder 'locked': Permission denied")]
            for path, fragment in cases:
                with self.subTest(" ".join(words), path=path):
                    before = self.listing()
                    outcome = self.run_tool(*[path if word == "OUT" else word for word in words], modes=True)
                    self.sentence(outcome, 1, fragment)
                    self.assertEqual([outcome.out, self.listing()], ["", before])
        (self.folder / "locked").chmod(0o755)


harness.main()
