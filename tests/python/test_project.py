"""Projects: the same rigs, findings and files as the tool's; wrong data changes nothing."""
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy
import pytest

import exemplar
from exemplar.project import Finding, Project


@pytest.fixture
def copy(demo, tmp_path):
    """copy("arm"): a demo's folder that the test may change."""
    def make(name):
        shutil.copytree(demo(name), tmp_path / name)
        return tmp_path / name
    return make


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["blob", "arm", "elbow", "bar"])
def test_build_gives_the_tools_bytes(tool, copy, tmp_path, name):
    folder = copy(name)
    subprocess.run([tool, "build", folder / f"{name}.json", "-q", "-o", tmp_path / "tool.glb"], check=True)
    said = []
    rig = Project(folder / f"{name}.json").build(tmp_path / "ours.glb", progress=lambda what, part: said.append(part),
                                                 threads=2)
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()
    assert (rig.evaluate() == exemplar.load(tmp_path / "tool.glb").evaluate()).all()
    assert said and all(0 <= part <= 1 for part in said)
    assert isinstance(rig.notes, list) and isinstance(rig.damped, list)


def test_unit_and_up_of_the_project_are_in_the_rig_file(tool, copy, tmp_path):
    project = Project(copy("blob") / "blob.json")
    with project.edit() as data:
        data["unit"], data["up"] = "cm", "z"
    project.save()
    project.build(tmp_path / "ours.glb")
    subprocess.run([tool, "build", project.path, "-q", "-o", tmp_path / "tool.glb"], check=True)
    assert (tmp_path / "ours.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()


@pytest.mark.parametrize("name", ["blob", "arm", "elbow", "bar"])
def test_check_finds_what_the_tool_finds(tool, copy, name):
    folder = copy(name)
    with open(folder / f"{name}.json", encoding="utf-8") as file:
        data = json.load(file)
    data["layers"][0]["examples"][-1]["muted"] = True  # places of later examples move
    (folder / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    answer = subprocess.run([tool, "check", folder / f"{name}.json", "--json"], stdout=subprocess.PIPE).stdout
    wanted = json.loads(answer)["findings"]
    found = Project(folder / f"{name}.json").check()
    names = ("severity", "kind", "where", "text", "value", "remedy", "pose")
    assert [{key: getattr(one, key) for key in names if getattr(one, key) is not None} for one in found] == wanted
    assert wanted and all(isinstance(one, Finding) for one in found)
    example = next(one for one in found if ".examples[" in one.where) if any(".examples[" in one.where
                                                                             for one in found) else None
    if example:
        place = int(example.where.split(".examples[")[1].split("]")[0])
        assert example.example == data["layers"][0]["examples"][place]["name"]


def test_data_is_validated_and_kept(copy):
    project = Project(copy("blob") / "blob.json")
    before = project.data
    assert list(before) == list(json.loads(project.path.read_text(encoding="utf-8")))
    wrong = project.data
    wrong["layers"][0]["examples"][0]["nam"] = 1
    with pytest.raises(exemplar.DataError, match=r"layers\[0\].examples\[0\].nam: unknown key; did you mean"):
        project.data = wrong
    assert project.data == before and project.saved
    for value, kind in ((3, TypeError), ({"a": float("nan")}, ValueError), ({"a": object()}, TypeError),
                        ({}, exemplar.Error)):
        with pytest.raises(kind):
            project.data = value
    loop = {}
    loop["loop"] = loop
    with pytest.raises(ValueError):
        project.data = loop
    with pytest.raises(RuntimeError), project.edit() as data:
        data["layers"] = []
        raise RuntimeError
    assert project.data == before


def test_save_undo_redo(copy, tool):
    project = Project(copy("blob") / "blob.json")
    before = project.data
    with project.edit() as data:
        data["layers"][0]["examples"][1]["at"]["bend"] = numpy.float64(-0.75)
    assert not project.saved
    with pytest.raises(ValueError, match="not saved"):
        project.rename("thin", "slim")
    project.save()
    assert project.saved and project.data["layers"][0]["examples"][1]["at"]["bend"] == -0.75
    assert [version.what for version in project.history["undo"]] == ["saved from Python"]
    project.rename("thin", "slim")
    assert [example.name for example in project.layers[0].examples][0] == "slim"
    project.undo(2)
    assert project.data == before
    project.redo()
    assert project.data["layers"][0]["examples"][1]["at"]["bend"] == -0.75
    answer = subprocess.run([tool, "undo", project.path, "--list", "--json"], stdout=subprocess.PIPE, check=True).stdout
    assert [version["what"] for version in json.loads(answer)["undo"]] == ["saved from Python"]
    with pytest.raises(ValueError, match="only 1"):
        project.undo(2)


def test_a_file_changed_by_others_is_left_alone(copy):
    folder = copy("blob")
    project, other = Project(folder / "blob.json"), Project(folder / "blob.json")
    other.rename("thin", "slim")
    with pytest.raises(exemplar.DataError, match="changed by another program"):
        project.rename("left", "west")
    project.reload().rename("left", "west")
    project.save()
    other.reload()
    with other.edit() as data:
        data["layers"][0]["name"] = "other"
    other.save()
    with project.edit() as data:
        data["layers"][0]["name"] = "ours"
    with pytest.raises(ValueError, match="changed by another program"):
        project.save()
    assert Project(folder / "blob.json").layers[0].name == "other"


def test_examples_as_the_tool_changes_them(tool, copy, tmp_path):
    ours = copy("arm")
    theirs = tmp_path / "theirs"
    shutil.copytree(ours, theirs)
    project = Project(ours / "arm.json")
    before, rig = project.data, project.build()
    form = rig.evaluate(rig.pose(elbow=40))[0].astype(float)
    form[:50] += 0.01
    vertices = "".join(f"v {x!r} {y!r} {z!r}\n" for x, y, z in form.tolist())
    faces = "".join("f " + " ".join(str(v + 1) for v in face) + "\n" for face in rig.mesh.faces)
    (tmp_path / "bent.obj").write_text(vertices + faces, encoding="utf-8")

    def run(*words):
        return subprocess.run([tool, "example", words[0], theirs / "arm.json", *words[1:]], check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    made = project.add_example(form, "bent", at={"elbow": 40})
    wanted = json.loads(run("add", "--name", "bent", "--at", "elbow=40", tmp_path / "bent.obj", "--json"))
    assert (made.layer, made.example, made.moved, made.damped, made.lost_count, made.notes) == tuple(
        wanted[key] for key in ("layer", "example", "moved", "damped", "lost_count", "notes"))
    assert made.largest == pytest.approx(wanted["largest"], rel=1e-6) and made.error < 1e-6
    project.move_example("bent", at={"elbow": 45})
    run("move", "--name", "bent", "--at", "elbow=45")
    project.rename("bent", "bent_45")
    run("rename", "bent", "bent_45")
    project.mute("bent_45")
    run("mute", "--name", "bent_45")
    assert project.layers[0].examples[-1].muted
    assert project.data == json.loads((theirs / "arm.json").read_text(encoding="utf-8"))
    project.mute("bent_45", off=True)
    index = project.add_pseudo("arm", {"elbow": 20, "gender": 1}, from_={"elbow": 25, "gender": 1})
    run("add", "--pseudo", "--layer", "arm", "--at", "elbow=20", "gender=1", "--from", "elbow=25", "gender=1")
    run("mute", "--name", "bent_45", "--off")
    project.move_pseudo("arm", index, {"elbow": 21})
    run("move", "--layer", "arm", "--pseudo", str(index + 1), "--at", "elbow=21")
    assert project.data == json.loads((theirs / "arm.json").read_text(encoding="utf-8"))
    project.remove_pseudo("arm", index)
    project.remove_example("bent_45")
    assert len(project.layers[0].examples) == 8 and project.layers[0].pseudo_count == index
    project.undo(len(project.history["undo"]))
    assert project.data == before


def test_a_sculpt_comes_back(copy):
    project = Project(copy("elbow") / "elbow.json")
    rig = project.build()
    form = rig.evaluate(rig.pose(elbow=75))[0].copy()
    form[:20] += 0.02
    made = project.add_example(form, "bump", at={"elbow": 75})
    rig = project.build()
    back = rig.evaluate(rig.pose(elbow=75))[0]
    assert numpy.abs(back - form).max() < 1e-5 and made.moved >= 20
    replaced = project.add_example(form + 0.001, replace=True, at={"elbow": 75})
    assert replaced.example == made.example


def test_mirror(tool, tmp_path):
    """A morph target on the left of a symmetric mesh."""
    x, y = numpy.meshgrid(numpy.linspace(-1, 1, 5), numpy.linspace(0, 1, 3))
    vertices = numpy.stack([x.ravel(), y.ravel(), numpy.zeros(15)], axis=1)
    faces = [[r * 5 + c, r * 5 + c + 1, r * 5 + c + 6, r * 5 + c + 5] for r in range(2) for c in range(4)]
    moved = vertices.copy()
    moved[4, 2] = 0.5
    project = Project.init((vertices, faces), tmp_path / "new", shapes={"smile_L": moved}, name="sheet")
    result = project.mirror("smile_L")
    assert [one.example for one in result] == ["smile_R"] and result[0].matched["symmetric"] == 1
    rig = project.build()
    assert rig.evaluate(rig.pose(smile_R=1))[0][0, 2] == pytest.approx(0.5)
    with pytest.raises(exemplar.Error):
        project.mirror("smile_L")
    with pytest.raises(ValueError, match="two sides"):
        project.mirror(all=("L", "L"))


def test_init_and_unpack(tool, demo, tmp_path):
    blob = demo("blob")
    project = Project.init(blob / "thin.obj", tmp_path / "ours",
                           shapes={"left": blob / "left.obj", "thick": blob / "thick.obj"},
                           space=("bend", "weight"), at={"left": (-1, 0), "thick": (0, 1)})
    subprocess.run([tool, "init", blob / "thin.obj", blob / "left.obj", blob / "thick.obj", "-q", "-o",
                    tmp_path / "tool",
                    "--space", "bend,weight", "--at", "left:-1,0", "--at", "thick:0,1"], check=True)
    assert files_of(tmp_path / "ours") == files_of(tmp_path / "tool") and project.path.name == "thin.json"
    with pytest.raises(FileExistsError):
        Project.init(blob / "thin.obj", tmp_path / "ours", shapes={"left": blob / "left.obj"})
    again = Project.init(blob / "thin.obj", tmp_path / "ours", shapes={"left": blob / "left.obj"}, force=True)
    assert len(again.layers[0].examples) == 1 and again.history["undo"]
    again.undo()
    assert files_of(tmp_path / "tool").items() <= files_of(tmp_path / "ours").items()

    rig = exemplar.load(blob / "blob.glb")
    Project.unpack(rig, tmp_path / "unpacked", name="blob").build(tmp_path / "blob.glb")
    subprocess.run([tool, "unpack", blob / "blob.glb", "-q", "-o", tmp_path / "unpacked_tool"], check=True)
    assert files_of(tmp_path / "unpacked") == files_of(tmp_path / "unpacked_tool")
    subprocess.run([tool, "build", tmp_path / "unpacked" / "blob.json", "-q", "-o", tmp_path / "tool.glb"], check=True)
    assert (tmp_path / "blob.glb").read_bytes() == (tmp_path / "tool.glb").read_bytes()

    with pytest.raises(exemplar.Error):
        Project.init(blob / "thin.obj", tmp_path / "deep" / "er", shapes={"a": (blob / "missing.obj")})
    assert not (tmp_path / "deep").exists()


def test_from_dict(demo, tmp_path):
    data = Project(demo("blob") / "blob.json").data
    project = Project.from_dict(data, demo("blob"), "made")
    assert not project.path.exists() and project.build().mesh.vertex_count == 642
    with pytest.raises(exemplar.DataError):
        Project.from_dict({**data, "layers": 3}, tmp_path)


def test_wrong_use(demo, copy, tmp_path):
    with pytest.raises(exemplar.FileError, match="missing.json"):
        Project(tmp_path / "missing.json")
    with pytest.raises(exemplar.FormatError, match="not a project"):
        Project(demo("blob") / "blob.glb")
    project = Project(copy("blob") / "blob.json")
    before = files_of(project.path.parent)
    vertices = numpy.zeros((642, 3))
    for call, kind in (
            (lambda: project.add_example(vertices[:-1], "a", at={"bend": 1}), ValueError),
            (lambda: project.add_example(vertices * numpy.nan, "a", at={"bend": 1}), ValueError),
            (lambda: project.add_example(vertices, "a", at={"bent": 1}), exemplar.Error),
            (lambda: project.add_example(vertices, "a", at={"bend": "x20"}), TypeError),
            (lambda: project.add_example(vertices, "a", at=[("bend", 1)]), TypeError),
            (lambda: project.add_example(vertices, "a\0b", at={"bend": 1}), ValueError),
            (lambda: project.add_example(vertices), ValueError),
            (lambda: project.add_example(vertices, "a", at={"bend": 1}, scale=0), ValueError),
            (lambda: project.remove_example("nobody"), exemplar.Error),
            (lambda: project.remove_pseudo("blob", 2), ValueError),
            (lambda: project.remove_pseudo("blob", -1), ValueError),
            (lambda: project.remove_pseudo("nothing", 0), KeyError),
            (lambda: project.move_example("thin"), ValueError),
            (lambda: project.rename("thin", "x", kind="mesh"), ValueError),
            (lambda: project.build(storage="double"), ValueError),
            (lambda: project.build(threads=0), ValueError),
            (lambda: project.build(progress=3), TypeError),
            (lambda: project.build(project.path), ValueError),
            (lambda: project.build(project.path.parent / "thin.obj"), ValueError),
            (lambda: project.check(samples=0), ValueError),
            (lambda: project.check(mixtures=-1), ValueError),
            (lambda: project.undo(), ValueError),
            (lambda: project.calm("nothing"), exemplar.Error)):
        with pytest.raises(kind):
            call()
    assert files_of(project.path.parent) == before


class Stop(Exception):
    pass


def test_progress_that_raises_stops_the_work(copy, tmp_path):
    folder = copy("blob")
    project, before = Project(folder / "blob.json"), files_of(folder)

    def stop(what, part):
        raise Stop(what)

    with pytest.raises(Stop):
        project.build(tmp_path / "out.glb", progress=stop)
    with pytest.raises(KeyboardInterrupt):
        project.build(progress=lambda what, part: False)
    with pytest.raises(Stop):
        project.rename("thin", "slim", progress=stop)
    assert not (tmp_path / "out.glb").exists() and files_of(folder) == before
    assert [example.name for example in project.layers[0].examples][0] == "thin"


def test_the_progress_function_cannot_use_the_project(copy):
    project = Project(copy("blob") / "blob.json")
    data = project.data
    for use in (lambda: project.reload(), lambda: project.rename("thin", "slim"), lambda: project.data,
                lambda: project.build(),
                lambda: project.layers, lambda: project.save(), lambda: setattr(project, "data", data)):
        with pytest.raises(RuntimeError, match="at work"):
            project.build(progress=lambda what, part: use())
    assert project.build().examples[0] == "thin"


def test_interrupt_stops_a_build(demo, tmp_path):
    """Ctrl-C while paths are found, without a function for progress: KeyboardInterrupt, and no file."""
    program = textwrap.dedent("""
        import os, signal, sys, threading
        from exemplar.project import Project
        project = Project(sys.argv[1])
        waiting = threading.Event()
        threading.Thread(target=lambda: (waiting.wait(0.2), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
        try:
            project.build("out.glb")
        except KeyboardInterrupt:
            print("stopped", signal.getsignal(signal.SIGINT) is signal.default_int_handler)
    """)
    source = next(demo("bar").glob("bar.json"))
    done = subprocess.run([sys.executable, "-B", "-c", program, source], cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    assert (done.stdout, done.stderr) == ("stopped True\n", "") and not os.listdir(tmp_path)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_another_working_folder_changes_nothing(copy, monkeypatch, tmp_path):
    monkeypatch.chdir(copy("arm"))
    os.mkdir("other")
    project = Project("arm.json")
    made = Project.from_dict(project.data, ".", "again")
    cache = exemplar.Cache.write("c.pc2", numpy.zeros((2, 4, 3))) and exemplar.Cache("c.pc2")
    own = exemplar.demo("blob", "own")
    monkeypatch.chdir("other")
    expected = project.build().evaluate()
    made.save()
    assert project.path == tmp_path / "arm" / "arm.json" and made.path == tmp_path / "arm" / "again.json"
    assert (Project(made.path).build().evaluate() == expected).all()
    with pytest.raises(ValueError, match="another folder"):  # the names in it would lead nowhere
        project.save("here.json")
    project.save("../here.json")
    monkeypatch.chdir(tmp_path)
    assert project.path == tmp_path / "arm" / "here.json" and project.reload().saved
    assert own.path == tmp_path / "arm" / "own" / "blob.json" and own.build().examples
    assert os.path.isabs(cache.path) and os.path.exists(cache.path)


def test_another_program_s_change_is_kept(copy):
    folder = copy("arm")
    project, other = Project(folder / "arm.json"), Project(folder / "arm.json")
    with other.edit() as data:
        data["layers"][0]["name"] = "theirs"
    other.save()
    project.data = project.data
    with pytest.raises(ValueError, match="reload"):
        project.save()
    assert project.reload().layers[0].name == "theirs"
    project.save()


def test_no_change_inside_a_change(demo, tmp_path):
    """A progress function that changes the folder again would wait for itself."""
    shutil.copytree(demo("arm"), tmp_path / "arm")
    one, other = (exemplar.Project(tmp_path / "arm" / "arm.json") for _ in range(2))
    name = one.layers[0].examples[0].name

    def again(what, fraction):
        other.rename(name, "another")

    with pytest.raises(RuntimeError, match="progress function"):
        one.rename(name, "new", progress=again)
    one.reload().rename(name, "new")


def test_example_at_a_pose(demo, tmp_path):
    shutil.copytree(demo("arm"), tmp_path / "arm")
    project = exemplar.Project(tmp_path / "arm" / "arm.json")
    rig = project.build()
    pose = rig.pose(elbow=55, gender=0.4)
    sculpt = rig.evaluate(pose)[0] + [0, 0.01, 0]
    project.add_example(sculpt, "here", at=pose)
    assert numpy.allclose(project.build().evaluate({"elbow": 55, "gender": 0.4})[0], sculpt, atol=2e-5)
    with pytest.raises(ValueError, match="3 poses"):
        project.add_example(sculpt, "there", at=rig.pose(elbow=[1, 2, 3]))
