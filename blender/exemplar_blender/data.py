# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mesh knows of its rig, `mesh.exemplar`: layers, their axes, and the places of their examples.

The form of an example is a shape key of the same name, with value 0. Everything else is here, as properties of the mesh:
so Blender undoes, saves, appends and duplicates it. `revision` is a new word after each change; evaluation builds the rig
again when it differs (rigs.py).
"""
import uuid

import bpy
from bpy.props import (BoolProperty, CollectionProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty,
                       PointerProperty, StringProperty)

LIVE = "Exemplar"  # the shape key that holds the mixture
BODY = "Exemplar body"  # the modifier that lets Blender evaluate the body of a garment, even if it is hidden

READINGS = [
    ("X", "Angle about X", "How far the bone turns about its X axis, in degrees"),
    ("Y", "Angle about Y", "How far the bone turns about its Y axis, which runs along it, in degrees"),
    ("Z", "Angle about Z", "How far the bone turns about its Z axis, in degrees"),
    ("SWING", "Swing", "The direction in which the bone points, whatever its twist"),
    ("TWIST", "Twist", "The turn about the bone's own direction, whatever its swing"),
    ("ROTATION", "Rotation", "The whole rotation of the bone"),
    ("DIAL", "Slider", "A custom property of the object"),
]
ANGLES = ("X", "Y", "Z")

KINDS = [
    ("calm", "Calm", "Weights stay between 0 and 1 and do not swing between examples"),
    ("cardinal", "Cardinal", "Smooth weights that may go below 0 and above 1"),
    ("gaussian", "Gaussian", "Each example fades with the distance from it"),
    ("shepard", "Shepard", "Weights by inverse distances"),
    ("nearest", "Nearest", "Among the nearest examples"),
    ("direct", "Sliders", "Each example has a slider of its own: its weight"),
]


def _changed(self, context):
    touch(self.id_data)


def _driven(self, context):
    for thing in bpy.data.objects:
        if thing.data == self.id_data and BODY in thing.modifiers:
            thing.modifiers[BODY].target = self.driver
    touch(self.id_data)


def _switched(self, context):
    from . import bake_keys, live
    bake_keys.show(self.id_data, self.enabled)
    live.again(self.id_data)
    self.id_data.update_tag()


def _chosen(self, context):
    self.id_data.exemplar.chosen = True


def _muted(self, context):
    touch(self.id_data)


class Number(bpy.types.PropertyGroup):
    value: FloatProperty(name="Value", description="The place on the axis", precision=3, update=_changed)


class Axis(bpy.types.PropertyGroup):
    """`name` is the axis's own, unique in the mesh but for axes that read the same."""
    reading: EnumProperty(name="Reading", items=READINGS, default="X", update=_changed)
    bone: StringProperty(name="Bone", description="The bone that is read", update=_changed)
    low: FloatProperty(name="Least", update=_changed)
    high: FloatProperty(name="Most", default=1.0, update=_changed)
    rest: FloatProperty(name="Rest", update=_changed)
    about: bpy.props.FloatVectorProperty(name="About", size=3, default=(0, 1, 0))
    exact: StringProperty(description="Of an imported axis, as JSON: its range, scale, clamp and limit")

    @property
    def width(self):
        """How many numbers a place has on it: four of a rotation, as a quaternion x y z w."""
        return 4 if self.reading in ("SWING", "TWIST", "ROTATION") else 1

    @property
    def rest_numbers(self):
        return [0.0, 0.0, 0.0, 1.0] if self.width == 4 else [self.rest]


class Example(bpy.types.PropertyGroup):
    """`name` is that of its shape key; `label` is the same, and renames both."""
    label: StringProperty(name="Name", description="Of the example and of its shape key", get=lambda self: self.name,
                          set=lambda self, name: rename_example(self, name))
    weight: FloatProperty(name="Weight", description="How much this example counts at the present pose", min=0, max=1,
                          precision=2, get=lambda self: weight_of(self))
    at: CollectionProperty(type=Number)
    muted: BoolProperty(name="Mute", description="Leave this example out for a while", update=_muted)

    @property
    def numbers(self):
        return [number.value for number in self.at]

    def place(self, numbers):
        set_numbers(self.at, numbers)


class Pseudo(bpy.types.PropertyGroup):
    """A place without a form of its own: it takes the weights that the examples give at `source`, or `weights`."""
    at: CollectionProperty(type=Number)
    source: CollectionProperty(type=Number)
    weights: CollectionProperty(type=Number)


class Layer(bpy.types.PropertyGroup):
    label: StringProperty(name="Name", description="Of the layer", get=lambda self: self.name,
                          set=lambda self, name: rename_layer(self, name))
    kind: EnumProperty(name="Kind", items=KINDS, default="calm", update=_changed)
    weights: EnumProperty(name="Weights", description="How the examples are weighed: the kind of a layer without sliders",
                          items=KINDS[:-1], get=lambda self: kind_number(self),
                          set=lambda self, number: set_kind(self, KINDS[number][0]))
    parameters: StringProperty(name="Parameters", description="Of the kind of weights, as JSON", update=_changed)
    muted: BoolProperty(name="Mute", description="Leave this layer out for a while", update=_muted)
    still: BoolProperty(name="Nothing at rest", description="The layer does nothing at rest unless an example is there",
                        default=True, update=_changed)
    axes: CollectionProperty(type=Axis)
    examples: CollectionProperty(type=Example)
    pseudos: CollectionProperty(type=Pseudo)
    active: IntProperty(name="Example", min=0)
    solo: StringProperty(name="Solo", description="The only example that counts, for a while", update=_changed)

    @property
    def width(self):
        return sum(axis.width for axis in self.axes)

    @property
    def rest(self):
        return [number for axis in self.axes for number in axis.rest_numbers]

    def counted(self):
        """The examples that are not muted; with solo, that one alone."""
        if self.solo and self.solo in self.examples:
            return [self.examples[self.solo]]
        return [example for example in self.examples if not example.muted]


class Word(bpy.types.PropertyGroup):
    """A name, and a word about it."""
    value: StringProperty()


class Stored(bpy.types.PropertyGroup):
    """A rig that Blender's keys cannot hold: its file is the mesh's custom property 'exemplar:' + name (stored.py)."""
    purpose: EnumProperty(name="Purpose", items=[
        ("RIG", "Imported rig", "Layers of an imported rig"),
        ("WARP", "Paths", "Paths between shape keys that turn"),
        ("GARMENT", "Garment", "A garment that follows another mesh")])
    muted: BoolProperty(name="Mute", description="Leave it out for a while", update=_muted)
    revision: StringProperty(description="A new word for each file")
    space: FloatVectorProperty(description="Takes points of the rig to points of the mesh: a matrix, row by row", size=16,
                               default=(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1), update=_changed)
    sliders: CollectionProperty(type=Word, description="Custom properties of the object that its axes read, if their names "
                                                       "are not the same: axis and property")
    driver: PointerProperty(name="Driver", description="The mesh that a garment follows", type=bpy.types.Object,
                            poll=lambda self, thing: thing.type == "MESH" and thing.data != self.id_data, update=_driven)
    switched: CollectionProperty(type=Word, description="Modifiers that were switched off: name, and where they were on")


class Proposed(bpy.types.PropertyGroup):
    """An axis that a sculpt may depend on, shown before it is kept."""
    used: BoolProperty(name="Counts", description="The sculpt depends on this bone", default=True, update=_chosen)
    bone: StringProperty(name="Bone")
    reading: EnumProperty(name="Reading", items=READINGS[:-1], default="X", update=_chosen)


class MeshRig(bpy.types.PropertyGroup):
    made: BoolProperty(description="True if the mesh has an Exemplar rig")
    enabled: BoolProperty(name="Live", description="Follow the armature. Off, the form stays as it is", default=True,
                          update=_switched)
    revision: StringProperty()
    baked: BoolProperty(description="True if the examples have drivers that work without the add-on")
    baked_revision: StringProperty(description="The revision that was baked")
    baked_error: FloatProperty(description="The largest distance of the baked from the live form, in metres")
    baked_share: FloatProperty(description="The same, in parts of the size")
    project: StringProperty(description="What the project for the browser held when it was written or read last, in brief")
    pending: BoolProperty(description="True if the form was changed by hand and not kept yet")
    proposed: CollectionProperty(type=Proposed)
    chosen: BoolProperty(description="True if the user changed what is proposed: Keep then takes it as it is")
    all_bones: BoolProperty(name="Other Turned Bones", description="Show all bones that are turned, to choose among them")
    next_name: StringProperty(name="Name", description="Of the example that Keep makes; empty: its bone and angle")
    layers: CollectionProperty(type=Layer)
    active: IntProperty(name="Layer", min=0)
    stored: CollectionProperty(type=Stored)

    @property
    def layer(self):
        """The active layer, or None."""
        return self.layers[self.active] if 0 <= self.active < len(self.layers) else None

    @property
    def example(self):
        """The active example of the active layer, or None."""
        layer = self.layer
        return layer.examples[layer.active] if layer and 0 <= layer.active < len(layer.examples) else None


def set_numbers(collection, numbers):
    collection.clear()
    for number in numbers:
        collection.add().value = number


def kind_number(layer):
    """The number of a layer's kind among those without sliders."""
    return next((i for i, kind in enumerate(KINDS[:-1]) if kind[0] == layer.kind), 0)


def set_kind(layer, kind):
    """Sets the kind of weights, which a layer of sliders keeps."""
    if layer.kind != "direct":
        layer.kind = kind


def rename_example(example, name):
    """Renames an example and its shape key. A name that is taken gets a number."""
    mesh, old = example.id_data, example.name
    key = mesh.shape_keys.key_blocks.get(old) if mesh.shape_keys else None
    if not name.strip() or name == old or key is None:
        return
    key.name = name
    for layer in mesh.exemplar.layers:
        if layer.solo == old:
            layer.solo = key.name
    example.name = key.name
    touch(mesh)


def rename_layer(layer, name):
    """Renames a layer. A name that is taken gets a number."""
    if name.strip() and name != layer.name:
        layer.name = unique(name, {each.name for each in layer.id_data.exemplar.layers if each != layer})
        touch(layer.id_data)


def unique(name, taken):
    """A name that is not taken: with a number if needed."""
    number, out = 1, name
    while out in taken:
        number += 1
        out = f"{name} {number}"
    return out


def weight_of(example):
    """The weight of an example at the present pose, as the panel has read it."""
    for layer in example.id_data.exemplar.layers:
        if example.name in layer.examples:
            return weights.get((example.id_data.name, layer.name, example.name), 0.0)
    return 0.0


weights = {}  # (mesh, layer, example) -> weight at the present pose


def touch(mesh):
    """Says that the rig of a mesh has changed: it is evaluated anew."""
    mesh.exemplar.revision = uuid.uuid4().hex
    mesh.update_tag()


def rig_of(thing):
    """`mesh.exemplar` of an object with a rig, or None."""
    mesh = thing.data if isinstance(thing, bpy.types.Object) and thing.type == "MESH" else None
    return mesh.exemplar if mesh and mesh.exemplar.made else None


_classes = (Number, Axis, Example, Pseudo, Layer, Word, Stored, Proposed, MeshRig)


def register():
    for each in _classes:
        bpy.utils.register_class(each)
    bpy.types.Mesh.exemplar = PointerProperty(type=MeshRig)


def unregister():
    del bpy.types.Mesh.exemplar
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
