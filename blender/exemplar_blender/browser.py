# SPDX-License-Identifier: GPL-3.0-or-later
"""The editor in the browser: writes the project, starts the tool `exemplar edit`, and reads the changed project back."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import bpy
import numpy
from bpy.app.handlers import persistent
from bpy.props import StringProperty

from . import bring, character, export, rigs, write
from .armature import Bones
from .errors import Action, Refused
from .library import exemplar
from .removal import refresh, remove_key

_running = {}  # project -> process
_folders = []  # temporary ones; the last is that of the present file, or None


def tool(context):
    """The path of the program: of the preferences, of the add-on's folder, or on the path; or Refused."""
    entry = context.preferences.addons.get(__package__)
    given = getattr(entry.preferences, "tool", "") if entry and entry.preferences else ""
    if given:
        path = pathlib.Path(bpy.path.abspath(given))
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
        raise Refused(f"'{path}' is no program: correct the path of the tool in the add-on's preferences")
    own = pathlib.Path(__file__).resolve().parent / "bin" / "exemplar"
    if own.is_file() and not os.access(own, os.X_OK):
        own.chmod(0o755)  # Blender unpacks zips without their modes
    found = str(own) if own.is_file() else shutil.which("exemplar")
    if not found:
        raise Refused("The tool 'exemplar' is not there: name its path in the add-on's preferences, or install the add-on's "
                      "zip, which has it")
    return found


def place(thing):
    """The project's path: beside the .blend file, or in a temporary folder."""
    name = bpy.path.clean_name(thing.name)
    if name != thing.name:  # another object may have the same clean name
        name += "-" + hashlib.sha256(thing.name.encode()).hexdigest()[:8]
    if bpy.data.filepath:
        return pathlib.Path(bpy.path.abspath("//")) / "exemplar" / name / f"{name}.json"
    if not _folders or _folders[-1] is None:
        _folders.append(tempfile.TemporaryDirectory(prefix="exemplar-"))
    return pathlib.Path(_folders[-1].name) / name / f"{name}.json"


@persistent
def on_load(*_):
    """Objects of another file may have the same names: it gets a folder of its own."""
    _folders.append(None)


def brief(path):
    """A word that tells what a project and the files that it names hold."""
    made = hashlib.sha256()
    for each in [path, *exemplar.Project(path).files()]:
        made.update(each.read_bytes() if each.is_file() else b"gone")
    return made.hexdigest()


def remember(mesh, word, examples):
    """Keeps in mind what a project holds (brief), and the names of the examples in it."""
    mesh.exemplar.project = json.dumps([word, list(examples)])


def remembered(mesh):
    """The same, or None and None."""
    return json.loads(mesh.exemplar.project) if mesh.exemplar.project else (None, None)


class EXEMPLAR_OT_open_browser(Action):
    """Write the project beside the .blend file and open it in the browser, where its space can be shaped"""
    bl_idname = "exemplar.open_browser"
    bl_label = "Open in Browser"

    def act(self, context):
        thing, armature = write.ready(context)
        program, path = tool(context), place(thing)
        if path.is_file() and brief(path) != remembered(thing.data)[0]:
            raise Refused(f"'{path}' was changed in the browser, or is another project: press Reload Project, or move it "
                          f"away")
        path.parent.mkdir(parents=True, exist_ok=True)
        _, whole, notes = write.project(context, thing, armature, path.parent, path.stem)
        remember(thing.data, brief(path), whole.rig.examples)
        before = _running.get(path)
        if before is None or before.poll() is not None:
            _running[path] = subprocess.Popen([program, "edit", str(path), "-q"], stdin=subprocess.DEVNULL,
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return write.told(f"Opened '{path}': save there, then press Reload Project", notes)


class EXEMPLAR_OT_reload_project(Action):
    """Read the project back that was changed in the browser: layers, places and forms of examples"""
    bl_idname = "exemplar.reload_project"
    bl_label = "Reload Project"

    def act(self, context):
        thing, armature = write.ready(context)
        path = place(thing)
        if not path.is_file():
            raise Refused(f"There is no project '{path}': press Open in Browser first")
        read = brief(path)
        said = reload(context, thing, armature, path)
        remember(thing.data, read, [example.name for layer in thing.data.exemplar.layers for example in layer.examples])
        return said


def reload(context, thing, armature, path):
    """Replaces the layers of an object by those of a project. Returns a sentence."""
    rig = exemplar.Project(path).build()
    mesh = thing.data
    if rig.vertex_count() != len(mesh.vertices):
        raise Refused(f"The project has {rig.vertex_count()} vertices and '{thing.name}' {len(mesh.vertices)}: open it in "
                      f"the browser again")
    targets = export.target_names(mesh)
    layers = [layer for layer in rig.layers.values() if not (layer.kind == "direct" and set(layer.examples) <= set(targets))]
    for layer in layers:
        reason = bring.cannot_hold(rig, layer)
        if reason:
            raise Refused(f"The layer '{layer.name}' {reason}, which shape keys cannot hold: import the project instead")
    lost = [axis.name for axis in rig.axes.values()
            if axis.joint is not None and rig.skeleton.names[axis.joint] not in armature.data.bones]
    if lost:
        raise Refused(f"The axis '{lost[0]}' reads a joint that '{armature.name}' does not have")
    frame = export.Frame(thing, armature, context.scene)
    here = rigs.layers_of(mesh, character.vertices(mesh), Bones(armature))
    for layer, example in write.missing(mesh, {each["name"]: each["examples"] for each in here}):
        raise Refused(f"'{example.name}' {write.why(mesh, layer, example)}, so it is not in the project, and would be lost: "
                      f"let it count, or remove it first")
    written, kept = remembered(mesh)[1], {name for layer in layers for name in layer.examples}
    for example in (example for layer in mesh.exemplar.layers for example in layer.examples):
        if written is not None and example.name not in kept and example.name not in written:
            raise Refused(f"'{example.name}' was made or renamed after the project was written, and would be lost: remove "
                          f"it, or move '{path}' away and open it in the browser again")
    replace(thing, rig, layers, numpy.linalg.inv(frame.linear))
    refresh(context, thing)
    return f"Read '{path.name}': {sum(len(layer.examples) for layer in layers)} examples in {len(layers)} layers"


def replace(thing, rig, layers, linear):
    """Takes the layers of a rig. Keys whose names stay are kept, and get the new forms."""
    mesh, blocks = thing.data, thing.data.shape_keys.key_blocks
    kept = {name for layer in layers for name in layer.examples}
    known = [example.name for layer in mesh.exemplar.layers for example in layer.examples if example.name in blocks]
    for name in known:
        if name not in kept:
            remove_key(thing, blocks[name])
    before = {layer.name: (layer.solo, layer.still) for layer in mesh.exemplar.layers}
    mesh.exemplar.layers.clear()
    keys = {name: blocks[name] for name in known if name in kept}
    for layer in layers:
        made = bring.hold(thing, rig, layer, rig.skeleton.names, lambda delta: delta @ linear.T, keys)
        solo, still = before.get(layer.name, ("", False))
        made.solo = solo if solo in made.examples else ""
        if still:
            rest_again(made)


def rest_again(layer):
    """Lets a layer do nothing at rest by `still`, in place of the pseudo-example that a project has for that."""
    for i, pseudo in enumerate(layer.pseudos):
        if not len(pseudo.source) and not any(number.value for number in pseudo.weights) and \
                numpy.allclose([number.value for number in pseudo.at], layer.rest, atol=1e-4):
            layer.pseudos.remove(i)
            layer.still = True
            return


class Preferences(bpy.types.AddonPreferences):
    bl_idname = __package__

    tool: StringProperty(name="Tool", description="The program 'exemplar', if not the one that came with the add-on",
                         subtype="FILE_PATH")

    def draw(self, context):
        self.layout.prop(self, "tool")


_classes = (EXEMPLAR_OT_open_browser, EXEMPLAR_OT_reload_project, Preferences)


def register():
    for each in _classes:
        bpy.utils.register_class(each)
    bpy.app.handlers.load_post.append(on_load)


def unregister():
    if on_load in bpy.app.handlers.load_post:
        bpy.app.handlers.load_post.remove(on_load)
    for process in _running.values():
        if process.poll() is None:
            process.terminate()
    _running.clear()
    for each in reversed(_classes):
        bpy.utils.unregister_class(each)
