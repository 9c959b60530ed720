# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirror images of examples: the library finds the other side of the mesh and of the bones, by their names (.L and .R, _l
and _r, Left and Right), and what it adds comes back as shape keys, layers and places.
"""
import math
import tempfile

import bpy
import numpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty

from . import character, export
from .data import set_numbers, touch
from .errors import Refused, sentence
from .examples import OnExample, activate, add_example, unkept, write_form
from .library import exemplar
from .loop import Hands, at_place, subject
from .progress import Bar

READING = {"full": "ROTATION", "swing": "SWING", "twist": "TWIST"}


class EXEMPLAR_OT_mirror(OnExample):
    """Add the mirror images of examples, on the other side of the body"""
    bl_idname = "exemplar.mirror"
    bl_label = "Mirror"

    what: EnumProperty(name="What", items=[
        ("EXAMPLE", "Example", "The active example"),
        ("LAYER", "Layer", "All examples of the active layer"),
        ("LEFT", "Left to Right", "All examples of the left side"),
        ("RIGHT", "Right to Left", "All examples of the right side")])
    replace: BoolProperty(name="Replace", description="An example that is at the mirrored pose already gets the new form")

    def act(self, context):
        thing, rig, armature = subject(context)
        with Hands(thing), Bar(context) as progress, tempfile.TemporaryDirectory() as folder:
            unkept(thing, rig, armature)
            which = self.which(rig)
            project, whole = export.project(thing, armature, context.scene, folder)
            made = self.mirror(project, progress, which)
            back = Back(thing, whole, project)
            for each in made:
                back.check(each.layer, each.example, self.replace)
            names = [back.bring(each.layer, each.example) for each in made]
            layer, example = names[-1]
            activate(rig, layer, example)
            touch(thing.data)
            context.view_layer.update()
        said = f"Mirrored {len(names)} examples" if len(names) > 1 else \
            f"Mirrored to '{example.name}' in layer '{layer.name}'"
        far = max(each.counterpart_distance for each in made)
        return said + (f"; the two sides of the mesh differ by up to {far:.2g} m" if far > 1e-4 else "")

    def mirror(self, project, progress, which):
        try:
            return project.mirror(replace=self.replace, progress=progress, **which)
        except exemplar.Error as error:
            if "already" in str(error) and not self.replace:
                raise Refused(f"{sentence(error)}: tick Replace to give it the new form") from None
            raise

    def which(self, rig):
        if self.what in ("LEFT", "RIGHT"):
            return {"all": ("L", "R") if self.what == "LEFT" else ("R", "L")}
        layer, example = self.pick(rig)
        if self.what == "LAYER":
            return {"layer": layer.name}
        if example not in layer.counted():
            raise Refused(f"'{example.name}' is muted, or another one is solo: let it count first")
        return {"name": example.name, "layer": layer.name}


class Back:
    """Brings examples of a project back to an object."""

    def __init__(self, thing, whole, project):
        self.thing, self.basis = thing, character.vertices(thing.data)
        self.rig, self.data = project.build(), project.data
        self.before = {name: layer.examples for name, layer in whole.rig.layers.items()}
        self.inverse = numpy.linalg.inv(whole.frame.linear)

    def given(self, layer_name):
        """A layer in the project's data."""
        given = next(each for each in self.data["layers"] if each["name"] == layer_name)
        for axis in given["space"]:
            reading(axis)
        return given

    def place_of(self, layer, name):
        number = self.rig.layers[layer.name].examples.index(name)
        return self.place(self.signs(self.given(layer.name), layer), self.rig.points(layer.name)[number])

    def check(self, layer_name, name, replace):
        """Refuses what cannot be brought, before anything is."""
        self.given(layer_name)
        layer = self.thing.data.exemplar.layers.get(layer_name)
        taken = layer and (layer.examples.get(name) or at_place(layer, self.place_of(layer, name)))
        if taken and taken.name not in self.before.get(layer_name, ()) and not replace:
            raise Refused(f"'{taken.name}' has that name or pose already, and does not count now: remove it, or mirror with "
                          f"Replace")

    def bring(self, layer_name, name):
        """The layer and the example of those names, made if needed."""
        layer = self.thing.data.exemplar.layers.get(layer_name) or self.new_layer(self.given(layer_name))
        place = self.place_of(layer, name)
        form = self.basis + self.rig.delta(layer_name, name).astype(numpy.float64) @ self.inverse.T
        example = layer.examples.get(name) or at_place(layer, place)
        if example is None:
            return layer, add_example(self.thing, layer, name, place, form)
        example.place(place)
        write_form(self.thing.data.shape_keys.key_blocks[example.name], form)
        return layer, example

    def new_layer(self, given):
        layer = self.thing.data.exemplar.layers.add()
        layer.name, layer.kind = given["name"], given["weigh"]["kind"]
        for axis in given["space"]:
            made = layer.axes.add()
            made.name, made.bone = axis["name"], axis.get("joint", "")
            made.reading, made.about = reading(axis)
            made.low, made.high = (-180, 180) if "angle" in axis else (axis.get("min", 0), axis.get("max", 1))
            made.rest = axis.get("rest", 0.0) if made.reading == "DIAL" else 0.0
        signs = self.signs(given, layer)
        for pseudo in self.rig.weigher(given["name"]).pseudos:
            at = self.place(signs, pseudo.at)
            if pseudo.source is None and not numpy.any(pseudo.weights) and numpy.allclose(at, layer.rest, atol=1e-4):
                continue  # 'still' makes it
            one = layer.pseudos.add()
            set_numbers(one.at, at)
            if pseudo.source is not None:
                set_numbers(one.source, self.place(signs, pseudo.source))
            else:
                set_numbers(one.weights, pseudo.weights)
        return layer

    def signs(self, given, layer):
        """How the numbers of each axis become those of the layer's: a factor, or the direction of a turn."""
        out = []
        for axis, own in zip(given["space"], layer.axes):
            about = direction(axis.get("angle"))
            if about is None or own.width == 4:
                out.append(1.0 if about is None else about)
            else:
                out.append(float(numpy.sign(about["XYZ".index(own.reading)])))
        return list(zip(out, [4 if "rotation" in axis else 1 for axis in given["space"]]))

    @staticmethod
    def place(signs, point):
        out, begin = [], 0
        for sign, width in signs:
            values = point[begin:begin + width]
            begin += width
            if numpy.ndim(sign):
                half = math.radians(values[0]) / 2
                out += [*(math.sin(half) * sign), math.cos(half)]
            else:
                out += [float(value) * sign for value in values]
        return out


def direction(given):
    """Three numbers of 'x', 'y', 'z' or three numbers, or None."""
    if given is None:
        return None
    if isinstance(given, str):
        return numpy.eye(3)["xyz".index(given)]
    return numpy.array(given, dtype=float) / numpy.linalg.norm(given)


def reading(axis):
    """The reading of a project's axis, and its direction. An angle about no axis of the bone is a twist about that."""
    if "angle" in axis:
        about = direction(axis["angle"])
        part = int(numpy.abs(about).argmax())
        return ("XYZ"[part], (0, 1, 0)) if abs(about[part]) > 0.999999 else ("TWIST", about)
    if "rotation" in axis:
        about = direction(axis.get("about"))
        return READING[axis["rotation"]], (0, 1, 0) if about is None else about
    if "joint" in axis:
        raise Refused(f"The axis '{axis['name']}' reads how far a bone slides or stretches, which cannot be mirrored here")
    return "DIAL", (0, 1, 0)


class Mirroring(bpy.types.PropertyGroup):
    """What the panel's buttons are told."""
    replace: BoolProperty(name="Replace", description="An example that is at the mirrored pose already gets the new form")


def register():
    bpy.utils.register_class(Mirroring)
    bpy.utils.register_class(EXEMPLAR_OT_mirror)
    bpy.types.WindowManager.exemplar_mirror = PointerProperty(type=Mirroring)


def unregister():
    del bpy.types.WindowManager.exemplar_mirror
    bpy.utils.unregister_class(EXEMPLAR_OT_mirror)
    bpy.utils.unregister_class(Mirroring)
