# SPDX-License-Identifier: GPL-3.0-or-later
"""Check: what is wrong or weak with a rig, as sentences in the panel, each with a button where a remedy is known.

`troubles` are seen at once, while the panel is drawn; the library's check takes a moment, and is done on request.
"""
import re
import tempfile

import bpy
from bpy.props import BoolProperty, CollectionProperty, PointerProperty, StringProperty

from . import export, live
from .data import touch
from .errors import Action, Refused
from .examples import OnLayer
from .loop import Hands, subject
from .progress import Bar

ORDER = ("error", "warning", "note")


class Found(bpy.types.PropertyGroup):
    """One finding: `severity` is 'error', 'warning' or 'note'."""
    severity: StringProperty()
    text: StringProperty()
    layer: StringProperty()
    remedy: StringProperty()


class Findings(bpy.types.PropertyGroup):
    """The findings of the last check; `revision` is that of the rig that was checked."""
    mesh: StringProperty()
    revision: StringProperty()
    found: CollectionProperty(type=Found)
    notes: BoolProperty(name="Measurements", description="Show what was measured, too")


def troubles(thing, armature):
    """Sentences about what Blender has lost or shares, which a rig cannot do without."""
    mesh, rig, said = thing.data, thing.data.exemplar, []
    blocks, bones = mesh.shape_keys.key_blocks if mesh.shape_keys else {}, armature.data.bones if armature else {}
    others = [each.name for each in bpy.context.scene.objects if mesh.users > 1 and each.data == mesh and each != thing]
    if others:
        said.append(f"'{others[0]}' has the same mesh and would get this form too: make '{thing.name}' single user "
                    f"(Object > Relations)")
    for layer in rig.layers:
        for example in layer.examples:
            if example.name not in blocks:
                said.append(f"The shape key '{example.name}' is gone, so layer '{layer.name}' rests: undo, give a key that "
                            f"name, or remove the example")
        for axis in layer.axes:
            if axis.reading != "DIAL" and axis.bone not in bones:
                said.append(f"The bone '{axis.bone}' of layer '{layer.name}' is gone, so nothing follows: undo, or choose "
                            f"another bone below")
    problem = live.problems.get(live.name_of(mesh))
    if problem and not said:
        said.append(f"The rig cannot be built: {problem}")
    if rig.baked and rig.baked_revision != rig.revision:
        said.append("The rig has changed since it was baked: bake again")
    return said


class EXEMPLAR_OT_check(Action):
    """Look for what is wrong or weak: examples too close, weights that swing, forms that jump"""
    bl_idname = "exemplar.check"
    bl_label = "Check"
    bl_options = {"REGISTER"}

    def act(self, context):
        thing, rig, armature = subject(context)
        said = [("error", text, "", "") for text in troubles(thing, armature)]
        with Hands(thing), Bar(context) as progress, tempfile.TemporaryDirectory() as folder:
            if any(len(layer.counted()) for layer in rig.layers) and live.name_of(thing.data) not in live.problems:
                project, whole = export.project(thing, armature, context.scene, folder)
                said += [named(each, project.layers) for each in project.check(progress=progress)]
        said.sort(key=lambda each: ORDER.index(each[0]))
        kept = context.window_manager.exemplar_findings
        kept.mesh, kept.revision = thing.data.name, rig.revision
        kept.found.clear()
        for severity, text, layer, remedy in said:
            one = kept.found.add()
            one.severity, one.text, one.layer, one.remedy = severity, text, layer, remedy
        count = sum(each[0] != "note" for each in said)
        live.redraw()
        return "Everything is fine" if not count else f"Found {count} thing{'s' if count > 1 else ''} to look at"


def named(finding, layers):
    """(severity, sentence, layer, remedy) of a finding: with names in place of numbers."""
    def layer_name(number):
        return f"layer '{layers[int(number)].name}'"

    def example_name(match):
        return f"example '{layers[int(match[1])].examples[int(match[2])].name}' of {layer_name(match[1])}"

    text = re.sub(r"layers\[(\d+)\]\.examples\[(\d+)\]", example_name, finding.text)
    text = re.sub(r"layers\[(\d+)\]", lambda match: layer_name(match[1]), text)
    said = finding.example and f"'{finding.example}'" in text
    subject_ = f"'{finding.example}' of layer '{finding.layer}'" if finding.example and not said else \
        f"Layer '{finding.layer}'" if finding.layer else ""
    text = f"{subject_}: {text}" if subject_ else text[0].upper() + text[1:]
    return finding.severity, text, finding.layer or "", finding.remedy or ""


class EXEMPLAR_OT_calm(OnLayer):
    """Make this layer calm: its weights stay between 0 and 1 and do not swing"""
    bl_idname = "exemplar.calm"
    bl_label = "Make Calm"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer = self.pick_layer(rig)
        if layer.kind == "direct":
            raise Refused(f"The examples of '{layer.name}' have sliders, which are their weights")
        layer.parameters, layer.kind = "", "calm"
        touch(thing.data)
        context.view_layer.update()
        kept = context.window_manager.exemplar_findings
        for i in reversed(range(len(kept.found))):
            if kept.found[i].layer == layer.name and kept.found[i].remedy == "calm":
                kept.found.remove(i)
        return f"The layer '{layer.name}' is calm"


_classes = (Found, Findings, EXEMPLAR_OT_check, EXEMPLAR_OT_calm)


def register():
    for each in _classes:
        bpy.utils.register_class(each)
    bpy.types.WindowManager.exemplar_findings = PointerProperty(type=Findings)


def unregister():
    del bpy.types.WindowManager.exemplar_findings
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
