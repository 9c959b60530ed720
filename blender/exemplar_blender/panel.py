# SPDX-License-Identifier: GPL-3.0-or-later
"""The tab 'Exemplar' in the sidebar of the 3D viewport: the loop first, then layers and examples, then the rest."""
import textwrap

import bpy

from . import character, findings, library, live, stored
from .axes import turn_of, turned_by
from .data import ANGLES, rig_of
from .errors import Refused
from .rigs import columns

ICONS = {"error": "CANCEL", "warning": "ERROR", "note": "INFO"}
BEGIN = ["add_tube", "import_rig"]
OUT = ["export_rig", "export_project", "import_rig", "open_browser", "reload_project", "bake_action", "bake_keys", "unbake",
       "read_correctives"]
CLOTHES = ["garment_learn", "garment_forget", "warp", "warp_remove"]


def subject(context):
    """The object of the panel and its armature, or None."""
    try:
        thing = character.mesh_object(context)
    except Refused:
        return None, None
    return thing, character.armature_of(thing)


def rigged(context):
    """True if there is a rig to show more about."""
    thing, armature = subject(context)
    return bool(thing and rig_of(thing) and live.key_of(thing.data))


def say(layout, context, text, icon="NONE"):
    """A sentence in as many lines as the panel needs."""
    scale = context.preferences.system.ui_scale or 1  # 0 without a window
    letters = max(20, int((context.region.width if context.region else 300) / scale / 6.6) - 6)
    column = layout.column(align=True)
    column.scale_y = 0.8
    for i, line in enumerate(textwrap.wrap(text, letters)):
        column.label(text=line, icon=icon if i == 0 else "BLANK1" if icon != "NONE" else "NONE")


class Tab(bpy.types.Panel):
    """What the panels have in common."""
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Exemplar"


class EXEMPLAR_PT_missing(Tab):
    bl_label = "Exemplar"

    def draw(self, context):
        say(self.layout, context, library.problem, "ERROR")


class EXEMPLAR_PT_main(Tab):
    bl_label = "Exemplar"

    def draw(self, context):
        layout = self.layout
        thing, armature = subject(context)
        if thing is None:
            say(layout, context, "Select a mesh that has an armature", "INFO")
            draw_buttons(layout, BEGIN)
        elif rig_of(thing) is None or live.key_of(thing.data) is None:
            draw_start(layout, context, thing)
        else:
            draw_state(layout, context, thing, armature)
            if armature:
                draw_loop(layout, thing, armature)


def draw_start(layout, context, thing):
    """Before there is a rig: a button, or why there can be none."""
    try:
        armature = character.check(thing)
    except Refused as error:
        say(layout, context, str(error), "INFO")
        return
    say(layout, context, f"Sculpts of '{thing.name}' can be kept at poses of '{armature.name}'", "INFO")
    row = layout.row()
    row.scale_y = 1.5
    row.operator("exemplar.make", icon="ADD")


def draw_state(layout, context, thing, armature):
    """The rig of what, and what is wrong with it."""
    rig = thing.data.exemplar
    row = layout.row(align=True)
    row.label(text=thing.name, icon="OUTLINER_OB_MESH")
    row.prop(rig, "enabled", text="Live", toggle=True, icon="PLAY" if rig.enabled else "PAUSE")
    for text in findings.troubles(thing, armature):
        say(layout, context, text, "ERROR")
    for part in rig.stored:
        row = layout.row(align=True)
        row.label(text=part.name, icon="PACKAGE")
        if part.purpose == "GARMENT":
            row.prop(part, "driver", text="")
        draw_mute(row, part)
    column = layout.column(align=True)
    for name in sliders(thing):
        column.prop(thing, f'["{bpy.utils.escape_identifier(name)}"]', text=name, slider=True)


def sliders(thing):
    """The custom properties of an object that its rig reads."""
    mesh = thing.data
    found = [axis.name for layer in mesh.exemplar.layers for axis in layer.axes if axis.reading == "DIAL"]
    if live.name_of(mesh) not in live.problems:
        found += [stored.property_of(mesh.exemplar.stored[part], name) for part, rig in stored.rigs(mesh).items()
                  for name, axis in rig.axes.items() if axis.is_dial]
    return [name for name in dict.fromkeys(found) if name in thing]


def draw_loop(layout, thing, armature):
    """Pose, sculpt, keep."""
    rig = thing.data.exemplar
    sculpting = rig.pending or thing.mode == "SCULPT"
    row = layout.row(align=True)
    row.scale_y = 1.6
    row.operator("exemplar.pose", icon="POSE_HLT", depress=armature.mode == "POSE")
    row.operator("exemplar.sculpt", text="Sculpt", icon="SCULPTMODE_HLT", depress=thing.mode == "SCULPT")
    keep = row.row(align=True)
    keep.alert = rig.pending
    keep.enabled = sculpting
    keep.operator("exemplar.keep", icon="KEYFRAME_HLT")
    if sculpting:
        draw_sculpt(layout, thing, rig, armature)
    layout.operator("exemplar.go_rest", icon="ARMATURE_DATA")


def draw_sculpt(layout, thing, rig, armature):
    """A sculpt that is not kept: its name, and what it depends on."""
    box = layout.box()
    box.label(text="Sculpt not kept" if rig.pending else "Sculpting", icon="SCULPTMODE_HLT")
    box.prop(rig, "next_name")
    if len(rig.proposed):
        box.label(text="It depends on")
    others = [proposed for proposed in rig.proposed if not proposed.used]
    for proposed in [each for each in rig.proposed if each.used] + (others if rig.all_bones else []):
        column = box.column(align=True)
        row = column.row(align=True)
        row.prop(proposed, "used", text=proposed.bone)
        value = row.row()
        value.alignment = "RIGHT"
        value.label(text=turned_by(armature, proposed))
        if proposed.used:
            column.prop(proposed, "reading", text="")
    if others:
        box.prop(rig, "all_bones", text=f"{len(others)} other turned bone{'s' if len(others) > 1 else ''}")
    row = box.row(align=True)
    row.operator("exemplar.find_axes", icon="VIEWZOOM")
    row.operator("exemplar.discard", text="Discard", icon="X")


def draw_mute(layout, item):
    """The button that mutes, which waits while a sculpt is not kept: the sculpt is on the form that is seen."""
    row = layout.row(align=True)
    row.enabled = not item.id_data.exemplar.pending
    row.prop(item, "muted", text="", emboss=False, icon="HIDE_ON" if item.muted else "HIDE_OFF")


class EXEMPLAR_UL_layers(bpy.types.UIList):
    """Layers: name, kind, solo, mute."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0):
        row = layout.row(align=True)
        split = row.split(factor=0.6, align=True)
        split.prop(item, "label", text="", emboss=False)
        if item.kind == "direct":
            split.label(text="Sliders")
        else:
            split.prop(item, "weights", text="", emboss=False)
        row.operator("exemplar.solo_layer", text="", icon="SOLO_OFF", emboss=False).layer = item.name
        draw_mute(row, item)


class EXEMPLAR_UL_examples(bpy.types.UIList):
    """Examples of a layer: go to, name, weight, solo, mute."""

    def draw_item(self, context, layout, data, item, icon, active_data, active_property, index=0):
        row = layout.row(align=True)
        row.active = not item.muted and data.solo in ("", item.name)
        go = row.operator("exemplar.go", text="", icon="POSE_HLT", emboss=False)
        go.layer, go.example = data.name, item.name
        split = row.split(factor=0.52, align=True)
        split.prop(item, "label", text="", emboss=False)
        split.prop(item, "weight", text="", slider=True)
        solo = row.operator("exemplar.solo", text="", icon="SOLO_ON" if data.solo == item.name else "SOLO_OFF", emboss=False)
        solo.layer, solo.example = data.name, item.name
        draw_mute(row, item)


class Part(Tab):
    """A panel below the first one, of a rig."""
    bl_parent_id = "EXEMPLAR_PT_main"

    @classmethod
    def poll(cls, context):
        return rigged(context)


class EXEMPLAR_PT_examples(Part):
    bl_label = "Layers and Examples"

    def draw(self, context):
        layout = self.layout
        thing, armature = subject(context)
        rig = thing.data.exemplar
        layer = rig.layer
        if layer is None:
            say(layout, context, "No examples yet. Pose, sculpt, and press Keep", "INFO")
            return
        live.weights(thing, armature, context.view_layer.depsgraph)
        layout.template_list("EXEMPLAR_UL_layers", "", rig, "layers", rig, "active", rows=2)
        for axis in layer.axes:
            if armature and axis.reading != "DIAL" and axis.bone not in armature.data.bones:
                layout.prop_search(axis, "bone", armature.data, "bones", text=f"Bone of {axis.name}")
        layout.template_list("EXEMPLAR_UL_examples", "", layer, "examples", layer, "active", rows=3)
        if rig.example:
            draw_example(layout, layer, rig.example)
        draw_pseudos(layout, layer)


def draw_example(layout, layer, example):
    """The place of the active example, and what can be done with it."""
    if layer.kind != "direct" and len(example.at) == layer.width:
        column = layout.column(align=True)
        for axis, begin in zip(layer.axes, columns(layer)):
            if axis.width == 1:
                column.prop(example.at[begin], "value", text=f"{axis.name} (°)" if axis.reading in ANGLES else axis.name)
            else:
                column.label(text=axis.name, icon="ORIENTATION_GIMBAL")
                column.label(text=turn_of(example.numbers[begin:begin + 4]), icon="BLANK1")
    column = layout.column(align=True)
    column.operator("exemplar.resculpt", icon="SCULPTMODE_HLT")
    column.operator("exemplar.move_here", icon="CON_LOCLIKE")
    column.operator("exemplar.duplicate", icon="DUPLICATE")
    column.operator("exemplar.take_form", icon="LINKED")
    row = column.row(align=True)
    row.operator("exemplar.remove_example", text="Remove", icon="TRASH")
    row.operator("exemplar.remove_layer", text="Remove Layer", icon="TRASH")


def draw_pseudos(layout, layer):
    """Poses that take the form of an example."""
    from .loop import at_place, label
    for i, pseudo in enumerate(layer.pseudos):
        row = layout.row(align=True)
        source = at_place(layer, [number.value for number in pseudo.source]) if len(pseudo.source) else None
        words = label(layer, [number.value for number in pseudo.at])
        row.label(text=f"{words}: as {source.name if source else 'elsewhere'}", icon="LINKED")
        remove = row.operator("exemplar.remove_pseudo", text="", icon="X", emboss=False)
        remove.layer, remove.index = layer.name, i


class EXEMPLAR_PT_map(Part):
    bl_label = "Map"

    def draw_header(self, context):
        self.layout.prop(context.window_manager.exemplar_map, "shown", text="")

    def draw(self, context):
        drawn, rig = context.window_manager.exemplar_map, subject(context)[0].data.exemplar
        if rig.layer is None or rig.layer.width < 2:
            self.layout.label(text="Weights over one axis" if rig.layer else "Nothing to show yet")
            return
        column = self.layout.column(align=True)
        column.active = drawn.shown
        column.prop(drawn, "across")
        column.prop(drawn, "up")


class EXEMPLAR_PT_findings(Part):
    bl_label = "Check"

    def draw(self, context):
        layout = self.layout
        thing, armature = subject(context)
        kept = context.window_manager.exemplar_findings
        layout.operator("exemplar.check", icon="CHECKMARK")
        if kept.mesh != thing.data.name:
            return
        if kept.revision != thing.data.exemplar.revision:
            say(layout, context, "The rig has changed since: check again", "INFO")
        found = [each for each in kept.found if each.severity != "note" or kept.notes]
        if kept.revision == thing.data.exemplar.revision and not any(each.severity != "note" for each in kept.found):
            layout.label(text="Everything is fine", icon="CHECKMARK")
        for each in found:
            say(layout, context, each.text, ICONS[each.severity])
        for name in dict.fromkeys(each.layer for each in found if each.remedy == "calm"):
            layout.operator("exemplar.calm", text=f"Make '{name}' Calm", icon="MOD_SMOOTH").layer = name
        layout.prop(kept, "notes")


class EXEMPLAR_PT_mirror(Part):
    bl_label = "Mirror"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        wanted = context.window_manager.exemplar_mirror
        column, row = self.layout.column(align=True), None
        for i, (what, text) in enumerate((("EXAMPLE", "Example"), ("LAYER", "Layer"), ("LEFT", "Left to Right"),
                                          ("RIGHT", "Right to Left"))):
            row = column.row(align=True) if i % 2 == 0 else row
            pressed = row.operator("exemplar.mirror", text=text, icon="MOD_MIRROR")
            pressed.what, pressed.replace = what, wanted.replace
        self.layout.prop(wanted, "replace")


def draw_buttons(layout, names):
    """Buttons of operators."""
    for name in names:
        layout.operator(f"exemplar.{name}")


class EXEMPLAR_PT_out(Part):
    bl_label = "In and Out"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        draw_buttons(self.layout, OUT)
        self.layout.operator("exemplar.remove_rig", icon="TRASH")


class EXEMPLAR_PT_clothes(Part):
    bl_label = "Clothes and Paths"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context):
        return subject(context)[0] is not None

    def draw(self, context):
        draw_buttons(self.layout, CLOTHES)


_classes = (EXEMPLAR_UL_layers, EXEMPLAR_UL_examples, EXEMPLAR_PT_main, EXEMPLAR_PT_examples, EXEMPLAR_PT_map,
            EXEMPLAR_PT_findings, EXEMPLAR_PT_mirror, EXEMPLAR_PT_out, EXEMPLAR_PT_clothes) if library.found else \
    (EXEMPLAR_PT_missing,)
register, unregister = bpy.utils.register_classes_factory(_classes)
