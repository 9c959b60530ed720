"""The disk when something goes wrong: a power cut, a full disk, a failing rename, a killed tool, two tools at once. A
small library, preloaded into the tool, records its calls and makes one of them fail (disk_shim.c)."""
import json
import os
import shutil
import pathlib
import signal
import subprocess

import harness

SHIM = harness.preloadable(os.environ.get("EX_TEST_SHIM", ""))
FRAMES = 3
RENAME = "rename:{}:fail"
NO_LINKS = "link:0:fail rename:{}:fail"  # a file system without links


class Disk(harness.Case):
    def setUp(self):
        super().setUp()
        if not SHIM or harness.THREAD_SANITIZED:
            self.skipTest("no library can be preloaded")
        self.log = pathlib.Path(str(self.folder) + ".log")
        self.log.unlink(missing_ok=True)
        self.addCleanup(self.log.unlink, missing_ok=True)

    def start(self, *words, wrong=""):
        """Starts the tool with the library; wrong: CALL:NUMBER:ACTION."""
        options = os.environ.get("ASAN_OPTIONS", "")
        return subprocess.Popen([harness.TOOL, *[str(word) for word in words]], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=os.environ | {"LD_PRELOAD": SHIM, "EX_SHIM_LOG": str(self.log), "EX_SHIM": wrong,
                                                  "ASAN_OPTIONS": f"{options}:verify_asan_link_order=0"})

    def end(self, job):
        out, err = job.communicate(timeout=60)
        return job.returncode, harness.without_progress(err.decode())

    def calls(self, *words):
        """The calls of a command that succeeds, as lists of words, with paths below the test's folder."""
        self.log.unlink(missing_ok=True)
        code, err = self.end(self.start(*words))
        self.assertEqual(code, 0, err)
        folder = f"{self.folder}/"
        return [[word.removeprefix(folder) if word != str(self.folder) else "." for word in line.split(" ")]
                for line in (self.log.read_text().splitlines() if self.log.exists() else [])]

    def hidden(self):
        return [name for name in self.listing()
                if any(part.startswith(".") and not part.endswith(".versions") for part in name.split("/"))
                and ".versions/0" not in name]

    def forget_versions(self):
        for path in self.folder.rglob(".*.versions"):
            shutil.rmtree(path)

    def band(self, rows=FRAMES):
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "move.csv").write_text("time,bend\n" + "".join(f"{i},{10 * i}\n" for i in range(rows)))


class PowerCut(Disk):
    """A file is on the disk before it takes its name, and the name is on the disk after."""

    def durable(self, calls, *targets):
        for target in targets:
            folder = os.path.dirname(target) or "."
            moves = [i for i, call in enumerate(calls) if call[0] == "rename" and call[2] == target]
            moves += [i for i, call in enumerate(calls)
                      if call[0] == "rename" and os.path.abspath(self.folder / call[2]) == str(self.folder / target)]
            self.assertTrue(moves, (target, calls))
            at = moves[-1]
            before, after = calls[:at], calls[at + 1:]
            self.assertIn(["fsync", os.path.normpath(calls[at][1].removeprefix("./"))], before, target)
            self.assertIn(["fsync", folder], after, target)

    def test_work_is_synced(self):
        self.band()
        self.durable(self.calls("build", "band.json", "-o", "new.glb"), "new.glb")
        (self.folder / "more.obj").write_text(harness.obj_text(harness.bent(0.3, 0.4)))
        calls = self.calls("example", "add", "band.json", "--name", "more", "--at", "bend=30", "girth=0.4",
                           "more.obj")
        self.durable(calls, "band.json", "band.json~")
        self.durable(self.calls("unpack", "band.glb", "-o", "out"), "out/band.json", "out/mesh.obj")
        self.durable(self.calls("unpack", "band.glb", "-o", "out", "--force"), "out/band.json", "out/mesh.obj")
        calls = self.calls("init", "straight.obj", "bent.obj", "-o", "made")
        self.durable(calls, "made/straight.json", "made/mesh.obj")
        self.assertIn(["fsync", "."], calls)  # which holds the name of the new folder
        places = [call[2] for call in calls if call[0] == "rename" and not os.path.dirname(call[2]).endswith("exemplar")]
        self.assertEqual(places[-1], "made/straight.json")

    def test_frames_and_pictures_are_not(self):
        self.band(20)
        for words in (("bake", "band.glb", "--motion", "move.csv", "-o", "f.obj"),
                      ("bake", "band.glb", "--motion", "move.csv", "-o", "f.obj", "--force"),
                      ("bake", "band.glb", "--motion", "move.csv", "-o", "f.pc2"),
                      ("pose", "band.glb", "--poses", "move.csv", "-o", "poses"),
                      ("render", "band.glb", "--size", "8x8", "-o", "f.png"),
                      ("render", "band.glb", "--turn", "--frames", "2", "--size", "8x8", "-o", "f.png")):
            with self.subTest(words=words):
                synced = [call[1] for call in self.calls(*words) if call[0] == "fsync"]
                self.assertLessEqual(len(synced), 1, synced)  # the folder of a new folder
        self.assertTrue((self.folder / "f_0020.obj").exists())


class WholeSets(Disk):
    """Whatever call fails, the old set of files is there byte for byte, or the new one is complete."""

    def sweep(self, words, call, most=60, first=1):
        """Fails the first, second, … call until the command succeeds; returns the number of failures. Calls before
        `first` may not matter."""
        before = self.listing()
        for number in range(1, most):
            code, err = self.end(self.start(*words, wrong=call.format(number)))
            if code == 0 and number < first:
                self.forget_versions()
                for name, data in before.items():
                    if data is not None:
                        (self.folder / name).write_bytes(data)
                continue
            if code == 0:
                self.assertEqual(self.hidden(), [])
                return number - 1
            self.assertEqual(code, 1, err)
            self.assertEqual(err.count("\n"), 1, err)
            self.assertIn("No space left", err)
            self.assertNotIn(".exemplar", err)
            self.assertEqual(self.listing(), before, (words, call, number, err))
        self.fail("too many calls")

    def replace(self, words, first, calls):
        """Makes a set with `first`, and replaces it by another with `words`, failing each of those calls in turn."""
        self.succeed(*first)
        old = self.listing()
        for call in calls:
            # The folder of versions is synced too, if that is possible.
            failures = self.sweep(words, call, first=5 if call.startswith("fsync") else 1)
            self.assertGreater(failures, 1, call)
            self.forget_versions()
            new = self.listing()
            self.assertEqual(set(new), set(old))
            self.assertNotEqual(new, old)
            for name, data in old.items():
                if data is not None:
                    (self.folder / name).write_bytes(data)

    def test_undo(self):
        """Of a change that replaced the project and its forms."""
        self.band()
        self.succeed("unpack", "band.glb", "-q", "-o", "out")
        old = self.listing()
        harness.write_project(self.folder, {**harness.project(), "mesh": "thick.obj"})
        self.succeed("build", "band.json", "-q")
        self.succeed("unpack", "band.glb", "-q", "-o", "out", "--force")
        for call in (RENAME, NO_LINKS):
            self.assertGreater(self.sweep(("undo", "out/band.json", "-q"), call), 1, call)
            now = self.listing()
            for name in ("out/band.json", "out/mesh.obj"):
                self.assertEqual(now[name], old[name])
            self.assertGreater(self.sweep(("redo", "out/band.json", "-q"), call), 1, call)
            self.assertNotEqual(self.listing()["out/mesh.obj"], old["out/mesh.obj"])

    def test_frames(self):
        self.band()
        (self.folder / "other.csv").write_text("time,bend\n" + "".join(f"{i},{20 * i + 5}\n" for i in range(FRAMES)))
        bake = ("bake", "band.glb", "-q", "-o", "f.obj", "--force", "--motion")
        self.replace((*bake, "other.csv"), (*bake, "move.csv"), (RENAME, NO_LINKS))
        before = self.listing()
        self.sentence(self.run_tool(*bake, "other.csv", file_size=100), 1, "'f_0001.obj'")
        self.assertEqual(self.listing(), before)

    def test_what_cannot_be_put_back_is_kept(self):
        self.band()
        bake = ("bake", "band.glb", "-q", "--motion", "move.csv", "-o", "f.obj", "--force")
        self.succeed(*bake)
        (self.folder / "f_0001.obj").write_text("old")
        # The second frame cannot be moved to its place, and then the first one not back.
        wrong = f"rename:{FRAMES + 2}:fail rename:{FRAMES + 3}:fail"
        code, err = self.end(self.start(*bake, wrong=wrong))
        self.assertEqual((code, err.count("\n")), (1, 1), err)
        kept, = [name for name in self.hidden() if name.endswith("f_0001.obj")]
        self.assertIn(f"'f_0001.obj' could not be put back: its old version is in '{os.path.dirname(kept)}'", err)
        self.succeed(*bake)
        self.assertEqual((self.folder / kept).read_text(), "old")

    def test_poses(self):
        self.band()
        (self.folder / "other.csv").write_text("bend\n5\n25\n45\n")
        pose = ("pose", "band.glb", "-q", "-o", "poses", "--force", "--poses")
        self.replace((*pose, "other.csv"), (*pose, "move.csv"), (RENAME,))

    def other_band(self):
        """A rig of the same name and structure with other forms, in a folder."""
        harness.write_project(self.folder / "other")
        for path in (self.folder / "other").glob("*.obj"):
            path.write_text(path.read_text().replace("1.0", "1.125"))
        self.succeed("build", "other/band.json", "-q")

    def test_unpack(self):
        self.band()
        self.other_band()
        self.replace(("unpack", "other/band.glb", "-q", "-o", "out", "--force"),
                     ("unpack", "band.glb", "-q", "-o", "out"), (RENAME, NO_LINKS, "fsync:{}:fail", "fclose:{}:fail"))

    def test_init(self):
        self.band()
        self.other_band()
        for rig, folder in (("band.glb", "."), ("other/band.glb", "other")):
            self.succeed("pose", rig, "bend=0", "-q", "-o", f"{folder}/scene.gltf")
        self.replace(("init", "other/scene.gltf", "-q", "-o", "made", "--force"),
                     ("init", "scene.gltf", "-q", "-o", "made"), (RENAME,))
        forms = ("straight.obj", "bent.obj", "thick.obj")
        self.replace(("init", *(f"other/{form}" for form in forms), "-q", "-o", "shapes", "--force"),
                     ("init", *forms, "-q", "-o", "shapes"), (RENAME, "fsync:{}:fail"))

    def test_demo(self):
        self.succeed("demo", "blob", "-q")
        for path in (self.folder / "blob").iterdir():
            path.write_bytes(b"mine")
        before = self.listing()
        for number in (1, 3, 7, 9, 11):
            code, err = self.end(self.start("demo", "blob", "-q", "--force", wrong=f"rename:{number}:fail"))
            self.assertEqual((code, err.count("\n")), (1, 1), err)
            self.assertEqual(self.listing(), before, number)
        self.assertEqual(self.run_tool("demo", "blob", "-q", "--force", file_size=6000).code, 1)
        self.assertEqual(self.listing(), before)

    def test_a_link_stays(self):
        self.band()
        self.succeed("unpack", "band.glb", "-q", "-o", "out")
        (self.folder / "out/mesh.obj").rename(self.folder / "real.obj")
        (self.folder / "out/mesh.obj").symlink_to("../real.obj")
        before = (self.folder / "real.obj").read_bytes()
        (self.folder / "real.obj").write_text("old")
        (self.folder / "real.obj").chmod(0o640)
        self.succeed("unpack", "band.glb", "-q", "-o", "out", "--force")
        self.assertTrue((self.folder / "out/mesh.obj").is_symlink())
        self.assertEqual((self.folder / "real.obj").read_bytes(), before)
        self.assertEqual((self.folder / "real.obj").stat().st_mode & 0o777, 0o640)


class Killed(Disk):
    """The next tool removes what a killed one left, and nothing else."""

    def leftovers(self, words, wrong):
        code, _ = self.end(self.start(*words, wrong=wrong))
        self.assertEqual(code, -signal.SIGKILL)
        left = self.hidden()
        self.assertTrue(left)
        return left

    def test_a_file(self):
        self.band()
        mine = {f".band.glb.{ending}": b"mine" for ending in ("backup", "abc123", "abc123.exemplar",
                                                               "abc123-abcd.exempla", "abc12_-abcd.exemplar")}
        for name, data in mine.items():
            (self.folder / name).write_bytes(data)
        before = self.listing()
        new = self.leftovers(("build", "band.json"), "rename:1:kill")
        self.assertEqual(len(new), len(mine) + 1)
        self.assertEqual(self.listing() | before, self.listing())  # nothing else changed
        self.succeed("build", "band.json", "-q")
        self.assertEqual(self.listing(), before)

    def test_another_host(self):
        """Its locks may not be seen here: its files are left for a day."""
        self.band()
        paths = [self.folder / f".band.glb.abc12{i}-0000.exemplar" for i in range(2)]
        for path in paths:
            path.write_text("elsewhere")
        os.utime(paths[0], (1e9, 1e9))
        self.succeed("build", "band.json", "-q")
        self.assertEqual([path.exists() for path in paths], [False, True])

    def test_a_set(self):
        self.band()
        for words in (("bake", "band.glb", "--motion", "move.csv", "-o", "f.obj"), ("unpack", "band.glb", "-o", ".",
                                                                                    "--force")):
            with self.subTest(words=words):
                before = self.listing()
                self.leftovers(words, "rename:3:kill")
                self.succeed("build", "band.json", "-q")
                self.forget_versions()  # one that was kept for nothing
                self.assertEqual(self.listing(), before)

    def test_a_set_that_was_moving_files_keeps_the_old_ones(self):
        self.band()
        words = ("bake", "band.glb", "--motion", "move.csv", "-q", "-o", "f.obj", "--force")
        self.succeed(*words)
        old = (self.folder / "f_0001.obj").read_bytes()
        left = self.leftovers(words, f"rename:{FRAMES + 2}:kill")
        self.succeed("build", "band.json", "-q")
        self.succeed(*words)
        kept, = [name for name in self.hidden() if name.endswith("/old/f_0001.obj")]
        self.assertIn(kept, left)
        self.assertEqual((self.folder / kept).read_bytes(), old)

    def test_a_living_tool_is_left_alone(self):
        self.band()
        for words, wrong, made in ((("build", "band.json", "-q", "-o", "late.glb"), "rename:1:stop", "late.glb"),
                                   (("unpack", "band.glb", "-q", "-o", "."), "rename:2:stop", "mesh.obj")):
            with self.subTest(words=words):
                (self.folder / "sub").mkdir(exist_ok=True)
                words = tuple("sub" if word == "." else word for word in words)
                job = self.start(*words, wrong=wrong)
                os.waitid(os.P_PID, job.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                try:
                    left = self.hidden()
                    self.assertTrue(left)
                    self.succeed("build", "band.json", "-q")
                    self.succeed("pose", "band.glb", "-q", "-o", "sub/other.obj")
                    self.assertEqual(self.hidden(), left)
                finally:
                    job.send_signal(signal.SIGCONT)
                self.assertEqual(self.end(job), (0, ""))
                self.assertEqual(self.hidden(), [])
        self.assertEqual((self.folder / "late.glb").read_bytes(), (self.folder / "band.glb").read_bytes())
        self.assertTrue((self.folder / "sub/mesh.obj").exists())
        json.loads((self.folder / "sub/band.json").read_text())


if __name__ == "__main__":
    harness.main()
