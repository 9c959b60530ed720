"""Reads PC2 point caches: "POINTCACHE2\\0", then version, vertices (integers), first frame, step (floats), frames
(integer), little-endian, then x y z of every vertex, frame after frame, as floats."""
import struct
from collections import namedtuple
from pathlib import Path

import numpy as np

Cache = namedtuple("Cache", "start step frames")  # frames [frames][vertices][3]


def read_pc2(path):
    data = Path(path).read_bytes()
    mark, version, vertices, start, step, frames = struct.unpack_from("<12siiffi", data)
    if mark != b"POINTCACHE2\0" or version != 1:
        raise ValueError(f"{path} is no PC2 file of version 1")
    places = np.frombuffer(data, "<f4", offset=struct.calcsize("<12siiffi"))
    return Cache(start, step, places.reshape(frames, vertices, 3))
