"""exemplar scan label: names the markers of a small session, keeps names set by hand, the page, and messages."""
import csv
import fcntl
import json
import math
import os
import random
import re
import subprocess
from pathlib import Path

import harness

COLOURS = [(220, 30, 40), (30, 160, 60), (30, 70, 200), (240, 220, 40), (230, 120, 20), (120, 40, 150), (40, 190, 200),
           (20, 20, 20)]
JOINTS = [("trunk", None, "base", (0, 1, 0)), ("arm", "trunk", "ball", (0.2, 0.4, 0)),
          ("hand", "arm", "hinge", (0.3, 0, 0))]


def turned(v, axis, degrees):
    """v turned about a coordinate axis."""
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    x, y, z = v
    return {"x": (x, c * y - s * z, s * y + c * z), "y": (c * x + s * z, y, c * z - s * x),
            "z": (c * x - s * y, s * x + c * y, z)}[axis]


def added(a, b):
    return tuple(p + q for p, q in zip(a, b))


class Label(harness.Case):
    def session(self):
        """A trunk, an arm and a hand with 10 markers each, in four scans with some missing."""
        chance = random.Random(7)
        markers = []
        for joint, (name, _, _, _) in enumerate(JOINTS):
            for i in range(10):
                at = [(chance.uniform(-0.2, 0.2), chance.uniform(0, 0.4), chance.choice((-0.1, 0.1))),
                      (chance.uniform(0.05, 0.25), *self.around(chance, 0.05)),
                      (chance.uniform(0.02, 0.2), *self.around(chance, 0.04))][joint]
                markers.append((f"{name}-{i}", joint, at, COLOURS[(3 * joint + i) % 8]))
        self.write("skeleton.json", json.dumps({"exemplar_skeleton": 1, "name": "one", "joints": [
            {"name": n, "joint": kind, "translation": t, **({"parent": p} if p else {}),
             **({"axis": [0, -1, 0]} if kind == "hinge" else {})} for n, p, kind, t in JOINTS]}))
        self.write("markers.csv", "marker,joint,r,g,b\n" + "".join(
            f"{n},{JOINTS[j][0]},{c[0]},{c[1]},{c[2]}\n" for n, j, _, c in markers))
        poses = {"still": (0, 0), "up": (70, 0), "bent": (20, 100), "both": (-40, 60)}
        self.write("scan.json", json.dumps({
            "exemplar_scan": 1, "skeleton": "skeleton.json", "markers": "markers.csv", "reference": "still",
            "parts": [{"name": "arm", "joints": ["arm", "hand"], "covers": ["arm", "hand"]}],
            "scans": [{"name": n, "part": "arm", "files": [f"scans/{n}.ply"]} for n in poses]}))
        self.truth = {}
        for scan, (up, bend) in poses.items():
            rows = []
            for name, joint, at, colour in markers:
                if joint == 2:
                    at = added(turned(at, "y", -bend), JOINTS[2][3])
                if joint >= 1:
                    at = added(turned(at, "z", up), JOINTS[1][3])
                at = added(at, JOINTS[0][3])
                if scan == "still" or chance.random() < 0.75:
                    rows.append((name, [p + chance.gauss(0, 0.001) for p in at], colour))
            chance.shuffle(rows)
            self.truth[scan] = {name: at for name, at, _ in rows}
            self.write(f"found/{scan}.csv", "x,y,z,r,g,b\n" + "".join(
                f"{a[0]:.6f},{a[1]:.6f},{a[2]:.6f},{c[0]},{c[1]},{c[2]}\n" for _, a, c in rows))
        self.write("labels/still.csv", "marker,x,y,z\n" + "".join(
            f"{n},{a[0]:.6f},{a[1]:.6f},{a[2]:.6f}\n" for n, a in self.truth["still"].items()))

    @staticmethod
    def around(chance, radius):
        angle = chance.uniform(0, 2 * math.pi)
        return radius * math.cos(angle), radius * math.sin(angle)

    def write(self, name, text):
        path = self.folder / "s" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def labels(self, scan):
        with open(self.folder / "s" / "labels" / f"{scan}.csv", newline="") as file:
            return {row["marker"]: row for row in csv.DictReader(file)}

    def test_steps_wait_for_each_other(self):
        """All that change the session; the one that holds the lock here is the test."""
        self.session()
        for step in ("markers", "label", "fit", "template", "build", "run"):
            folder = os.open(self.folder / "s", os.O_RDONLY)
            fcntl.flock(folder, fcntl.LOCK_EX)
            job = subprocess.Popen([harness.TOOL, "scan", step, "s"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
            try:
                self.assertEqual(job.stderr.readline().decode(), "exemplar: another command is changing a project in "
                                 "the folder 's': waiting for it\n", step)
                self.assertIsNone(job.poll())
                if step in ("markers", "run"):
                    job.kill()
            finally:
                os.close(folder)
                job.communicate(timeout=100)

    def test_checks_first_that_results_can_be_written(self):
        self.session()
        for step, name, words in (("markers", "found", "cannot make the folder 's/found'"),
                                  ("label", "labels", "cannot make the folder 's/labels'"),
                                  ("template", "template", "cannot make the folder 's/template'"),
                                  ("fit", "fit.json", "cannot write 's/fit.json': it is a folder"),
                                  ("build", "body.glb", "cannot write 's/body.glb': it is a folder")):
            path = self.folder / "s" / name
            if path.is_dir():
                path.rename(self.folder / name)
            if "." in name:
                path.mkdir()
            else:
                path.write_text("in the way")
            before = self.listing()
            self.sentence(self.run_tool("scan", step, "s"), 1, words)
            self.assertEqual(self.listing(), before)
            path.rmdir() if path.is_dir() else path.unlink()
            if (self.folder / name).exists():
                (self.folder / name).rename(path)

    def test_session(self):
        self.session()
        report = self.succeed("scan", "label", "s", "--json").json()
        self.assertEqual([s["name"] for s in report["scans"]], ["still", "up", "bent", "both"])
        sure = 0
        for scan in ("up", "bent", "both"):
            for name, row in self.labels(scan).items():
                if float(row["confidence"]) < 0.9:
                    continue
                sure += 1
                self.assertIn(name, self.truth[scan])
                for axis, value in zip("xyz", self.truth[scan][name]):
                    self.assertAlmostEqual(float(row[axis]), value, places=5)
        self.assertEqual(sure, sum(s["sure"] for s in report["scans"][1:]))
        self.assertGreaterEqual(sure, 0.9 * sum(len(self.truth[s]) for s in ("up", "bent", "both")))
        listed = (self.folder / "s/labels/doubtful.csv").read_text().splitlines()
        self.assertEqual(len(listed), 1 + len(report["doubtful"]))
        # A second run has nothing to do. Files changed by hand are kept, with any options.
        before = (self.folder / "s/labels/up.csv").read_bytes()
        again = self.succeed("scan", "label", "s")
        self.assertIn("3 scans labelled before", again.out)
        at = next(iter(self.truth["up"].values()))
        (self.folder / "up.csv").write_text(f"marker,x,y,z\nhand-9,{at[0]:.6f},{at[1]:.6f},{at[2]:.6f}\n")
        self.assertIn("1 label taken", self.succeed("scan", "label", "s", "--csv", "up.csv").out)
        self.succeed("scan", "label", "s", "--force")
        row = self.labels("up")["hand-9"]
        self.assertEqual(row["confidence"], "")
        self.assertAlmostEqual(float(row["x"]), at[0], places=5)
        self.assertNotEqual((self.folder / "s/labels/up.csv").read_bytes(), before)

    def test_names_where_nothing_was_found(self):
        """The reference is named by hand. Where no marker was found, a name is no name of a found one."""
        self.session()
        found = (self.folder / "s/found/still.csv").read_text().splitlines()
        self.write("found/still.csv", "\n".join(found[:-3]) + "\n")
        scans = self.succeed("scan", "label", "s", "--json").json()["scans"]
        self.assertEqual([scan["not_found"] for scan in scans], [3, 0, 0, 0])
        self.assertEqual(scans[0]["sure"], scans[0]["found"] + 3)
        line = self.succeed("scan", "label", "s").out.splitlines()[0]
        numbers = re.search(r"(\d+) markers found, (\d+) of them named for sure, (\d+) doubtful; 3 more named by hand, where none "
                            r"was found", line)
        all_found, sure, doubtful = map(int, numbers.groups())
        self.assertEqual(all_found, sum(scan["found"] for scan in scans))
        self.assertEqual(sure + 3, sum(scan["sure"] for scan in scans))
        self.assertLessEqual(sure + doubtful, all_found)

    def test_answers_are_kept(self):
        """A table for several scans, as a page gives it: a name, a spot that is none, a name taken back."""
        self.session()
        self.succeed("scan", "label", "s", "-q")
        up, bent = self.labels("up"), self.labels("bent")
        spot, named, gone = list(up)[0], list(bent)[0], list(bent)[1]

        def place(row):
            return ",".join(row[axis] for axis in "xyz")

        (self.folder / "names.csv").write_text(
            f"scan,marker,x,y,z,confidence\nup,,{place(up[spot])},\nbent,{named},{place(bent[named])},\nbent,{gone},,,,\n")
        out = self.succeed("scan", "label", "s", "--csv", "names.csv").out
        self.assertIn("labels/up.csv: 1 label taken from names.csv", out)
        self.assertIn("labels/bent.csv: 2 labels taken from names.csv", out)
        self.assertNotIn(spot, self.labels("up"))
        self.assertNotIn(gone, self.labels("bent"))
        self.assertEqual(self.labels("bent")[named]["confidence"], "")
        none = (self.folder / "s/no_markers.csv").read_text().splitlines()
        self.assertEqual(none, ["scan,x,y,z", f"up,{place(up[spot])}"])
        # Labelled again: the spot is no marker, whatever it looks like, and nobody is asked.
        report = self.succeed("scan", "label", "s", "--force", "--json").json()
        self.assertNotIn(spot, self.labels("up"))
        self.assertEqual(report["scans"][1]["found"], len(self.truth["up"]) - 1)
        for doubt in report["doubtful"]:
            self.assertNotEqual([doubt["scan"], doubt["marker"]], ["up", spot])
        # A name for the spot takes that back.
        (self.folder / "names.csv").write_text(f"scan,marker,x,y,z\nup,{spot},{place(up[spot])}\n")
        self.succeed("scan", "label", "s", "--csv", "names.csv")
        self.assertEqual((self.folder / "s/no_markers.csv").read_text(), "scan,x,y,z\n")
        self.assertIn(spot, self.labels("up"))
        # A wrong row: nothing is written.
        before = self.labels("bent")
        (self.folder / "names.csv").write_text(f"scan,marker,x,y,z\nbent,{gone},1,2,3\nbnet,{gone},1,2,3\n")
        self.sentence(self.run_tool("scan", "label", "s", "--csv", "names.csv"), 1, "names.csv:3: the session has no scan "
                      "'bnet': did you mean 'bent'?")
        self.assertEqual(self.labels("bent"), before)

    def person(self):
        """A session with a template person, whose scan is the template itself."""
        human = Path(__file__).resolve().parents[2] / "src/author/scan/human/human.glb"
        (self.folder / "s/scans").mkdir(parents=True)
        for name in ("stand", "again"):
            self.succeed("pose", human, "-o", self.folder / f"s/scans/{name}.ply", "-q")
        self.write("scan.json", json.dumps({
            "exemplar_scan": 1, "skeleton": "full", "reference": "stand",
            "scans": [{"name": n, "files": [f"scans/{n}.ply"]} for n in ("again", "stand")]}))

    def points(self, scan):
        with open(self.folder / "s" / "landmarks" / f"{scan}.csv", newline="") as file:
            return {row["marker"]: [float(row[axis]) for axis in "xyz"] for row in csv.DictReader(file)}

    def test_landmarks(self):
        self.person()
        line = self.succeed("scan", "label", "s", "--page", "p.html").out
        self.assertRegex(line, r"p\.html: 2 scans, ")
        text = (self.folder / "p.html").read_text()
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        self.assertEqual([scan["name"] for scan in data["scans"]], ["stand", "again"])  # the reference first
        names = [landmark["name"] for landmark in data["landmarks"]]
        self.assertEqual(len(names), 22)
        self.assertEqual(len(set(names)), 22)
        for landmark in data["landmarks"]:
            self.assertRegex(landmark["where"], r"^[A-Z].*\.$")
            if landmark["name"].endswith((".L", ".R")):  # left is the person's left, +x of the template
                self.assertEqual(landmark["at"][0] > 0, landmark["name"].endswith(".L"))
                self.assertIn({"L": "left", "R": "right"}[landmark["name"][-1]], landmark["where"])
        self.assertNotRegex(text, r"(src|href)=.https?:")
        # Filed by the page's own table, then by one of markers named as landmarks, then taken back.
        rows = "".join(f"stand,{n},{i},2,3\nagain,{n},{i},4,5\n" for i, n in enumerate(names[:7]))
        (self.folder / "clicks.csv").write_text("scan,landmark,x,y,z\n" + rows)
        out = self.succeed("scan", "label", "s", "--csv", "clicks.csv").out
        self.assertIn("landmarks/stand.csv: 7 landmarks taken from clicks.csv\n", out)
        self.assertEqual(self.points("again")[names[6]], [6, 4, 5])
        (self.folder / "again.csv").write_text("marker,x,y,z\nheel.L,0.5,0.25,1\n" + f"{names[0]},,,\n{names[1]},,,\n")
        out = self.succeed("scan", "label", "s", "--csv", "again.csv").out
        self.assertIn("landmarks/again.csv: 3 landmarks taken from again.csv, it has 6 now\n", out)
        self.assertEqual(self.points("again")["heel.L"], [0.5, 0.25, 1])
        self.assertNotIn(names[0], self.points("again"))
        (self.folder / "again.csv").write_text("landmark,x,y,z\nheel.L,,,\n")
        self.assertIn("; it needs 1 more", self.succeed("scan", "label", "s", "--csv", "again.csv").out)
        # A second page has what was clicked.
        self.succeed("scan", "label", "s", "--page", "p.html", "--scan", "stand", "-q")
        data = json.loads(re.search(r'id="data">(.*?)</script>', (self.folder / "p.html").read_text(), re.S).group(1))
        self.assertEqual([scan["name"] for scan in data["scans"]], ["stand"])
        self.assertEqual(data["scans"][0]["points"][names[1]], [1, 2, 3])
        (self.folder / "clicks.csv").write_text("landmark,x,y,z\nnose,1,2,3\n")
        self.sentence(self.run_tool("scan", "label", "s", "--csv", "clicks.csv"), 1, "does not say of which scan it is")
        self.sentence(self.run_tool("scan", "label", "s", "--landmarks"), 2, "--landmarks goes with --page")

    def test_sentences(self):
        self.session()
        text = (self.folder / "s/labels/still.csv").read_text()
        lines = text.splitlines()

        def say(words, *arguments, code=1):
            self.sentence(self.run_tool("scan", "label", "s", *arguments), code, words)

        self.write("labels/still.csv", lines[0] + "\n")
        say("reference scan 'still' has no labels")
        self.write("labels/still.csv", text.replace("hand-3,", "hnad-3,"))
        say("did you mean 'hand-3'?")
        self.write("labels/still.csv", "\n".join(lines + [lines[1]]) + "\n")
        say("is already on line 2")
        self.write("labels/still.csv", text)
        (self.folder / "far.csv").write_text("marker,x,y,z\nhand-3,0,0,0\n")
        say("does not say of which scan it is", "--csv", "far.csv")
        say("has no scan 'fat'", "--csv", "far.csv", "--scan", "fat")
        say("this session has a cage and no template person, so it has no landmarks", "--page", "p.html", "--landmarks")
        say("do not go together", "--csv", "far.csv", "--page", "p.html", code=2)
        # A scan of another person: said, and the others are done.
        self.write("found/up.csv", "x,y,z,r,g,b\n5,5,5,9,200,9\n5,6,5,200,9,9\n")
        say("scan 'up' seems to have no marker in common with the reference 'still'")
        self.assertGreater(len(self.labels("bent")), 10)
        # Files are read as strictly if no marker is left to name.
        bent = (self.folder / "s/labels/bent.csv").read_text()
        self.write("labels/bent.csv", bent + "nobody,0,0,0,0.5\n")
        say("s/labels/bent.csv: the session has no marker 'nobody'")
        self.write("labels/bent.csv", "")
        say("s/labels/bent.csv is empty")
        (self.folder / "s/found/both.csv").unlink()
        say("'exemplar scan markers s' makes it")

    def test_sessions_refused(self):
        self.session()
        text = (self.folder / "s/scan.json").read_text()

        def say(words, **changes):
            session = json.loads(text)
            for key, value in changes.items():
                if isinstance(value, dict):  # of the first in the list
                    session[key][0].update(value)
                else:
                    session[key] = value
            self.write("scan.json", json.dumps(session))
            self.sentence(self.run_tool("scan", "label", "s"), 1, words)

        for name in ("a/b", "../arm", "base", "figure", ".arm", "n" * 128):
            say(f"parts[0].name: '{name[:100]}", parts={"name": name})
        say("parts[0].joints[1]: 'arm' is already in this list", parts={"joints": ["arm", "arm"]})
        say("parts[0].covers[0]: the skeleton has no joint 'leg'", parts={"covers": ["leg"]})
        for name in ("a/b", "..", "doubtful", "line\nbreak"):
            say("cannot be the name of a scan", scans={"name": name})
        say("there is already a scan 'up'", scans={"name": "up"})
        say("scans[0].part: there is no part 'leg'", scans={"part": "leg"})
        say("scans[0].files[1]: 'a.ply' is already in this list", scans={"files": ["a.ply", "a.ply"]})
        say("reference: there is no scan 'none'", reference="none")
        say("average: there is no scan 'none'", average="none")
        say("levels: a whole number from 1 to 10", levels=11)
        say("reach: must be above 0", reach=-1)
        say("exemplar_scan: this program reads version 1", exemplar_scan=2)


if __name__ == "__main__":
    harness.main()
