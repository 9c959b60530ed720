"""Landmarks of the template person that the tool has: joints of its file that are called `landmark NAME`."""
import json
import struct
import subprocess
import tempfile
from pathlib import Path

import numpy as np

FILE = Path(__file__).resolve().parents[2] / "src/author/scan/human/human.glb"


def places():
    """{name: place}, on the template at rest."""
    data = FILE.read_bytes()
    nodes = json.loads(data[20:20 + struct.unpack("<I", data[12:16])[0]])["nodes"]
    found = {}

    def walk(number, at):
        at = at + np.array(nodes[number].get("translation", [0, 0, 0]))
        found[nodes[number].get("name", "")] = at
        for child in nodes[number].get("children", []):
            walk(child, at)
    children = {child for node in nodes for child in node.get("children", [])}
    for number in range(len(nodes)):
        if number not in children:
            walk(number, np.zeros(3))
    return {name[len("landmark "):]: at for name, at in found.items() if name.startswith("landmark ")}


def rest(tool=None):
    """The vertices of the template at rest, as the tool writes them: those of the body of MakeHuman, in its order."""
    tool = tool or FILE.parents[4] / "build/release/bin/exemplar"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rest.obj")
        subprocess.run([str(tool), "pose", str(FILE), "-o", str(path), "-q"], check=True)
        return np.array([line.split()[1:4] for line in open(path) if line.startswith("v ")], float)


def landmarks(vertices):
    """{name: vertex}"""
    return {name: int(np.argmin(np.linalg.norm(vertices - at, axis=1))) for name, at in places().items()}
