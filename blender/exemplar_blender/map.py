# SPDX-License-Identifier: GPL-3.0-or-later
"""A map of the active layer's space in the corner of the viewport, with a cross where the present pose is.

One axis: the curves of all weights, with the examples as dots. More: two of the numbers of a place, the examples as dots as
large as their weights, pseudo-examples as rings. A rotation has three numbers, its rotation vector in degrees.
"""
import math

import blf
import bpy
import gpu
import numpy
from bpy.props import BoolProperty, EnumProperty, PointerProperty
from gpu_extras.batch import batch_for_shader

from . import compat, live, panel
from .errors import Refused
from .examples import present
from .rigs import columns

SIZE, LEAST, GAP, TEXT = 230, 90, 12, 11  # pixels at UI scale 1
BUTTONS = 48, 280  # width and height of Blender's own buttons in the upper right corner
COLOURS = [(0.33, 0.66, 1.0), (1.0, 0.62, 0.25), (0.45, 0.85, 0.45), (0.95, 0.45, 0.55), (0.75, 0.6, 1.0), (0.9, 0.85, 0.35)]
GROUND, FRAME, INK = (0.09, 0.09, 0.09, 0.82), (0.45, 0.45, 0.45, 1), (0.9, 0.9, 0.9, 1)
_handler = None
_items = []  # Blender does not keep the words of a list that a function gives
_curves = {}  # (revision, layer) -> (places, weights) of the strip


def axis_items(self, context):
    """Numbers of a place that can be shown."""
    thing, _ = panel.subject(context)
    layer = thing.data.exemplar.layer if thing else None
    _items[:] = [("AUTO", "Automatic", "The two in which the examples differ")]
    _items.extend((str(i), name, "Show this on the map") for i, name in enumerate(names(layer) if layer else []))
    return _items


class Map(bpy.types.PropertyGroup):
    shown: BoolProperty(name="Map", description="Show where the examples of the active layer are, in the corner of the view",
                        default=True, update=lambda self, context: live.redraw())
    across: EnumProperty(name="Across", items=axis_items, update=lambda self, context: live.redraw())
    up: EnumProperty(name="Up", items=axis_items, update=lambda self, context: live.redraw())


def names(layer):
    """A name for each number that `spread` gives."""
    return [name for axis in layer.axes for name in
            ([axis.name] if axis.width == 1 else [f"{axis.name} {letter}" for letter in "xyz"])]


def spread(layer, place):
    """A place as numbers to draw: rotations as rotation vectors in degrees."""
    out = []
    for axis, begin in zip(layer.axes, columns(layer)):
        values = numpy.array(place[begin:begin + axis.width], dtype=float)
        if axis.width == 4:
            part, w = (values[:3], values[3]) if values[3] >= 0 else (-values[:3], -values[3])
            length = numpy.linalg.norm(part)
            values = part * (math.degrees(2 * math.atan2(length, w)) / length if length > 1e-9 else 0)
        out += values.tolist()
    return out


def chosen(layer, points, drawn):
    """The two numbers to show, or one if there is only one."""
    count = points.shape[1]
    if count == 1:
        return [0]
    order = list(range(count))
    if any(axis.width == 4 for axis in layer.axes):
        order.sort(key=lambda i: -numpy.ptp(points[:, i]))
    first = int(drawn.across) if drawn.across not in ("AUTO", "") and int(drawn.across) < count else None
    second = int(drawn.up) if drawn.up not in ("AUTO", "") and int(drawn.up) < count else None
    if first is None:
        first = next(i for i in order if i != second)
    if second is None or second == first:
        second = next(i for i in order if i != first)
    return [first, second]


class Sheet:
    """A rectangle of the view to draw on, in pixels, and what is drawn there so far."""

    def __init__(self, left, bottom, width, height, scale):
        self.left, self.bottom, self.width, self.height, self.scale = left, bottom, width, height, scale
        self.taken = []
        self.shader = compat.shader("UNIFORM_COLOR")

    def draw(self, kind, points, colour):
        self.shader.bind()
        self.shader.uniform_float("color", colour)
        batch_for_shader(self.shader, kind, {"pos": [tuple(map(float, point)) for point in points]}).draw(self.shader)

    def ground(self):
        a, b, c, d = self.left, self.bottom, self.left + self.width, self.bottom + self.height
        self.draw("TRIS", [(a, b), (c, b), (c, d), (a, b), (c, d), (a, d)], GROUND)
        self.draw("LINE_STRIP", [(a, b), (c, b), (c, d), (a, d), (a, b)], FRAME)

    def circle(self, place, radius):
        turns = numpy.linspace(0, 2 * math.pi, 25)
        return [(place[0] + radius * math.cos(a), place[1] + radius * math.sin(a)) for a in turns]

    def dot(self, place, radius, colour):
        edge = self.circle(place, radius)
        self.draw("TRIS", [point for a, b in zip(edge, edge[1:]) for point in (place, a, b)], colour)
        self.taken.append((place[0] - radius, place[1] - radius, place[0] + radius, place[1] + radius))

    def ring(self, place, radius, colour):
        self.draw("LINE_STRIP", self.circle(place, radius), colour)
        self.taken.append((place[0] - radius, place[1] - radius, place[0] + radius, place[1] + radius))

    def cross(self, place):
        arm = 7 * self.scale
        for colour, width in (((0, 0, 0, 1), 4), ((1, 1, 1, 1), 1.5)):
            gpu.state.line_width_set(width * self.scale)
            self.draw("LINES", [(place[0] - arm, place[1]), (place[0] + arm, place[1]),
                                (place[0], place[1] - arm), (place[0], place[1] + arm)], colour)
        gpu.state.line_width_set(1)

    def write(self, text, place, colour=INK):
        blf.position(0, round(place[0]), round(place[1]), 0)
        blf.color(0, *colour)
        blf.draw(0, text)

    def label(self, text, place, radius, colour):
        """Writes beside a dot, where nothing else is and inside the sheet; not at all if there is no room."""
        margin = 3 * self.scale
        width, height = blf.dimensions(0, text)
        while len(text) > 4 and width > self.width - 4 * margin:
            text = text[:-2] + "…" if not text.endswith("…") else text[:-3] + "…"
            width, height = blf.dimensions(0, text)
        high, gap = TEXT * self.scale, radius + margin
        x, y = place
        for left, bottom in ((x + gap, y - high / 3), (x - gap - width, y - high / 3), (x - width / 2, y + gap),
                             (x - width / 2, y - gap - high), (x - gap, y + gap), (x - width + gap, y + gap),
                             (x - gap, y - gap - high), (x - width + gap, y - gap - high)):
            box = (left, bottom - margin / 2, left + width, bottom + high)
            inside = box[0] > self.left + margin and box[2] < self.left + self.width - margin and \
                box[1] > self.bottom + margin and box[3] < self.bottom + self.height - margin
            if inside and not any(box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]
                                  for other in self.taken):
                self.taken.append(box)
                self.write(text, (left, bottom), colour)
                return


def room(context):
    """(left, bottom, width, height) of the map in the view's region, or None if there is no room for it."""
    area, region, scale = context.area, context.region, context.preferences.system.ui_scale
    right = bottom = 0
    if context.preferences.system.use_region_overlap:
        for other in area.regions:
            if other.type == "UI" and other.width > 1:
                right = other.width
            elif other.type in ("FOOTER", "ASSET_SHELF", "ASSET_SHELF_HEADER") and other.height > 1:
                bottom += other.height
    size = min(SIZE * scale, 0.45 * (region.width - right), 0.45 * (region.height - bottom))
    if size < LEAST * scale:
        return None
    gap = GAP * scale
    if context.space_data.show_gizmo and bottom + gap + size > region.height - BUTTONS[1] * scale:
        right += BUTTONS[0] * scale
    return region.width - right - size - gap, bottom + gap, size, size


def on_draw():
    context = bpy.context
    if not context.window_manager.exemplar_map.shown or not context.space_data.overlay.show_overlays:
        return
    thing, armature = panel.subject(context)
    if thing is None or armature is None or not thing.data.exemplar.made:
        return
    layer, place = thing.data.exemplar.layer, room(context)
    if layer is None or place is None or layer.kind == "direct" or \
            any(len(each.at) != layer.width for each in layer.examples):
        return
    rig, weights = live.weights(thing, armature, context.view_layer.depsgraph)
    if rig is None or rig.rig is None or layer.name not in rig.rig.layers:
        return
    try:
        here = present(context.view_layer.depsgraph, thing, armature, layer)
    except Refused:
        return
    scale = context.preferences.system.ui_scale
    compat.text_size(TEXT * scale)
    gpu.state.blend_set("ALPHA")
    sheet = Sheet(*place, scale)
    sheet.ground()
    draw_map(sheet, layer, rig, weights.get(layer.name, {}), here, context.window_manager.exemplar_map)
    gpu.state.blend_set("NONE")


def draw_map(sheet, layer, rig, weights, here, drawn):
    points = numpy.array([spread(layer, each.numbers) for each in layer.examples])
    pseudos = [spread(layer, [number.value for number in each.at]) for each in layer.pseudos]
    known = numpy.array([*points, *pseudos, spread(layer, layer.rest)])
    shown = chosen(layer, known, drawn)
    low, high = known.min(0)[shown], known.max(0)[shown]
    low, high = low - 0.12 * numpy.maximum(high - low, 1e-3), high + 0.12 * numpy.maximum(high - low, 1e-3)
    pad, text = 8 * sheet.scale, (TEXT + 5) * sheet.scale
    inner = numpy.array([sheet.left + pad, sheet.bottom + text + pad])
    room_ = numpy.array([sheet.width - 2 * pad, sheet.height - 2 * text - 2 * pad])
    now = numpy.clip((numpy.array(spread(layer, here))[shown] - low) / (high - low), 0, 1)
    words = names(layer)
    sheet.write(fitting(words[shown[0]], sheet.width - 2 * pad), (sheet.left + pad, sheet.bottom + pad / 2 + 2))
    if len(shown) == 1:
        draw_strip(sheet, layer, rig, points[:, 0], weights, (low[0], high[0]), inner, room_, now[0])
        return
    sheet.write(fitting(words[shown[1]], sheet.width - 2 * pad), (sheet.left + pad, sheet.bottom + sheet.height - text))
    for spot in pseudos:
        sheet.ring(inner + (numpy.array(spot)[shown] - low) / (high - low) * room_, 5 * sheet.scale, INK)
    places = []
    for i, (example, point) in enumerate(zip(layer.examples, points)):
        weight = min(1.0, max(0.0, weights.get(example.name, 0.0)))
        at, radius = inner + (point[shown] - low) / (high - low) * room_, (3 + 6 * weight) * sheet.scale
        sheet.dot(at, radius, colour_of(i, example.name in weights))
        places.append((weight, example.name, at, radius, i))
    sheet.cross(inner + now * room_)
    for weight, name, at, radius, i in sorted(places, key=lambda each: -each[0]):
        sheet.label(name, at, radius, INK)


def fitting(text, width):
    """As much of a text as fits."""
    while len(text) > 2 and blf.dimensions(0, text)[0] > width:
        text = text[:-2] + "…"
    return text


def colour_of(number, counts):
    return (*COLOURS[number % len(COLOURS)], 1.0 if counts else 0.35)


def draw_strip(sheet, layer, rig, values, weights, ends, inner, room_, now):
    """Weights over one axis."""
    place = (layer.id_data.exemplar.revision, layer.name)
    if place not in _curves:
        _curves.clear()
        spots = numpy.linspace(*ends, 97)
        _curves[place] = rig.rig.weigher(layer.name).weights(spots[:, None])
    curves, counted = _curves[place], list(rig.rig.layers[layer.name].examples)
    low, high = min(0.0, float(curves.min())), max(1.0, float(curves.max()))
    low, high = low - 0.05 * (high - low), high + 0.12 * (high - low)

    def at(share, weight):
        return inner + numpy.array([share, (weight - low) / (high - low)]) * room_

    for weight in (0, 1):
        sheet.draw("LINES", [at(0, weight), at(1, weight)], (*FRAME[:3], 0.5))
    gpu.state.line_width_set(2 * sheet.scale)
    for i, example in enumerate(layer.examples):
        if example.name in counted:
            curve = curves[:, counted.index(example.name)]
            sheet.draw("LINE_STRIP", [at(k / 96, weight) for k, weight in enumerate(curve)], colour_of(i, True))
    gpu.state.line_width_set(1)
    sheet.draw("LINES", [at(now, low), at(now, high)], (1, 1, 1, 0.9))
    dots = []
    for i, (example, value) in enumerate(zip(layer.examples, values)):
        spot = at((value - ends[0]) / (ends[1] - ends[0]), 1)
        sheet.dot(spot, 4 * sheet.scale, colour_of(i, example.name in counted))
        dots.append((example.name, spot))
    for pseudo in layer.pseudos:
        share = (pseudo.at[0].value - ends[0]) / (ends[1] - ends[0])
        sheet.ring(at(share, 0), 4 * sheet.scale, INK)
    for name, weight in weights.items():
        sheet.ring(at(now, min(high, max(low, weight))), 3 * sheet.scale, INK)
    for name, spot in dots:
        sheet.label(name, spot, 4 * sheet.scale, INK)


def register():
    global _handler
    bpy.utils.register_class(Map)
    bpy.types.WindowManager.exemplar_map = PointerProperty(type=Map)
    if not bpy.app.background:
        _handler = bpy.types.SpaceView3D.draw_handler_add(on_draw, (), "WINDOW", "POST_PIXEL")


def unregister():
    global _handler
    if _handler:
        bpy.types.SpaceView3D.draw_handler_remove(_handler, "WINDOW")
        _handler = None
    del bpy.types.WindowManager.exemplar_map
    bpy.utils.unregister_class(Map)
