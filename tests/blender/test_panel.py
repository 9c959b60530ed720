"""Tests of what an artist presses in the sidebar: examples, pseudo-examples, findings, mirror images, and the panels."""
import bpy
import numpy

import scenes


def refuses(operator, words, **options):
    """An operator says a sentence, and the rig stays as it was."""
    thing = bpy.context.view_layer.objects.get("Tube") or bpy.context.view_layer.objects["Arms"]
    before = state(thing)
    try:
        operator(**options)
    except RuntimeError as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"not refused: {words}")
    assert state(thing) == before


def state(thing):
    rig = thing.data.exemplar
    keys = [key.name for key in thing.data.shape_keys.key_blocks] if thing.data.shape_keys else []
    return keys, rig.made, [(layer.name, layer.kind, [(each.name, each.numbers, each.muted) for each in layer.examples],
                             [[n.value for n in each.at] for each in layer.pseudos]) for layer in rig.layers]


def bent(angles=(45, 90)):
    """A tube with an example at each angle of its upper bone about x."""
    thing, armature = scenes.tube(around=12, along=24)
    bpy.ops.exemplar.make()
    for angle in angles:
        scenes.turn(armature, "bone 2", x=angle)
        scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.002 * angle, (0, 1, 0)))
        bpy.ops.exemplar.keep()
    return thing, armature, thing.data.exemplar


def live_form(thing):
    from exemplar_blender import compat, live
    return compat.read_key(live.key_of(thing.data), len(thing.data.vertices))


def test_go():
    thing, armature, rig = bent()
    assert [each.name for each in rig.layer.examples] == ["bone 2.x 45", "bone 2.x 90"]
    bpy.ops.exemplar.go_rest()
    assert abs(armature.pose.bones["bone 2"].rotation_euler.x) < 1e-6
    bpy.ops.exemplar.go(example="bone 2.x 45")
    assert abs(numpy.degrees(armature.pose.bones["bone 2"].rotation_euler.x) - 45) < 1e-3
    assert rig.layer.active == 0
    key = numpy.empty(3 * len(thing.data.vertices), dtype=numpy.float32)
    thing.data.shape_keys.key_blocks["bone 2.x 45"].data.foreach_get("co", key)
    assert numpy.abs(live_form(thing) - key.reshape(-1, 3)).max() < 1e-5
    refuses(bpy.ops.exemplar.go, "There is no example 'other'", example="other")
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    refuses(bpy.ops.exemplar.go, "Keep or Discard", example="bone 2.x 90")
    bpy.ops.exemplar.discard()
    bpy.ops.exemplar.go(example="bone 2.x 90")


def test_go_says_what_is_held():
    from exemplar_blender import examples
    thing, armature = scenes.tube(around=12, along=24, bones=3)
    bpy.ops.exemplar.make()
    for axes in ("bone 3:X", "bone 3:SWING", "bone 3:ROTATION"):
        scenes.turn(armature, "bone 2", x=30)
        scenes.turn(armature, "bone 3", x=40, y=0 if axes == "bone 3:X" else 20)
        scenes.sculpt(thing, scenes.bulge((0, 0.4, 8 / 3), 0.5, 0.2))
        bpy.ops.exemplar.keep(axes=axes)
    for layer in thing.data.exemplar.layers:
        def gone():
            bpy.ops.exemplar.go_rest()
            scenes.turn(armature, "bone 2", x=30)
            return examples.go(bpy.context, thing, armature, layer, layer.examples[0].numbers)

        assert gone() is None
        armature.data.bones["bone 3"].use_inherit_rotation = False
        assert "'bone 3' is held by a constraint or its parent" in gone()
        armature.data.bones["bone 3"].use_inherit_rotation = True
        constraint = armature.pose.bones["bone 3"].constraints.new("LIMIT_ROTATION")
        constraint.use_limit_x, constraint.owner_space = True, "LOCAL"
        assert "'bone 3' is held by a constraint or its parent" in gone()
        armature.pose.bones["bone 3"].constraints.remove(constraint)
        bpy.context.view_layer.update()


def with_sliders():
    """A tube with a layer of two sliders."""
    from exemplar_blender import data, examples
    thing, armature = scenes.tube(around=12, along=24)
    bpy.ops.exemplar.make()
    layer = thing.data.exemplar.layers.add()
    layer.name, layer.kind = "sliders", "direct"
    for name, amount in (("one", 0.1), ("two", 0.2)):
        axis = layer.axes.add()
        axis.name, axis.reading = name, "DIAL"
        examples.add_example(thing, layer, name, [], scenes_basis(thing) + amount)
        thing[name] = 0.0
    data.touch(thing.data)
    bpy.context.view_layer.update()
    return thing, armature


def test_go_to_a_slider():
    thing, armature = with_sliders()
    thing["one"] = 0.3
    bpy.ops.exemplar.go(example="two")
    assert (thing["one"], thing["two"]) == (0, 1)
    assert numpy.abs(live_form(thing) - scenes_basis(thing) - 0.2).max() < 1e-5
    refuses(bpy.ops.exemplar.resculpt, "have sliders, and no poses", example="two")


def test_from_the_armature():
    """Everything works while the armature is the active object, in Pose Mode."""
    thing, armature, rig = bent()
    assert bpy.ops.exemplar.pose() == {"FINISHED"}
    assert bpy.context.object == armature and armature.mode == "POSE"
    bpy.ops.exemplar.go(example="bone 2.x 45")
    assert armature.mode == "POSE"
    bpy.ops.exemplar.sculpt()
    assert bpy.context.object == thing and thing.mode == "SCULPT" and armature.mode == "OBJECT"
    bpy.ops.exemplar.go(example="bone 2.x 90")
    assert thing.mode == "SCULPT"
    bpy.ops.exemplar.pose()
    armature.hide_set(True)
    bpy.ops.object.mode_set(mode="OBJECT")
    scenes.use(thing)
    refuses(bpy.ops.exemplar.pose, "is hidden")


def test_mute_and_solo():
    thing, armature, rig = bent()
    from exemplar_blender import live
    layer = rig.layer

    def weights():
        bpy.context.view_layer.update()
        return live.weights(thing, armature, bpy.context.evaluated_depsgraph_get())[1]["bone 2.x"]

    assert abs(weights()["bone 2.x 90"] - 1) < 1e-5 and abs(layer.examples[1].weight - 1) < 1e-5
    layer.examples["bone 2.x 90"].muted = True
    assert list(weights()) == ["bone 2.x 45"]
    bpy.ops.exemplar.solo(example="bone 2.x 90")
    assert layer.solo == "bone 2.x 90" and list(weights()) == ["bone 2.x 90"]
    bpy.ops.exemplar.solo(example="bone 2.x 90")
    assert layer.solo == ""
    scenes.turn(armature, "bone 1", z=30)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 1), 0.5, 0.1, (0, 1, 0)))
    bpy.ops.exemplar.keep(axes="bone 1:Z")
    bpy.ops.exemplar.solo_layer(layer="bone 2.x")
    assert [each.muted for each in rig.layers] == [False, True]
    bpy.ops.exemplar.solo_layer(layer="bone 2.x")
    assert not any(each.muted for each in rig.layers)


def test_rename():
    thing, armature, rig = bent()
    bpy.ops.exemplar.solo(example="bone 2.x 45")
    rig.layer.examples[0].label = "half"
    assert rig.layer.solo == rig.layer.examples[0].name == "half" and "half" in thing.data.shape_keys.key_blocks
    bpy.ops.exemplar.rename_example(example="bone 2.x 90", name="half")
    assert [each.name for each in rig.layer.examples] == ["half", "half.001"]
    bpy.ops.exemplar.rename_layer(name="elbow")
    assert rig.layer.name == "elbow"
    rig.layer.label = ""
    assert rig.layer.name == "elbow"


def test_move_duplicate_remove():
    thing, armature, rig = bent()
    refuses(bpy.ops.exemplar.move_here, "is at this pose already", example="bone 2.x 45")
    scenes.turn(armature, "bone 2", x=60)
    bpy.ops.exemplar.move_here(example="bone 2.x 45")
    assert abs(rig.layer.examples[0].at[0].value - 60) < 1e-3
    scenes.turn(armature, "bone 2", x=-50)
    bpy.ops.exemplar.duplicate(example="bone 2.x 90")
    assert rig.example.name == "bone 2.x -50" and abs(rig.example.at[0].value + 50) < 1e-3
    blocks = thing.data.shape_keys.key_blocks
    forms = numpy.empty((2, 3 * len(thing.data.vertices)), dtype=numpy.float32)
    blocks["bone 2.x -50"].data.foreach_get("co", forms[0])
    blocks["bone 2.x 90"].data.foreach_get("co", forms[1])
    assert numpy.array_equal(*forms) and numpy.abs(live_form(thing).ravel() - forms[1]).max() < 1e-5
    refuses(bpy.ops.exemplar.duplicate, "is at this pose already", example="bone 2.x 90")
    bpy.ops.exemplar.remove_example(example="bone 2.x 90")
    assert "bone 2.x 90" not in blocks and len(rig.layer.examples) == 2
    bpy.ops.exemplar.remove_example()
    bpy.ops.exemplar.remove_example()
    assert not len(rig.layers) and list(blocks.keys()) == ["Basis", "Exemplar"]
    refuses(bpy.ops.exemplar.remove_example, "There is no layer yet")


def test_nothing_changes_under_a_sculpt():
    thing, armature, rig = bent()
    scenes.turn(armature, "bone 2", x=60)
    bpy.ops.exemplar.sculpt()
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    for name in ("move_here", "duplicate", "solo", "solo_layer"):
        refuses(getattr(bpy.ops.exemplar, name), "press Keep or Discard first")
    assert not rig.layer.solo and not rig.layer.muted and thing.mode == "SCULPT"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_remove_while_baked():
    from exemplar_blender import bake_keys, findings
    thing, armature, rig = bent()
    bpy.ops.exemplar.bake_keys()
    assert findings.troubles(thing, armature) == []
    bpy.ops.exemplar.remove_example(example="bone 2.x 45")
    assert "since it was baked: bake again" in findings.troubles(thing, armature)[0]
    drivers = thing.data.shape_keys.animation_data.drivers
    assert [curve.data_path for curve in drivers] == ['key_blocks["bone 2.x 90"].value']
    bpy.ops.exemplar.remove_example()
    assert not len(drivers) and not rig.baked and rig.enabled and findings.troubles(thing, armature) == []
    scenes.turn(armature, "bone 2", x=30, z=50)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    bpy.ops.exemplar.keep(axes="bone 2:SWING")
    name = rig.example.name
    bpy.ops.exemplar.bake_keys()
    assert bake_keys.helpers(thing.data)
    bpy.ops.exemplar.remove_rig("EXEC_DEFAULT", keep_keys=True)
    assert not len(drivers) and not bake_keys.helpers(thing.data) and not list(thing.keys())
    assert not rig.made and not rig.baked and rig.enabled
    assert list(thing.data.shape_keys.key_blocks.keys()) == ["Basis", name]


def test_remove_rig_with_sliders():
    thing, armature = with_sliders()
    bpy.ops.exemplar.remove_rig("EXEC_DEFAULT")
    assert not list(thing.keys()) and list(thing.data.shape_keys.key_blocks.keys()) == ["Basis"]


def test_remove_layer_and_rig():
    thing, armature, rig = bent()
    bpy.ops.exemplar.remove_layer()
    assert not len(rig.layers) and list(thing.data.shape_keys.key_blocks.keys()) == ["Basis", "Exemplar"]
    bpy.ops.exemplar.remove_rig("EXEC_DEFAULT")
    assert not rig.made and list(thing.data.shape_keys.key_blocks.keys()) == ["Basis"]
    bpy.ops.exemplar.make()
    assert rig.made


def test_pseudo():
    thing, armature, rig = bent()
    scenes.turn(armature, "bone 2", x=-60)
    before = live_form(thing)
    refuses(bpy.ops.exemplar.remove_pseudo, "has 0 pseudo-examples")
    bpy.ops.exemplar.take_form(example="bone 2.x 90")
    pseudo = rig.layer.pseudos[0]
    assert abs(pseudo.at[0].value + 60) < 1e-3 and abs(pseudo.source[0].value - 90) < 1e-3
    taken = live_form(thing)
    bpy.ops.exemplar.go(example="bone 2.x 90")
    assert numpy.abs(taken - live_form(thing)).max() < 1e-5 < numpy.abs(taken - before).max()
    refuses(bpy.ops.exemplar.take_form, "is at this pose already", example="bone 2.x 45")
    scenes.turn(armature, "bone 2", x=-60)
    bpy.ops.exemplar.take_form(example="bone 2.x 45")
    assert len(rig.layer.pseudos) == 1 and abs(rig.layer.pseudos[0].source[0].value - 45) < 1e-3
    bpy.ops.exemplar.remove_pseudo()
    assert numpy.abs(live_form(thing) - before).max() < 1e-5


def test_axes():
    """Turned bones are listed when a sculpt is noticed; what is ticked counts."""
    thing, armature, rig = bent(())
    scenes.turn(armature, "bone 1", z=20)
    scenes.turn(armature, "bone 2", x=80)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    assert rig.pending and [(each.bone, each.reading, each.used) for each in rig.proposed] == \
        [("bone 2", "X", True), ("bone 1", "Z", False)]
    rig.proposed[1].used = True
    assert rig.chosen
    for each in rig.proposed:
        each.used = False
    refuses(bpy.ops.exemplar.keep, "No bone is ticked")
    bpy.ops.exemplar.find_axes()
    assert not rig.chosen
    rig.proposed[1].used = True
    rig.next_name = "both"
    bpy.ops.exemplar.keep()
    assert [axis.name for axis in rig.layer.axes] == ["bone 2.x", "bone 1.z"] and rig.example.name == "both"
    assert not len(rig.proposed) and not rig.next_name and not rig.chosen


def test_check():
    thing, armature, rig = bent((20, 40, 60, 80, 100))
    kept = bpy.context.window_manager.exemplar_findings
    bpy.ops.exemplar.check()
    assert not [each.text for each in kept.found if each.severity != "note"] and kept.revision == rig.revision
    assert not any("layers[" in each.text for each in kept.found)
    for example, angle in zip(rig.layer.examples, (20, 24, 28, 32, 100)):
        example.place([angle])
    rig.layer.parameters, rig.layer.kind = '{"kernel": "thin_plate"}', "cardinal"
    bpy.ops.exemplar.check()
    swinging = [each for each in kept.found if each.remedy == "calm"]
    assert swinging and swinging[0].severity == "warning" and "'bone 2.x'" in swinging[0].text, \
        [(each.severity, each.text) for each in kept.found]
    bpy.ops.exemplar.calm(layer=swinging[0].layer)
    assert rig.layer.kind == "calm" and not any(each.remedy for each in kept.found)


def test_troubles():
    from exemplar_blender import findings
    thing, armature, rig = bent()
    assert findings.troubles(thing, armature) == []
    other = bpy.data.objects.new("Other", thing.data)
    bpy.context.scene.collection.objects.link(other)
    assert "single user" in findings.troubles(thing, armature)[0]
    bpy.data.objects.remove(other)
    thing.data.shape_keys.key_blocks["bone 2.x 45"].name = "lost"
    bpy.context.view_layer.update()
    assert "'bone 2.x 45' is gone" in findings.troubles(thing, armature)[0]
    bpy.ops.exemplar.remove_example(example="bone 2.x 45")
    armature.data.bones["bone 2"].name = "upper"
    bpy.context.view_layer.update()
    assert "'bone 2' of layer 'bone 2.x' is gone" in findings.troubles(thing, armature)[0]
    rig.layer.axes[0].bone = "upper"
    bpy.context.view_layer.update()
    assert findings.troubles(thing, armature) == []
    assert numpy.abs(live_form(thing) - scenes_basis(thing)).max() > 0.1


def scenes_basis(thing):
    from exemplar_blender import character
    return character.vertices(thing.data)


def mirrored(form, thing):
    """(V, 3) a form of the arms on the other side: vertices by their places at rest."""
    basis = scenes_basis(thing)
    other = basis * (-1, 1, 1)
    partner = ((basis[None] - other[:, None]) ** 2).sum(-1).argmin(1)
    return form[partner] * (-1, 1, 1)


def test_mirror():
    thing, armature = scenes.arms()
    bpy.ops.exemplar.make()
    rig = thing.data.exemplar
    scenes.turn(armature, "forearm.L", z=70)
    scenes.sculpt(thing, scenes.bulge((1.5, 0, 0.3), 0.4, 0.2, (0.3, 0.2, 1)))
    bpy.ops.exemplar.keep()
    scenes.turn(armature, "forearm.L")
    scenes.turn(armature, "arm.L", x=40, z=30)
    scenes.sculpt(thing, scenes.bulge((0.5, 0, 0.3), 0.3, 0.2, (0.3, 0.2, 1)))
    bpy.ops.exemplar.keep(axes="arm.L:ROTATION")
    bpy.ops.exemplar.mirror(what="LEFT")
    assert [layer.name for layer in rig.layers] == ["forearm.L.z", "arm.L.rotation", "forearm.R.z", "arm.R.rotation"]
    assert [layer.examples[0].name for layer in rig.layers][2:] == ["forearm.R.z 70", "arm.R.rotation 50"]
    scenes.turn(armature, "forearm.L", z=50)
    left = live_form(thing), scenes.posed(thing)
    scenes.turn(armature, "forearm.L")
    scenes.turn(armature, "arm.L")
    scenes.turn(armature, "arm.R", x=40, z=-30)
    scenes.turn(armature, "forearm.R", z=-50)
    right = live_form(thing), scenes.posed(thing)
    for a, b in zip(left, right):
        assert numpy.abs(mirrored(a, thing) - b).max() < 2e-5, numpy.abs(mirrored(a, thing) - b).max()
    assert numpy.abs(right[0] - scenes_basis(thing)).max() > 0.1
    refuses(bpy.ops.exemplar.mirror, "tick Replace", what="EXAMPLE", example="forearm.L.z 70")
    bpy.ops.exemplar.mirror(what="EXAMPLE", example="forearm.L.z 70", replace=True)
    assert len(rig.layers) == 4 and len(rig.layers["forearm.R.z"].examples) == 1
    bpy.ops.exemplar.remove_layer(layer="forearm.L.z")
    bpy.ops.exemplar.mirror(what="LAYER", layer="forearm.R.z")
    assert rig.layer.name == "forearm.L.z" and abs(rig.example.at[0].value - 70) < 1e-3


def test_mirror_leaves_what_does_not_count():
    from exemplar_blender import compat
    thing, armature = scenes.arms()
    bpy.ops.exemplar.make()
    scenes.turn(armature, "forearm.L", x=60)
    scenes.sculpt(thing, scenes.bulge((1.5, 0, 0.2), 0.4, 0.2, (0, 0, 1)))
    bpy.ops.exemplar.keep()
    rig = thing.data.exemplar
    source = dict(layer=rig.layer.name, example=rig.example.name)
    bpy.ops.exemplar.mirror(what="EXAMPLE")
    made, layer = rig.example, rig.layer
    made.at[0].value, made.muted = 0.3 * made.at[0].value, True
    bpy.context.view_layer.update()
    key = thing.data.shape_keys.key_blocks[made.name]
    form = compat.read_key(key, len(thing.data.vertices))
    refuses(bpy.ops.exemplar.mirror, "does not count now", what="EXAMPLE", **source)
    assert numpy.array_equal(compat.read_key(key, len(form)), form)
    bpy.ops.exemplar.mirror(what="EXAMPLE", replace=True, **source)
    assert len(layer.examples) == 1


def test_mirror_onto_other_rolls():
    """Bones of the right that are rolled otherwise, of objects that are turned and scaled: axes about other directions."""
    thing, armature = scenes.arms(roll=0.6, scale=0.1, turn=(0.3, 0, 0))
    bpy.ops.exemplar.make()
    rig = thing.data.exemplar
    scenes.turn(armature, "forearm.L", z=70)
    scenes.sculpt(thing, scenes.bulge((1.5, 0, 0.3), 0.4, 0.2, (0.3, 0.2, 1)))
    bpy.ops.exemplar.keep()
    left = live_form(thing)
    bpy.ops.exemplar.mirror(what="EXAMPLE")
    assert rig.layer.name == "forearm.R.z" and rig.layer.axes[0].reading == "TWIST"
    bpy.ops.exemplar.go_rest()
    assert numpy.abs(live_form(thing) - scenes_basis(thing)).max() < 1e-5
    bpy.ops.exemplar.go()
    right = live_form(thing)
    assert numpy.abs(mirrored(left, thing) - right).max() < 2e-5, numpy.abs(mirrored(left, thing) - right).max()


class Drawn:
    """A layout that writes down what is drawn: names of operators, texts and properties. Lists draw their rows."""

    def __init__(self, said):
        self.__dict__["said"] = said

    def __setattr__(self, name, value):
        self.__dict__[name] = value

    def part(self, *_, **__):
        return Drawn(self.said)

    row = column = box = split = part

    def label(self, text="", icon="NONE"):
        assert icon in icons(), icon
        self.said.append(text)

    def prop(self, data, name, text=None, icon="NONE", **_):
        if name.startswith('["'):
            assert name[2:-2] in data, name
            self.said.append(text)
            return
        assert icon in icons() and name in data.bl_rna.properties, (icon, name)
        getattr(data, name)
        self.said.append(text or data.bl_rna.properties[name].name)

    def prop_search(self, data, name, *_, text=""):
        self.prop(data, name, text)

    def operator(self, name, text=None, icon="NONE", **_):
        assert icon in icons(), icon
        self.said.append(name)
        return Options(getattr(bpy.ops.exemplar, name.split(".")[1]).get_rna_type().properties.keys())

    def template_list(self, kind, _, data, name, active, active_name, rows=0):
        for item in getattr(data, name):
            getattr(bpy.types, kind).draw_item(None, bpy.context, self, data, item, 0, active, active_name, 0)


class Options:
    """Takes the options of an operator, and no others."""

    def __init__(self, known):
        self.__dict__["known"] = known

    def __setattr__(self, name, value):
        assert name in self.known, name


def icons():
    return bpy.types.UILayout.bl_rna.functions["label"].parameters["icon"].enum_items.keys()


def drawn():
    """Everything that the panels draw now."""
    from exemplar_blender import panel
    said = []
    for kind in (each for each in panel._classes if issubclass(each, panel.Tab)):
        if not hasattr(kind, "poll") or kind.poll(bpy.context):
            layout = type("Self", (), {"layout": Drawn(said)})
            kind.draw(layout, bpy.context)
            if hasattr(kind, "draw_header"):
                kind.draw_header(layout, bpy.context)
    return said


def test_panels():
    assert "Select a mesh that has an armature" in " ".join(drawn())
    thing, armature = scenes.tube(around=12, along=24)
    assert "exemplar.make" in drawn()
    bpy.ops.exemplar.make()
    said = drawn()
    assert {"exemplar.pose", "exemplar.sculpt", "exemplar.keep", "Nothing to show yet"} <= set(said)
    assert "Sculpt not kept" not in said and "exemplar.make" not in said
    assert {"exemplar.export_rig", "exemplar.unbake", "exemplar.garment_learn"} <= set(said)
    scenes.turn(armature, "bone 2", x=80)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    said = drawn()
    assert {"Sculpt not kept", "bone 2", "80.0°", "exemplar.discard", "exemplar.find_axes"} <= set(said), said
    bpy.ops.exemplar.keep()
    scenes.turn(armature, "bone 2", x=-30)
    bpy.ops.exemplar.take_form()
    bpy.ops.exemplar.check()
    said = drawn()
    assert {"exemplar.go", "bone 2.x (°)", "exemplar.take_form", "bone 2.x -30: as bone 2.x 80", "Everything is fine",
            "exemplar.mirror", "exemplar.remove_rig"} <= set(said), said
    assert abs(thing.data.exemplar.example.weight - 1) < 1e-5
    scenes.turn(armature, "bone 2", x=30, y=50)
    scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
    bpy.ops.exemplar.keep(axes="bone 2:ROTATION")
    assert {"bone 2.rotation", "Across"} <= set(drawn()), drawn()
    scenes.use(armature)
    assert "bone 2.rotation" in drawn()
    scenes.use(thing)
    thing.shape_key_add(name="twisted", from_mix=False)
    thing.active_shape_key_index = len(thing.data.shape_keys.key_blocks) - 1
    scenes.sculpt(thing, lambda form: form[:, [1, 0, 2]])
    bpy.ops.exemplar.warp()
    assert "twisted" in drawn()
    armature.data.bones["bone 2"].name = "upper"
    bpy.context.view_layer.update()
    assert "Bone of bone 2.rotation" in drawn() and "is gone" in " ".join(drawn())


def test_kinds_in_the_panel():
    thing, armature, rig = bent()
    layer = rig.layer
    assert "Weights" in drawn() and "Sliders" not in drawn() and layer.weights == "calm"
    assert "direct" not in layer.bl_rna.properties["weights"].enum_items
    before = rig.revision
    layer.weights = "gaussian"
    assert layer.kind == "gaussian" == layer.weights and rig.revision != before
    scenes.clear()
    thing, armature = with_sliders()
    layer = thing.data.exemplar.layer
    assert "Sliders" in drawn() and "Weights" not in drawn()
    layer.weights = "calm"
    assert layer.kind == "direct"


def test_map():
    """The numbers that the map shows, and which of them."""
    from exemplar_blender import map
    thing, armature, rig = bent()
    automatic = bpy.context.window_manager.exemplar_map
    points = numpy.array([map.spread(rig.layer, each.numbers) for each in rig.layer.examples])
    assert numpy.allclose(points, [[45], [90]], atol=1e-3) and map.chosen(rig.layer, points, automatic) == [0]
    for x, y, z in ((40, 0, 0), (0, 0, 70)):
        scenes.turn(armature, "bone 2", x=x, y=y, z=z)
        scenes.sculpt(thing, scenes.bulge((0, 0.3, 2), 0.5, 0.1, (0, 1, 0)))
        bpy.ops.exemplar.keep(axes="bone 2:ROTATION")
    points = numpy.array([map.spread(rig.layer, each.numbers) for each in rig.layer.examples])
    assert numpy.allclose(points, [[40, 0, 0], [0, 0, 70]], atol=1e-3)
    assert map.chosen(rig.layer, points, automatic) == [2, 0]
    assert map.names(rig.layer)[2] == "bone 2.rotation z"
