"""Undo, redo and names: every change of a project by a command or by the editor can be taken back, and nothing is lost
on the way."""
import json
import os
import subprocess

import editing
import harness


class Undo(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.versions = self.folder / ".band.json.versions"

    def text(self):
        return (self.folder / "band.json").read_bytes()

    def change(self, *words):
        outcome = self.run_tool("example", words[0], "band.json", *words[1:])
        self.assertEqual(outcome.code, 0, outcome.err)
        return self.text()

    def states(self):
        """Four states of the project, after three changes."""
        states = [self.text(), self.change("mute", "--name", "thick"),
                  self.change("move", "--name", "bent", "--at", "bend=80"), self.change("remove", "--name", "both")]
        self.assertEqual(len(set(states)), 4)
        return states

    def listed(self):
        answer = self.succeed("undo", "band.json", "--list", "--json").json()
        return [v["what"] for v in answer["undo"]], [v["what"] for v in answer["redo"]]

    # ---- steps ----

    def test_there_and_back(self):
        states = self.states()
        names = ["example 'both' removed", "example 'bent' moved", "example 'thick' muted"]
        self.assertEqual(self.listed(), (names, []))
        for i in (2, 1, 0):
            self.assertEqual(self.succeed("undo", "band.json").out, f"band.json: undone: {names[2 - i]}\n")
            self.assertEqual(self.text(), states[i])
        self.sentence(self.run_tool("undo", "band.json"), 1, "there is nothing to undo")
        self.assertEqual(self.listed(), ([], names[::-1]))
        for i in (1, 2, 3):
            self.assertEqual(self.succeed("redo", "band.json").out, f"band.json: redone: {names[3 - i]}\n")
            self.assertEqual(self.text(), states[i])
        self.sentence(self.run_tool("redo", "band.json"), 1, "there is nothing to redo")
        self.succeed("build", "band.json", "-q")

    def test_several_steps(self):
        states = self.states()
        self.assertEqual(self.succeed("undo", "band.json", "--steps", "3").out.count("undone"), 3)
        self.assertEqual(self.text(), states[0])
        self.succeed("redo", "band.json", "-n", "2", "-q")
        self.assertEqual(self.text(), states[2])
        before = self.listing()
        self.sentence(self.run_tool("undo", "band.json", "--steps", "3"), 1, "there are only 2 changes to undo", "--list")
        self.sentence(self.run_tool("redo", "band.json", "--steps", "2"), 1, "there is only 1 change to redo")
        self.sentence(self.run_tool("undo", "band.json", "--steps", "0"), 2, "--steps")
        self.assertEqual(self.listing(), before)

    def test_the_list_for_people(self):
        self.assertEqual(self.succeed("undo", "band.json", "--list").out, "band.json: no saved versions\n")
        self.states()
        self.succeed("undo", "band.json", "-q")
        lines = self.succeed("undo", "band.json", "--list").out.splitlines()
        self.assertRegex(lines[0], r"^undo   1  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  example 'bent' moved$")
        self.assertRegex(lines[2], r"^redo   1  .*  example 'both' removed$")

    def test_a_new_change_ends_redo(self):
        states = self.states()
        self.succeed("undo", "band.json", "-n", "2", "-q")
        self.change("mute", "--name", "bent")
        self.assertEqual(self.listed(), (["example 'bent' muted", "example 'thick' muted"], []))
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.text(), states[1])

    def test_edits_by_hand_are_not_lost(self):
        states = self.states()
        by_hand = states[3] + b"\n"
        (self.folder / "band.json").write_bytes(by_hand)
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.text(), states[2])
        self.succeed("redo", "band.json", "-q")
        self.assertEqual(self.text(), by_hand)

    def test_a_project_that_is_gone_comes_back(self):
        states = self.states()
        (self.folder / "band.json").unlink()
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.text(), states[2])

    def test_the_number_of_versions_is_limited(self):
        first = self.text()
        self.change("mute", "--name", "thick")
        kept = self.versions / "000001.undo"
        for i in range(2, 100):  # alternate, so that none is the state after it
            state = kept.read_bytes() + b"\n" * (i % 2)
            (self.versions / f"{i:06d}.undo").write_bytes(state)
        self.change("mute", "--name", "thick", "--off")
        self.assertEqual(len(list(self.versions.glob("*.undo"))), 100)
        self.change("mute", "--name", "thick")
        self.change("mute", "--name", "thick", "--off")
        self.assertEqual(len(self.listed()[0]), 100)
        self.assertEqual(min(self.versions.glob("*.undo")).name, "000003.undo")
        self.succeed("undo", "band.json", "--steps", "100", "-q")
        self.assertEqual(self.text(), first + b"\n")

    # ---- the editor, and whole projects ----

    def test_the_editor_saves_versions(self):
        before = self.text()
        editor = editing.Editor(self.folder)
        try:
            answer = editor.save(before + b"\n", editor.version())
            self.assertEqual(answer.status, 200)
            answer = editor.save(before + b"\n", editor.version())  # the same again is no change
            self.assertEqual(answer.status, 200)
        finally:
            editor.end()
        self.assertEqual(self.listed(), (["saved in the editor"], []))
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.text(), before)

    def test_replaced_files_come_back(self):
        """unpack --force replaces the project and forms of the same names."""
        self.succeed("build", "band.json", "-q")
        folder = self.folder / "other"
        self.succeed("unpack", "band.glb", "-o", "other", "-q")
        forms = {path.name: path.read_bytes() for path in folder.iterdir()}
        self.assertFalse((folder / ".band.json.versions").exists())
        harness.write_project(self.folder, {**harness.project(), "mesh": "thick.obj"})
        self.succeed("build", "band.json", "-q")
        self.succeed("unpack", "band.glb", "-o", "other", "--force", "-q")
        new = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        self.assertNotEqual(new["mesh.obj"], forms["mesh.obj"])
        answer = self.succeed("undo", "other/band.json", "--json").json()
        self.assertEqual([v["what"] for v in answer["undone"]], ["replaced by 'unpack'"])
        for name, content in forms.items():
            if name == "band.json" or name in forms["band.json"].decode():
                self.assertEqual((folder / name).read_bytes(), content, name)
        self.succeed("redo", "other/band.json", "-q")
        for name, content in new.items():
            if not name.endswith("~"):
                self.assertEqual((folder / name).read_bytes(), content, name)

    # ---- what can go wrong ----

    def test_a_demo_over_a_project(self):
        """demo --force replaces a project of the same name, and its forms; both come back."""
        self.succeed("demo", "bar", "-o", "own", "-q")
        project = self.folder / "own/bar.json"
        changed = json.loads(project.read_text())
        form = project.parent / changed["mesh"]
        lines = form.read_text()
        form.write_text("# sculpted\n" + lines)
        project.write_text(json.dumps(changed))
        before = project.read_bytes(), form.read_bytes()
        self.succeed("demo", "bar", "-o", "own", "--force", "-q")
        self.assertNotEqual((project.read_bytes(), form.read_bytes()), before)
        self.assertIn("replaced by 'demo'", self.succeed("undo", "own/bar.json", "--list").out)
        self.succeed("undo", "own/bar.json", "-q")
        self.assertEqual((project.read_bytes(), form.read_bytes()), before)

    def test_commands_at_once(self):
        """Undo waits for other commands, and every change is a version."""
        names = list(harness.FORMS)[1:]
        jobs = [subprocess.Popen([harness.TOOL, "example", "move", "band.json", "--name", name, "--at", f"bend={30 + i}"],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for i, name in enumerate(names)]
        for job in jobs:
            said = job.communicate(timeout=100)[1]
            self.assertEqual(job.returncode, 0, said)
        self.assertEqual(sorted(self.listed()[0]), sorted(f"example '{name}' moved" for name in names))
        before = self.text()
        jobs = [subprocess.Popen([harness.TOOL, "undo", "band.json"], cwd=self.folder, stdout=subprocess.PIPE)
                for _ in names]
        for job in jobs:
            job.communicate(timeout=100)
            self.assertEqual(job.returncode, 0)
        self.assertEqual(json.loads(self.text()), harness.project())
        self.succeed("redo", "band.json", "-n", str(len(names)), "-q")
        self.assertEqual(self.text(), before)

    def test_a_full_disk_loses_nothing(self):
        self.states()
        if harness.THREAD_SANITIZED:
            self.skipTest("that sanitizer crashes if the size of files is limited")
        before = self.listing()
        for size in (0, 100, 600):
            for words in (("undo", "band.json"), ("undo", "band.json", "--steps", "2"),
                          ("example", "mute", "band.json", "--name", "bent")):
                with self.subTest(size=size, words=words):
                    self.sentence(self.run_tool(*words, file_size=size), 1, "band.json")
                    self.assertEqual(self.listing(), before)

    def test_a_folder_that_cannot_be_written(self):
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        self.states()
        before = self.listing()
        for closed in (self.versions, self.folder):
            closed.chmod(0o555)
            try:
                for words in (("undo", "band.json"), ("example", "mute", "band.json", "--name", "bent")):
                    self.sentence(self.run_tool(*words, modes=True), 1, "band.json")
            finally:
                closed.chmod(0o755)
            self.assertEqual(self.listing(), before)

    def test_a_change_that_was_not_made(self):
        """A tool that was killed after it kept a version leaves one that is the present state: it is skipped."""
        states = self.states()
        newest = max(self.versions.glob("*.undo"))
        head = newest.read_bytes().split(b"\n", 1)[0]
        (self.versions / "000009.undo").write_bytes(head + b"\n" + states[3])
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.text(), states[2])

    def test_damaged_versions(self):
        self.states()
        for content in (b"", b"{}", b"{}\n", b"nonsense\n{}", b'{"what": 3, "time": "t", "files": []}\n{}'):
            newest = max(self.versions.glob("*.undo"))
            newest.write_bytes(content)
            before = self.listing()
            for words in ("--list",), ():
                self.sentence(self.run_tool("undo", "band.json", *words), 1, newest.name, "is damaged")
            self.assertEqual(self.listing(), before)

    def test_private_projects_have_private_versions(self):
        (self.folder / "band.json").chmod(0o600)
        self.states()
        for path in self.versions.iterdir():
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)

    def test_links(self):
        (self.folder / "there").mkdir()
        os.symlink("../band.json", self.folder / "there/link.json")
        states = self.states()
        self.succeed("undo", "there/link.json", "-q")
        self.assertEqual(self.text(), states[2])
        self.assertTrue((self.folder / "there/link.json").is_symlink())

    def test_what_is_no_project(self):
        self.sentence(self.run_tool("undo", "none.json"), 1, "none.json")
        self.succeed("build", "band.json", "-q")
        self.sentence(self.run_tool("undo", "band.glb"), 1, "band.glb")
        self.sentence(self.run_tool("redo"), 2, "argument")


class Rename(harness.Case):
    def project(self):
        return json.loads((self.folder / "band.json").read_text())

    def setUp(self):
        super().setUp()
        described = harness.project()
        described["layers"][0]["pseudo"].append({"at": {"girth": 0.5, "bend": 20},
                                                 "weights": {"straight": 0.5, "bent": 0.25, "thick": 0.25}})
        described["layers"].append({
            "name": "fix", "shape": "offsets", "space": [described["layers"][0]["space"][0]],
            "weigh": {"kind": "gaussian", "falloff": {"bend": 30}},
            "examples": [{"name": "bent", "mesh": "bent.obj", "at": {"bend": 45}, "falloff": {"bend": 20}}]})
        described["layers"].append({
            "name": "sliders", "shape": "positions", "weigh": {"kind": "direct"},
            "space": [{"name": "smile", "min": 0, "max": 1}, {"name": "frown", "min": 0, "max": 1}],
            "examples": [{"name": "smile", "mesh": "thick.obj"}, {"name": "sad", "mesh": "thick.obj"}]})
        described["layers"].append({
            "name": "both", "shape": "offsets", "space": described["layers"][2]["space"],
            "weigh": {"kind": "gaussian"},
            "examples": [{"name": "mixed", "mesh": "both.obj", "at": {"smile": 1, "frown": 1}}]})
        harness.write_project(self.folder, described)
        self.before = described

    def rename(self, *words):
        return self.run_tool("example", "rename", "band.json", *words)

    def same_but(self, *pairs):
        """The text of the project is the one before, with these replacements."""
        text = json.dumps(self.before)
        for old, new in pairs:
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.assertEqual(json.dumps(self.project()), text)
        self.succeed("build", "band.json", "-q")

    def test_an_example(self):
        outcome = self.rename("thick", "fat")
        self.assertEqual((outcome.code, outcome.out), (0, "band.json: example 'thick' is now 'fat'\n"), outcome.err)
        self.same_but(('"name": "thick"', '"name": "fat"'), ('"thick": 0.25', '"fat": 0.25'))
        self.succeed("undo", "band.json", "-q")
        self.assertEqual(self.project(), self.before)

    def test_an_example_that_two_layers_have(self):
        self.sentence(self.rename("bent", "b"), 1, "layers 'body' and 'fix' both have an example 'bent'", "--layer")
        self.assertEqual(self.rename("bent", "b", "--layer", "fix").code, 0)
        self.assertEqual([e["name"] for e in self.project()["layers"][1]["examples"]], ["b"])
        self.assertEqual(self.project()["layers"][0], self.before["layers"][0])

    def test_a_slider(self):
        outcome = self.rename("smile", "grin")
        self.assertIn("its slider is now called 'grin' too", outcome.err)
        self.same_but(('"name": "smile"', '"name": "grin"'), ('"smile": 1', '"grin": 1'))
        # A slider of another name stays.
        self.assertEqual(self.rename("sad", "sorry").err, "")
        self.assertEqual([a["name"] for a in self.project()["layers"][2]["space"]], ["grin", "frown"])

    def test_a_layer(self):
        self.assertEqual(self.rename("--kind", "layer", "fix", "elbow").code, 0)
        self.same_but(('"name": "fix"', '"name": "elbow"'))

    def test_an_axis(self):
        self.assertEqual(self.rename("--kind", "axis", "bend", "elbow").code, 0)
        self.same_but(('"bend"', '"elbow"'))

    def test_refusals(self):
        before = self.listing()
        for words, code, fragments in (
                (("thick", "both"), 1, ("layer 'body' already has an example 'both': give another name",)),
                (("thick", ""), 1, ("the new name is not valid",)),
                (("thick", "x" * 5000), 1, ("the new name is not valid",)),
                (("thick", "a\nb"), 1, ("the new name is not valid",)),
                (("thick", "thick"), 1, ("is called 'thick' already",)),
                (("thik", "x"), 1, ("did you mean 'thick'?",)),
                (("smile", "a=b"), 1, ("'smile' is also a slider", "not valid for one")),
                (("smile", "bend"), 1, ("the project already has an axis 'bend'",)),
                (("--kind", "layer", "body", "fix"), 1, ("already has a layer 'fix'",)),
                (("--kind", "layer", "bod", "x"), 1, ("did you mean 'body'?",)),
                (("--kind", "axis", "bend", "girth"), 1, ("already has an axis 'girth'",)),
                (("--kind", "axis", "bend", "a,b"), 1, ("the name of an axis",)),
                (("--kind", "axis", "ben", "x"), 1, ("did you mean 'bend'?",)),
                (("--kind", "axes", "bend", "x"), 2, ("--kind needs example, layer or axis",)),
                (("--kind", "axis", "--layer", "fix", "bend", "x"), 2, ("--layer",)),
                (("thick",), 2, ("argument",))):
            with self.subTest(words=words):
                self.sentence(self.rename(*words), code, *fragments)
                self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    harness.main()
