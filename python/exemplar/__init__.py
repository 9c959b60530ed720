"""Exemplar: characters from example shapes, in real time.

>>> rig = exemplar.load("arm.glb")
>>> rig.evaluate(rig.pose(elbow=70)).shape
(1, 1335, 3)
"""
from . import drive, gpu, scan
from ._library import runtime as _runtime
from .bake import BakeError, BakeReport, bake
from .cache import Cache, CacheInfo
from .create import layer
from .demos import demo, demos
from .displacement import DisplacementMap
from .errors import ArgumentError, DataError, Error, FileError, FormatError, LimitError, MemoryLimitError, SingularError
from .form import form, write_form
from .mesh import Mesh, MeshDifference, Tag
from .motion import Motion, RigMotion, poses
from .picture import Picture, PlotInfo, SheetInfo, compare, plot, png_bytes, read_image, render, sheet, write_png
from .project import Finding, Project
from .rig import LIMIT, Axis, Layer, Outputs, Player, Pose, Rig, Skeleton, Split, Texture, load
from .show import Show, show
from .subdivision import Subdivision, subdivide
from .tree import Tree
from .warp import Warp, warp
from .weigher import Pseudo, SpaceAxis, Weigher

__version__ = _runtime.ex_version().text.decode()
__all__ = ["ArgumentError", "Axis", "BakeError", "BakeReport", "Cache", "CacheInfo", "DataError", "DisplacementMap",
           "Error", "FileError", "Finding", "FormatError", "LIMIT", "Layer", "LimitError", "MemoryLimitError", "Mesh",
           "MeshDifference", "Motion", "Outputs", "Picture", "Player", "PlotInfo", "Pose", "Project", "Pseudo", "Rig",
           "RigMotion", "SheetInfo", "Show", "SingularError", "Skeleton", "SpaceAxis", "Split", "Subdivision", "Tag",
           "Texture", "Tree", "Warp", "Weigher", "bake", "compare", "demo", "demos", "drive", "form", "gpu", "layer",
           "load", "plot", "png_bytes", "poses", "read_image", "render", "scan", "sheet", "show", "subdivide", "warp",
           "write_form", "write_png"]
