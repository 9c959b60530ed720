"""A scan session in pieces. Each piece is a process of its own: in any order, at the same time, or in a private folder
of links to the session. Joined, the files are those of one process, byte for byte."""
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import harness

BUILT = ["maps", "changes", "masks", "figure", "sides", "base.ply", "cage.obj", "skeleton.glb", "body.json", "body.glb"]


def remove(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif path.exists() or path.is_symlink():
        path.unlink()


def files(folder, *left_out):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.relative_to(folder).parts[0] not in left_out}


class Pieces(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.made = pathlib.Path(tempfile.mkdtemp(prefix="exemplar-pieces-"))
        subprocess.run([harness.TOOL, "demo", "body", "--quick", "-o", "body", "-q"], cwd=cls.made, timeout=280,
                       check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        cls.scans = [scan["name"] for scan in json.loads((cls.made / "body/scan.json").read_text())["scans"]]

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.made)

    def session(self, name, *removed):
        """A copy of the session. Files are replaced, never changed, so links will do."""
        folder = self.folder / name
        shutil.copytree(self.made / "body", folder, copy_function=os.link)
        for made in removed:
            remove(folder / made)
        return folder

    def private(self, folder, name, *own):
        """A folder of links to the files of a session, except for folders of its own, which are new."""
        made = self.folder / name
        made.mkdir()
        for path in folder.iterdir():
            if path.name not in own:
                (made / path.name).symlink_to(path)
        return made

    def at_once(self, calls):
        """Runs calls of the tool at the same time, in any order."""
        random.Random(7).shuffle(calls)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return list(pool.map(lambda words: self.run_tool(*words), calls))

    def same(self, folder, whole, *left_out):
        one, other = files(folder, "measured", *left_out), files(whole, *left_out)
        self.assertEqual(sorted(one), sorted(other))
        for name, data in other.items():
            self.assertEqual(one[name], data, name)


class Maps(Pieces):
    def measure(self, folder):
        self.succeed("scan", "build", folder, "--cage-only", "-q")
        for outcome in self.at_once([["scan", "build", folder, "--scan", name, "--measure", "-q"]
                                     for name in self.scans]):
            self.assertEqual(harness.without_progress(outcome.err), "")

    def test_at_once(self):
        folder = self.session("s", *BUILT)
        self.measure(folder)
        self.assertEqual(len(os.listdir(folder / "measured")), len(self.scans))
        self.assertFalse((folder / "maps").exists())
        for outcome in self.at_once([["scan", "build", "s", "--scan", name, "--threads", 1 + len(name) % 2]
                                     for name in self.scans]):
            self.assertEqual(harness.without_progress(outcome.err), "")
        self.assertEqual(files(folder / "maps"), files(self.made / "body/maps"))
        self.assertFalse((folder / "changes").exists())
        self.assertIn("(11 were there)", self.succeed("scan", "build", "s").out)
        self.same(folder, self.made / "body")
        # A piece that is there is kept, and so is a measured one.
        before = (folder / "maps/arm_02.ply").stat().st_mtime_ns
        two = ["--scan", "arm_02", "--scan", "torso_15"]
        self.assertIn("2 maps were there", self.succeed("scan", "build", "s", *two).out)
        self.assertIn("2 of them before", self.succeed("scan", "build", "s", *two, "--measure").out)
        self.assertEqual((folder / "maps/arm_02.ply").stat().st_mtime_ns, before)
        told = self.succeed("scan", "build", "s", "--scan", "arm_02", "--force", "--json").json()
        self.assertEqual([scan["name"] for scan in told["scans"]], ["arm_02"])
        self.assertGreater((folder / "maps/arm_02.ply").stat().st_mtime_ns, before)
        self.same(folder, self.made / "body")

    def test_private_folders(self):
        """Each map in a folder of links, by a clock that is wrong."""
        folder = self.session("s", *BUILT)
        self.measure(folder)
        (folder / "maps").mkdir()
        places = [self.private(folder, f"p{i}", "maps") for i in range(len(self.scans))]
        for outcome in self.at_once([["scan", "build", place, "--scan", name, "-q"]
                                     for place, name in zip(places, self.scans)]):
            self.assertEqual(harness.without_progress(outcome.err), "")
        for place, name in zip(places, self.scans):
            self.assertEqual(os.listdir(place / "maps"), [name + ".ply"])
            self.assertEqual([path.name for path in place.iterdir() if not path.is_symlink()], ["maps"])
            os.utime(place / "maps" / (name + ".ply"), (1e9, 1e9))
            shutil.copy2(place / "maps" / (name + ".ply"), folder / "maps")
        self.assertIn("(11 were there)", self.succeed("scan", "build", "s").out)
        self.same(folder, self.made / "body")

    def test_without_measured(self):
        """One that is alone measures what it needs."""
        folder = self.session("s", *BUILT)
        self.succeed("scan", "build", "s", "--cage-only", "-q")
        self.succeed("scan", "build", "s", "--scan", "torso_15", "-q")
        self.assertEqual(files(folder / "maps"),
                         {"torso_15.ply": (self.made / "body/maps/torso_15.ply").read_bytes()})
        self.assertFalse((folder / "measured").exists())
        self.assertIn("(1 were there)", self.succeed("scan", "build", "s").out)
        self.same(folder, self.made / "body")

    def test_old_pieces(self):
        """Pieces of another fit are not taken, though they are new."""
        folder = self.session("s", *BUILT)
        fit = json.loads((folder / "fit.json").read_text())
        scan = next(scan for scan in fit["scans"] if scan["name"] == "arm_13")
        scan["base"][0] += 0.002
        remove(folder / "fit.json")
        (folder / "fit.json").write_text(json.dumps(fit))
        self.measure(folder)
        for name in self.scans:
            self.succeed("scan", "build", "s", "--scan", name, "-q")
        remove(folder / "fit.json")
        os.link(self.made / "body/fit.json", folder / "fit.json")
        os.utime(folder / "fit.json", (1e9, 1e9))
        self.succeed("scan", "build", "s", "-q")
        self.same(folder, self.made / "body")

    def test_left_out(self):
        """A scan that does not fit, one that the fit does not have, and one of two parts."""
        whole = self.session("whole", *BUILT)
        description = json.loads((whole / "scan.json").read_text())
        scan = next(scan for scan in description["scans"] if scan["name"] == "arm_27")
        scan["part"] = ["arm", "torso"]
        fit = json.loads((whole / "fit.json").read_text())
        next(scan for scan in fit["scans"] if scan["name"] == "shoulder_28")["rms"] = 0.5
        fit["scans"] = [scan for scan in fit["scans"] if scan["name"] != "torso_23"]
        for name, data in (("scan.json", description), ("fit.json", fit)):
            remove(whole / name)
            (whole / name).write_text(json.dumps(data))
        folder = self.folder / "s"
        shutil.copytree(whole, folder)
        told = self.run_tool("scan", "build", "whole")
        self.assertEqual(told.code, 0, told.err)
        self.assertIn("scan 'shoulder_28' is left out", told.err)
        self.succeed("scan", "build", "s", "--cage-only", "-q")
        for measure in (["--measure"], []):
            for name in self.scans:
                outcome = self.run_tool("scan", "build", "s", "--scan", name, *measure)
                self.assertEqual(outcome.code, 0, outcome.err)
                said = {"shoulder_28": "scan 'shoulder_28' is left out", "torso_23": "is not in the fit"}.get(name)
                if name == "arm_27":
                    continue
                if said:
                    self.sentence(outcome, 0, said)
                else:
                    self.assertEqual(harness.without_progress(outcome.err), "")
        again = self.run_tool("scan", "build", "s")
        self.assertEqual(harness.without_progress(again.err), harness.without_progress(told.err))
        self.same(folder, whole)

    def test_one_sentence(self):
        folder = self.session("s", *BUILT)
        self.sentence(self.run_tool("scan", "build", "s", "--scan", "arm_02"), 1, "cage.obj", "--cage-only")
        self.sentence(self.run_tool("scan", "build", "s", "--scan", "arm_2"), 1, "did you mean 'arm_02'")
        self.assertEqual(self.run_tool("scan", "build", "s", "--measure").code, 2)
        self.assertEqual(self.run_tool("scan", "build", "s", "--cage-only", "--scan", "arm_02").code, 2)
        self.assertFalse((folder / "maps").exists())
        self.assertFalse((folder / "cage.obj").exists())


class Labels(Pieces):
    ALONE = ["arm_13", "shoulder_05", "torso_23"]

    def test_alone(self):
        """Scans named alone, with the skeleton of the others: in any order, and as all were named together."""
        folder = self.session("s", "fit.json", "labels/doubtful.csv", *[f"labels/{name}.csv" for name in self.ALONE])
        self.assertEqual(self.run_tool("scan", "fit", "s", "-q").code, 0)
        places = [self.private(folder, f"p{i}", "labels") for i in range(len(self.ALONE))]
        for outcome in self.at_once([["scan", "label", place, "--scan", name, "-q"]
                                     for place, name in zip(places, self.ALONE)]):
            self.assertEqual((outcome.code, harness.without_progress(outcome.err)), (0, ""))
        for place, name in zip(places, self.ALONE):
            self.assertEqual(os.listdir(place / "labels"), [name + ".csv"])
            self.succeed("scan", "label", "s", "--scan", name, "-q")
            made = (place / "labels" / (name + ".csv")).read_bytes()
            self.assertEqual((folder / "labels" / (name + ".csv")).read_bytes(), made)
            rows, others = ({line.split(",")[0]: line.split(",")[1:] for line in text.splitlines()[1:]} for text in
                            (made.decode(), (self.made / "body/labels" / (name + ".csv")).read_text()))
            sure = [marker for marker, row in rows.items() if float(row[3]) >= 0.9]
            self.assertGreater(len(sure), 0.9 * len(others))
            for marker in sure:
                if marker in others and float(others[marker][3]) >= 0.9:
                    self.assertEqual(rows[marker][:3], others[marker][:3], marker)
        self.assertFalse((folder / "labels/doubtful.csv").exists())
        self.assertIn("labelled before", self.succeed("scan", "label", "s").out)
        self.assertTrue((folder / "labels/doubtful.csv").exists())

    def test_one_sentence(self):
        self.session("s", "fit.json", "labels/arm_13.csv")
        self.sentence(self.run_tool("scan", "label", "s", "--scan", "arm_13"), 1, "fit.json", "scan fit")


class Fit(Pieces):
    SCANS, BLOCKS, ROUNDS = 230, 3, 15

    def rounds(self, folder, apart):
        """Fits in blocks; apart: each block in a private folder, in another order."""
        for number in range(self.ROUNDS):
            blocks = list(range(1, self.BLOCKS + 1))
            places = {block: self.private(folder, f"r{number}b{block}", "blocks") if apart else folder
                      for block in blocks}
            for place in places.values() if apart and (folder / "blocks/state.bin").exists() else ():
                (place / "blocks").mkdir()
                (place / "blocks/state.bin").symlink_to(folder / "blocks/state.bin")
            calls = [["scan", "fit", places[block], "--block", block, "-q"] for block in blocks]
            for outcome in self.at_once(calls) if apart else [self.run_tool(*call) for call in calls]:
                self.assertEqual((outcome.code, harness.without_progress(outcome.err)), (0, ""))
            (folder / "blocks").mkdir(exist_ok=True)
            for block, place in places.items() if apart else ():
                shutil.move(place / f"blocks/{block}.bin", folder / f"blocks/{block}.bin")
            if self.succeed("scan", "fit", folder, "--sum", "--json").json()["done"]:
                return number + 1
        self.fail("it does not end")

    def test_blocks(self):
        sys.path.insert(0, str(harness.REPOSITORY / "tests/scan"))
        import many
        many.make(self.made / "body", self.SCANS, self.folder / "one")
        many.make(self.made / "body", 40, self.folder / "few")
        self.sentence(self.run_tool("scan", "fit", "one", "--block", 1), 1, "fit.json", "scan fit")
        self.assertEqual(self.run_tool("scan", "fit", "few", "--rigid", "--even", "-q", "-o", "one/fit.json").code, 0)
        self.sentence(self.run_tool("scan", "fit", "one", "--sum"), 1, "block 1 of this round is missing")
        self.sentence(self.run_tool("scan", "fit", "one", "--block", 4), 1, "has 3 blocks")
        shutil.copytree(self.folder / "one", self.folder / "two")
        rounds = self.rounds(self.folder / "one", False)
        self.assertEqual(self.rounds(self.folder / "two", True), rounds)
        made = (self.folder / "one/fit.json").read_bytes()
        self.assertEqual((self.folder / "two/fit.json").read_bytes(), made)
        # Further rounds change nothing.
        self.assertIn("has ended", self.succeed("scan", "fit", "one", "--block", 2).out)
        self.succeed("scan", "fit", "one", "--sum", "-q")
        self.assertEqual((self.folder / "one/fit.json").read_bytes(), made)
        # One process finds the same.
        self.assertEqual(self.run_tool("scan", "fit", "two", "--rigid", "--even", "-q").code, 0)
        one, other = json.loads(made), json.loads((self.folder / "two/fit.json").read_text())
        self.assertEqual([scan["name"] for scan in one["scans"]], [scan["name"] for scan in other["scans"]])
        rms = [sum(scan["rms"] ** 2 for scan in fit["scans"]) ** 0.5 for fit in (one, other)]
        self.assertLess(abs(rms[0] / rms[1] - 1), 1e-3)
        for joint, twin in zip(one["skeleton"]["joints"], other["skeleton"]["joints"]):
            for a, b in zip(joint.get("axis", []), twin.get("axis", [])):
                self.assertLess(abs(a - b), 2e-3, joint["name"])
            for a, b in zip(joint.get("translation", []), twin.get("translation", [])):
                self.assertLess(abs(a - b), 2e-3, joint["name"])


if __name__ == "__main__":
    harness.main()
