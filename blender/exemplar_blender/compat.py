# SPDX-License-Identifier: GPL-3.0-or-later
"""What differs between versions of Blender, 3.4 to 5.x: each difference here, with its version, and nowhere else."""
import ctypes

import bpy
import numpy

VERSION = bpy.app.version


def key_points(key):
    """The points of a shape key. 4.1 added `points`, which is read and written as one array."""
    return key.points if hasattr(key, "points") else key.data


def key_address(key, count):
    """The address of the positions of a shape key, or None. Up to 4.0 an array of them takes 70 ns a vertex; the floats lie
    one after the other, which the addresses of the first and the last show."""
    if hasattr(key, "points") or not count:
        return None
    first, last = key.data[0].as_pointer(), key.data[count - 1].as_pointer()
    return first if last - first == 12 * (count - 1) else None


def read_key(key, count):
    """(count, 3) positions of a shape key, as floats."""
    out = numpy.empty((count, 3), dtype=numpy.float32)
    address = key_address(key, count)
    if address:
        ctypes.memmove(out.ctypes.data, address, out.nbytes)
    else:
        key_points(key).foreach_get("co", out.ravel())
    return out


def write_key(key, positions):
    """Sets the positions of a shape key: (V, 3) packed floats."""
    address = key_address(key, len(positions))
    if address:
        ctypes.memmove(address, positions.ctypes.data, positions.nbytes)
    else:
        key_points(key).foreach_set("co", positions.ravel())


def after_saving():
    """The lists of handlers that are called after a file was saved, or was not. 3.4 has none for a failure."""
    at = bpy.app.handlers
    return [at.save_post, at.save_post_fail] if hasattr(at, "save_post_fail") else [at.save_post]


def shader(name):
    """A built-in shader: 'UNIFORM_COLOR', 'FLAT_COLOR', 'SMOOTH_COLOR'. 4.0 took '2D_' from the names."""
    import gpu
    return gpu.shader.from_builtin(name if VERSION >= (4, 0, 0) else "2D_" + name)


def text_size(size):
    """Sets the size of drawn text. 4.0 took the resolution from the call."""
    import blf
    if VERSION >= (4, 0, 0):
        blf.size(0, size)
    else:
        blf.size(0, size, 72)


def creases(mesh):
    """(n, 3) rows: the two vertices of an edge, and its crease from 0 to 1. 4.0 made the crease an attribute."""
    edges = numpy.empty((len(mesh.edges), 2), dtype=numpy.int32)
    mesh.edges.foreach_get("vertices", edges.ravel())
    values = numpy.zeros(len(edges), dtype=numpy.float32)
    if VERSION >= (4, 0, 0):
        attribute = mesh.attributes.get("crease_edge")
        if attribute:
            attribute.data.foreach_get("value", values)
    else:
        mesh.edges.foreach_get("crease", values)
    sharp = values > 0
    return numpy.column_stack([edges[sharp], values[sharp]])


def _gltf():
    """True if Blender's glTF add-on is there; it is switched on if it is not. Some builds of 3.4 need numpy.bool, which
    numpy 1.24 took away."""
    import addon_utils
    if "bool" not in vars(numpy):
        numpy.bool = bool
    if not addon_utils.check("io_scene_gltf2")[1]:
        try:
            return addon_utils.enable("io_scene_gltf2") is not None
        except Exception:  # whatever an add-on raises
            return False
    return True


def _call_gltf(operator, options):
    """Calls an operator with those of the options that this version has, 3.x to 5.x differ. None, or what it says."""
    known = operator.get_rna_type().properties.keys()
    try:
        operator(**{name: value for name, value in options.items() if name in known})
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]
    return None


def export_gltf(path):
    """Writes the selected objects as glTF, with materials and images, without animation. None, or why it failed."""
    if not _gltf():
        return "Blender's glTF add-on is missing"
    return _call_gltf(bpy.ops.export_scene.gltf, dict(
        filepath=path, export_format="GLB", use_selection=True, export_animations=False, export_skins=False,
        export_morph=False, export_materials="EXPORT", export_apply=False))


def import_gltf(path):
    """Reads a glTF file into the scene. None, or why it failed."""
    if not _gltf():
        return "Blender's glTF add-on is missing"
    return _call_gltf(bpy.ops.import_scene.gltf, dict(filepath=path))
