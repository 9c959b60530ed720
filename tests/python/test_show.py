"""Rigs in notebooks: the page that the tool exports, or a picture."""
import base64
import gzip
import html
import re
import subprocess
import sys

import pytest

import exemplar
from exemplar.picture import read_image, render
from exemplar.show import show

module = sys.modules["exemplar.show"]
needs_page = pytest.mark.skipif(module._template() is None, reason="built without the editor")


def unpacked(page):
    """A page's parts, with what is compressed in it decompressed: versions of zlib may pack differently."""
    parts = re.split(r'(?<=">)([A-Za-z0-9+/]{100,}=*)(?=</script>)', page)
    return [gzip.decompress(base64.b64decode(part)) if k % 2 else part for k, part in enumerate(parts)]


def same(ours, path):
    """A plain truth, as pytest takes minutes to describe how two pages differ."""
    parts = unpacked(ours)
    return len(parts) >= 3 and parts == unpacked(path.read_text(encoding="utf-8"))


@needs_page
@pytest.mark.parametrize("name", ["arm", "face"])
def test_the_page_has_the_tools_bytes(demo, tool, tmp_path, name):
    path = demo(name) / f"{name}.glb"
    subprocess.run([tool, "edit", "--export", tmp_path / "tool.html", path, "-q"], check=True)
    view = show(exemplar.load(path), name=name)
    view.save(tmp_path / "ours.html")
    is_same = same((tmp_path / "ours.html").read_text(encoding="utf-8"), tmp_path / "tool.html")
    assert is_same
    frame = view._repr_html_()
    inside = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*height: 400px[^"]*" sandbox="allow-scripts [^"]*" '
                          r'title="\w+">'
                          r"</iframe>", frame)
    whole = html.unescape(inside.group(1)) == view.page
    assert whole
    assert view._repr_png_() is None


@needs_page
def test_names_are_escaped(demo):
    page = show(exemplar.load(demo("blob") / "blob.glb"), name='a"><b>&').page
    assert 'data-name="a&#34;&#62;&#60;b&#62;&#38;.glb"' in page


@needs_page
def test_clips_are_in_the_page(demo, tool, tmp_path):
    """A rig with an animation, from a glTF file that has one."""
    (tmp_path / "motion.csv").write_text("time,elbow\n0,0\n1,90\n", encoding="utf-8")
    subprocess.run([tool, "bake", demo("elbow") / "elbow.glb", "--motion", tmp_path / "motion.csv", "-q", "-o",
                    tmp_path / "baked.glb"], check=True)
    subprocess.run([tool, "init", tmp_path / "baked.glb", "-q", "-o", tmp_path / "new"], check=True)
    subprocess.run([tool, "build", tmp_path / "new" / "baked.json", "-q"], check=True)
    subprocess.run([tool, "edit", "--export", tmp_path / "tool.html", tmp_path / "new" / "baked.glb", "-q"], check=True)
    page = show(exemplar.load(tmp_path / "new" / "baked.glb"), name="baked").page
    has_clip, is_same = 'class="clip"' in page and len(unpacked(page)) >= 5, same(page, tmp_path / "tool.html")
    assert has_clip and is_same


def test_a_picture_without_the_page(demo, monkeypatch, tmp_path):
    monkeypatch.setattr(module, "PAGE", "no such page.html")
    rig = exemplar.load(demo("blob") / "blob.glb")
    view = show(rig, height=60, pose={"bend": 1})
    assert view.page is None and view._repr_html_() is None
    assert (read_image(view._repr_png_()) == render(rig, {"bend": 1}, size=(90, 60))).all()
    with pytest.raises(RuntimeError):
        view.save(tmp_path / "page.html")


def test_wrong_use(demo, tmp_path):
    rig = exemplar.load(demo("blob") / "blob.glb")
    for call in (lambda: show(None), lambda: show(rig, "tall"), lambda: show(rig, 3.5), lambda: show(rig, name=3)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError):
        show(rig, 0)
    with pytest.raises(OSError):
        show(rig).save(tmp_path / "nowhere" / "page.html")
