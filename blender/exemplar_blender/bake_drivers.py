# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers that give the weights of examples, made of simple expressions and curves: Blender evaluates them without Python.

Numbers in between (axes, features, distances, partial sums) are custom properties of the object, each with a driver.
"""
import math

import numpy

from . import bake_fit

PREFIX = "exemplar baked "
LONGEST = 250
LETTERS = "xyzw"
NAMES = "abcdefghij"  # of the squares in one expression, which fit into it


def number(value):
    return f"{value:.7f}".rstrip("0").rstrip(".")


def driver_on(owner, path):
    """A new driver without the curve that Blender starts with, and its F-curve."""
    owner.driver_remove(path)
    curve = owner.driver_add(path)
    for modifier in list(curve.modifiers):
        curve.modifiers.remove(modifier)
    curve.driver.type = "SCRIPTED"
    return curve


def straight(curve):
    """Makes the F-curve hand on its driver's value."""
    set_points(curve, [(0.0, 0.0), (1.0, 1.0)])
    curve.extrapolation = "LINEAR"


def set_points(curve, points):
    """Straight pieces through points (x, y)."""
    while len(curve.keyframe_points):
        curve.keyframe_points.remove(curve.keyframe_points[0], fast=True)
    curve.keyframe_points.add(len(points))
    for key, point in zip(curve.keyframe_points, points):
        key.co, key.interpolation = point, "LINEAR"
        key.handle_left_type = key.handle_right_type = "VECTOR"
    curve.update()


def read_property(driver, name, thing, path):
    variable = driver.variables.new()
    variable.name, variable.type = name, "SINGLE_PROP"
    variable.targets[0].id = thing
    variable.targets[0].data_path = path
    return name


def read_turn(driver, armature, bone, letters=LETTERS):
    """Variables x y z w: the rotation of a bone in its own space, constraints included."""
    for letter in letters:
        variable = driver.variables.new()
        variable.name, variable.type = letter, "TRANSFORMS"
        target = variable.targets[0]
        target.id, target.bone_target = armature, bone
        target.transform_type, target.transform_space = "ROT_" + letter.upper(), "LOCAL_SPACE"
        target.rotation_mode = "QUATERNION"


def quoted(name):
    return '["' + name.replace("\\", "\\\\").replace('"', '\\"') + '"]'


class Writer:
    """Writes the drivers of one object. bones: names by joint of the rig."""

    def __init__(self, thing, armature, bones):
        self.thing, self.armature, self.bones = thing, armature, bones
        self.count = 0

    def helper(self):
        """A new custom property with a driver: its path, and the F-curve."""
        self.count += 1
        name = f"{PREFIX}{self.count}"
        self.thing[name] = 0.0
        path = quoted(name)
        curve = driver_on(self.thing, path)
        straight(curve)
        return path, curve

    def scalar(self, driver, axis, name="a"):
        """The expression of an axis with one number, whose variables the driver gets."""
        if axis.is_dial:
            if axis.name not in self.thing:
                self.thing[axis.name] = axis.rest
            return read_property(driver, name, self.thing, quoted(axis.name))
        letter = LETTERS[int(numpy.abs(axis.about).argmax())]
        read_turn(driver, self.armature, self.bones[axis.joint], letter + "w")
        sign = "" if sum(axis.about) > 0 else "-"
        low = (axis.min + axis.max) / 2 - 180
        angle = f"{sign}{number(360 / math.pi)}*atan2({letter},w)"
        return f"{angle}-360*floor(({angle}-({number(low)}))/360)"

    def features(self, axis, made):
        """Paths of the numbers that a formula is over: features, or the four of a quaternion."""
        if axis.width == 1:
            path, curve = self.helper()
            text = self.scalar(curve.driver, axis)
            low, high = made.low * made.scale, made.high * made.scale
            curve.driver.expression = text
            set_points(curve, [(made.low, low), (made.high, high)])
            curve.extrapolation = "CONSTANT"
            return [path]
        bone = self.bones[axis.joint]
        if made.kind == "rotation":
            out = []
            for letter in LETTERS:
                path, curve = self.helper()
                read_turn(curve.driver, self.armature, bone, letter)
                curve.driver.expression = letter
                out.append(path)
            return out
        a, b, c = (number(each) for each in made.about)
        if made.kind == "swing":
            texts = [f"{a}*(w*w+x*x-y*y-z*z)+2*{b}*(x*y-w*z)+2*{c}*(x*z+w*y)",
                     f"2*{a}*(x*y+w*z)+{b}*(w*w-x*x+y*y-z*z)+2*{c}*(y*z-w*x)",
                     f"2*{a}*(x*z-w*y)+2*{b}*(y*z+w*x)+{c}*(w*w-x*x-y*y+z*z)"]
        else:
            angle = f"2*atan2({a}*x+{b}*y+{c}*z,w)"
            texts = [f"cos({angle})", f"sin({angle})"]
        out = []
        for text in texts:
            path, curve = self.helper()
            read_turn(curve.driver, self.armature, bone)
            curve.driver.expression = text
            out.append(path)
        return out

    def product(self, paths, i, j, factor):
        """A feature of a whole rotation: a product of two of its numbers."""
        path, curve = self.helper()
        a, b = (read_property(curve.driver, name, self.thing, each) for name, each in (("a", paths[i]), ("b", paths[j])))
        curve.driver.expression = f"{number(factor)}*{a}*{b}"
        return path

    def distance(self, paths, centre, kernel):
        """The kernel of the squared distance from a centre, as a property. Long sums of squares are made in parts."""
        most = len(NAMES)
        parts = [(paths[i:i + most], centre[i:i + most]) for i in range(0, len(paths), most)]
        sums = []
        for some, values in parts[:-1]:
            path, curve = self.helper()
            curve.driver.expression = self._squares(curve.driver, some, values)
            sums.append(path)
        path, curve = self.helper()
        text = self._squares(curve.driver, *parts[-1])
        for i, each in enumerate(sums):
            text += "+" + read_property(curve.driver, f"s{i}", self.thing, each)
        curve.driver.expression = kernel.format(text)
        return path

    def _squares(self, driver, paths, centre):
        words = []
        for i, (path, value) in enumerate(zip(paths, centre)):
            words.append(f"pow({read_property(driver, NAMES[i], self.thing, path)}-({number(value)}),2)")
        return "+".join(words)

    def sum(self, curve, terms, constant):
        """Makes a driver the sum of terms [(factor, path)] and a constant; what is too long for it goes into helpers."""
        terms = [(factor, path) for factor, path in terms if abs(factor) > 1e-7]
        while True:
            words, used = [number(constant)], 0
            for factor, path in terms:
                word = f"{factor:+.7f}*v{used}"
                if len("".join(words)) + len(word) > LONGEST or used == 16:
                    break
                words.append(word)
                used += 1
            if used == len(terms):
                break
            path, part = self.helper()
            for i, (_, each) in enumerate(terms[:used]):
                read_property(part.driver, f"v{i}", self.thing, each)
            part.driver.expression = "".join(words)
            terms, constant = [(1.0, path), *terms[used:]], 0.0
        for i, (_, each) in enumerate(terms):
            read_property(curve.driver, f"v{i}", self.thing, each)
        curve.driver.expression = "".join(words)
        straight(curve)

    def layer(self, rig, layer, keys):
        """Gives the keys of a layer's examples their drivers."""
        axes, weigher = [rig.axes[name] for name in layer.axes], rig.weigher(layer)
        curves = [driver_on(key, "value") for key in keys]
        if layer.kind == "direct":
            for curve, axis in zip(curves, axes):
                curve.driver.expression = self.scalar(curve.driver, axis)
                straight(curve)
        elif len(axes) == 1 and axes[0].width == 1:
            self.curves(curves, axes[0], weigher)
        elif len(axes) == 2 and all(axis.width == 1 for axis in axes):
            self.products(curves, axes, bake_fit.Products(weigher, axes))
        else:
            self.fitted(curves, axes, weigher)

    def curves(self, curves, axis, weigher):
        if axis.is_dial:
            span = axis.max - axis.min
            low, high = axis.min - span, axis.max + span
        else:
            low, high = (axis.min + axis.max) / 2 - 180, (axis.min + axis.max) / 2 + 180 - 1e-3
        known = bake_fit.known_places(weigher)[:, 0]
        at = numpy.unique(numpy.concatenate([numpy.linspace(low, high, 4097), known]))
        values = weigher.weights(at)
        for curve, row in zip(curves, values.T):
            curve.driver.expression = self.scalar(curve.driver, axis)
            set_points(curve, [(at[i], row[i]) for i in bake_fit.pieces(at, row, known)])
            curve.extrapolation = "LINEAR" if axis.is_dial else "CONSTANT"

    def products(self, curves, axes, found):
        """Sums of products of curves over two numbers."""
        first = [self.along(axes[0], found.at[0], row, found.known[0]) for row in found.first]
        for k, curve in enumerate(curves):
            words = []
            for r, path in enumerate(first):
                second = self.along(axes[1], found.at[1], found.second[r, k], found.known[1])
                a, b = (read_property(curve.driver, f"{letter}{r}", self.thing, each)
                        for letter, each in (("a", path), ("b", second)))
                words.append(f"{a}*{b}")
            curve.driver.expression = "+".join(words)
            straight(curve)

    def along(self, axis, at, values, known):
        """A property that is a curve over an axis. known: places of the examples."""
        path, curve = self.helper()
        curve.driver.expression = self.scalar(curve.driver, axis)
        set_points(curve, [(at[i], values[i]) for i in bake_fit.pieces(at, values, known, bake_fit.TOLERANCE / 4)])
        curve.extrapolation = "CONSTANT"
        return path

    def fitted(self, curves, axes, weigher):
        fit = bake_fit.Fit(weigher, axes)
        paths = []
        for axis, made in zip(axes, fit.axes):
            found = self.features(axis, made)
            if made.width == 4 and made.kind == "rotation":
                upper = numpy.triu_indices(4)
                found = [self.product(found, i, j, 1 if i == j else math.sqrt(2)) for i, j in zip(*upper)]
            paths += found
        paths += [self.distance(paths, centre, fit.kernel[1]) for centre in fit.centres]
        for curve, column in zip(curves, fit.table.T):
            self.sum(curve, list(zip(column[1:], paths)), column[0])
