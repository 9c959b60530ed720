# SPDX-License-Identifier: GPL-3.0-or-later
"""Pseudo-examples: poses that take the form of an example without a sculpt of their own."""
import bpy
from bpy.props import IntProperty

from .data import set_numbers, touch
from .errors import Refused
from .examples import OnExample, OnLayer, free, present, unkept
from .loop import same, subject


class EXEMPLAR_OT_take_form(OnExample):
    """Take the form of this example at the present pose too, without a sculpt of its own (a pseudo-example)"""
    bl_idname = "exemplar.take_form"
    bl_label = "Take This Form Here"

    def act(self, context):
        thing, rig, armature = subject(context)
        layer, example = self.pick(rig)
        if layer.kind == "direct":
            raise Refused(f"The examples of '{layer.name}' have sliders, and no poses")
        unkept(thing, rig, armature)
        place = present(context.evaluated_depsgraph_get(), thing, armature, layer)
        free(layer, place)
        pseudo = next((each for each in layer.pseudos if same(layer, [n.value for n in each.at], place)), None)
        pseudo = pseudo or layer.pseudos.add()
        set_numbers(pseudo.at, place)
        set_numbers(pseudo.source, example.numbers)
        pseudo.weights.clear()
        touch(thing.data)
        context.view_layer.update()
        return f"At this pose the form is that of '{example.name}'"


class EXEMPLAR_OT_remove_pseudo(OnLayer):
    """Remove this pseudo-example: its pose takes what the examples give again"""
    bl_idname = "exemplar.remove_pseudo"
    bl_label = "Remove Pseudo-Example"

    index: IntProperty(name="Index", description="In the layer, from 0", min=0)

    def act(self, context):
        thing, rig, armature = subject(context)
        layer = self.pick_layer(rig)
        if self.index >= len(layer.pseudos):
            raise Refused(f"The layer '{layer.name}' has {len(layer.pseudos)} pseudo-examples")
        layer.pseudos.remove(self.index)
        touch(thing.data)
        context.view_layer.update()
register, unregister = bpy.utils.register_classes_factory((EXEMPLAR_OT_take_form, EXEMPLAR_OT_remove_pseudo))
