# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways in: a rig (.glb) or a project (.json) as a mesh with shape keys, an armature, sliders and actions.

Layers that shape keys can hold become keys with places. If a rig has one that they cannot, its file is kept in the mesh and
evaluated as a whole (stored.py).
"""
import json
import pathlib
import tempfile

import bpy
import numpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ImportHelper

from . import bring_look, character, loop
from .bake_keys import seen
from .bring_bones import Joints
from .data import KINDS, set_numbers, touch
from .errors import Action, Refused, length
from .examples import write_form
from .export import UP
from .library import exemplar

PRINCIPAL = {(1.0, 0.0, 0.0): "X", (0.0, 1.0, 0.0): "Y", (0.0, 0.0, 1.0): "Z"}


class EXEMPLAR_OT_import_rig(Action, ImportHelper):
    """Import a rig (.glb) or a project (.json) of Exemplar, as a mesh with shape keys and an armature"""
    bl_idname = "exemplar.import_rig"
    bl_label = "Import Exemplar Rig or Project"
    filename_ext = ".glb"
    filter_glob: StringProperty(default="*.glb;*.json", options={"HIDDEN"})

    def act(self, context):
        path = pathlib.Path(bpy.path.abspath(self.filepath))
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        return bring(context, path)


def opened(path):
    """The rig of a file or project, its bytes, and the path of a glTF file with its materials, or None."""
    if path.suffix.lower() == ".json":
        project = exemplar.Project(path)
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder) / "rig.glb"
            project.build(made)
            data = made.read_bytes()
        named = project.data.get("materials")
        return exemplar.load(data), data, path.parent / named if named else None
    data = path.read_bytes()
    return exemplar.load(data), data, path


def bring(context, path):
    """Imports a file. Returns a sentence about it."""
    rig, data, look = opened(path)
    if rig.driver_reference is not None:
        raise Refused(f"'{path.name}' follows another mesh: import that mesh, and attach the rig as a garment")
    unit = context.scene.unit_settings.scale_length
    joints, notes = Joints(rig, unit), []
    for axis in rig.axes.values():
        if axis.joint in joints.turned:
            raise Refused(f"The axis '{axis.name}' reads a joint whose rest is not where the mesh was bound, which a bone "
                          f"cannot express: bind the mesh at rest, and build again")
    layers = [layer for layer in rig.layers.values() if layer.domain not in ("pixels", "displacement")]
    notes += [f"the layer '{layer.name}' of {layer.domain} is left out" for layer in rig.layers.values()
              if layer not in layers]
    reasons = [f"the layer '{layer.name}' {reason}" for layer in layers for reason in [cannot_hold(rig, layer)] if reason]
    before = {kind: set(getattr(bpy.data, kind)) for kind in ("objects", "meshes", "armatures", "actions", "materials")}
    try:
        thing = mesh_of(context, path.stem, rig, unit)
        armature = joints.make(path.stem + " bones", context.collection)
        skin(thing, armature, rig, joints)
        notes += bring_look.materials(context, thing.data, rig, look)
        notes += subdivide(thing, rig)
        for each in context.view_layer.objects:
            each.select_set(each == thing)
        context.view_layer.objects.active = thing
        loop.make(thing)
        sliders(thing, rig)
        if reasons:
            from . import stored
            stored.add(thing.data, path.stem, "RIG", data, space=space(unit))
            notes.append("kept as a stored rig, since " + "; ".join(reasons))
        else:
            for layer in layers:
                hold(thing, rig, layer, joints.names, lambda delta: delta @ UP / unit, {})
        rate = context.scene.render.fps / context.scene.render.fps_base
        clips = [name or f"{path.stem} clip {i + 1}" for i, name in enumerate(rig.clips)]
        for i, clip in enumerate(clips):
            joints.clip(thing, armature, clip, exemplar.poses(rig, clip=i + 1), rate)
    except Exception:
        for kind, there in before.items():
            for each in set(getattr(bpy.data, kind)) - there:
                getattr(bpy.data, kind).remove(each)
        raise
    touch(thing.data)
    context.view_layer.update()
    apart = difference(context, thing, armature, rig, joints)
    if apart > 1e-4 * joints.size:
        notes.append(f"the form differs from the rig's by up to {length(apart)}")
    said = (f"Imported '{path.name}': {len(thing.data.vertices)} vertices, {len(rig.examples)} examples in {len(layers)} "
            f"layers")
    if clips:
        said += f", actions {', '.join(clips)}"
    return said + "".join(f"; {note}" for note in notes)


def difference(context, thing, armature, rig, joints):
    """The largest distance in metres between the seen form and the rig's, at the places of some examples."""
    found = [(layer, point) for layer in rig.layers.values() if rig.points(layer) is not None for point in rig.points(layer)]
    worst, refined = 0.0, [modifier for modifier in thing.modifiers if modifier.type == "SUBSURF"]
    for modifier in refined:
        modifier.show_viewport = False
    for layer, point in [*found[::max(1, len(found) // 8)], (None, None)]:  # rest comes last, and stays
        values, begin = {}, 0
        for name in layer.axes if layer else ():
            width = rig.axes[name].width
            values[name] = point[begin] if width == 1 else point[begin:begin + width]
            begin += width
        pose = rig.pose(values)
        if rig.skeleton is not None:
            joints.pose(armature, pose.joints[0])
        for axis in rig.axes.values():
            if axis.is_dial:
                thing[axis.name] = numpy.asarray(pose[axis.name][0]).tolist()
        thing.update_tag()
        armature.update_tag()
        context.view_layer.update()
        wanted = rig.evaluate(pose)[0] @ UP / joints.unit
        worst = max(worst, float(numpy.linalg.norm(seen(thing, context) - wanted, axis=1).max()))
    for modifier in refined:
        modifier.show_viewport = True
    return worst * joints.unit


def space(unit):
    """(4, 4) from the rig's space to the mesh's."""
    made = numpy.eye(4)
    made[:3, :3] = UP.T / unit
    return made


def mesh_of(context, name, rig, unit):
    """The object: vertices in the rig's order, z up."""
    source = rig.mesh
    mesh = bpy.data.meshes.new(name)
    faces = source.faces
    mesh.from_pydata((source.vertices @ UP / unit).tolist(), [], [list(map(int, face)) for face in faces])
    if source.texcoords is not None and source.corner_texcoords is not None and len(source.texcoords):
        layer = mesh.uv_layers.new(name="UVMap")
        numbers = numpy.maximum(source.corner_texcoords, 0)
        layer.data.foreach_set("uv", source.texcoords[numbers].astype(numpy.float32).ravel())
    mesh.polygons.foreach_set("use_smooth", numpy.ones(len(mesh.polygons), dtype=bool))
    mesh.update()
    thing = bpy.data.objects.new(name, mesh)
    context.collection.objects.link(thing)
    return thing


def skin(thing, armature, rig, joints):
    """Vertex groups and the Armature modifier."""
    if rig.skin is not None:
        numbers, weights = rig.skin
        groups = [thing.vertex_groups.new(name=name) for name in joints.names]
        for vertex, column in zip(*numpy.nonzero(weights)):
            groups[numbers[vertex, column]].add([int(vertex)], float(weights[vertex, column]), "REPLACE")
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    modifier.use_deform_preserve_volume = rig.skinning == "dual_quaternion"
    thing.parent = armature


def subdivide(thing, rig):
    """The Subdivision Surface modifier of a rig with refined levels."""
    if not rig.level_count:
        return []
    if all(len(face) == 3 for face in rig.mesh.faces):
        return ["its refined triangles are left out: Blender has no Loop subdivision"]
    modifier = thing.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = rig.level_count
    return []


def sliders(thing, rig):
    """Custom properties of the object for the dials."""
    for axis in rig.axes.values():
        if axis.is_dial:
            thing[axis.name] = axis.rest if axis.width == 1 else list(axis.rest)
            if axis.width == 1:
                thing.id_properties_ui(axis.name).update(default=axis.rest, soft_min=axis.min, soft_max=axis.max)


def reading(axis):
    """The reading of the add-on's data for an axis of a rig, or None."""
    if axis.is_dial:
        return "DIAL" if axis.width == 1 else None
    if axis.reading == "angle":
        return PRINCIPAL.get(tuple(round(each, 6) + 0.0 for each in axis.about))
    return axis.kind.upper() if axis.reading == "rotation" else None


def cannot_hold(rig, layer):
    """The reason why shape keys cannot hold a layer, or None."""
    if layer.domain == "trajectory":
        return "has paths that turn"
    if layer.stage != "rest":
        return "acts after the skin"
    if layer.kind not in (kind[0] for kind in KINDS):
        return f"weighs by '{layer.kind}'"
    for name in layer.axes:
        if reading(rig.axes[name]) is None:
            return f"reads '{name}' in a way that the add-on lacks"
    weigher = rig.weigher(layer)
    try:
        more = weigher.__reduce__()[1][3]
    except TypeError:
        return "weighs each vertex among the examples that move it"
    if more.get("metrics") is not None or numpy.any(more.get("falloffs") if more.get("falloffs") is not None else 0):
        return "has falloffs of its own"
    return None


def hold(thing, rig, layer, bones, turned, keys):
    """Makes a layer of a rig one of the mesh: keys with places. bones: names by joint. turned: takes differences into the
    mesh's space. keys: {name: key} of keys that may be used again, which are taken out. Returns
    it."""
    mesh, basis = thing.data, character.vertices(thing.data)
    weigher, made = rig.weigher(layer), mesh.exemplar.layers.add()
    made.name, made.kind, made.muted, made.still = layer.name, layer.kind, layer.muted, False
    made.parameters = json.dumps(weigher.parameters) if weigher.parameters else ""
    for name in layer.axes:
        axis, new = rig.axes[name], made.axes.add()
        own = next(each for each in weigher.axes if each.name == name)
        new.name, new.reading = name, reading(axis)
        exact = {"limit": own.limit, "scale": own.scale}
        if axis.joint is not None:
            new.bone = bones[axis.joint]
        if axis.width == 1:
            new.low, new.high, new.rest = own.min, own.max, own.rest
            exact.update(min=own.min, max=own.max, clamp=own.clamp, unit=axis.unit)
        else:
            new.about = own.about
        new.exact = json.dumps(exact)
    for i, name in enumerate(layer.examples):
        key = keys.pop(name, None) or thing.shape_key_add(name=name or f"{layer.name} {i + 1}", from_mix=False)
        write_form(key, basis + turned(rig.delta(layer, i)))
        example = made.examples.add()
        example.name = key.name
        if weigher.points is not None:
            example.place(weigher.points[i].tolist())
    for pseudo in weigher.pseudos:
        new = made.pseudos.add()
        set_numbers(new.at, pseudo.at.tolist())
        set_numbers(new.source, [] if pseudo.source is None else pseudo.source.tolist())
        set_numbers(new.weights, [] if pseudo.weights is None else pseudo.weights.tolist())
    return made


def menu(self, context):
    self.layout.operator(EXEMPLAR_OT_import_rig.bl_idname, text="Exemplar Rig (.glb, .json)")


def register():
    bpy.utils.register_class(EXEMPLAR_OT_import_rig)
    bpy.types.TOPBAR_MT_file_import.append(menu)


def unregister():
    bpy.types.TOPBAR_MT_file_import.remove(menu)
    bpy.utils.unregister_class(EXEMPLAR_OT_import_rig)
