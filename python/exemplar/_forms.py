"""Forms that are given as files, as meshes of this package, or as (vertices, faces)."""
import os
import pathlib
from collections.abc import Mapping

import numpy

from . import _given
from ._arrays import take
from ._library import author, checked
from .mesh import Mesh

SCENES = (".glb", ".gltf")


def is_scene(path):
    """True for the name of a glTF file."""
    return pathlib.Path(os.fsdecode(path)).suffix.lower() in SCENES


def mesh_of(source, name):
    """A Mesh of a Mesh, or of (vertices, faces)."""
    if isinstance(source, Mesh):
        return source
    if isinstance(source, (str, bytes, Mapping)) or not hasattr(source, "__iter__"):
        raise TypeError(f"{name} must be a path, a Mesh or (vertices, faces), not {type(source).__name__}")
    parts = list(source) if not isinstance(source, numpy.ndarray) else []
    if len(parts) != 2:
        raise TypeError(f"{name} must be a path, a Mesh or (vertices, faces)")
    return Mesh(*parts)


def write_forms(source, shapes, folder):
    """The mesh at rest and its shapes as files: a list of (name, path) with the mesh first, and the name of the mesh.
    What is given as arrays is written into the folder."""
    if not isinstance(shapes, Mapping):
        raise TypeError("shapes must be a dictionary {name: path or vertices (V, 3)}")
    if not shapes:
        raise ValueError("shapes is empty: a mesh at rest and at least one shape of it are needed")
    names = [_given.text(name, "the name of a shape").decode() for name in shapes]
    if _given.is_path(source):
        rest, base = _given.file(source, "source"), None
        name = pathlib.Path(os.fsdecode(rest)).stem
    else:
        base, name = mesh_of(source, "source"), "rest"
        rest = os.path.join(os.fsencode(folder), b"rest.obj")
        _write(rest, base)
    forms = [(name, rest)]
    for i, (label, shape) in enumerate(zip(names, shapes.values())):
        path = os.path.join(os.fsencode(folder), b"shape_%d.obj" % i)
        if _given.is_path(shape):
            path = _given.file(shape, f"shapes['{label}']")
        elif isinstance(shape, Mesh):
            _write(path, shape)
        else:
            base = base or Mesh.read(os.fsdecode(rest))
            vertices = take(shape, "f8", (len(base.vertices), 3), f"shapes['{label}']")
            form = base.copy()
            form.vertices = vertices
            _write(path, form)
        forms.append((label, path))
    return forms, name


def _write(path, mesh):
    held = mesh._to_c()  # its arrays live as long as this
    checked(author.ex_obj_write, path, held.pointer)
