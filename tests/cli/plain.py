"""Names and paths with characters that a terminal obeys or hides, through every command that prints: stdout and stderr
show them as escapes, JSON gives them back exactly, and files keep them. The oracle is Python's table of Unicode."""
import base64
import json
import os
import pty
import re
import struct
import subprocess
import unicodedata

import harness

# Turns text, colours it (U+009B is ESC [), hides a part, ends the line, and marks a direction, in UTF-8 that every file can hold.
SOFT = "a\u202eb\u009b31mc\u200bd\u2028e\u2066f\u061cg\ufeffh\u0085i\U000e0041"
SHOWN = r"a\u{202e}b\u{9b}31mc\u{200b}d\u{2028}e\u{2066}f\u{61c}g\u{feff}h\u{85}i\u{e0041}"
HARD = SOFT + "\x1b]0;title\x07\x7f"
OBJ_NAME = HARD.encode().replace("\u0085".encode(), b"").replace("\u2028".encode(), b"") + b"\xff\xc3"


def hidden(text):
    return sorted({hex(ord(c)) for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")})


def soft(name):
    return f"{name}{SOFT}"


def project():
    description = harness.project()
    layer, = description["layers"]
    for axis in layer["space"]:
        axis.update(name=soft(axis["name"]), unit=SOFT)
    for example in layer["examples"]:
        example.update(name=soft(example["name"]), at={soft(axis): value for axis, value in example["at"].items()})
    for pseudo in layer["pseudo"]:
        pseudo.update({key: {soft(axis): value for axis, value in point.items()} for key, point in pseudo.items()})
    layer["name"] = soft("body")
    return description


def gltf():
    """A triangle with names everywhere, and things that reading notes or refuses."""
    data = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<9f", *[0.5] * 9)
    return {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1], "name": HARD}],
        "nodes": [{"name": HARD, "mesh": 0}, {"name": "\n" + HARD, "children": [2]}, {"name": HARD + "2"}],
        "meshes": [{"name": HARD, "primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}],
                                                  "material": 0}],
                    "extras": {"targetNames": [HARD]}}],
        "materials": [{"name": HARD, "extensions": {"X" + HARD: {}}}], "images": [{"name": HARD, "uri": HARD + ".png"}],
        "skins": [{"name": HARD, "joints": [1, 2]}], "extensionsUsed": ["X" + HARD],
        "animations": [{"name": HARD, "channels": [], "samplers": []}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
                      {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3", "min": [.5] * 3, "max": [.5] * 3}],
        "bufferViews": [{"buffer": 0, "byteOffset": start, "byteLength": 36} for start in (0, 36)],
        "buffers": [{"byteLength": 72, "uri": "data:application/octet-stream;base64," +
                     base64.b64encode(data).decode()}]}


BVH = ("HIERARCHY\nROOT Hips{0}\n{{\nOFFSET 0 10 0\nCHANNELS 4 Xposition Yposition Zposition Xrotation\nEnd Site\n{{\n"
       "OFFSET 0 -6 0\n}}\n}}\nMOTION\nFrames: 3\nFrame Time: 0.25\n").format(SOFT.replace("\u2028", "").replace("\u0085", ""))


class Plain(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder, project())
        path = self.folder / "bent.obj"
        path.write_bytes(path.read_bytes().replace(b"g front", b"g " + OBJ_NAME).replace(b"usemtl red", b"usemtl " + OBJ_NAME))
        (self.folder / "odd.gltf").write_text(json.dumps(gltf()))
        (self.folder / "walk.bvh").write_text(BVH + "0 0 0 0\n" * 3)
        self.folder_name = "dir" + HARD
        os.mkdir(self.folder / self.folder_name)
        self.succeed("build", "band.json", "-q")

    def clean(self, *words):
        outcome = self.run_tool(*words)
        for name, text in (("stdout", outcome.out), ("stderr", outcome.err)):
            text.encode()  # no surrogates: it was UTF-8
            self.assertEqual(hidden(text), [], f"{name} of {words}: {text!r}")
        return outcome

    def test_every_command_that_prints(self):
        bend, girth, both = soft("bend"), soft("girth"), soft("both")
        inside = f"{self.folder_name}/copy.glb"
        wrong = bend[:-1] + "x"
        prints = [  # words, and whether they succeed
            (["info", "band.json"], True), (["info", "band.glb"], True), (["info", "bent.obj"], True),
            (["info", "odd.gltf"], True), (["info", "walk.bvh"], True), (["check", "band.json"], True),
            (["build", "band.json", "-o", inside], True), (["info", inside], True),
            (["diff", "band.glb", inside], True), (["diff", "bent.obj", "thick.obj"], True),
            (["weights", "band.glb"], True), (["weights", "band.glb", f"{bend}=200"], True),
            (["weights", "band.glb", f"{wrong}=1"], False), (["weights", "band.glb", HARD], False),
            (["pose", "band.glb", "-o", f"{self.folder_name}/a.obj"], True),
            (["pose", "band.glb", f"{bend}=x", "-o", "a.obj"], False),
            (["render", "band.glb", "--size", "20x20", "-o", f"{self.folder_name}/a.png"], True),
            (["render", "band.glb", "--show", f"example:{wrong}", "-o", "a.png"], False),
            (["plot", "band.glb", "--axes", bend, "-o", f"{self.folder_name}/a.svg"], True),
            (["plot", "band.glb", "--axes", wrong, "-o", "a.svg"], False),
            (["sheet", "band.glb", "--axes", bend, "--size", "20", "-o", f"{self.folder_name}/s.png"], None),
            (["example", "list", "band.json"], True),
            (["example", "move", "band.json", "--name", both, "--at", f"{bend}=80"], True),
            (["example", "mute", "band.json", "--name", both], True),
            (["example", "add", "band.json", "both.obj", "--name", HARD, "--at", f"{wrong}=80"], False),
            (["example", "add", "band.json", "both.obj", "--layer", soft("body"), "--name", soft("new"), "--at",
              f"{bend}=33", f"{girth}=0.3"], None),
            (["init", "odd.gltf", "-o", f"{self.folder_name}/init"], None),
            (["unpack", "band.glb", "-o", f"{self.folder_name}/unpacked"], True),
            (["bake", "band.glb", "--motion", "walk.bvh", "-o", f"{self.folder_name}/a.glb"], None),
            (["warp", "bent.obj", "thick.obj", "-o", f"{self.folder_name}/w.glb"], None),
            (["drive", "keys", "band.glb"], False), (["scan", "report", self.folder_name], False),
            (["demo", "blob", "-o", f"{self.folder_name}/demo"], True), (["demo", HARD], False), ([HARD], False),
            (["help", HARD], False), (["info", "--" + HARD], False), (["info", "-" + HARD], False),
            (["info", HARD], False), (["info", "band.json", HARD], False), (["example", HARD], False),
            (["completion", HARD], False), (["completion", "--words", "--", "weights", "band.glb", "b"], True),
            (["edit", HARD + ".json", "--export", "a.html"], False), (["figures", HARD], False), (["bench", HARD], False),
            (["edit", "band.glb", "--export", f"{self.folder_name}/a.html"], None),
        ]
        for words, succeeds in prints:
            with self.subTest(" ".join(words)[:60]):
                outcome = self.clean(*words)
                self.assertNotRegex(outcome.err, "Sanitizer|runtime error")
                if succeeds is not None:
                    self.assertEqual(outcome.code == 0, succeeds, outcome.err + outcome.out)
                if outcome.code == 0 and words[0] in ("info", "check", "diff", "weights", "example"):
                    self.clean(*words, "--json")

    def test_how_they_are_shown(self):
        text = self.succeed("info", "band.json").out
        for fragment in (f"layer body{SHOWN}: ", f"    bend{SHOWN}  0 to 90, rest 0, in {SHOWN}\n",
                         f"    straight{SHOWN}  bend{SHOWN}=0  girth{SHOWN}=0  straight.obj\n"):
            self.assertIn(fragment, text)
        text = self.succeed("info", "bent.obj").out
        self.assertIn(r"i\u{e0041}\x1b]0;title\x07\x7f\xff\xc3, 1 face", text)
        self.assertIn(rf"mesh 0       {SHOWN}\x1b]0;title\x07\x7f: 1 primitive", self.clean("info", "odd.gltf").out)

    def test_json_and_files_stay_exact(self):
        layer, = self.succeed("info", "band.json", "--json").json()["layers"]
        self.assertEqual([layer["name"], layer["examples"][3]["name"]], [soft("body"), soft("both")])
        self.assertEqual(self.run_tool("info", "odd.gltf", "--json").json()["meshes"][0]["name"], HARD)
        self.succeed("pose", "band.glb", "-o", "a.glb", "-q")
        self.succeed("unpack", "band.glb", "-o", "unpacked", "-q")
        written, = (self.folder / "unpacked").glob("*.json")
        self.assertEqual(json.loads(written.read_text())["layers"][0]["name"], soft("body"))

    def test_pictures(self):
        """Labels are drawn, so a picture shows boxes; the text for screen readers hides nothing."""
        self.succeed("plot", "band.glb", "-o", "a.svg", "-q")
        text = (self.folder / "a.svg").read_text()
        self.assertEqual(hidden(text), [])
        self.assertIn("bend", text)

    def test_names_that_a_shell_cannot_show_are_not_completed(self):
        self.assertEqual(self.succeed("completion", "--words", "--", "weights", "band.glb", "ben").out, "")

    def test_columns_stay_straight(self):
        description = harness.project()
        for example, name in zip(description["layers"][0]["examples"], ("straight", "größer", "日本", "x\u202e")):
            example["name"] = name
        harness.write_project(self.folder, description, "wide.json")
        self.succeed("build", "wide.json", "-q")
        rows = self.succeed("weights", "wide.glb").out.splitlines()
        self.assertEqual({len(row) for row in rows if re.search(r"\d$", row)}, {2 + 9 + 2 + 10})

    def test_progress(self):
        """On a terminal the bar is drawn with \\r; nothing else is."""
        main, side = pty.openpty()
        process = subprocess.Popen([harness.TOOL, "build", "band.json", "-o", f"{self.folder_name}/b.glb"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=side, stderr=side)
        os.close(side)
        said = b""
        while True:
            try:
                part = os.read(main, 4096)
            except OSError:
                part = b""
            if not part:
                break
            said += part
        os.close(main)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(hidden(said.decode().replace("\r", "")), [])
        self.assertIn(rf"dir{SHOWN}\x1b]0;title\x07\x7f/b.glb: 8 vertices", said.decode())


class Sources(harness.Case):
    # Files that print only their own text, or write JSON, files and pages rather than names.
    OWN = {"cli/main.c", "cli/base/plain.c", "cli/base/emit.c", "cli/base/options.c", "cli/help/man.c",
           "cli/help/complete.c", "cli/help/cmd_completion.c"}

    def test_the_tool_prints_in_one_place(self):
        """Anything else could print a name from a file as it is."""
        found = []
        for path in sorted((harness.REPOSITORY / "cli").rglob("*.[ch]")):
            name = str(path.relative_to(harness.REPOSITORY))
            text = path.read_text()
            calls = re.findall(r"(?<![\w(\"])(?:printf|puts|putchar|perror)\(|"
                               r"\b(?:fprintf|fputs|fputc|fwrite|vfprintf)\([^;]*\b(?:stdout|stderr)\b[^;]*;", text)
            if name not in self.OWN and calls:
                found.append((name, calls))
        self.assertEqual(found, [])


harness.main()
