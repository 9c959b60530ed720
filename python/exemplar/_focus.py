"""The vertices that a picture is about: around a joint, of a group, or those that an example moves.

Around a joint: the nearest tenth of the joint's own vertices tells how thick the form is there. Everything of the
joint, its parent and its children within 2.2 times that distance is in view, as the form is at rest.
"""
import ctypes

import numpy

from . import _abi, _given
from ._arrays import address
from ._library import author, checked, runtime, text_of

NEAR, REACH, OWN_WEIGHT, VIEW_WEIGHT, MOVED = 0.1, 2.2, 0.5, 0.2, 0.05


def find_example(rig, words):
    """(layer, example) of 'NAME' or 'LAYER/NAME'."""
    pointer, found = rig._handle.pointer, []
    for layer in range(runtime.ex_rig_layer_count(pointer)):
        if runtime.ex_rig_layer_stage(pointer, layer) == _abi.EX_STAGE_TEXTURE:
            continue
        prefix = text_of(runtime.ex_rig_layer_name(pointer, layer)) + "/"
        count = runtime.ex_weigher_example_count(runtime.ex_rig_weigher(pointer, layer))
        names = [text_of(runtime.ex_rig_example_name(pointer, layer, k)) for k in range(count)]
        if words.startswith(prefix) and words[len(prefix):] in names:
            return layer, names.index(words[len(prefix):])
        if words in names:
            found.append((layer, names.index(words)))
    if len(found) > 1:
        raise ValueError(f"several layers have an example '{words}': name one as LAYER/{words}")
    if not found:
        raise KeyError(f"the rig has no form '{words}': name one as LAYER/EXAMPLE")
    return found[0]


def find_joint(rig, name):
    """The number of a joint; KeyError with the names that there are."""
    skeleton = runtime.ex_rig_skeleton(rig._handle.pointer)
    if not skeleton:
        raise ValueError(f"the rig has no skeleton, so it has no joint '{name}'")
    joint = runtime.ex_skeleton_find(skeleton, _given.text(name, "the name of a joint"))
    if joint < 0:
        count = runtime.ex_skeleton_joint_count(skeleton)
        names = [text_of(runtime.ex_skeleton_name(skeleton, j)) for j in range(count)]
        raise KeyError(f"the rig has no joint '{name}'; there are {', '.join(names)}")
    return joint


def amounts(rig, layer, example, level, count):
    """(V,) how far an example moves the vertices of a level."""
    values = numpy.zeros(count + 1, dtype=numpy.float32)
    checked(author.ex_rig_example_amounts, rig._handle.pointer, layer, example, level, address(values))
    return values[:count]


def joint_weights(rig, joint, level, count):
    """(V,) the skin weights of a joint at the vertices of a level."""
    values = numpy.zeros(count + 1, dtype=numpy.float32)
    checked(author.ex_rig_joint_weights, rig._handle.pointer, joint, level, address(values))
    return values[:count]


def _weigh(rig, level, count, joints):
    if not runtime.ex_rig_skin(rig._handle.pointer):
        return numpy.ones(count, dtype=numpy.float32)
    total = numpy.zeros(count, dtype=numpy.float32)
    for joint in joints:
        total += joint_weights(rig, joint, level, count)
    return total


def _distances(rig, level, count, joint):
    pointer = rig._handle.pointer
    skeleton = runtime.ex_rig_skeleton(pointer)
    worlds = numpy.zeros((runtime.ex_skeleton_joint_count(skeleton), 12), dtype=numpy.float32)
    positions = numpy.zeros((count, 3), dtype=numpy.float32)
    how, output = _abi.ex_evaluation(level=level), _abi.ex_output(positions=address(positions))
    scratch = ctypes.create_string_buffer(runtime.ex_rig_scratch_size(pointer, ctypes.byref(how), 1) +
                                          runtime.ex_skeleton_scratch_size(skeleton) + 16)
    where = _abi.ex_skeleton_output(worlds=address(worlds))
    runtime.ex_skeleton_evaluate(skeleton, None, ctypes.byref(where), scratch)
    runtime.ex_rig_evaluate(pointer, None, ctypes.byref(output), ctypes.byref(how), scratch)
    x, y, z = (positions - worlds[joint, [3, 7, 11]]).T
    return numpy.sqrt(x * x + y * y + z * z)


def _near(distances, weights, least):
    kept = numpy.sort(distances[weights >= numpy.float32(least)])
    return kept[int(NEAR * (len(kept) - 1))] if len(kept) else numpy.float32(0)


def around_joint(rig, name, level, count):
    """(N,) vertices of the level around a joint."""
    joint, skeleton = find_joint(rig, name), runtime.ex_rig_skeleton(rig._handle.pointer)
    parents = [runtime.ex_skeleton_parent(skeleton, j) for j in range(runtime.ex_skeleton_joint_count(skeleton))]

    def is_below(j):
        while j >= 0 and j != joint:
            j = parents[j]
        return j == joint

    distances = _distances(rig, level, count, joint)
    distance = _near(distances, _weigh(rig, level, count, [joint]), OWN_WEIGHT)
    if distance > 0:
        near = [j for j in range(len(parents)) if j == joint or parents[j] == joint or parents[joint] == j]
        weights = _weigh(rig, level, count, near)
    else:  # a joint without a part of its own, such as a root: that of all joints below it
        weights = _weigh(rig, level, count, [j for j in range(len(parents)) if is_below(j)])
        distance = _near(distances, weights, VIEW_WEIGHT)
    weights = numpy.where(distances <= numpy.float32(REACH) * distance, weights, numpy.float32(0))
    found = numpy.nonzero(weights >= numpy.float32(VIEW_WEIGHT))[0]
    if not len(found):
        raise ValueError(f"the joint '{name}' moves no vertex: look_at needs one that does")
    return found


def of_group(mesh, name):
    """(N,) vertices of a group of an ex_mesh."""
    mask = numpy.zeros(mesh.contents.vertex_count + 1, dtype=numpy.float32)
    checked(author.ex_mask_from_group, mesh, _given.text(name, "around"), address(mask))
    found = numpy.nonzero(mask[:-1] >= 0.5)[0]
    if not len(found):
        raise ValueError(f"the group '{name}' has no faces to show")
    return found


def moved(rig, words, level, count):
    """(N,) vertices that an example moves by at least 5 % of its largest movement."""
    layer, example = find_example(rig, words)
    values = amounts(rig, layer, example, level, count)
    most = values.max() if count else 0
    if not most > 0:
        raise ValueError(f"the example '{words}' moves no vertex, so there is nothing to fit: leave fit out")
    return numpy.nonzero(values >= numpy.float32(MOVED) * most)[0]


def check(look_at, around, fit):
    """Refuses two of them at once. Returns the words of fit, without 'example:'."""
    if sum(option is not None for option in (look_at, around, fit)) > 1:
        raise ValueError("look_at, around and fit exclude each other: give one of them")
    for name, option in (("look_at", look_at), ("around", around), ("fit", fit)):
        _given.text(option, name, optional=True)
    if fit is not None and fit.startswith("example:"):
        fit = _given.text(fit[len("example:"):], "fit").decode()
    return fit


def find(rig, mesh, level, look_at, around, fit):
    """(N,) the vertices to frame, or None for all. mesh: a pointer to an ex_mesh; rig: None for a form."""
    count = mesh.contents.vertex_count
    if rig is None and (look_at is not None or fit is not None):
        raise ValueError("a form has no joints and no examples, so look_at and fit go with rigs")
    if look_at is not None:
        return around_joint(rig, look_at, level, count)
    if around is not None:
        return of_group(mesh, around)
    return None if fit is None else moved(rig, fit, level, count)
