"""Work stops when it is asked to: the library does not go on after a callback that says so, and nothing is left."""
import os
import tempfile

import pytest

import exemplar
from exemplar import _work


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """asked(): how often the library has reported progress. Temporary files go to an own folder."""
    calls, tell = [], _work.Progress._tell

    def count(self, *given):
        calls.append(given)
        return tell(self, *given)

    monkeypatch.setattr(_work.Progress, "_tell", count)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return lambda: len(calls)


@pytest.mark.parametrize("work", [
    lambda rig, stop: exemplar.render(rig, size=(400, 400), progress=stop),
    lambda rig, stop: exemplar.render(rig, size=(400, 400), turntable=5, progress=stop),
    lambda rig, stop: exemplar.sheet(rig, ["gender", "elbow"], progress=stop),
    lambda rig, stop: exemplar.plot(rig, progress=stop),
    lambda rig, stop: exemplar.plot(rig, axes="elbow", progress=stop),
    lambda rig, stop: exemplar.demo("sleeve", progress=stop),
    lambda rig, stop: exemplar.demo("shirt", os.path.join(tempfile.tempdir, "a", "b"), progress=stop),
    lambda rig, stop: exemplar.demo("body", quick=True, progress=stop),
], ids=["render", "turntable", "sheet", "maps", "curves", "sleeve", "shirt", "body"])
def test_the_first_refusal_ends_the_work(demo, asked, tmp_path, work):
    rig = exemplar.load(demo("arm") / "arm.glb")
    with pytest.raises(KeyboardInterrupt):
        work(rig, lambda what, part: False)
    assert asked() == 1
    assert not os.listdir(tmp_path / "temporary")


def test_a_refusal_while_maps_are_drawn_ends_the_work(demo, asked):
    after = []
    with pytest.raises(KeyboardInterrupt):
        exemplar.plot(exemplar.load(demo("arm") / "arm.glb"),
                      progress=lambda what, part: what != "drawing maps" or after.append(asked()) or False)
    assert after == [asked()]
