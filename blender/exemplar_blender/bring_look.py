# SPDX-License-Identifier: GPL-3.0-or-later
"""The looks of an imported rig: materials with their images, by Blender's own glTF importer."""
import json
import re

import bpy
import numpy

from . import compat

LEFT = ("objects", "meshes", "armatures", "actions", "cameras", "lights", "collections")  # what else an import makes


def header(data):
    """The JSON of a glTF file's bytes."""
    if data[:4] != b"glTF":
        return json.loads(data)
    return json.loads(data[20:20 + int.from_bytes(data[12:16], "little")])


def materials(context, mesh, rig, path):
    """Gives a mesh the materials of a rig. path: a glTF file that has them, or None. Returns notes."""
    source = rig.mesh
    if not len(source.materials):
        return []
    found, notes = {}, []
    if path is not None and header(path.read_bytes()).get("images"):
        found, problem = imported(context, path)
        if problem:
            notes.append(f"materials are plain, since {problem[0].lower()}{problem[1:]}")
    for name in source.materials:
        mesh.materials.append(found.get(name) or bpy.data.materials.new(name))
    mesh.polygons.foreach_set("material_index", numpy.maximum(source.face_materials, 0).astype(numpy.int32))
    return notes


def imported(context, path):
    """{name: material} of a glTF file; whatever else the import makes is removed. And None, or why it failed."""
    layer = context.view_layer
    before = {kind: set(getattr(bpy.data, kind)) for kind in (*LEFT, "materials")}
    chosen, active = [each for each in layer.objects if each.select_get()], layer.objects.active
    problem = compat.import_gltf(str(path))
    made = {each for each in bpy.data.materials if each not in before["materials"]}
    for each in made:
        each.use_fake_user = True  # until the mesh uses it
    for kind in LEFT:
        for each in set(getattr(bpy.data, kind)) - before[kind]:
            getattr(bpy.data, kind).remove(each)
    for each in chosen:
        each.select_set(True)
    layer.objects.active = active
    found = {re.sub(r"\.\d{3}$", "", each.name): each for each in made}
    found.update({each.name: each for each in made})
    for each in made:
        each.use_fake_user = False
    return found, problem
