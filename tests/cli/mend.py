"""Weights that ring: 'check' says where and what would help, 'check --mend' does it, 'undo' takes it back, and 'build'
warns of the worst. The layers here are gaussian with falloffs that are too wide."""
import json

import harness


class Mend(harness.Case):
    def setUp(self):
        super().setUp()
        self.succeed("demo", "elbow", "-o", "elbow", "-q")
        self.project = self.folder / "elbow/elbow.json"
        self.change(lambda layer: layer.update(weigh={"kind": "gaussian", "falloff": {"elbow": 60}}))

    def read(self):
        return json.loads(self.project.read_text())

    def change(self, edit):
        description = self.read()
        edit(description["layers"][0])
        self.project.write_text(json.dumps(description))

    def findings(self, kind):
        found = self.succeed("check", "elbow/elbow.json", "--json").json()["findings"]
        return [f for f in found if f["kind"] == kind and f["where"].startswith("layers[0]")]

    def test_a_remedy_was_tried(self):
        warning, *_ = [f for f in self.findings("weight_range") if f["severity"] == "warning"]
        self.assertEqual(warning["remedy"], "calm")
        self.assertRegex(warning["text"], r"reaches -0\.\d\d inside the range, at elbow=\S+: calm weights "
                                          r"\(\"kind\": \"calm\"\) would stay from -0\.0\d to 1\.0\d")
        before = self.findings("weights")[0]["value"]
        self.assertGreater(abs(self.findings("influence")[0]["value"]), 0.3)
        self.assertGreater(abs(self.findings("added")[0]["value"]), 0.1)
        self.assertIn("'exemplar check elbow/elbow.json --mend'", self.succeed("check", "elbow/elbow.json").out)
        text = self.project.read_bytes()
        outcome = self.succeed("check", "elbow/elbow.json", "--mend")
        self.assertTrue(outcome.out.startswith("elbow/elbow.json: layer 'elbow' is now calm\n"), outcome.out)
        self.assertEqual(self.read()["layers"][0]["weigh"], {"kind": "calm"})
        self.assertLess(self.findings("weights")[0]["value"], 0.11)
        self.assertGreater(before, 0.4)
        self.assertLess(abs(self.findings("influence")[0]["value"]), 0.11)
        self.assertLess(abs(self.findings("added")[0]["value"]), 0.11)
        self.assertEqual([f for f in self.findings("weight_range") if f["severity"] == "warning"], [])
        self.assertIn("nothing to mend", self.succeed("check", "elbow/elbow.json", "--mend").out)
        self.assertEqual(self.succeed("undo", "elbow/elbow.json").out,
                         "elbow/elbow.json: undone: layer 'elbow' made calm\n")
        self.assertEqual(json.loads(self.project.read_text()), json.loads(text))

    def test_reaches_of_points_go(self):
        def wide(layer):
            layer["examples"][1]["falloff"] = {"elbow": 80}
            layer["pseudo"] = [{"at": {"elbow": 20}, "weights": {}, "falloff": {"elbow": 70}}]
            layer["weigh"]["falloff"] = {"elbow": 200}

        self.change(wide)
        self.succeed("check", "elbow/elbow.json", "--mend", "-q")
        layer = self.read()["layers"][0]
        self.assertEqual(layer["weigh"], {"kind": "calm"})
        self.assertNotIn("falloff", json.dumps(layer))
        self.succeed("build", "elbow/elbow.json", "-q")

    def test_what_cannot_be_calm_is_left(self):
        self.change(lambda layer: layer.update(participation="moved"))
        self.assertNotIn("calm", self.succeed("check", "elbow/elbow.json", "--mend").out)
        self.assertEqual(self.read()["layers"][0]["weigh"]["kind"], "gaussian")

    def test_build_warns_of_the_worst(self):
        def wild(layer):
            layer["examples"][1]["at"] = {"elbow": 137}  # two sculpts that are close together, and different

        self.assertNotIn("reaches", self.succeed("build", "elbow/elbow.json").err)
        self.change(wild)
        self.assertRegex(self.run_tool("build", "elbow/elbow.json").err,
                         r"layer 'elbow': the weight of 'bent_\d+' reaches -?\d+\.\d inside the range, at elbow=\S+; "
                         r"'exemplar check' says more, and with --mend makes the layer calm")

    def test_limits_of_an_axis(self):
        self.change(lambda layer: layer["space"][0].update(limit="fade"))
        self.succeed("build", "elbow/elbow.json", "-q")
        weights = self.run_tool("weights", "elbow/elbow.glb", "elbow=-100", "--json").out
        self.assertEqual(json.loads(weights)["layers"][0]["weights"]["bent_140"], 0)
        self.succeed("unpack", "elbow/elbow.glb", "-o", "back", "-q")
        self.assertEqual(json.loads((self.folder / "back/elbow.json").read_text())["layers"][0]["space"][0]["limit"], "fade")
        self.change(lambda layer: layer["space"][0].update(limit="stop"))
        self.sentence(self.run_tool("build", "elbow/elbow.json"), 1, "layers[0].space[0].limit", "hold", "extrapolate")


if __name__ == "__main__":
    harness.main()
