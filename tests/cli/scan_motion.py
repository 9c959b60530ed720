"""exemplar scan fit on motion capture of made people with known joint angles (capture_maker.py): static and motion
trials in the names of OpenSim's gait2392 and of Plug-in Gait; swaps, gaps, ghosts, markers without labels and unknown
ones; exchanged sides, six up axes; and the recordings of other laboratories, if they are there."""
import csv
import math
import os
import pathlib

import harness
import capture_maker as maker

# Turns about a bone's length: markers a few centimetres from it, with skin that slides, show them less well.
ROLLS = {"arm_rot_r", "arm_rot_l", "pro_sup_r", "pro_sup_l"}
NOT_MADE = {"pelvis_tx", "pelvis_ty", "pelvis_tz", "ankle_rotation_r", "ankle_rotation_l"}


def read_mot(path):
    head, body = path.read_text().split("endheader\n")
    lines = [line.split("\t") for line in body.splitlines()]
    return head, lines[0], [[float(cell) for cell in line] for line in lines[1:]]


def differences(names, rows, poses):
    """RMS difference from the truth of each angle, in degrees."""
    out = {}
    for column, name in enumerate(names):
        if name == "time" or name in NOT_MADE:
            continue
        off = [row[column] - pose.get(name, 0.0) for row, pose in zip(rows, poses)]
        off = [x - 360 * math.floor(x / 360 + 0.5) for x in off]
        out[name] = math.sqrt(sum(x * x for x in off) / len(off))
    return out


class Made(harness.Case):
    def setUp(self):
        super().setUp()
        self.person = maker.Person(0.93, 0.97, 1.04)
        self.markers = maker.marker_set(self.person, maker.PLUG_IN, ("knee_in", "ankle_in"))

    def fit_with_notes(self, *words):
        outcome = self.run_tool("scan", "fit", *words)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def fit(self, file, *words):
        return self.succeed("scan", "fit", file, *words, "--json").json()

    def check_angles(self, found, least, rolls=2.5):
        self.assertGreaterEqual(len(found), least)
        bad = {name: round(rms, 2) for name, rms in found.items() if rms > (rolls if name in ROLLS else 2)}
        self.assertEqual(bad, {})

    def test_opensim(self):
        person = maker.Person(1.0, 1.02, 0.95)
        markers = maker.marker_set(person, maker.GAIT2392)
        poses = maker.walk(person)
        moving = {name: value for name, value in markers.items() if not name.endswith(".Med") or "Wrist" in name
                  or "Toe" in name}
        self.assertEqual(len(markers) - len(moving), 4)
        maker.write_trc(self.folder / "static.trc", maker.static_trial(person, markers))
        maker.write_trc(self.folder / "walk.trc", maker.trial(person, moving, poses))
        outcome = self.fit_with_notes("walk.trc", "--static", "static.trc", "--angles", "walk.mot",
                               "--bvh", "walk.bvh")
        self.assertRegex(outcome.out, r"^walk.trc: 250 frames, 47 of 47 markers used\n")
        self.assertIn("bone of the name: ", outcome.out)
        head, names, rows = read_mot(self.folder / "walk.mot")
        self.assertEqual(head, f"Coordinates\nversion=1\nnRows=250\nnColumns={len(names)}\ninDegrees=yes\n\n")
        self.assertEqual(names[:4], ["time", "pelvis_tilt", "pelvis_list", "pelvis_rotation"])
        self.assertAlmostEqual(rows[1][0], 0.01)
        self.check_angles(differences(names, rows, poses), 26)
        self.assertEqual(self.succeed("info", "walk.bvh", "--json").json()["frames"], 250)
        # The same as a table.
        self.fit_with_notes("walk.trc", "--static", "static.trc", "--angles", "walk.csv")
        with open(self.folder / "walk.csv", newline="") as file:
            table = list(csv.reader(file))
        self.assertEqual(table[0], names)
        self.assertAlmostEqual(float(table[100][5]), rows[99][5], places=4)

    def test_plug_in_gait(self):
        poses = maker.walk(self.person)
        own = {}
        for side in "LR":
            s = "_" + side.lower()
            own[side + "HipAngles"] = [(p["hip_flexion" + s], p["hip_adduction" + s], p["hip_rotation" + s])
                                       for p in poses]
            own[side + "KneeAngles"] = [(p["knee_angle" + s] + 10, 0, 0) for p in poses]
        maker.write_c3d(self.folder / "static.c3d", maker.static_trial(self.person, self.markers), prefix="Anna:")
        maker.write_c3d(self.folder / "walk.c3d", maker.trial(self.person, self.markers, poses), prefix="Anna:",
                        angles=own, channels=6, say_up="+Z")
        outcome = self.fit_with_notes("walk.c3d", "--static", "static.c3d", "--angles", "walk.mot")
        self.assertRegex(outcome.out, r"^walk.c3d: 250 frames, 39 of 39 markers used\n")
        self.assertIn("6 analogue channels skipped", outcome.err)
        _, names, rows = read_mot(self.folder / "walk.mot")
        self.assertNotIn("subtalar_angle_r", names)  # two markers on a foot do not show its roll
        found = differences(names, rows, poses)
        self.check_angles(found, 25)
        # The file's own angles: those of hips are the truth, those of knees 10 degrees more.
        answer = self.fit("walk.c3d", "--static", "static.c3d")
        compared = {line["angle"]: line for line in answer["compared"]}
        self.assertEqual(len(compared), 8)
        self.assertAlmostEqual(compared["hip_adduction_l"]["rms"], found["hip_adduction_l"], delta=0.01)
        self.assertEqual(compared["knee_angle_r"]["other"], "RKneeAngles x")
        self.assertAlmostEqual(compared["knee_angle_r"]["mean"], -10, delta=2)
        self.assertLess(compared["knee_angle_r"]["spread"], 2)
        info = self.succeed("info", "walk.c3d").out
        self.assertIn("angles    4 joints of another program\n", info)
        self.assertIn("skipped   6 analogue channels\n", info)

    def test_mends(self):
        """Exchanged, false, missing, unlabelled and unknown markers; the angles stay."""
        poses = maker.walk(self.person, 1.6)
        markers = dict(self.markers)
        thigh, at, slide, phase = markers["LTHI"]
        markers["probe"] = (thigh, [at[0] + 0.04, at[1] + 0.03, at[2]], slide, phase)  # of the left thigh
        rows = maker.trial(self.person, markers, poses)
        for f in range(40, 60):
            rows[f]["RWRA"], rows[f]["RWRB"] = rows[f]["RWRB"], rows[f]["RWRA"]
        for f in range(90, 104):
            rows[f]["LKNE"], rows[f]["RKNE"] = rows[f]["RKNE"], rows[f]["LKNE"]
        for f in range(70, 76):
            rows[f]["RASI"] = maker.add(rows[f]["RASI"], [0.0, 0.15, 0.2])
        for f in range(110, 150):  # a gap, whose marker has no label there
            rows[f]["*41"] = rows[f].pop("LTIB")
        for f in range(20, 35):
            del rows[f]["STRN"]
        for f, row in enumerate(rows):
            row["lamp"] = [0.5, 2.2, 1.0]
            row["*42"] = [2 * math.sin(7 * f), 1 + math.sin(5 * f), math.cos(11 * f)]
            row["LHJC"] = [0.1, 0.9, 0.1 + 0.001 * f]
        maker.write_trc(self.folder / "walk.trc", rows)
        maker.write_trc(self.folder / "static.trc", maker.static_trial(self.person, markers))
        outcome = self.fit_with_notes("walk.trc", "--static", "static.trc", "--angles", "walk.mot")
        self.assertIn("RWRA and RWRB had changed places in 20 frames", outcome.err)
        self.assertIn("RKNE and LKNE had changed places in 14 frames", outcome.err)
        self.assertIn("  RASI: left out of 6 frames", outcome.out)
        self.assertIn("  LTIB: a marker without a label taken for it in 40 frames", outcome.out)
        self.assertRegex(outcome.out, r"  probe: put on hip.L by rigidity \(moves \d\.\d mm against it\)")
        self.assertIn("not used: lamp: unknown name, and does not move", outcome.out)
        self.assertRegex(outcome.out, r"not used: \*42: no label, and (moves against every|not near any) bone")
        self.assertIn("not used: LHJC: computed by another program", outcome.out)
        self.assertIn("not used: *41: no label: taken for markers that were not seen, in 40 frames", outcome.out)
        _, names, rows = read_mot(self.folder / "walk.mot")
        self.check_angles(differences(names, rows, poses), 25, 4)

    def test_sides(self):
        """Left and right exchanged in all labels: put right, and said."""
        poses = maker.walk(self.person, 1.2)
        rows = [{("R" if n[0] == "L" else "L") + n[1:] if n[0] in "LR" and n != "RBAK" else n: p
                 for n, p in row.items()} for row in maker.trial(self.person, self.markers, poses)]
        maker.write_trc(self.folder / "walk.trc", rows)
        outcome = self.fit_with_notes("walk.trc", "--angles", "walk.mot")
        self.assertIn("left and right are exchanged", outcome.err)
        _, names, rows = read_mot(self.folder / "walk.mot")
        found = differences(names, rows, poses)
        self.assertLess(found["knee_angle_r"], 8)  # no static trial
        self.assertLess(found["knee_angle_l"], 8)

    def test_ups(self):
        """All six up axes, said by nobody or wrongly: the hips are as high, and the person stands."""
        poses = maker.walk(self.person, 0.8)
        rows = maker.trial(self.person, self.markers, poses)
        for up in maker.AXES:
            for said in (None, "+Y") if up[0] == "-" else (None,):
                maker.write_c3d(self.folder / "walk.c3d", rows, up=up, say_up=said)
                answer = self.fit("walk.c3d", "--frames", "12")
                self.assertEqual(answer["up"], up)
                self.assertEqual(any("the file says that +Y is up" in note for note in answer["notes"]),
                                 said is not None and up != "+Y")
                self.assertLess(answer["rms"], 0.004)
        self.fit_with_notes("walk.c3d", "--up", "+Y", "--frames", "12", "--angles", "a.csv")

    def test_no_labels(self):
        """A motion that begins near the static pose gets all its labels from there; one that does not is refused."""
        def bend(t):
            start, end, k = maker.static_pose(self.person), maker.walk_pose(self.person, 0.2), min(1.0, t)
            return {name: (1 - k) * start.get(name, 0.0) + k * end.get(name, 0.0) for name in {**start, **end}}
        names = sorted(self.markers, key=lambda name: name[::-1])
        maker.write_trc(self.folder / "static.trc", maker.static_trial(self.person, self.markers))
        for file, poses in (("bend", [bend(f / 60) for f in range(80)]), ("walk", maker.walk(self.person, 0.6))):
            rows = maker.trial(self.person, self.markers, poses)
            bare = [{f"*{i}": row[name] for i, name in enumerate(names)} for row in rows]
            maker.write_trc(self.folder / f"{file}.trc", bare)
        outcome = self.run_tool("scan", "fit", "bend.trc", "--static", "static.trc", "--json")
        self.assertEqual(outcome.code, 0, outcome.err)
        answer = outcome.json()
        self.assertEqual([marker["marker"] for marker in answer["marker_notes"]], names)
        self.assertIn("the motion has no labels: they were found from the static trial", answer["notes"][0])
        self.assertLess(answer["rms"], 0.004)
        self.sentence(self.run_tool("scan", "fit", "walk.trc", "--static", "static.trc"), 1,
                      "39 of 39 markers have no label", "passes near its pose")

    def test_refusals(self):
        rows = maker.trial(self.person, self.markers, maker.walk(self.person, 0.3))
        maker.write_trc(self.folder / "bare.trc",
                        [{f"*{i}": p for i, p in enumerate(row.values())} for row in rows])
        self.sentence(self.run_tool("scan", "fit", "bare.trc"), 1, "39 of 39 markers have no label", "at least 6")
        both = [{**{"A:" + n: p for n, p in row.items()},
                 **{"B:" + n: maker.add(p, [1, 0, 0.5]) for n, p in row.items()}} for row in rows]
        maker.write_trc(self.folder / "both.trc", both)
        outcome = self.fit_with_notes("both.trc")
        self.assertIn("39 of 78 markers used", outcome.out)
        self.assertRegex(outcome.out, r"not used: B:RKNE: A:RKNE has its place, and .* another person\?")
        maker.write_trc(self.folder / "walk.trc", maker.trial(self.person, self.markers, maker.walk(self.person, 0.1)))
        self.sentence(self.run_tool("scan", "fit", "walk.trc", "--angles", "a.txt"), 2, "a.txt", ".mot")
        self.sentence(self.run_tool("scan", "fit", "walk.trc", "--static", "none.trc"), 1, "none.trc")
        self.sentence(self.run_tool("scan", "fit", ".", "--static", "walk.trc"), 2, "--static goes with motion capture")


class Recorded(harness.Case):
    def test_recordings(self):
        """Every file of other laboratories: upright, every marker used or named with a reason."""
        data = pathlib.Path(os.environ.get("EX_DATA") or harness.REPOSITORY / ".." / "shared" / "data")
        files = sorted((data / "mocap" / "c3d").glob("*.c3d"))
        if not files:
            self.skipTest(f"no recordings in {data}")
        for file in files:
            with self.subTest(file.name):
                answer = self.succeed("scan", "fit", str(file), "--angles", "a.csv", "--json").json()
                for marker in answer["marker_notes"]:
                    self.assertTrue(marker["joint"] or marker["text"], marker)
                self.assertTrue(all(marker["joint"] for marker in answer["marker_notes"]))
                with open(self.folder / "a.csv", newline="") as table:
                    rows = list(csv.DictReader(table))
                for row in rows:
                    self.assertLess(abs(float(row["pelvis_tilt"])), 30)
                    self.assertLess(abs(float(row["pelvis_list"])), 30)
                    self.assertTrue(0.7 < float(row["pelvis_ty"]) < 1.1)
                    self.assertTrue(-20 < float(row["knee_angle_r"]) < 90)
                self.assertLess(answer["rms"], 0.0027 if file.name == "02_01.c3d" else 0.008)
                for name, least, most in (("knee.L", 0.34, 0.48), ("ankle.L", 0.34, 0.46)):
                    self.assertTrue(least < answer["bones"][name] < most, (name, answer["bones"][name]))


harness.main()
