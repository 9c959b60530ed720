# SPDX-License-Identifier: GPL-3.0-or-later
"""An object that can have a rig: its mesh, its armature, its modifiers, its skin; and why not, in a sentence."""
import numpy

from .data import rig_of
from .errors import Refused

# Modifiers that keep every vertex in its place of the list: they may stand before the armature.
MOVING = {"ARMATURE", "CAST", "CURVE", "DISPLACE", "HOOK", "LAPLACIANDEFORM", "LATTICE", "MESH_DEFORM", "SHRINKWRAP",
          "SIMPLE_DEFORM", "SMOOTH", "CORRECTIVE_SMOOTH", "LAPLACIANSMOOTH", "SURFACE_DEFORM", "WARP", "WAVE", "CLOTH",
          "SOFT_BODY", "MESH_CACHE", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX", "VERTEX_WEIGHT_PROXIMITY", "UV_PROJECT",
          "UV_WARP", "DATA_TRANSFER", "NORMAL_EDIT", "WEIGHTED_NORMAL", "COLLISION", "PARTICLE_SYSTEM",
          "MESH_SEQUENCE_CACHE", "VOLUME_DISPLACE"}
KEEPING = {"MIRROR", "SUBSURF"}  # these change the number, but the first vertices are the mesh's own


def mesh_object(context):
    """The active mesh object, or that with a rig which the active armature deforms, or Refused."""
    thing = context.object
    if thing is not None and thing.type == "ARMATURE":
        thing = deformed(thing, context)
    if thing is None or thing.type != "MESH":
        raise Refused("Select a mesh: the object that is to be deformed")
    return thing


def deformed(armature, context):
    """The object with a rig that an armature deforms: a selected one, or the first; or None."""
    for group in (context.selected_objects, context.view_layer.objects):
        for thing in group:
            if rig_of(thing) and armature_of(thing) == armature:
                return thing
    return None


def armature_of(thing):
    """The armature object that deforms an object, or None."""
    for modifier in thing.modifiers:
        if modifier.type == "ARMATURE" and modifier.object and modifier.object.type == "ARMATURE":
            return modifier.object
    if thing.parent and thing.parent.type == "ARMATURE" and thing.parent_type == "ARMATURE":
        return thing.parent
    return None


def armature_modifiers(thing):
    return [modifier for modifier in thing.modifiers if modifier.type == "ARMATURE" and modifier.object]


def check(thing, posed=True):
    """Refuses an object that cannot have a rig, before anything is changed. posed: it must have an armature. Returns that, or
    None."""
    mesh = thing.data
    if thing.mode == "EDIT":
        raise Refused(f"'{thing.name}' is in Edit Mode: leave it (Tab), then try again")
    if mesh.library or thing.library:
        raise Refused(f"'{thing.name}' is linked from another file: append it, or make it there")
    if not len(mesh.vertices):
        raise Refused(f"'{thing.name}' has no vertices")
    armature = armature_of(thing)
    if armature is None and posed:
        raise Refused(f"'{thing.name}' has no armature: parent it to one with Ctrl+P > Armature Deform, or add an Armature "
                      f"modifier")
    if armature and not armature.data.bones:
        raise Refused(f"The armature '{armature.name}' has no bones")
    if mesh.shape_keys and not mesh.shape_keys.use_relative:
        raise Refused(f"The shape keys of '{thing.name}' are absolute: switch Relative on, in Object Data > Shape Keys")
    if any(modifier.type == "MULTIRES" for modifier in thing.modifiers):
        raise Refused(f"'{thing.name}' has a Multiresolution modifier, which keeps sculpts for itself: apply or remove it")
    for modifier in thing.modifiers if armature else ():
        if modifier.type == "ARMATURE":
            break
        if modifier.type not in MOVING and modifier.type not in KEEPING and modifier.show_viewport:
            raise Refused(f"The modifier '{modifier.name}' changes the number of vertices before the armature: apply it, or "
                          f"move it below '{armature_modifiers(thing)[0].name if armature_modifiers(thing) else 'Armature'}'")
    return armature


def cannot(thing):
    """Sentences about what Blender does with this object that a rig does not express."""
    said, found = [], armature_modifiers(thing)
    if len(found) > 1:
        said.append(f"only the first of {len(found)} Armature modifiers is in an exported rig")
    for modifier in found[:1]:
        if modifier.use_bone_envelopes:
            said.append("bone envelopes are not exported: bake them to vertex groups")
        if modifier.vertex_group:
            said.append(f"the group '{modifier.vertex_group}' of the Armature modifier is not exported")
    armature = armature_of(thing)
    bent = [bone.name for bone in armature.data.bones if bone.bbone_segments > 1 and bone.use_deform]
    if bent:
        said.append(f"bendy bones are straight in an exported rig: {', '.join(bent[:3])}{' …' if len(bent) > 3 else ''}")
    for modifier in thing.modifiers:
        if modifier.show_viewport and modifier.type not in ("ARMATURE", "SUBSURF"):
            said.append(f"the modifier '{modifier.name}' stays in Blender, and is not in an exported rig")
    return said


def vertices(mesh):
    """(V, 3) of the mesh at rest: its basis, or its vertices without shape keys."""
    from .compat import read_key
    if mesh.shape_keys:
        return read_key(mesh.shape_keys.reference_key, len(mesh.vertices))
    out = numpy.empty((len(mesh.vertices), 3), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", out.ravel())
    return out


def faces(mesh):
    """Faces as lists of vertices; (F, n) if all have n corners."""
    corners = numpy.empty(len(mesh.loops), dtype=numpy.int32)
    sizes = numpy.empty(len(mesh.polygons), dtype=numpy.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    mesh.polygons.foreach_get("loop_total", sizes)
    if len(sizes) and (sizes == sizes[0]).all():
        return corners.reshape(-1, sizes[0])
    return [part.tolist() for part in numpy.split(corners, numpy.cumsum(sizes)[:-1])] if len(sizes) else []


def influences(thing, armature, numbers=None):
    """(vertices, bones, weights) of the skin as flat arrays, as Blender's Armature modifier counts it: groups named after
    bones that deform, weights not yet divided by their sum. numbers: only these vertices."""
    order = {bone.name: i for i, bone in enumerate(armature.data.bones) if bone.use_deform}
    bone_of = {group.index: order[group.name] for group in thing.vertex_groups if group.name in order}
    mesh = thing.data
    chosen = mesh.vertices if numbers is None else (mesh.vertices[int(i)] for i in numbers)
    rows = [(vertex.index, bone_of[entry.group], entry.weight) for vertex in chosen for entry in vertex.groups
            if entry.weight > 0 and entry.group in bone_of]
    if not rows:
        return numpy.zeros(0, numpy.int32), numpy.zeros(0, numpy.int32), numpy.zeros(0)
    found = numpy.array(rows, dtype=numpy.float64)
    return found[:, 0].astype(numpy.int32), found[:, 1].astype(numpy.int32), found[:, 2]
