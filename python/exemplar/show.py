"""A rig in a notebook, or as a page of its own: the interactive view that `exemplar edit --export` writes.

The page has the rig inside and loads nothing. Without the page (a package that was built without the editor), a picture
is shown instead.
"""
from __future__ import annotations

import base64
import ctypes
import html
import os
import pathlib
import zlib
from typing import Any, List, Mapping, Optional

from . import _abi, _given
from ._arrays import copied
from ._library import Handle, author, checked, runtime, text_of
from .picture import png_bytes, render
from .rig import Rig

PAGE = "page.html"
RIG_SIZE_MAX = 400000000
"""Bytes of a rig that browsers still accept inside a page."""
_FPS = 30.0
_POLICY, _PLACE = "connect-src 'self'", "<!--rig-->"


def _template() -> Optional[str]:
    """The empty page, or None. It lies beside this file, or beside the library."""
    places = [pathlib.Path(__file__).resolve().parent]
    if os.environ.get("EXEMPLAR_LIBRARY"):
        places.append(pathlib.Path(os.environ["EXEMPLAR_LIBRARY"]).resolve().parent)
    for place in places:
        try:
            text = (place / PAGE).read_text(encoding="utf-8")
        except OSError:
            continue
        if text.count(_POLICY) == 1 and text.count(_PLACE) == 1:
            return text
    return None


def _escaped(name):
    return "".join(f"&#{ord(c)};" if c in '&<>"' or c < " " else c for c in name)


def _packed(data) -> str:
    """Bytes as gzip, which browsers decompress, in base64."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def _clips(rig) -> List[str]:
    """The rig's clips as elements of the page: times, dials and joints of every frame."""
    pointer = rig._handle.pointer
    inputs, joints = runtime.ex_rig_pose_size(pointer), runtime.ex_rig_joint_count(pointer)
    made = ctypes.POINTER(_abi.ex_scene)()
    if inputs + joints:
        checked(author.ex_rig_clips, pointer, ctypes.byref(made))
    if not made:
        return []
    scene, elements = Handle(made, author.ex_scene_destroy), []
    for number in range(scene.pointer.contents.animation_count):
        motion, error = ctypes.POINTER(_abi.ex_motion)(), _abi.ex_error()
        how = _abi.ex_motion_options(clip=b"%d" % (number + 1), fps=_FPS)
        result = author.ex_rig_motion(pointer, ctypes.byref(how), ctypes.byref(motion), ctypes.byref(error))
        if result == _abi.EX_ERROR_MEMORY:
            raise MemoryError("there is not enough memory for a clip")
        if result != _abi.EX_OK:  # it moves nothing of the rig
            continue
        held = Handle(motion, author.ex_motion_destroy)
        inside = held.pointer.contents
        frames = range(inside.pose_count)
        data = b"".join([copied(inside.times, "f8", (inside.pose_count,)).tobytes(),
                         *(copied(inside.poses[f].inputs, "f8", (inputs,)).tobytes() for f in frames),
                         *(copied(inside.poses[f].joints, "f4", (joints, 10)).tobytes() for f in frames)])
        name = text_of(scene.pointer.contents.animations[number].name) or str(number + 1)
        elements.append(f'\n<script type="text/plain" class="clip" data-frames="{inside.pose_count}" '
                        f'data-name="{_escaped(name)}">{_packed(data)}</script>')
    return elements


class Show:
    """A view of a rig. In a notebook it shows itself; `page` is the whole HTML text, `save` writes it to a file."""

    def __init__(self, rig: Rig, height: int = 400, name: str = "rig", pose: Optional[Mapping[str, Any]] = None):
        if not isinstance(rig, Rig):
            raise TypeError(f"rig must be an exemplar.Rig, not {type(rig).__name__}")
        self.rig, self.height = rig, _given.whole(height, "height", 50, 10000)
        self.name, self._pose = _given.text(name, "name").decode(), pose

    def __repr__(self):
        return f"<exemplar.Show of {self.rig!r}>"

    @property
    def page(self) -> Optional[str]:
        """The page with the rig inside, or None if the package has no page."""
        template = _template()
        if template is None:
            return None
        pointer = self.rig._handle.pointer
        data = _given.encoded(lambda path, error: author.ex_rig_write(path, pointer, error))
        if len(data) > RIG_SIZE_MAX:
            raise ValueError(f"this rig has {len(data) // 1000000} MB, but a page holds at most "
                             f"{RIG_SIZE_MAX // 1000000}: use fewer or smaller examples")
        inside = [f'<script type="text/plain" id="rig" data-name="{_escaped(self.name)}.glb">',
                  _packed(data), "</script>", *_clips(self.rig)]
        return template.replace(_POLICY, "connect-src 'none'", 1).replace(_PLACE, "".join(inside), 1)

    def save(self, path) -> None:
        """Writes the page to a file, which any browser opens without a network."""
        target, text = _given.file(path), self.page
        if text is None:
            raise RuntimeError("this package was built without the editor, so it has no page")
        _given.write_text(target, text)

    def _repr_html_(self):
        try:
            page = self.page
        except ValueError:  # too large a rig: its picture is shown
            page = None
        if page is None:
            return None
        return (f'<iframe srcdoc="{html.escape(page)}" style="width: 100%; height: {self.height}px; border: 0" '
                f'sandbox="allow-scripts allow-downloads" title="{html.escape(self.name)}"></iframe>')

    def _repr_png_(self):
        if _template() is not None:
            return None
        return png_bytes(render(self.rig, self._pose, size=(int(self.height * 1.5), self.height)))


def show(rig: Rig, height: int = 400, *, name: str = "rig", pose: Optional[Mapping[str, Any]] = None) -> Show:
    """Shows a rig in a notebook: an interactive view `height` pixels high, or a picture at `pose` without one. name:
    what the view calls the rig."""
    return Show(rig, height, name, pose)
