# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole rig of an object, as the library and its tools have it: with faces, skin and skeleton, in metres with y up.

A point p of the mesh is at F (A p): A takes it into the armature's space, F = s C R turns that as the armature stands in the
world (R), puts y up (C), and gives metres (s). The armature's own place in the world is left out.
"""

import numpy

from . import character, compat, rigs
from .armature import Bones, matrices, relative, transforms
from .data import LIVE
from .errors import Refused
from .library import exemplar
from .stored import UP

STILL = "still"  # the joint of vertices that no bone moves


class Frame:
    """From the space of a mesh, and of its armature, to that of the exported rig; and back."""

    def __init__(self, thing, armature, scene):
        world = armature.matrix_world
        scale = world.to_scale()
        if max(scale) - min(scale) > 1e-4 * max(abs(each) for each in scale):
            raise Refused(f"The armature '{armature.name}' is scaled by different amounts on its axes, which a rig cannot "
                          f"express: apply its scale (Ctrl+A > Scale)")
        self.turn = UP @ numpy.array(world.to_quaternion().to_matrix())
        self.scale = float(scale[0]) * scene.unit_settings.scale_length
        into = numpy.array(world.inverted() @ thing.matrix_world)
        self.linear = self.scale * self.turn @ into[:3, :3]
        self.shift = self.scale * self.turn @ into[:3, 3]

    def points(self, positions):
        """(…, V, 3) of the mesh in the exported rig."""
        return numpy.asarray(positions, dtype=numpy.float64) @ self.linear.T + self.shift

    def back(self, positions):
        """(…, V, 3) of the exported rig in the mesh."""
        return (numpy.asarray(positions, dtype=numpy.float64) - self.shift) @ numpy.linalg.inv(self.linear).T

    def bones(self, world):
        """(J, 4, 4) matrices of bones of the armature in the exported rig."""
        out = world.copy()
        out[:, :3, :3] = self.turn @ world[:, :3, :3]
        out[:, :3, 3] = self.scale * world[:, :3, 3] @ self.turn.T
        return out


class Whole:
    """An exported rig: `rig`, its `frame`, and `notes`, sentences about what is not in it."""

    def __init__(self, thing, armature, scene):
        mesh = thing.data
        self.thing, self.armature = thing, armature
        self.frame, self.bones, self.notes = Frame(thing, armature, scene), Bones(armature), character.cannot(thing)
        basis = character.vertices(mesh)
        positions = self.frame.points(basis)
        skin, still = self._skin()
        names, parents = list(self.bones.names), self.bones.parents
        self.rest = transforms(relative(self.frame.bones(self.bones.matrices), parents))
        if still:
            names, parents = [*names, rigs_name(STILL, names)], numpy.append(parents, -1)
            self.rest = numpy.vstack([self.rest, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1]])
        layers = rigs.layers_of(mesh, basis, self.bones, self.frame.linear)
        layers += targets_of(mesh, basis, self.frame.linear)
        self.rig = exemplar.Rig(positions, character.faces(mesh), layers,
                                skeleton=exemplar.Skeleton(names, parents, self.rest), skin=skin,
                                skinning=skinning(thing), materials=materials(mesh), **texcoords(mesh),
                                **subdivision(thing))

    def _skin(self):
        """A pair of joints (V, k) and weights (V, k), which sum to 1; and whether a joint is needed that never moves."""
        count = len(self.thing.data.vertices)
        rows, joints, weights = character.influences(self.thing, self.armature)
        order = numpy.lexsort((-weights, rows))
        rows, joints, weights = rows[order], joints[order], weights[order]
        width = max(1, int(numpy.bincount(rows, minlength=count).max()) if len(rows) else 1)
        place = numpy.arange(len(rows)) - numpy.searchsorted(rows, rows)
        table, amounts = numpy.zeros((count, width), dtype=numpy.int32), numpy.zeros((count, width))
        table[rows, place], amounts[rows, place] = joints, weights
        total = amounts.sum(1)
        still = total <= 0
        table[still, 0], amounts[still, 0] = len(self.bones.names), 1
        return (table, amounts / numpy.where(still, 1, total)[:, None]), bool(still.any())

    def joints(self, armature):
        """(J, 10) of an evaluated armature, for a Pose of the rig."""
        made = self.rest.copy()
        count = len(self.bones.names)
        made[:count] = transforms(relative(self.frame.bones(matrices(armature)), self.bones.parents), made[:count])
        return made

    def dials(self, thing):
        """(D,) the values of sliders and of shape keys of an evaluated object, in the rig's order."""
        keys = thing.data.shape_keys.key_blocks if thing.data.shape_keys else {}
        values = []
        for name, axis in self.rig.axes.items():
            if axis.is_dial:
                key = keys.get(name)
                values.append(key.value if key is not None and name in target_names(self.thing.data) else
                              float(thing.get(name, axis.rest)))
        return numpy.array(values)

    def pose(self, depsgraph):
        """The pose of the rig that the objects have in a dependency graph."""
        armature, thing = self.armature.evaluated_get(depsgraph), self.thing.evaluated_get(depsgraph)
        return exemplar.Pose(self.rig, 1, joints=self.joints(armature)[None], dials=self.dials(thing)[None])


def rigs_name(name, taken):
    return name if name not in taken else rigs_name("_" + name, taken)


def target_names(mesh):
    """Names of the shape keys that are neither examples nor the live one: sliders of the exported rig."""
    if not mesh.shape_keys:
        return []
    own = {example.name for layer in mesh.exemplar.layers for example in layer.examples} | {LIVE}
    keys = mesh.shape_keys
    return [key.name for key in keys.key_blocks if key != keys.reference_key and key.name not in own and not key.mute]


def targets_of(mesh, basis, linear):
    """A layer with a slider for each other shape key, measured from the key that it is relative to."""
    names = target_names(mesh)
    if not names:
        return []
    blocks = mesh.shape_keys.key_blocks
    rows = numpy.stack([compat.read_key(blocks[name], len(basis)) -
                        compat.read_key(blocks[name].relative_key, len(basis)) for name in names])
    for row, name in zip(rows, names):
        group = blocks[name].vertex_group
        if group:
            row *= group_weights(mesh, group)[:, None]
    axes = {name: {"min": min(0.0, blocks[name].slider_min), "max": max(1.0, blocks[name].slider_max), "rest": 0.0}
            for name in names}
    return [exemplar.layer("targets", axes, None, rows @ linear.T, examples=names, differences=True, kind="direct",
                           domain="offsets")]


def group_weights(mesh, name):
    """(V,) weights of a vertex group, by the first object that shows the mesh."""
    import bpy
    out = numpy.zeros(len(mesh.vertices))
    thing = next((each for each in bpy.data.objects if each.data == mesh and name in each.vertex_groups), None)
    if thing:
        number = thing.vertex_groups[name].index
        for vertex in mesh.vertices:
            for entry in vertex.groups:
                if entry.group == number:
                    out[vertex.index] = entry.weight
    return out


def skinning(thing):
    found = character.armature_modifiers(thing)
    return "dual_quaternion" if found and found[0].use_deform_preserve_volume else "linear"


def materials(mesh):
    """{name: faces}, or None."""
    if not len(mesh.materials) or not len(mesh.polygons):
        return None
    numbers = numpy.empty(len(mesh.polygons), dtype=numpy.int32)
    mesh.polygons.foreach_get("material_index", numbers)
    named = {}
    for i, material in enumerate(mesh.materials):
        faces = numpy.flatnonzero(numbers == i)
        if material and len(faces):
            named[material.name] = numpy.concatenate([named.get(material.name, faces[:0]), faces])
    return named or None


def texcoords(mesh):
    """Texture coordinates of the corners, of the active map."""
    layer = mesh.uv_layers.active
    if not layer or not len(mesh.loops):
        return {}
    out = numpy.empty((len(mesh.loops), 2), dtype=numpy.float32)
    layer.data.foreach_get("uv", out.ravel())
    return {"texcoords": out.astype(numpy.float64), "corner_texcoords": numpy.arange(len(out))}


def subdivision(thing):
    """The Subdivision Surface modifier after the armature, as the rig's refined levels."""
    after = False
    for modifier in thing.modifiers:
        after = after or modifier.type == "ARMATURE"
        if after and modifier.type == "SUBSURF" and modifier.show_viewport and modifier.levels and \
                modifier.subdivision_type == "CATMULL_CLARK":
            found = dict(subdivide=modifier.levels, limit="all" if modifier.use_limit_surface else False, level=modifier.levels)
            creases = compat.creases(thing.data)
            if modifier.use_creases and len(creases):
                found["creases"] = {(int(a), int(b)): min(10.0, 10 * c * c) for a, b, c in creases}
            return found
    return {}


def project(thing, armature, scene, folder, name="rig"):
    """Writes an object's rig into a folder as a project. Returns it, and the Whole that it was made from."""
    whole = Whole(thing, armature, scene)
    return exemplar.Project.unpack(whole.rig, folder, name=name, force=True), whole
