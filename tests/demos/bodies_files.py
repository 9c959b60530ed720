"""Files of bodies.py and bodies_shown.py, as arrays."""
import struct
from pathlib import Path

import numpy as np


def read_mesh(path):
    lines = [line.split() for line in Path(path).read_text().splitlines()]
    return (np.array([line[1:4] for line in lines if line[:1] == ["v"]], float),
            np.array([[word.split("/")[0] for word in line[1:]] for line in lines if line[:1] == ["f"]], int) - 1)


def read_cache(path):
    _, _, vertices, _, _, frames = struct.unpack("<12siiffi", Path(path).read_bytes()[:32])
    return np.memmap(path, "<f4", "r", 32, (frames, vertices, 3))
