"""Scans of a painted board: markers found, kept, found again after a change, and drawn. Scans that cannot be searched
are reported and the others go on, as are scans with too few or too many markers."""
import csv
import json
import math
import os
import struct

import harness

SKIN, BLUE, GREEN = (224, 172, 140), (30, 60, 170), (30, 120, 60)
SIDE, PITCH = 61, 0.002


def board(spots, coloured=True, faces=True, scale=1.0):
    """A square of 12 cm with discs of 12 mm at x, y, as binary PLY."""
    header = ["ply", "format binary_little_endian 1.0", f"element vertex {SIDE * SIDE}", "property float x",
              "property float y", "property float z"]
    if coloured:
        header += ["property uchar red", "property uchar green", "property uchar blue"]
    header += [f"element face {2 * (SIDE - 1) ** 2 if faces else 0}", "property list uchar int vertex_indices",
               "end_header", ""]
    body = bytearray()
    for j in range(SIDE):
        for i in range(SIDE):
            x, y = PITCH * (i - SIDE // 2), PITCH * (j - SIDE // 2)
            colour = SKIN
            for at_x, at_y, paint in spots:
                if math.hypot(x - at_x, y - at_y) < 0.006:
                    colour = paint
            body += struct.pack("<3f", scale * x, scale * y, 0) + (bytes(colour) if coloured else b"")
    for j in range(SIDE - 1):
        for i in range(SIDE - 1):
            v = j * SIDE + i
            if faces:
                body += struct.pack("<B3iB3i", 3, v, v + 1, v + SIDE + 1, 3, v, v + SIDE + 1, v + SIDE)
    return "\n".join(header).encode() + bytes(body)


SPOTS = [(-0.03, -0.03, BLUE), (0.03, -0.03, GREEN), (-0.03, 0.03, GREEN), (0.03, 0.031, BLUE)]


class ScanMarkers(harness.Case):
    def session(self, scans):
        (self.folder / "s" / "scans").mkdir(parents=True)
        entries = []
        for name, files in scans.items():
            paths = [f"scans/{name}_{i}.ply" for i in range(len(files))]
            for path, data in zip(paths, files):
                (self.folder / "s" / path).write_bytes(data)
            entries.append({"name": name, "part": "all", "files": paths})
        (self.folder / "s" / "markers.csv").write_text(
            "marker,joint,r,g,b\n" + "".join(f"m{i},base,30,60,170\n" for i in range(4)))
        (self.folder / "s" / "skeleton.json").write_text(json.dumps({
            "exemplar_skeleton": 1, "name": "board",
            "joints": [{"name": "base", "joint": "base", "translation": [0, 0, 0]}], "markers": []}))
        (self.folder / "s" / "scan.json").write_text(json.dumps({
            "exemplar_scan": 1, "skeleton": "skeleton.json", "markers": "markers.csv", "reference": entries[0]["name"],
            "parts": [{"name": "all", "joints": ["base"], "covers": ["base"]}], "scans": entries}))

    def found(self, name):
        with open(self.folder / "s" / "found" / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def test_found_kept_and_found_again(self):
        self.session({"one": [board(SPOTS[:2]), board(SPOTS[1:])], "two": [board(SPOTS)], "three": [board(SPOTS)]})
        outcome = self.succeed("scan", "markers", "s")
        self.assertEqual(outcome.out, "  one       4\n  two       4\n  three     4\ns: 12 markers on 3 scans\n")
        rows = self.found("one")
        self.assertEqual(list(rows[0]), "x,y,z,r,g,b,size,view,strength".split(","))
        for x, y, paint in SPOTS:
            near = [row for row in rows if math.hypot(float(row["x"]) - x, float(row["y"]) - y) < 0.0003]
            self.assertEqual(len(near), 1)
            self.assertEqual(tuple(int(near[0][k]) for k in "rgb"), paint)
        before = self.listing()
        again = self.succeed("scan", "markers", "s", "--json").json()
        self.assertEqual(again, {"session": "s", "scans": [{"name": name, "markers": 4, "kept": True, "error": None}
                                                           for name in ("one", "two", "three")]})
        self.assertEqual(self.listing(), before)
        # Only changed scans are searched; one thread finds the same as several.
        (self.folder / "s" / "scans" / "two_0.ply").write_bytes(board(SPOTS[:3]))
        os.utime(self.folder / "s" / "found" / "two.csv", (1, 1))
        outcome = self.succeed("scan", "markers", "s", "two", "three")
        self.assertEqual(outcome.out, "  two       3\n  three     4  kept\ns: 7 markers on 2 scans\n")
        before = self.listing()
        self.succeed("scan", "markers", "s", "--force", "--threads", "1")
        self.assertEqual(self.listing(), before)

    def test_pictures(self):
        self.session({"one": [board(SPOTS)]})
        self.succeed("scan", "markers", "s", "--picture", "look", "-q")
        self.assertEqual((self.folder / "look" / "one.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_one_that_cannot_be_searched(self):
        self.session({"one": [board(SPOTS)], "grey": [board(SPOTS), board(SPOTS, coloured=False)],
                      "points": [board(SPOTS, faces=False)], "millimetres": [board(SPOTS, scale=1000)],
                      "cut": [board(SPOTS)[:5000]]})
        outcome = self.run_tool("scan", "markers", "s")
        self.assertEqual(outcome.code, 1)
        self.assertEqual(outcome.out, "  one             4\ns: 4 markers on 1 scan\n")
        lines = harness.without_progress(outcome.err).splitlines()
        self.assertEqual(len(lines), 4, outcome.err)
        for line, words in zip(lines, (("grey: scans/grey_1.ply", "no colours"), ("points", "no faces", "mesh it"),
                                       ("millimetres: scans/millimetres_0.ply", "is it in metres"),
                                       ("cut", "ends too early"))):
            for word in words:
                self.assertIn(word, line)
        self.assertEqual(os.listdir(self.folder / "s" / "found"), ["one.csv"])

    def test_too_few_and_too_many(self):
        many = [(0.02 * i - 0.04, 0.02 * j - 0.04, BLUE) for i in range(5) for j in range(5)]
        self.session({"a": [board(SPOTS)], "b": [board(SPOTS)], "c": [board(SPOTS)], "few": [board(SPOTS[:1])],
                      "none": [board([])], "many": [board(many)]})
        outcome = self.run_tool("scan", "markers", "s")
        self.assertEqual(outcome.code, 0, outcome.err)
        lines = harness.without_progress(outcome.err).splitlines()
        self.assertEqual(len(lines), 3, outcome.err)
        for line, words in zip(lines, (("few: 1 marker found", "'all' show 4"), ("none: no marker", "--threshold"),
                                       ("many: 25 markers found", "only 4 were painted"))):
            for word in words:
                self.assertIn(word, line)

    def test_what_is_wrong(self):
        self.sentence(self.run_tool("scan", "markers", "nowhere"), 1, "nowhere/scan.json")
        self.session({"one": [board(SPOTS)]})
        self.sentence(self.run_tool("scan", "markers", "s", "two"), 1, "no scan 'two'")
        self.sentence(self.run_tool("scan", "markers", "s", "one", "one"), 1, "given twice")
        self.sentence(self.run_tool("scan", "markers", "s", "--size", "wide"), 2, "--size")
        self.sentence(self.run_tool("scan", "markers", "s", "--size", "0"), 2, "--size")
        self.sentence(self.run_tool("scan", "markers", "s", "--threshold", "2"), 2, "--threshold")
        (self.folder / "s" / "found").write_text("")
        self.sentence(self.run_tool("scan", "markers", "s"), 1, "found")


if __name__ == "__main__":
    harness.main()
