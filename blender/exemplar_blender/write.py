# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways out: the rig as one .glb file, and as a project in a folder, with the materials and their images."""
import pathlib
import tempfile

import bpy
from bpy.props import StringProperty
from bpy_extras.io_utils import ExportHelper

from . import character, compat, export
from .data import rig_of
from .errors import Action, Refused
from .loop import Hands, subject


def ready(context):
    """The active object and its armature, out of Sculpt and Edit Mode; Refused if a sculpt is not kept."""
    thing, rig, armature = subject(context)
    with Hands(thing, done=True):
        context.view_layer.update()
        if rig.pending:
            raise Refused("A sculpt is not kept yet: press Keep or Discard Sculpt first")
    return thing, armature


def sample(mesh):
    """An object with one triangle of each material, for Blender's glTF exporter."""
    materials = list(dict.fromkeys(each for each in mesh.materials if each))
    made = bpy.data.meshes.new("Exemplar materials")
    made.from_pydata([(i % 3 == 1, i % 3 == 2, i // 3) for i in range(3 * len(materials))], [],
                     [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(materials))])
    for i, material in enumerate(materials):
        made.materials.append(material)
        made.polygons[i].material_index = i
    for layer in mesh.uv_layers:
        made.uv_layers.new(name=layer.name)
    return bpy.data.objects.new("Exemplar materials", made)


def write_materials(context, mesh, path):
    """Writes the materials of a mesh as glTF. None, or why it failed."""
    thing, layer = sample(mesh), context.view_layer
    chosen, active = [each for each in layer.objects if each.select_get()], layer.objects.active
    context.scene.collection.objects.link(thing)
    try:
        for each in chosen:
            each.select_set(False)
        thing.select_set(True)
        layer.objects.active = thing
        return compat.export_gltf(str(path))
    finally:
        made = thing.data
        bpy.data.objects.remove(thing)
        bpy.data.meshes.remove(made)
        for each in chosen:
            each.select_set(True)
        layer.objects.active = active


def missing(mesh, layers):
    """[(layer, example)] of a mesh that are not in a rig. layers: {name: names of examples} of that."""
    return [(layer, example) for layer in mesh.exemplar.layers for example in layer.examples
            if example.name not in layers.get(layer.name, ())]


def why(mesh, layer, example):
    """The reason why an example is not in a rig."""
    if example.name not in mesh.shape_keys.key_blocks:
        return "has lost its shape key"
    if example in layer.counted():
        return f"is in layer '{layer.name}', which has lost a bone or a shape key"
    return "is muted" if example.muted else f"is not '{layer.solo}', which is solo"


def left_out(mesh, whole):
    """Sentences about what is not in an exported rig."""
    lost = missing(mesh, {name: layer.examples for name, layer in whole.rig.layers.items()})
    return [*whole.notes, *(f"'{example.name}', which {why(mesh, layer, example)}" for layer, example in lost),
            *(f"'{entry.name}' stays in Blender" for entry in mesh.exemplar.stored)]


def project(context, thing, armature, folder, name):
    """Writes the project of an object, with materials. Returns it, its rig, and sentences about what is not in it."""
    made, whole = export.project(thing, armature, context.scene, folder, name)
    notes = left_out(thing.data, whole)
    if any(thing.data.materials) and not thing.data.exemplar.pending:
        problem = write_materials(context, thing.data, pathlib.Path(folder) / "materials.glb")
        if problem:
            notes.append(f"materials are plain, since {problem[0].lower()}{problem[1:]}")
        else:
            with made.edit() as data:
                data["materials"] = "materials.glb"
            made.save()
    return made, whole, notes


def told(text, notes):
    """A sentence, with what is not in the file."""
    return text + (". Not in it: " + "; ".join(notes) if notes else "")


def size(count):
    return f"{count / 1e6:.1f} MB" if count >= 1e6 else f"{count / 1e3:.0f} kB"


class Writing(Action, ExportHelper):
    """An operator that writes a file."""
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context):
        try:
            return rig_of(character.mesh_object(context)) is not None
        except Refused:
            return False


class EXEMPLAR_OT_export_rig(Writing):
    """Write the rig as one .glb file, which Exemplar's programs and libraries play"""
    bl_idname = "exemplar.export_rig"
    bl_label = "Export Rig"
    filename_ext = ".glb"
    filter_glob: StringProperty(default="*.glb", options={"HIDDEN"})

    def act(self, context):
        thing, armature = ready(context)
        path = pathlib.Path(bpy.path.abspath(self.filepath))
        with tempfile.TemporaryDirectory() as folder:
            made, _, notes = project(context, thing, armature, folder, "rig")
            rig = made.build(path)
        return told(f"Wrote '{path.name}': {rig.vertex_count()} vertices, {len(rig.examples)} examples, "
                    f"{size(path.stat().st_size)}", notes)


class EXEMPLAR_OT_export_project(Writing):
    """Write the rig as a project: a .json file, with its forms beside it"""
    bl_idname = "exemplar.export_project"
    bl_label = "Export Project"
    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def act(self, context):
        thing, armature = ready(context)
        path = pathlib.Path(bpy.path.abspath(self.filepath))
        if path.parent.is_dir() and any(path.parent.iterdir()) and not path.exists():
            path = path.parent / path.stem / path.name  # a folder of its own: a project has many files
        made, whole, notes = project(context, thing, armature, path.parent, path.stem)
        files = [path, *made.files()]
        return told(f"Wrote '{path}' and {len(files) - 1} files beside it, "
                    f"{size(sum(each.stat().st_size for each in files if each.exists()))}", notes)


def menu(self, context):
    self.layout.operator(EXEMPLAR_OT_export_rig.bl_idname, text="Exemplar Rig (.glb)")
    self.layout.operator(EXEMPLAR_OT_export_project.bl_idname, text="Exemplar Project (.json)")


_classes = (EXEMPLAR_OT_export_rig, EXEMPLAR_OT_export_project)


def register():
    for each in _classes:
        bpy.utils.register_class(each)
    bpy.types.TOPBAR_MT_file_export.append(menu)


def unregister():
    bpy.types.TOPBAR_MT_file_export.remove(menu)
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
