#!/usr/bin/python3
"""Markers of a made person, found by `scan markers` and named by `scan label` from the reference's names: also with arms
crossed and behind. One scan shows another person.

  names_test.py TOOL DATA     DATA: the folder with makehuman, unless EX_DATA names one
"""
import csv
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_session  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "oracle"))
import skips  # noqa: E402

TOOL = None
DATA = None
POSES = "stand,arms_out,elbows_bent,step_left,reach_up,arms_crossed,arms_behind,kick"


class Names(unittest.TestCase):
    def test_arms_cross(self):
        with tempfile.TemporaryDirectory() as folder:
            options = make_session.options_of([folder, "--data", DATA, "--tool", TOOL, "--only", POSES, "--labels",
                                               "reference", "--stranger", "kick"])
            make_session.write_session(options, say=lambda text: None)
            subprocess.run([TOOL, "scan", "markers", folder, "-q"], check=True)
            done = subprocess.run([TOOL, "scan", "label", folder, "--json"], capture_output=True, text=True)
            report = {scan["name"]: scan for scan in json.loads(done.stdout)["scans"]}
            truth = np.load(Path(folder, "truth.npz"))
            names, total = list(truth["marker_names"]), np.zeros(4)
            for n, scan in enumerate(POSES.split(",")[1:-1], 1):
                places, seen = truth["markers"][n], truth["seen"][n]
                found = np.array([[float(row[c]) for c in "xyz"] for row in self.rows(folder, "found", scan)])
                off = np.linalg.norm(found[:, None] - places[None], axis=2).min(axis=0)
                sure = [row for row in self.rows(folder, "labels", scan) if float(row["confidence"]) >= 0.9]
                right = sum(np.linalg.norm([float(row[c]) for c in "xyz"] - places[names.index(row["marker"])]) < 0.008
                            for row in sure)
                total += [seen.sum(), (seen & (off < 0.006)).sum(), len(sure), right]
                if scan in ("arms_crossed", "arms_behind"):
                    self.assertGreater(len(sure), 0.85 * len(found), scan)
                    self.assertGreaterEqual(right, 0.98 * len(sure), scan)
            print(f"found {100 * total[1] / total[0]:.1f} % of the visible markers, named {100 * total[2] / total[1]:.1f} % "
                  f"of them for sure, {100 * total[3] / total[2]:.2f} % of those rightly")
            self.assertGreater(total[1], 0.92 * total[0])
            self.assertGreater(total[2], 0.9 * total[1])
            self.assertGreater(total[3], 0.99 * total[2])
            # The scan of another person is left out and named.
            self.assertEqual(report["kick"]["sure"], 0, report["kick"])
            self.assertIn("scan 'kick' is left out", done.stderr)
            self.assertEqual(done.returncode, 1)

    @staticmethod
    def rows(folder, kind, scan):
        with open(Path(folder, kind, f"{scan}.csv"), newline="") as file:
            return list(csv.DictReader(file))


if __name__ == "__main__":
    TOOL = str(Path(sys.argv[1]).resolve())
    data = skips.data_folder(sys.argv[2])
    skips.need_data(data, "makehuman/3dobjs/base.obj")
    DATA = str(data / "makehuman")
    unittest.main(argv=sys.argv[:1], verbosity=2)
