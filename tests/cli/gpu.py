"""The GPU from the tool, on any machine. A build without CUDA and a machine without a GPU give one sentence and write
nothing. With a GPU, a baked cache equals the CPU's, and a measurement is a row."""
import struct

import harness

MOTION = "time,bend,girth\n" + "".join(f"{i / 24!r},{3 * i},{0.04 * i!r}\n" for i in range(30))
CAPABILITIES = {}


def positions(data):
    """A .pc2's numbers, frame after frame."""
    magic, _, vertices, _, _, frames = struct.unpack("<12siiffi", data[:32])
    assert magic == b"POINTCACHE2\0"
    return struct.unpack(f"<{3 * vertices * frames}f", data[32:])


class Gpu(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "move.csv").write_text(MOTION)
        if not CAPABILITIES:
            CAPABILITIES.update(self.succeed("info", "--capabilities", "--json").json())
        self.missing = (None if CAPABILITIES["gpus"] else
                        "no NVIDIA GPU" if CAPABILITIES["cuda"] else "built without CUDA")

    def bake(self, out, *words):
        return self.run_tool("bake", "band.glb", "--motion", "move.csv", "-o", out, *words)

    def test_capabilities(self):
        text = self.succeed("info", "--capabilities").out
        if CAPABILITIES["cuda"] is None:
            self.assertEqual(CAPABILITIES["gpus"], [])
            self.assertIn("\ncuda      not built in\n", text)
            return
        self.assertIn(f"\ncuda      {CAPABILITIES['cuda']['version']}, compute capabilities ", text)
        self.assertRegex(CAPABILITIES["cuda"]["compute_capabilities"], r"^\d+( \d+)*$")
        if self.missing:
            self.assertIn("\ngpus      none here", text)
        for gpu in CAPABILITIES["gpus"]:
            self.assertIn(f"{gpu['name']}, ", text)
            self.assertGreater(gpu["memory"], 0)
            self.assertRegex(gpu["compute_capability"], r"^\d+\.\d$")

    def test_what_does_not_go_with_it(self):
        before = self.listing()
        self.sentence(self.bake("o.glb", "--gpu"), 2, "--gpu", "goes with .pc2, .mdd, .abc and .obj, not with .glb")
        self.assertEqual(self.listing(), before)

    def test_bake(self):
        if self.missing:
            before = self.listing()
            for out in ("o.pc2", "o.mdd", "o.obj"):
                self.sentence(self.bake(out, "--gpu"), 1, self.missing, "leave out --gpu")
            self.assertEqual(self.listing(), before)
            return
        for out in ("cpu.pc2", "gpu.pc2"):
            outcome = self.bake(out, *(["--gpu"] if out == "gpu.pc2" else []))
            self.assertEqual((outcome.code, outcome.err), (0, ""))
        ours, theirs = (positions((self.folder / name).read_bytes()) for name in ("gpu.pc2", "cpu.pc2"))
        self.assertEqual(len(ours), 3 * 8 * 30)
        for a, b in zip(ours, theirs, strict=True):
            self.assertLess(abs(a - b), 3e-5)  # for a band 3 m long

    def test_bench(self):
        if self.missing:
            for words in ([], ["crowd"], ["copy", "--json"]):
                outcome = self.run_tool("bench", "--gpu", *words)
                self.sentence(outcome, 1, self.missing)
                self.assertEqual(outcome.out, "")
        if CAPABILITIES["cuda"]:
            self.sentence(self.run_tool("bench", "--gpu", "crwod"), 2, "did you mean 'crowd'")
        if not self.missing:
            answer = self.succeed("bench", "--gpu", "copy", "--repeat", "1", "--json").json()
            self.assertEqual([row["name"] for row in answer["rows"]], ["copy", "copy"])
            self.assertEqual(answer["rows"][0]["part_of_copy"], 1)
            self.assertGreater(answer["rows"][0]["us"], 0)


if __name__ == "__main__":
    harness.main()
