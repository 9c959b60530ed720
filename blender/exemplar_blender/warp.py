# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths between shape keys: a slider of the object leads from the basis to a key along a path on which parts turn and keep
their size, where Blender's own slider goes straight and shrinks them."""
import bpy
import numpy
from bpy.props import BoolProperty, StringProperty

from . import character, compat, live, loop, stored
from .data import LIVE, rig_of
from .errors import Action, Refused
from .export import target_names
from .library import exemplar
from .progress import Bar


class EXEMPLAR_OT_warp(Action):
    """Make a slider that leads from the basis to a shape key along a path on which parts turn and keep their size"""
    bl_idname = "exemplar.warp"
    bl_label = "Paths Between Shape Keys"

    every: BoolProperty(name="All Keys", description="Paths to all shape keys that are no examples, and mixtures of them; "
                                                     "else to the active one")

    def act(self, context):
        thing = character.mesh_object(context)
        character.check(thing, posed=False)
        if not rig_of(thing) and thing.data.shape_keys and LIVE in thing.data.shape_keys.key_blocks:
            raise Refused(f"A shape key of '{thing.name}' is called '{LIVE}', a name that the rig needs: rename it")
        names = chosen(thing, self.every)
        with loop.Hands(thing), Bar(context) as bar:
            return make(context, thing, names, bar)


def chosen(thing, every):
    """Names of the keys to make paths to, or Refused."""
    known = target_names(thing.data)
    if not known:
        raise Refused(f"'{thing.name}' has no shape key besides its basis: add one with the form to go to")
    if every:
        return known
    key = thing.active_shape_key
    if key is None or key.name not in known:
        raise Refused(f"Select the shape key to go to, in Object Data > Shape Keys: one of {', '.join(known[:4])}"
                      f"{' …' if len(known) > 4 else ''}")
    return [key.name]


def make(context, thing, names, progress=None):
    """Makes paths to keys and stores them. Returns a sentence."""
    mesh = thing.data
    if not len(mesh.polygons):
        raise Refused(f"'{thing.name}' has no faces, which tell what belongs together: add faces")
    basis, blocks, faces = character.vertices(mesh), mesh.shape_keys.key_blocks, character.faces(mesh)
    size = float(numpy.linalg.norm(numpy.ptp(basis, axis=0))) or 1.0
    forms = []
    for name in names:
        form = compat.read_key(blocks[name], len(basis)) - compat.read_key(blocks[name].relative_key, len(basis)) + basis
        if numpy.abs(form - basis).max() <= 1e-6 * size:
            raise Refused(f"The shape key '{name}' is the same as the basis: sculpt it, or choose another one")
        forms.append((form, faces))
    earlier = {word.value: entry.name for entry in mesh.exemplar.stored if entry.purpose == "WARP" for word in entry.sliders}
    for name in names:
        if name in thing and name not in earlier:
            raise Refused(f"'{thing.name}' has a custom property '{name}' already: rename it, or the shape key")
    called = ["basis", *(f"key{i + 1}" for i in range(len(names)))]
    warp = exemplar.warp((basis, faces), *forms, names=called, threads=None, progress=progress)
    if not rig_of(thing):
        loop.make(thing)
    for name in {earlier[name] for name in names if name in earlier}:
        remove(thing, mesh.exemplar.stored[name])
    axes = ["t"] if len(names) == 1 else called[1:]
    stored.add(mesh, f"paths to {', '.join(names)}", "WARP", warp.rig.to_bytes(), sliders=dict(zip(axes, names)))
    for name in names:
        blocks[name].value = 0.0
        thing[name] = 0.0
        thing.id_properties_ui(name).update(min=0.0, max=1.0, soft_min=0.0, soft_max=1.0, default=0.0,
                                            description=f"From the basis to '{name}' along a path")
    thing.update_tag()
    context.view_layer.update()
    said = "".join(f". {note[0].upper()}{note[1:]}" for note in warp.notes)
    return f"Made paths to {', '.join(names)}: move the sliders of these names in the object's custom properties{said}"


def remove(thing, entry):
    """Removes paths and their sliders."""
    for word in entry.sliders:
        thing.pop(word.value, None)
    stored.remove(thing.data, entry.name)
    live.forget(thing.data)
    thing.update_tag()


class EXEMPLAR_OT_warp_remove(Action):
    """Remove paths between shape keys, with their sliders. The shape keys stay"""
    bl_idname = "exemplar.warp_remove"
    bl_label = "Remove Paths"

    name: StringProperty(name="Name", description="Of the paths; empty: all")

    def act(self, context):
        thing = character.mesh_object(context)
        entries = [entry for entry in thing.data.exemplar.stored
                   if entry.purpose == "WARP" and self.name in ("", entry.name)]
        if not entries:
            raise Refused(f"'{thing.name}' has no paths" + (f" called '{self.name}'" if self.name else ""))
        for name in [entry.name for entry in entries]:
            remove(thing, thing.data.exemplar.stored[name])
        context.view_layer.update()


register, unregister = bpy.utils.register_classes_factory((EXEMPLAR_OT_warp, EXEMPLAR_OT_warp_remove))
