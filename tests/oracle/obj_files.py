"""OBJ files whose positions are changed and nothing else."""
import numpy as np


def read_obj(path):
    """The lines, and the positions."""
    lines = path.read_text().splitlines()
    return lines, np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)


def write_obj(path, lines, points):
    rows = iter(points)
    path.write_text("\n".join(
        "v " + " ".join(repr(float(x)) for x in next(rows)) if line.startswith("v ") else line for line in lines) + "\n")
