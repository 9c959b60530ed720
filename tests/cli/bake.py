"""exemplar bake: motions on rigs as files for other programs, and refusals. The accuracy is tested in C."""
import json
import signal
import struct
import subprocess
import time

import harness

TABLE = "time,bend,girth\n0,0,0\n0.5,45,1\n1,90,0.25\n"


def glb_json(data):
    size, = struct.unpack("<I", data[12:16])
    return json.loads(data[20:20 + size])


class Bake(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "move.csv").write_text(TABLE)

    def bake(self, *words, out="o.glb"):
        return self.succeed("bake", "band.glb", "--motion", "move.csv", "-o", out, *words)

    def document(self, name="o.glb"):
        return glb_json((self.folder / name).read_bytes())

    def test_what_is_written_and_said(self):
        outcome = self.bake()
        self.assertRegex(outcome.out, r"o\.glb: 3 frames, 1 s, \d.*\ntargets    3\nerror .*\nkeys       3 of 3\n")
        document = self.document()
        self.assertEqual(document["meshes"][0]["extras"]["targetNames"], ["bent", "thick", "both"])
        self.assertEqual(len(document["animations"][0]["channels"]), 1)
        self.assertNotIn("EXEMPLAR_rig", json.dumps(document))

    def test_json(self):
        report = self.bake("--json").json()
        self.assertEqual((report["frames"], report["targets"], report["exact"]), (3, 3, True))
        self.assertLess(report["error"]["largest"], 1e-5)
        self.assertEqual(report["height"], 3)
        self.assertEqual(report["bytes"], len((self.folder / "o.glb").read_bytes()))
        report = self.bake("--json", "--targets", "1").json()
        self.assertEqual((report["targets"], report["exact"]), (1, False))
        self.assertIn("--targets", report["why_not_exact"])

    def test_frames_rates_and_keys(self):
        self.assertEqual(self.bake("--json", "--fps", "100").json()["frames"], 101)
        few = self.bake("--json", "--fps", "100", "--frames", "11:20").json()
        self.assertEqual(few["frames"], 10)
        self.assertAlmostEqual(few["seconds"], 0.09)
        self.assertEqual(self.bake("--json", "--fps", "100", "--frames", "90:").json()["frames"], 12)
        self.assertEqual(self.bake("--json", "--fps", "100", "--frames", ":7").json()["frames"], 7)
        self.assertEqual(self.bake("--json", "--start", "0.25").json()["frames"], 2)
        self.assertEqual(self.bake("--json", "--fps", "100", "--start", "0.5").json()["frames"], 51)
        self.assertEqual(self.bake("--json", "--end", "0.5").json()["frames"], 2)
        # A part that reaches beyond the motion is cut to it, and a message says so.
        late = TABLE.replace("\n0,", "\n0.033,")
        (self.folder / "move.csv").write_text(late)
        for words, frames, said in ((("--end", "4"), 3, "goes from 0.033 s to 1 s: baked from its start to its end"),
                                    (("--end", "0.5"), 2, "goes from 0.033 s to 1 s: baked from its start"),
                                    (("--start", "0"), 3, "goes from 0.033 s to 1 s: baked from its start"),
                                    (("--start", "0.5", "--end", "9"), 2, "goes from 0.033 s to 1 s: baked to its end"),
                                    (("--start", "0.5"), 2, ""), (("--start", "0.4", "--end", "0.6"), 1, ""), ((), 3, "")):
            outcome = self.run_tool("bake", "band.glb", "--motion", "move.csv", "-o", "o.glb", "--json", *words)
            self.assertEqual(outcome.json()["frames"], frames, words)
            self.assertEqual(harness.without_progress(outcome.err), f"exemplar: move.csv: {said}\n" if said else "", words)
        self.bake("-q", "--end", "4")
        (self.folder / "move.csv").write_text(TABLE)
        thin = self.bake("--json", "--fps", "100", "--thin", "1%").json()
        self.assertLess(thin["keys"], 30)
        self.assertLess(thin["error"]["largest"], 0.03 + 1e-5)
        self.assertGreater(thin["keys"], self.bake("--json", "--fps", "100", "--thin", "0.3").json()["keys"])

    def test_bytes_do_not_depend_on_threads(self):
        self.bake("--fps", "60", "--targets", "2", "--threads", "1", out="a.glb")
        self.bake("--fps", "60", "--targets", "2", "--threads", "3", out="b.glb")
        a, b = [(self.folder / name).read_bytes() for name in ("a.glb", "b.glb")]
        self.assertEqual(a.replace(b'"name":"a"', b'"name":"b"'), b)

    def test_muted_layers(self):
        self.assertEqual(self.bake("--json", "--mute", "body").json()["targets"], 0)

    def test_quiet(self):
        self.assertEqual(self.bake("-q").out, "")

    def test_joints(self):
        self.succeed("demo", "arm", "-q")
        (self.folder / "arm.csv").write_text("elbow,gender\n0,0\n60,0\n110,0.5\n")
        outcome = self.succeed("bake", "arm/arm.glb", "--motion", "arm.csv", "-o", "arm.glb")
        self.assertIn("influences 2, none left out\n", outcome.out)
        self.assertIn("morphed attributes", outcome.out)
        document = self.document("arm.glb")
        self.assertEqual([document["nodes"][n]["name"] for n in document["skins"][0]["joints"]],
                         ["shoulder", "forearm", "hand"])
        self.succeed("info", "arm.glb")  # a scene, not a rig
        # A baked file is a motion again, and moves the rig as before.
        again = self.succeed("bake", "arm/arm.glb", "--motion", "arm.glb", "-o", "again.glb", "--json").json()
        self.assertEqual(again["frames"], 3)
        one = self.succeed("bake", "arm/arm.glb", "--motion", "arm.csv", "-o", "one.glb", "--influences", "1")
        self.assertIn("influences 1 of up to 2: the cost by itself is up to", one.out)

    def test_caches(self):
        for name in ("o.pc2", "o.mdd"):
            self.assertEqual(self.bake(out=name).out, f"{name}: 3 frames of 8 vertices, 1 s\n")
        data = (self.folder / "o.pc2").read_bytes()
        self.assertEqual(data[:12], b"POINTCACHE2\0")
        self.assertEqual(len(data), 32 + 3 * 8 * 12)
        self.assertEqual(self.bake("--json", out="o.obj").json(), {"file": "o.obj", "frames": 3, "seconds": 1,
                                                                  "vertices": 8})
        self.succeed("pose", "band.glb", "bend=90", "girth=0.25", "-o", "third.obj", "-q", "--no-normals")
        for a, b in zip(*(harness.positions_of((self.folder / name).read_text()) for name in
                          ("o_0003.obj", "third.obj")), strict=True):
            for x, y in zip(a, b):
                self.assertAlmostEqual(x, y, 7)
        self.sentence(self.run_tool("bake", "band.glb", "--motion", "move.csv", "-o", "o.obj"), 1, "o_0001.obj",
                      "--force")
        self.bake("--force", out="o.obj")

    # ---- refusals ----

    def refuse(self, code, words, *fragments):
        before = self.listing()
        self.sentence(self.run_tool("bake", "band.glb", *words), code, *fragments)
        self.assertEqual(self.listing(), before)

    def test_refusals(self):
        motion, out = ["--motion", "move.csv"], ["-o", "o.glb"]
        self.refuse(2, out, "--motion")
        self.refuse(2, motion, "-o")
        self.refuse(2, motion + ["-o", "o.fbx"], "o.fbx", ".glb, .pc2, .mdd, .abc or .obj")
        self.refuse(2, motion + ["-o", "-"], "-o")
        self.refuse(2, motion + ["-o", "band.glb"], "overwritten")
        self.refuse(2, ["--motion", "band.glb", "-o", "band.glb"], "overwritten")
        self.refuse(1, ["--motion", "nothing.bvh"] + out, "nothing.bvh")
        self.refuse(1, ["--motion", "band.json"] + out, "band.json")
        self.refuse(1, motion + ["-o", "no/folder/o.glb"], "no/folder/o.glb")
        self.refuse(1, motion + out + ["--mute", "boddy"], "no layer 'boddy'", "did you mean 'body'?")
        self.refuse(1, motion + out + ["--level", "3"], "level '3'")
        self.refuse(1, motion + out + ["--frames", "2:9"], "3 frames", "no frame 9")
        self.refuse(1, motion + out + ["--targets", "1", "--error", "1e-6"], "is allowed: allow more targets, a larger error, or write a point cache")
        for words in (["--frames", "0:3"], ["--frames", "3"], ["--frames", "3:2"], ["--frames", "a:b"]):
            self.refuse(2, motion + out + words, "--frames")
        for word in ("0", "-1", "x", "1mm", "%"):
            self.refuse(2, motion + out + [f"--thin={word}"], "--thin", word)
            self.refuse(2, motion + out + [f"--error={word}"], "--error", word)
        self.refuse(2, motion + out + ["--fps", "0"], "--fps")
        self.refuse(2, motion + out + ["--fps", "1e7"], "--fps needs a number from 0.001 to 1e+06")
        self.refuse(2, motion + out + ["--end", "0"], "--end needs a number")  # which means all of it, inside
        self.refuse(1, motion + out + ["--start", "2"], "move.csv goes from 0 s to 1 s, so it cannot start at 2 s")
        self.refuse(2, motion + out + ["--map", "map.json"], "--map goes with .bvh")
        self.refuse(2, motion + out + ["--clip", "walk"], "'move.csv' holds one motion")
        # The report names the causes and nothing else: an exact file has only rounding errors. The poses are odd, since
        # at round values nothing may be rounded.
        (self.folder / "odd.csv").write_text("time,bend,girth\n0,0.1,0.7\n0.5,31.7,0.613\n0.7,47.3,0.337\n1,81.9,0.271\n")
        motion = ["--motion", "odd.csv"]
        self.refuse(1, motion + out + ["--error", "1e-12"], "this error is rounding in the file: allow a larger")
        self.refuse(1, motion + out + ["--error", "1e-12", "--thin", "1"], "allow more keys (thin them less), a larger")
        (self.folder / "long.csv").write_text("time,bend\n0,0\n1000000,1\n")
        self.refuse(1, ["--motion", "long.csv", "--fps", "1000"] + out, "more than ten million frames", "--start and --end")
        (self.folder / "late.csv").write_text("time,bend\n0,0\n1e300,1\n")
        self.refuse(1, ["--motion", "late.csv"] + out, "frame 2 of the motion", "1e+300 s after the first")
        self.refuse(2, motion + ["-o", "o.pc2", "--targets", "3"], "--targets", ".glb")
        (self.folder / "bad.csv").write_text("bend\n0\nx\n")
        self.refuse(1, ["--motion", "bad.csv"] + out, "bad.csv")

    def test_an_interrupt_leaves_nothing(self):
        before = self.listing()
        process = subprocess.Popen([harness.TOOL, "bake", "band.glb", "--motion", "move.csv", "--fps", "200000", "-o",
                                    "o.obj"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(list(self.folder.iterdir())) == len(before) and process.poll() is None:
            time.sleep(0.002)  # until the folder of frames exists
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=100)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(err.decode(), r"exemplar: interrupted[^\n]*\n$")
        self.assertEqual(self.listing(), before)

    def test_a_full_disk_leaves_nothing(self):
        if harness.THREAD_SANITIZED:
            return
        before = self.listing()
        self.sentence(self.run_tool("bake", "band.glb", "--motion", "move.csv", "-o", "o.glb", file_size=100), 1, "o.glb")
        self.assertEqual(self.listing(), before)


harness.main()
