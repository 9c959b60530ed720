"""Exemplar: characters from example shapes, in real time.

>>> rig = exemplar.load("arm.glb")
>>> rig.evaluate(rig.pose(elbow=70)).shape
(1, 1335, 3)
"""
from . import gpu
from ._library import runtime as _runtime
from .bake import BakeError, BakeReport, bake
from .cache import Cache, CacheInfo
from .errors import ArgumentError, DataError, Error, FileError, FormatError, LimitError, MemoryLimitError, SingularError
from .mesh import Mesh, MeshDifference, Tag
from .motion import Motion, RigMotion, poses
from .rig import LIMIT, Axis, Layer, Mesh, Outputs, Player, Pose, Rig, Skeleton, Texture, load
from .subdivision import Subdivision, subdivide
from .tree import Tree
from .weigher import Weigher

__version__ = _runtime.ex_version().text.decode()
__all__ = ["ArgumentError", "Axis", "BakeError", "BakeReport", "Cache", "CacheInfo", "DataError", "Error", "FileError",
           "FormatError", "LIMIT", "Layer", "LimitError", "MemoryLimitError", "Mesh", "MeshDifference", "Motion",
           "Outputs", "Player", "Pose", "Rig", "RigMotion", "SingularError", "Skeleton", "Subdivision", "Tag",
           "Texture", "Tree", "Weigher", "bake", "gpu", "load", "poses", "subdivide"]
