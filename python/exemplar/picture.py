"""Pictures as arrays: renders, sheets and plots, computed without a display. Image files.

>>> exemplar.write_png("bent.png", exemplar.render(rig, {"elbow": 70}, size=(640, 480)))
"""
from __future__ import annotations

import ctypes
import os
from typing import Any, Callable, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from . import _abi, _focus, _given
from ._arrays import address, copied, take
from ._forms import is_scene, mesh_of
from ._library import Handle, author, check_misuse, checked, runtime, text_of
from ._posed import Posed
from ._work import Progress, tasks
from .errors import FormatError
from .rig import LIMIT, Rig, load

BACKGROUNDS = ("quiet", "white", "grey", "transparent")
Tell = Optional[Callable[[str, float], Any]]
Words = Union[None, str, Sequence[str]]


# ---- image files ----

def _image(values, name):
    """An ex_image over a packed array, and that array. (H, W) is grey, (H, W, 3) is opaque; real numbers are 0 to 1."""
    given = numpy.asarray(values) if not isinstance(values, numpy.ndarray) else values
    if given.dtype.kind not in "uif" and given.dtype != numpy.bool_:
        raise TypeError(f"{name}: an array of {given.dtype} is no image")
    if given.ndim == 2:
        given = numpy.repeat(given[..., None], 3, axis=2)
    if given.ndim != 3 or given.shape[2] not in (3, 4):
        raise ValueError(f"{name} must be (H, W), (H, W, 3) or (H, W, 4); this is {given.shape}")
    if not (1 <= given.shape[0] <= _abi.EX_IMAGE_MAX and 1 <= given.shape[1] <= _abi.EX_IMAGE_MAX) or \
            given.shape[0] * given.shape[1] > _abi.EX_IMAGE_PIXELS:
        raise ValueError(f"{name} is {given.shape[1]} by {given.shape[0]} pixels; each side is 1 to "
                         f"{_abi.EX_IMAGE_MAX}")
    if given.dtype.kind == "f":
        if not numpy.all((given >= 0) & (given <= 1)):
            raise ValueError(f"{name}: real numbers must be from 0 to 1")
        given = numpy.round(given * 255)
    elif given.dtype == numpy.bool_:
        given = given * 255
    if given.shape[2] == 3:
        given = numpy.concatenate([given, numpy.full((*given.shape[:2], 1), 255, dtype=given.dtype if
                                                     given.dtype.kind != "i" else numpy.int64)], axis=2)
    pixels = take(given, "u1", (None, None, 4), name)
    return _abi.ex_image(width=pixels.shape[1], height=pixels.shape[0], pixels=address(pixels)), pixels


def _taken(call, *arguments):
    """The array of the ex_image that a function of the library makes."""
    with _given.owned(lambda made: author.ex_image_destroy(_image_of(made))) as made:
        checked(call, *arguments, ctypes.byref(made))
        return _array(_image_of(made).contents)


def _image_of(pointer):
    return ctypes.cast(pointer, ctypes.POINTER(_abi.ex_image))


class Picture(numpy.ndarray):
    """An image (H, W, 4) of bytes, red green blue alpha in sRGB, rows from the top. A notebook shows it."""
    __array_priority__ = 1  # numpy.hstack of pictures is a picture

    def save(self, path) -> None:
        """Writes a PNG file."""
        write_png(path, self)

    def __repr__(self):
        if self.dtype != numpy.uint8 or self.ndim != 3:
            return repr(self.view(numpy.ndarray))  # a part of one
        return f"<exemplar.Picture {self.shape[1]} x {self.shape[0]}>"

    def __array_wrap__(self, made, context=None, scalar=False):
        return super().__array_wrap__(made, context) if made.ndim else made[()]

    def _repr_png_(self):
        if self.dtype != numpy.uint8 or self.ndim not in (2, 3) or not self.size:
            return None  # a part of one
        return png_bytes(self)


def _array(image):
    return copied(image.pixels, "u1", (image.height, image.width, 4)).view(Picture)


def read_image(source) -> Picture:
    """A PNG or JPEG file as (H, W, 4) bytes: red green blue alpha in sRGB, rows from the top. source: a path, or the
    bytes of a file as bytes, bytearray or memoryview."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        memory = numpy.frombuffer(bytes(source), dtype=numpy.uint8)
        data = memory.copy() if len(memory) else numpy.zeros(1, dtype=numpy.uint8)
        return _taken(author.ex_image_parse, address(data), len(memory), b"the image")
    return _taken(author.ex_image_read, _given.file(source, "source"))


def write_png(path, image) -> None:
    """Writes an image (H, W, 4), (H, W, 3) or (H, W) as a PNG file: bytes, or real numbers from 0 to 1."""
    name = _given.file(path)
    if not name.lower().endswith(b".png"):
        raise ValueError(f"'{os.fsdecode(name)}' does not end in .png, the only kind that can be written here")
    held, _pixels = _image(image, "image")
    checked(author.ex_image_write, name, ctypes.byref(held))


def png_bytes(image) -> bytes:
    """The bytes of a PNG file of an image."""
    held, _pixels = _image(image, "image")
    size = ctypes.c_size_t()
    with _given.owned(_given.free) as made:
        checked(author.ex_image_encode, ctypes.byref(held), ctypes.byref(made), ctypes.byref(size))
        return copied(made, "u1", (size.value,)).tobytes()


# ---- what is drawn ----

class _Subject:
    """A form, or a rig at a pose, as an item of a picture. `mesh` points to its ex_mesh."""

    def __init__(self, source, name, hooks, pose=None, level=None, mute=None, up="y", example=None):
        self.rig, self.level, self.looks, self.values, self.texture = None, 0, None, None, None
        self.label, self.unit, self.whole, self.notes, self._kept = "", None, False, [], []
        if isinstance(source, Rig):
            self.rig = source
        elif _given.is_path(source) and is_scene(source):
            try:
                self.rig = load(os.fsdecode(_given.file(source, name)))
            except FormatError as error:
                if error.code != _abi.EX_ERROR_FORMAT:
                    raise
        if self.rig is not None:
            self._open_rig(hooks, pose, level, mute, example)
            return
        for option, value in (("pose", pose), ("level", level), ("muted", mute)):
            if value is not None:
                raise ValueError(f"{name} is a form, not a rig: {option} goes with rigs")
        if not _given.is_path(source):
            self._kept.append(mesh_of(source, name)._to_c())
            self.mesh = self._kept[-1].pointer
        elif is_scene(source):
            self._open_scene(_given.file(source, name))
        else:
            self._own(author.ex_mesh_read, _given.file(source, name))
        if up == "z":
            self._turn_up()

    def _own(self, call, *arguments):
        made = ctypes.POINTER(_abi.ex_mesh)()
        checked(call, *arguments, ctypes.byref(made))
        self._kept.append(Handle(made, author.ex_mesh_destroy))
        self.mesh = made

    def _own_looks(self, call, *arguments):
        made = ctypes.POINTER(_abi.ex_looks)()
        checked(call, *arguments, ctypes.byref(made))
        if made:
            self._kept.append(Handle(made, author.ex_looks_destroy))
            self.looks = made
            self.notes = _given.texts(made.contents.notes, made.contents.note_count)

    def _open_scene(self, path):
        made = ctypes.POINTER(_abi.ex_scene)()
        checked(author.ex_scene_read, path, ctypes.byref(made))
        scene = Handle(made, author.ex_scene_destroy)
        self._own(author.ex_scene_to_standing, scene.pointer)
        if not scene.pointer.contents.material_count:
            return
        self._own_looks(author.ex_looks_from_scene, scene.pointer)

    def _turn_up(self):
        mesh = self.mesh.contents
        for at, count in ((mesh.positions, mesh.vertex_count), (mesh.normals, mesh.normal_count)):
            if at and count:
                memory = (ctypes.c_double * (3 * count)).from_address(at)
                triples = numpy.frombuffer(memory, dtype="f8").reshape(-1, 3)
                y = triples[:, 1].copy()
                triples[:, 1] = triples[:, 2]
                triples[:, 2] = -y

    def _open_rig(self, hooks, pose, level, mute, example):
        rig, pointer = self.rig, self.rig._handle.pointer
        self.level, self.count = _level(rig, level)
        self.pose = Posed(rig, pose)
        if example is not None and pose is None:
            self._pose_example(*_focus.find_example(rig, example))
        muted = _muted(rig, mute)
        self.positions = numpy.empty((self.count, 3), dtype=numpy.float32)
        normals = None
        if runtime.ex_rig_get_mesh(pointer).face_count > 0:
            normals = numpy.empty((self.count, 3), dtype=numpy.float32)
        found = [runtime.ex_rig_texture(pointer, i) for i in range(runtime.ex_rig_texture_count(pointer))]
        pixels = [numpy.empty((t.height, t.width, 4), dtype=numpy.uint8) for t in found]
        self._evaluate(self.pose.pointer, self.positions, normals, pixels, muted, hooks)
        surface = _abi.ex_surface(level=self.level, positions=address(self.positions),
                                  normals=address(normals) if normals is not None else None)
        self._own(author.ex_rig_to_sharp_mesh, pointer, ctypes.byref(surface))
        self._own_looks(author.ex_looks_from_rig, pointer)
        for texture, picture in zip(found, pixels):
            image = _abi.ex_image(width=texture.width, height=texture.height, pixels=address(picture))
            self._kept += [image, picture]
            if texture.name == b"base_color":
                self.texture = image
            if self.looks:
                author.ex_looks_paint(self.looks, texture.name, ctypes.byref(image))

    def _evaluate(self, pose, positions, normals, pixels, muted, hooks):
        textures = (ctypes.c_void_p * max(len(pixels), 1))(*(address(picture) for picture in pixels))
        output = _abi.ex_output(positions=address(positions), textures=ctypes.addressof(textures) if pixels else None)
        if normals is not None:
            output.normals = address(normals)
        how = _abi.ex_evaluation(level=self.level, tasks=hooks, muted=ctypes.addressof(muted) if muted is not None
                                 else None)
        pointer = self.rig._handle.pointer
        scratch = ctypes.create_string_buffer(runtime.ex_rig_scratch_size(pointer, ctypes.byref(how), 1) + 16)
        runtime.ex_rig_evaluate(pointer, pose, ctypes.byref(output), ctypes.byref(how), scratch)
        check_misuse()

    def _pose_example(self, layer, example):
        """The pose of an example."""
        rig, pose = self.rig._handle.pointer, self.pose
        weigher = runtime.ex_rig_weigher(rig, layer)
        point, count = runtime.ex_weigher_point(weigher, example), runtime.ex_weigher_axis_count(weigher)
        if not point and example < count:
            one = ctypes.c_double(1)
            runtime.ex_rig_set_input(rig, runtime.ex_rig_layer_input(rig, layer, example), ctypes.addressof(one),
                                     pose.pointer)
        for a in range(count) if point else []:
            index = runtime.ex_rig_layer_input(rig, layer, a)
            axis = runtime.ex_rig_input_axis(rig, index)
            if axis.kind != _abi.EX_AXIS_DRIVER:
                runtime.ex_rig_set_input(rig, index, point, pose.pointer)
            point += 8 * runtime.ex_axis_width(ctypes.byref(axis))
        driver = runtime.ex_rig_example_driver(rig, layer, example)
        if driver:
            pose.struct.driver = driver
            if pose.struct.joints:
                runtime.ex_rig_example_joints(rig, layer, example, pose.struct.joints)
        check_misuse()

    # ---- numbers at vertices ----

    def show(self, what, other, hooks):
        """Computes the numbers that are shown: (V,) floats."""
        count = self.mesh.contents.vertex_count
        if what == "difference":
            values, by_vertex = numpy.zeros(count + 1, dtype=numpy.float32), ctypes.c_bool()
            checked(author.ex_form_distances, self.mesh, other.mesh, address(values), ctypes.byref(by_vertex), hooks)
            self.values = values[:count]
            self.label = "distance between the forms" if by_vertex.value else "distance from the other surface"
        elif self.rig is None:
            raise ValueError("only show='difference' with another form goes with forms, not with rigs")
        elif what == "displacement":
            rest = numpy.empty_like(self.positions)
            self._evaluate(None, rest, None, [], None, hooks)
            x, y, z = (self.positions - rest).T
            self.values, self.label = numpy.sqrt(x * x + y * y + z * z), "displacement from rest"
        elif what.startswith("example:"):
            words = _given.text(what[8:], "show").decode()
            self.values = _focus.amounts(self.rig, *_focus.find_example(self.rig, words), self.level, count)
            self.label = f"what {_cut(words)} moves"
        else:
            joint = _focus.find_joint(self.rig, what[5:])
            if not runtime.ex_rig_skin(self.rig._handle.pointer):
                raise ValueError(f"the rig has no joint '{what[5:]}' with a skin")
            self.values, self.whole = _focus.joint_weights(self.rig, joint, self.level, count), True
            self.label = f"skin weight of {_cut(what[5:])}"
        self.values = numpy.ascontiguousarray(self.values, dtype=numpy.float32)
        if self.rig is not None and not self.whole:  # rigs are in metres; a form's file does not state its unit
            small = not count or float(self.values.max()) < 0.5
            self.unit = "mm" if small else "m"
            self.values = self.values * numpy.float32(1000) if small else self.values

    def item(self, plain, texture):
        item = author.ex_render_item_default()
        item.mesh, item.vertex_colours = self.mesh, not plain
        if texture is not None:
            item.texture = ctypes.pointer(texture)
        elif not plain:
            if self.looks:
                item.looks = self.looks
            if self.texture is not None:
                item.texture = ctypes.pointer(self.texture)
        if self.values is not None:
            item.scalar = _abi.ex_render_scalar(values=address(self.values), max=1 if self.whole else 0,
                                                label=self.label.encode() if self.label else None,
                                                unit=self.unit.encode() if self.unit else None)
        return item


def _cut(words):
    """At most 80 bytes, as the tool's legend has."""
    return words.encode("utf-8")[:80].decode("utf-8", "ignore")


def _level(rig, level):
    """(level, vertices) of 'cage', a number, 'limit' or LIMIT; None: the level that the project shows."""
    pointer = rig._handle.pointer
    if level is None:
        level = runtime.ex_rig_level(pointer)
    elif isinstance(level, str):
        level = (0, LIMIT)[_given.word(level, "level", ("cage", "limit"))]
    else:
        level = _given.whole(level, "level", LIMIT, _abi.EX_SUBDIVIDE_LEVELS)
    count = runtime.ex_rig_level_vertex_count(pointer, level)
    check_misuse()
    if count <= 0:
        raise ValueError(f"the rig has no level {'limit' if level == LIMIT else level}; it has 0 to "
                         f"{runtime.ex_rig_level_count(pointer)}; 'subdivide' in the project makes more")
    return level, count


def _muted(rig, names):
    pointer = rig._handle.pointer
    count = runtime.ex_rig_layer_count(pointer)
    muted = (ctypes.c_bool * max(count, 1))(*(runtime.ex_rig_layer_muted(pointer, i) for i in range(count)))
    layers = [text_of(runtime.ex_rig_layer_name(pointer, i)) for i in range(count)]
    for name in _names(names, "muted"):
        if name not in layers:
            raise KeyError(f"the rig has no layer '{name}'; there are {', '.join(layers) or 'none'}")
        muted[layers.index(name)] = True
    return muted


def _names(words, name):
    """A list of names: one name, a sequence of them, or None."""
    if words is None:
        return []
    found = [words] if isinstance(words, str) else list(words) if isinstance(words, (tuple, list)) else None
    if found is None:
        raise TypeError(f"{name} must be a name or a list of names, not {type(words).__name__}")
    for word in found:
        _given.text(word, name)
    return found


def _size(size, most):
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValueError("size must be (width, height)") from None
    return _given.whole(width, "size", 1, most), _given.whole(height, "size", 1, most)


# ---- renders ----

def render(source, pose=None, *, size: Tuple[int, int] = (1000, 1000), yaw: float = 25, pitch: float = 10,
           angle: float = 24, parallel: bool = False, zoom: float = 1, look_at: Optional[str] = None,
           around: Optional[str] = None, fit: Optional[str] = None, box=None, turntable: Optional[int] = None,
           level: Union[None, int, str] = None, muted: Words = None, up: str = "y", flat: bool = False,
           smooth: bool = False,
           wireframe: bool = False, backfaces: bool = False, texture=None, plain: bool = False,
           show: Optional[str] = None, with_=None, values=None, label: Optional[str] = None, unit: Optional[str] = None,
           diverging: bool = False, range: Optional[Tuple[float, float]] = None, background: str = "quiet",
           ground: bool = True, occlusion: int = 8, samples: int = 16, progress: Tell = None,
           threads: Optional[int] = 1) -> Picture:
    """Draws a form, or a rig at a pose: (H, W, 4) bytes, red green blue alpha in sRGB, rows from the top.

    source: a Rig, a Mesh, (vertices, faces), or the path of a rig or a form. pose: from rig.pose, or {axis: value}.
    size: (width, height) in pixels. yaw, pitch: degrees of the camera around the form (0: its front, 90: its left side)
    and downwards. angle: angle of view in degrees; parallel: without perspective. zoom: 2 is twice as large. look_at: a
    joint; around: a vertex group; fit: an example, 'NAME' or 'LAYER/NAME': what fills the picture. box: ((x0, y0, z0),
    (x1, y1, z1)) in metres fills it instead: pictures with the same box share one camera. turntable: N
    pictures in a full turn, (N, H, W, 4). level: 'cage', a number or 'limit'. muted: layers to leave out. up: 'z' for a
    form with z up. flat, smooth, wireframe, backfaces: as `exemplar render`. texture: the base colour, as a path or an
    image, in place of materials. plain: clay. show: numbers as colours: 'difference' (with_=other), 'displacement',
    'example:LAYER/NAME', 'skin:JOINT'; or values: your own (V,), with label and unit for the legend; diverging: two
    ramps about 0. range: the values of the first and the last colour. background: 'quiet', 'white', 'grey' or
    'transparent'. ground: a shadow. occlusion: rays for ambient occlusion, 0 to 16. samples: 1, 4 or 16 in a pixel with
    detail. The picture does not depend on threads.
    """
    definition = author.ex_render_def_default()
    definition.width, definition.height = _size(size, _abi.EX_IMAGE_MAX)
    camera = definition.camera
    camera.yaw, camera.pitch = _given.number(yaw, "yaw", -36000, 36000), _given.number(pitch, "pitch", -90, 90)
    camera.angle = 0 if _given.flag(parallel, "parallel") else _given.number(angle, "angle", 1, 120)
    camera.zoom = _given.number(zoom, "zoom", 0.01, 1000)
    turns = None if turntable is None else _given.whole(turntable, "turntable", 1, 9999)
    camera.all_around = turns is not None
    definition.flat, definition.smooth = _given.flag(flat, "flat"), _given.flag(smooth, "smooth")
    if flat and smooth:
        raise ValueError("flat and smooth exclude each other")
    definition.backfaces, definition.ground = _given.flag(backfaces, "backfaces"), _given.flag(ground, "ground")
    definition.background = _given.word(background, "background", BACKGROUNDS)
    definition.occlusion = _given.whole(occlusion, "occlusion", 0, 16)
    definition.samples = _given.whole(samples, "samples", 1, 16)
    if definition.samples not in (1, 4, 16):
        raise ValueError(f"samples is {samples}; it must be 1, 4 or 16")
    shorter = min(definition.width, definition.height)
    if _given.flag(wireframe, "wireframe"):  # lines are as fine in a small picture as in a large one
        definition.wireframe = 0.7 if shorter < 700 else shorter / 1000.0
    _given.flag(plain, "plain"), _given.flag(diverging, "diverging"), _given.word(up, "up", ("y", "z"))
    _check_show(show, with_, values, range, label, unit)
    example = _focus.check(look_at, around, fit)
    if box is not None:
        if look_at is not None or around is not None or fit is not None:
            raise ValueError("box does not go with look_at, around or fit: each says what fills the picture")
        camera.box[:] = _box(box)
    with tasks(threads) as hooks, Progress(progress) as work:
        definition.tasks, definition.progress = hooks, work.pointer
        subject = _Subject(source, "source", hooks, pose, level, muted, up, example)
        other = None if with_ is None else _Subject(with_, "with_", hooks, up=up)
        if show is not None:
            subject.show(show, other, hooks)
        elif values is not None:
            subject.values = take(values, "f4", (subject.mesh.contents.vertex_count,), "values")
            subject.label, subject.unit = label or "", unit
        image, _pixels = (None, None) if texture is None else _texture(texture, subject)
        item = subject.item(bool(plain), image)
        if subject.values is not None and range is not None:
            item.scalar.min, item.scalar.max = _range(range)
        item.scalar.diverging = bool(diverging)
        found = _focus.find(subject.rig, subject.mesh, subject.level, look_at, around, example)
        if found is not None:
            mesh = subject.mesh.contents
            points = copied(mesh.positions, "f8", (mesh.vertex_count, 3))[found].astype(numpy.float32)
            camera.points, camera.point_count = address(points), len(points)
        definition.items, definition.item_count = ctypes.pointer(item), 1
        if turns is None:
            return _taken(author.ex_render, ctypes.byref(definition))
        pictures = numpy.empty((turns, definition.height, definition.width, 4), dtype=numpy.uint8)
        for i, first in enumerate([camera.yaw] * turns):
            camera.yaw = first + 360.0 * i / turns
            pictures[i] = _taken(author.ex_render, ctypes.byref(definition))
        return pictures


def _check_show(show, other, values, range_, label, unit):
    if show is not None and _given.text(show, "show") not in (b"difference", b"displacement") and \
            not show.startswith(("example:", "skin:")):
        raise ValueError(f"show is '{show}'; it must be difference, displacement, example:LAYER/NAME or skin:JOINT")
    if (show == "difference") != (other is not None):
        raise ValueError("show='difference' and with_ go together")
    if show is not None and values is not None:
        raise ValueError("show and values exclude each other")
    if range_ is not None and show is None and values is None:
        raise ValueError("range goes with show or values")
    _given.text(label, "label", optional=True, empty=True), _given.text(unit, "unit", optional=True, empty=True)


def _box(given):
    """Six numbers, the smallest x y z and the largest."""
    corners = take(given, "f8", (2, 3), "box")
    if not numpy.isfinite(corners).all() or not (corners[0] <= corners[1]).all() or \
            not (corners[0] < corners[1]).any():
        raise ValueError("box must be ((x0, y0, z0), (x1, y1, z1)), finite, the smaller corner first")
    return corners.ravel().tolist()


def _range(given):
    try:
        low, high = given
    except (TypeError, ValueError):
        raise ValueError("range must be (low, high)") from None
    low, high = _given.number(low, "range"), _given.number(high, "range")
    if not low < high:
        raise ValueError(f"range is ({low:g}, {high:g}); the smaller number is first")
    return low, high


def _texture(texture, subject):
    if not subject.mesh.contents.texcoord_count:
        raise ValueError("the form has no texture coordinates for a texture")
    return _image(read_image(texture) if _given.is_path(texture) else texture, "texture")


def compare(source, other, pose=None, **options) -> Picture:
    """Draws the distances between two forms as colours: render(source, pose, show='difference', with_=other, …)."""
    return render(source, pose, show="difference", with_=other, **options)


# ---- sheets and plots ----

def _axes(rig, axes, most=2):
    """The numbers of one or two axes, by name."""
    names = _names(axes, "axes")
    if not 1 <= len(names) <= most:
        raise ValueError("axes needs one axis of the rig, or two")
    found = []
    for name in names:
        index = runtime.ex_rig_input_find(rig._handle.pointer, _given.text(name, "axes"))
        if index < 0:
            raise KeyError(f"the rig has no axis '{name}'; there are {', '.join(rig.axes) or 'none'}")
        found.append(index)
    if len(set(found)) < len(found):
        raise ValueError(f"the axis '{names[0]}' is given twice")
    return found


def _check_free(rig, axes, pose, how):
    for index in axes if isinstance(pose, Mapping) else []:
        name = text_of(runtime.ex_rig_input_name(rig._handle.pointer, index))
        if name in pose:
            raise ValueError(f"pose sets the axis '{name}', which is {how}: leave one of the two out")


def _beyond(given):
    """[[low, high], [low, high]] of one number, one for each axis, or (low, high) for each."""
    pairs = list(given) if isinstance(given, (tuple, list, numpy.ndarray)) else [given]
    if not 1 <= len(pairs) <= 2:
        raise ValueError("beyond must be a number, or one for each axis, each optionally as (low, high)")
    ends = []
    for pair in pairs:
        low, high = pair if isinstance(pair, (tuple, list, numpy.ndarray)) and len(pair) == 2 else (pair, pair)
        ends.append((_given.number(low, "beyond", 0, 10), _given.number(high, "beyond", 0, 10)))
    return ends * 2 if len(ends) == 1 else ends


def sheet(rig: Rig, axes: Words, pose=None, *, grid: Union[int, Sequence[int]] = (5, 5), beyond=0.25, cell: int = 240,
          yaw: float = 0, pitch: float = 0, look_at: Optional[str] = None, around: Optional[str] = None,
          fit: Optional[str] = None, textures: bool = False, marks: bool = True, title: Optional[str] = None,
          info: bool = False, progress: Tell = None, threads: Optional[int] = 1):
    """Draws a grid of forms over one axis or two: (H, W, 4) bytes.

    axes: the axis to the right, and the one upwards. grid: forms along the range of each. beyond: how far to go beyond
    the ranges, as a part of them: a number, one for each axis, or (low, high) for each. cell: pixels of one form.
    textures: materials. marks: rings at forms with a weight below -0.1 or above 1.1. title: None names the axes, '' is
    none. Others: as `render`. info: returns (picture, SheetInfo).
    """
    posed = Posed(rig, pose)
    definition = author.ex_sheet_def_default()
    numbers = _axes(rig, axes)
    _check_free(rig, numbers, pose, "an axis of the sheet")
    definition.rig, definition.pose, definition.axis_count = rig._handle.pointer, posed.pointer, len(numbers)
    definition.axes[:len(numbers)] = numbers
    counts = [grid] if not isinstance(grid, (tuple, list, numpy.ndarray)) else list(grid)
    if not 1 <= len(counts) <= 2:
        raise ValueError("grid must be a number, or one for each axis")
    for i, count in enumerate(counts):
        definition.counts[i] = _given.whole(count, "grid", 2, _abi.EX_SHEET_FORM_MAX)
    for i, (low, high) in enumerate(_beyond(beyond)):
        definition.beyond[i][:] = (low, high)
    definition.cell = _given.whole(cell, "cell", _abi.EX_SHEET_CELL_MIN, _abi.EX_SHEET_CELL_MAX)
    definition.yaw, definition.pitch = _given.number(yaw, "yaw", -36000, 36000), _given.number(pitch, "pitch", -90, 90)
    definition.textures, definition.unmarked = _given.flag(textures, "textures"), not _given.flag(marks, "marks")
    definition.title = _given.text(title, "title", optional=True, empty=True)
    example = _focus.check(look_at, around, fit)
    _given.flag(info, "info")
    found = _sheet_focus(rig, look_at, around, example)
    if found is not None:
        definition.framed, definition.framed_count = address(found), len(found)
    facts = _abi.ex_sheet_info()
    with tasks(threads) as hooks, Progress(progress) as work:
        definition.tasks, definition.progress = hooks, work.pointer
        with _given.owned(lambda made: author.ex_image_destroy(_image_of(made))) as made:
            checked(author.ex_sheet_image, ctypes.byref(definition), ctypes.byref(made), ctypes.byref(facts))
            picture = _array(_image_of(made).contents)
    return (picture, _sheet_info(rig, facts, len(numbers))) if info else picture


def _sheet_focus(rig, look_at, around, example):
    if look_at is None and around is None and example is None:
        return None
    level = runtime.ex_rig_level(rig._handle.pointer)
    positions = numpy.zeros((runtime.ex_rig_level_vertex_count(rig._handle.pointer, level), 3), dtype=numpy.float32)
    surface = _abi.ex_surface(level=level, positions=address(positions))
    made = ctypes.POINTER(_abi.ex_mesh)()
    checked(author.ex_rig_to_mesh, rig._handle.pointer, ctypes.byref(surface), ctypes.byref(made))
    mesh = Handle(made, author.ex_mesh_destroy)
    found = _focus.find(rig, mesh.pointer, level, look_at, around, example)
    return None if found is None else numpy.ascontiguousarray(found, dtype=numpy.int32)


class SheetInfo(_given.Report):
    """Facts about a sheet: columns, rows, example_count, pseudo_count, hidden_count (examples that are not shown), and
    outside_count (forms with a weight below -0.1 or above 1.1); outside: None, or (layer, example, weight, values of
    the axes) of the weight farthest out."""


def _sheet_info(rig, facts, count):
    outside, pointer = None, rig._handle.pointer
    if facts.outside_count:
        outside = (text_of(runtime.ex_rig_layer_name(pointer, facts.outside_layer)),
                   text_of(runtime.ex_rig_example_name(pointer, facts.outside_layer, facts.outside_example)),
                   facts.outside_weight, tuple(facts.outside_at[:count]))
    return SheetInfo(columns=facts.columns, rows=facts.rows, example_count=facts.example_count,
                     pseudo_count=facts.pseudo_count, hidden_count=facts.hidden_count,
                     outside_count=facts.outside_count,
                     outside=outside)


def plot(rig: Rig, pose=None, *, axes: Words = None, layer: Optional[str] = None, compare: Words = None,
         size: Optional[Tuple[float, float]] = None, scale: float = 2, svg: bool = False, info: bool = False,
         progress: Tell = None, threads: Optional[int] = 1):
    """Plots the weights of a layer's examples along one axis, or over two: (H, W, 4) bytes, or with svg=True the text
    of an SVG picture.

    axes: one or two (default: the first two scalar axes of the layer that pose does not set, or the only one). layer:
    its name (default: the first that has the axes). compare: kinds of weigher, a panel for each. size: (width, height)
    in points (default: chosen to fit); scale: pixels per point. info: returns (picture, PlotInfo).
    """
    posed, pointer = Posed(rig, pose), rig._handle.pointer
    definition = author.ex_plot_def_default()
    numbers = [] if axes is None else _axes(rig, axes)
    definition.rig, definition.pose = pointer, posed.pointer
    definition.layer = _plot_layer(rig, layer, numbers)
    if axes is None:
        numbers = _free_axes(rig, definition.layer, pose)
    _check_free(rig, numbers, pose, "plotted")
    definition.axis_count, definition.axes[:len(numbers)] = len(numbers), numbers
    kinds = _kinds(compare)
    if kinds:
        held = (ctypes.c_int * len(kinds))(*kinds)
        definition.kinds, definition.kind_count = ctypes.addressof(held), len(kinds)
    if size is not None:
        try:
            width, height = size
        except (TypeError, ValueError):
            raise ValueError("size must be (width, height)") from None
        definition.width = _given.number(width, "size", _abi.EX_PLOT_WIDTH_MIN, _abi.EX_CANVAS_MAX)
        definition.height = _given.number(height, "size", _abi.EX_PLOT_HEIGHT_MIN, _abi.EX_CANVAS_MAX)
    definition.scale = _given.number(scale, "scale", 0, 16, above=0)
    _given.flag(svg, "svg"), _given.flag(info, "info")
    facts = _abi.ex_plot_info()
    with tasks(threads) as hooks, Progress(progress) as work:
        definition.tasks, definition.progress = hooks, work.pointer
        picture = _plot_svg(definition, facts) if svg else _plot_image(definition, facts)
    return (picture, _plot_info(rig, definition, facts, len(kinds))) if info else picture


def _plot_image(definition, facts):
    with _given.owned(lambda made: author.ex_image_destroy(_image_of(made))) as made:
        checked(author.ex_plot_image, ctypes.byref(definition), ctypes.byref(made), ctypes.byref(facts))
        return _array(_image_of(made).contents)


def _plot_svg(definition, facts):
    size = ctypes.c_size_t()
    with _given.owned(_given.free) as made:
        checked(author.ex_plot_svg, ctypes.byref(definition), ctypes.byref(made), ctypes.byref(size),
                ctypes.byref(facts))
        return copied(made, "u1", (size.value,)).tobytes().decode("utf-8")


class PlotInfo(_given.Report):
    """Facts about a plot: layer, axes, drawn_count of example_count, size in points, and weights: [(lowest, highest)]
    in the range, of each kind that is compared."""


def _plot_info(rig, definition, facts, kinds):
    names = [text_of(runtime.ex_rig_input_name(rig._handle.pointer, i)) for i in facts.axes[:facts.axis_count]]
    return PlotInfo(layer=text_of(runtime.ex_rig_layer_name(rig._handle.pointer, definition.layer)), axes=names,
                    drawn_count=facts.drawn_count, example_count=facts.example_count, size=(facts.width, facts.height),
                    weights=list(zip(facts.lows[:max(kinds, 1)], facts.highs[:max(kinds, 1)])))


def _inputs(rig, layer):
    pointer = rig._handle.pointer
    count = runtime.ex_weigher_axis_count(runtime.ex_rig_weigher(pointer, layer))
    return [runtime.ex_rig_layer_input(pointer, layer, a) for a in range(count)]


def _plot_layer(rig, layer, axes):
    names = list(rig.layers)
    if not names:
        raise ValueError("the rig has no layers to plot")
    if layer is not None:
        _given.text(layer, "layer")
        if layer not in names:
            raise KeyError(f"the rig has no layer '{layer}'; there are {', '.join(names)}")
        return names.index(layer)
    for i, _name in enumerate(names) if axes else []:
        if set(axes) <= set(_inputs(rig, i)):
            return i
    return 0


def _free_axes(rig, layer, pose):
    inputs, pointer = _inputs(rig, layer), rig._handle.pointer
    given = {i for i in inputs if isinstance(pose, Mapping) and text_of(runtime.ex_rig_input_name(pointer, i)) in pose}
    free = [i for i in inputs if i not in given and runtime.ex_rig_input_axis(pointer, i).kind == _abi.EX_AXIS_SCALAR]
    if not free and given:
        raise ValueError("all axes of the layer that could be plotted are set: leave one of them out")
    return free[:2]


def _kinds(compare):
    names = [text_of(runtime.ex_weigher_kind_name(k)) for k in range(runtime.ex_weigher_kind_count())]
    words: List[str] = _names(compare, "compare")
    if len(words) > _abi.EX_PLOT_KIND_MAX:
        raise ValueError(f"compare takes at most {_abi.EX_PLOT_KIND_MAX} kinds")
    return [_given.word(word, "compare", names) for word in words]
