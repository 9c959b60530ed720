# SPDX-License-Identifier: GPL-3.0-or-later
"""Correctives that a rig has already: shape keys that drivers move with a bone's angle become examples.

The driver's value is read as it is: the expression, and the F-curve or generator that follows. The place of the example is
the angle nearest to rest at which the value reaches 1. The key's form is that before the armature, as an example's is.
"""
import ast
import math

import bpy
import numpy

from . import live, loop, places
from .data import LIVE, touch
from .errors import Action, Refused
from .loop import subject

TURNS = {"ROT_X": "X", "ROT_Y": "Y", "ROT_Z": "Z"}
CALLS = {name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "log",
                                                "pow", "fabs", "floor", "ceil", "degrees", "radians")}
CALLS.update(abs=abs, min=min, max=max, round=round, clamp=lambda x, a=0.0, b=1.0: min(max(x, a), b), pi=math.pi,
             lerp=lambda a, b, t: a + (b - a) * t)
PLAIN = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Call, ast.Name, ast.Load, ast.Constant, ast.IfExp, ast.Compare,
         ast.BoolOp, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


class Unread(Exception):
    """The reason why a driver cannot be read."""


def expression(text):
    """A function of {variable: value} for a simple expression."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise Unread("its expression has a mistake") from None
    for node in ast.walk(tree):
        if not isinstance(node, PLAIN) or isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and
                                                                              node.func.id in CALLS):
            raise Unread("its expression is not simple arithmetic")
        if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float)):
            raise Unread("its expression is not simple arithmetic")
    code = compile(tree, "driver", "eval")
    return lambda values: float(eval(code, {"__builtins__": {}}, {**CALLS, **values}))


def curve_value(curve, x):
    """The value of a driver's F-curve: its keys, or its generator, or the driver's own."""
    if len(curve.keyframe_points) or any(not modifier.mute for modifier in curve.modifiers):
        return curve.evaluate(x)
    return x


def variable_of(driver, armature):
    """(bone, reading, is half: True for a component of a quaternion) of a driver with one variable."""
    if len(driver.variables) != 1:
        raise Unread(f"its driver has {len(driver.variables)} variables")
    variable = driver.variables[0]
    target = variable.targets[0]
    if variable.type == "ROTATION_DIFF":
        raise Unread("it follows a rotational difference of two bones, which is no axis of one bone")
    if target.id != armature:
        raise Unread("it follows something other than a bone of the armature")
    if variable.type == "TRANSFORMS":
        bone, kind = target.bone_target, target.transform_type
        if target.transform_space not in ("LOCAL_SPACE", "TRANSFORM_SPACE"):
            raise Unread("it reads the bone in world space: set it to local space")
        if kind not in TURNS:
            raise Unread("it follows something other than a bone's rotation")
        if bone not in armature.pose.bones:
            raise Unread("its bone is not in the armature")
        mode = target.rotation_mode
        if mode in ("AUTO", "QUATERNION") and (mode == "QUATERNION" or
                                               armature.pose.bones[bone].rotation_mode == "QUATERNION"):
            return bone, TURNS[kind], mode == "QUATERNION"
        return bone, TURNS[kind], False
    if variable.type == "SINGLE_PROP":
        return from_path(target.data_path, armature)
    raise Unread("it follows something other than a bone's rotation")


def from_path(path, armature):
    """The same of a data path such as pose.bones["forearm"].rotation_euler[0]."""
    for bone in armature.pose.bones:
        start = bone.path_from_id() + "."
        if path.startswith(start):
            word, _, number = path[len(start):].partition("[")
            number = int(number.rstrip("]")) if number.rstrip("]").isdigit() else -1
            if word == "rotation_euler" and 0 <= number < 3:
                return bone.name, "XYZ"[number], False
            if word == "rotation_quaternion" and 1 <= number < 4:
                return bone.name, "XYZ"[number - 1], True
    raise Unread("it follows something other than a bone's rotation")


def value_at(curve, function, name, is_half, degrees):
    angle = math.radians(degrees)
    try:
        return curve_value(curve, function({name: math.sin(angle / 2) if is_half else angle}))
    except (ArithmeticError, ValueError, TypeError, NameError):
        raise Unread("its expression cannot be computed") from None


def place_of(curve, armature):
    """(bone, reading, degrees) where a driver's value reaches 1."""
    driver = curve.driver
    bone, reading, is_half = variable_of(driver, armature)
    name = driver.variables[0].name
    function = expression(driver.expression) if driver.type == "SCRIPTED" else lambda values: values[name]
    def values(degrees):
        return numpy.array([value_at(curve, function, name, is_half, each) for each in degrees])

    degrees = numpy.linspace(-180, 180, 1441)
    coarse = values(degrees)
    if abs(coarse[720]) > 0.01:
        raise Unread(f"its value is {coarse[720]:.2g} at rest, not 0")
    return bone, reading, reaches(degrees, coarse, values)


def reaches(degrees, coarse, values):
    """The angle nearest to rest at which a function's value reaches 1. coarse: its values at degrees."""
    high = numpy.flatnonzero(coarse >= 1)
    best = high[numpy.abs(degrees[high]).argmin()] if len(high) else coarse.argmax()
    fine = numpy.linspace(degrees[best] - 0.25, degrees[best] + 0.25, 2001)  # around that sample
    near = values(fine)
    if near.max() < 0.999:
        raise Unread(f"its value never reaches 1, only {near.max():.2g}")
    high = numpy.flatnonzero(near >= min(1.0, near.max()))
    return float(fine[high[numpy.abs(fine[high]).argmin()]])


def found(thing, armature):
    """[(key, F-curve)] of the shape keys with a driver that are no examples."""
    keys = thing.data.shape_keys
    own = {example.name for layer in thing.data.exemplar.layers for example in layer.examples} | {LIVE}
    curves = {curve.data_path: curve for curve in keys.animation_data.drivers} if keys and keys.animation_data else {}
    return [(key, curves[key.path_from_id("value")]) for key in (keys.key_blocks if keys else [])
            if key.name not in own and key.path_from_id("value") in curves]


def read(thing, armature):
    """Makes examples of correctives. Returns the names of those that were read, and sentences about the others."""
    mesh, rig, names, unread = thing.data, thing.data.exemplar, [], []
    for key, curve in found(thing, armature):
        try:
            if key.relative_key != mesh.shape_keys.reference_key or key.vertex_group:
                raise Unread("it is relative to another key, or has a vertex group")
            bone, reading, degrees = place_of(curve, armature)
        except Unread as reason:
            unread.append(f"'{key.name}' stays a slider: {reason}")
            continue
        layer = loop.layer_for(rig, [(bone, reading)]) or loop.add_layer(rig, [(bone, reading)])
        if loop.at_place(layer, [degrees]):
            unread.append(f"'{key.name}' stays a slider: '{loop.at_place(layer, [degrees]).name}' is at the same angle")
            continue
        example = layer.examples.add()
        example.name = key.name
        example.place([degrees])
        key.driver_remove("value")
        key.value, key.slider_min, key.slider_max = 0.0, min(key.slider_min, -1.0), max(key.slider_max, 2.0)
        names.append(f"'{key.name}' at {places.axis_name(bone, reading)} {degrees:.0f}°")
    if names:
        touch(mesh)
        live.forget(mesh)
    return names, unread


def told(names, unread):
    """A sentence about what was read."""
    said = [f"Read {', '.join(names)}"] if names else []
    return ". ".join(said + unread)


class EXEMPLAR_OT_read_correctives(Action):
    """Make examples of shape keys that drivers move with the angle of a bone. The drivers are removed"""
    bl_idname = "exemplar.read_correctives"
    bl_label = "Read Correctives"

    def act(self, context):
        thing, rig, armature = subject(context)
        if rig.baked:
            raise Refused("The rig is baked: remove the baked drivers first")
        names, unread = read(thing, armature)
        if not names:
            raise Refused(told(names, unread) or f"No shape key of '{thing.name}' has a driver")
        context.view_layer.update()
        return told(names, unread)


def register():
    bpy.utils.register_class(EXEMPLAR_OT_read_correctives)


def unregister():
    bpy.utils.unregister_class(EXEMPLAR_OT_read_correctives)
