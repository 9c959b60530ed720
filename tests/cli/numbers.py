"""Names in `info --json`: whatever a project file names too, it names as there, with a value that can be written there.
The strict reader of projects is the oracle: without the keys that docs/reference/commands/info.md lists as added, the
layers of `info --json` are the layers of a project, and `info` describes that project alike."""
import json
import re

import harness

COMMON = {"file", "kind", "bytes"}


def added():
    """The keys that the page on info lists as added, by what they are in."""
    page = (harness.REPOSITORY / "docs/reference/commands/info.md").read_text()
    rows = page.split("| in | added |")[1].split("\n\n")[0].splitlines()[2:]
    return {row.split("|")[1].strip().split()[-1].strip("`"): set(re.findall(r"`(\w+)`", row.split("|")[2].split(":")[0]) +
                                                                 re.findall(r"`(\w+_count)`", row)) for row in rows}


def without(entry, keys):
    return {key: value for key, value in entry.items() if key not in keys}


def layer_of(told):
    adds = added()
    layer = without(told, adds["layer"])
    layer["weigh"] = without(layer["weigh"], adds["weigh"])
    layer["space"] = [without(axis, adds["axis"]) for axis in layer["space"]]
    layer["examples"] = [without(example, adds["example"]) for example in layer["examples"]]
    return layer


def documented():
    """Every key that the page on projects has in a table or an example."""
    page = (harness.REPOSITORY / "docs/reference/project.md").read_text()
    return set(re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", page, flags=re.M)), set(re.findall(r'"(\w+)":', page))


PROJECTS = {
    "cardinal": {},
    "gaussian": {"weigh": {"kind": "gaussian", "falloff": "auto"}, "pseudo": []},
    "reaches": {"weigh": {"kind": "gaussian", "ridge": 0.1}, "examples": lambda examples: [
        {**examples[0], "falloff": {"bend": 30}}, {**examples[1], "metric": {"scaled": [[2, 1], [1, 3]]}}, *examples[2:]]},
    "nearest": {"weigh": {"kind": "nearest", "k": 3, "form": "paper"}, "pseudo": []},
    "shepard": {"weigh": {"kind": "shepard", "power": 3}, "pseudo": [], "muted": True},
    "direct": {"weigh": {"kind": "direct"}, "pseudo": [], "examples": lambda examples: [
        without(example, {"at"}) for example in examples[1:3]]},
    "offsets": {"shape": "offsets", "frame": "rest", "participation": "moved", "weigh": {"kind": "gaussian"}, "pseudo": []},
    "weights": {"pseudo": [{"weights": {"bent": 1, "both": 0.5}, "at": {"bend": 20, "girth": 0.2}}]},
    "trajectory": {"shape": "trajectory", "trajectory": {"mode": "paper"}, "pseudo": [], "examples": lambda examples: [
        {**examples[0], "reference": True}, *examples[1:]]},
    "rotations": {"space": [{"name": "bend", "min": 0, "max": 90, "clamp": True, "unit": "cm"},
                            {"name": "turn", "rotation": "full"}, {"name": "swing", "rotation": "swing", "about": "y"},
                            {"name": "twist", "rotation": "twist", "about": [0, 1, 1], "rest": {"x": 10}}], "pseudo": [],
                  "examples": lambda examples: [
                      {**examples[i], "at": {"bend": 10 * i, "turn": {"z": 20 * i}, "swing": {"x": 10 * i}}} for i in range(3)]},
}
JOINTS = [{"name": "angle", "joint": "fore", "angle": [1, 0, 0.5], "min": 0, "max": 90},
          {"name": "stretch", "joint": "fore", "stretch": "z", "min": 0.5, "max": 2},
          {"name": "slide", "joint": "upper", "slide": "y", "min": 0, "max": 1, "metres": 0.5},
          {"name": "hip", "joint": "upper", "rotation": "full"}]


class Names(harness.Case):
    def told(self, description):
        harness.write_project(self.folder, description)
        return self.succeed("info", "band.json", "--json").json()

    def test_layers_can_be_read_back(self):
        for name, change in PROJECTS.items():
            with self.subTest(name):
                description = harness.project()
                layer = description["layers"][0]
                for key, value in change.items():
                    layer[key] = value(layer["examples"]) if callable(value) else value
                told = self.told(description)
                top = {key: told[key] for key in ("mesh", "up", "unit")}
                again = self.told({"exemplar": 1, **top, "layers": [layer_of(entry) for entry in told["layers"]]})
                self.assertEqual(without(again, {"bytes"}), without(told, {"bytes"}))
                for key in layer:
                    if key not in ("mask",) and layer[key] != []:
                        self.assertIn(key, told["layers"][0], name)

    def test_axes_with_joints_and_the_rest_of_the_file(self):
        description = harness.project()
        description.update(skeleton="skin.glb", skinning="dual_quaternion", up="z", unit="cm", driver={"mesh": "bent.obj"},
                           subdivide={"scheme": "loop", "levels": 2, "limit": "all"})
        layer = description["layers"][0]
        layer.update(space=JOINTS, pseudo=[], shape="unposed",
                     examples=[{**example, "at": {}} for example in layer["examples"][:1]])
        description["layers"].append({
            "name": "driven", "space": [{"name": "cloth", "driver": True}], "weigh": {"kind": "convex"}, "shape": "unposed",
            "examples": [{"name": "a", "mesh": "thick.obj", "at": {"cloth": "bent.obj"}}]})
        told = self.told(description)
        self.assertEqual(without(told["layers"][1]["space"][0], {"kind"}), {"name": "cloth", "driver": True})
        for axis, written in zip(told["layers"][0]["space"], JOINTS):
            for key, value in written.items():
                self.assertIn(axis[key], (value, {"y": [0, 1, 0]}.get(value if isinstance(value, str) else "")), (axis, key))
        for key, value in description.items():
            if key not in ("exemplar", "layers", "unit"):
                self.assertEqual(told[key], value, key)
        self.assertEqual(told["unit"], 0.01)
        known = documented()
        names = known[1] | set(re.findall(r"`(\w+)`", " ".join(known[0])))
        self.assertLessEqual(set(told) - COMMON, names)

    def test_a_rig_is_described_as_its_project(self):
        description = harness.project()
        description["subdivide"] = {"scheme": "catmull_clark", "levels": 2, "limit": True}
        project = self.told(description)
        self.succeed("build", "band.json", "-q")
        rig = self.succeed("info", "band.glb", "--json").json()
        for key in ("levels", "limit"):
            self.assertEqual(rig["subdivide"][key], project["subdivide"][key])
        ours, theirs = rig["layers"][0], project["layers"][0]
        self.assertEqual(set(theirs) - set(ours), set())
        for key in ("weigh", "space", "pseudo"):
            self.assertEqual(ours[key], theirs[key])

    def test_lists_have_the_entries_of_projects(self):
        harness.write_project(self.folder)
        told, written = (answer["layers"][0] for answer in (
            self.succeed("example", "list", "band.json", "--json").json(), harness.project()))
        self.assertEqual([without(entry, {"muted"}) for entry in told["examples"]], written["examples"])
        self.assertEqual(told["pseudo"], written["pseudo"])


harness.main()
