"""Scenes for the tests of the Blender add-on: characters to pose, and sculpts made by a formula."""
import math

import bpy
import numpy


def clear():
    """An empty scene; add-ons stay."""
    bpy.ops.wm.read_homefile(app_template="", use_empty=True, use_factory_startup=True)


def use(thing):
    """Makes an object the active and only selected one."""
    if bpy.context.object and bpy.context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for each in bpy.context.view_layer.objects:
        each.select_set(False)
    thing.select_set(True)
    bpy.context.view_layer.objects.active = thing
    return thing


def tube(around=24, along=60, length=4.0, radius=0.5, bones=2, scale=1.0, turn=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0),
         names=()):
    """A tube along z with bones one above the other, its weights a smooth step at each joint. The mesh and the armature may
    be turned and scaled as objects. names: of the bones, else "bone 1" and so on."""
    names = names or [f"bone {i + 1}" for i in range(bones)]
    heights = numpy.linspace(0, length, along + 1)
    angles = numpy.arange(around) * 2 * math.pi / around
    vertices = [(radius * math.cos(a), radius * math.sin(a), h) for h in heights for a in angles]
    faces = [(i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
             for i in range(along) for j in range(around)]
    mesh = bpy.data.meshes.new("Tube")
    mesh.from_pydata(vertices, [], faces)
    thing = bpy.data.objects.new("Tube", mesh)
    skeleton = bpy.data.armatures.new("Bones")
    armature = bpy.data.objects.new("Bones", skeleton)
    for each in (thing, armature):
        bpy.context.scene.collection.objects.link(each)
        each.rotation_euler, each.scale, each.location = turn, (scale,) * 3, place
    use(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for i in range(bones):
        bone = skeleton.edit_bones.new(names[i])
        bone.head, bone.tail = (0, 0, length * i / bones), (0, 0, length * (i + 1) / bones)
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for i in range(bones):
        group = thing.vertex_groups.new(name=names[i])
        for v, (_, _, h) in enumerate(vertices):
            weight = 1.0
            for joint, inside in ((i, 1), (i + 1, -1)):
                if 0 < joint < bones:
                    x = min(1, max(0, (h - length * joint / bones) / (2 * radius) + 0.5))
                    step = x * x * (3 - 2 * x)
                    weight *= step if inside > 0 else 1 - step
            if weight > 1e-6:
                group.add([v], weight, "REPLACE")
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    bpy.context.view_layer.update()
    return use(thing), armature


def posed(thing):
    """(V, 3) of an object as it is seen, in its own space; of the vertices that the mesh itself has."""
    shown = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = shown.to_mesh()
    out = numpy.empty((len(mesh.vertices), 3), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", out.ravel())
    shown.to_mesh_clear()
    return out[:len(thing.data.vertices)]


def sculpt(thing, change):
    """Changes the shape key that Blender would sculpt on, the active one: change((V, 3)) returns new positions."""
    key = thing.active_shape_key
    form = numpy.empty((len(thing.data.vertices), 3), dtype=numpy.float32)
    key.data.foreach_get("co", form.ravel())
    made = numpy.ascontiguousarray(change(form.copy()), dtype=numpy.float32)
    key.data.foreach_set("co", made.ravel())
    thing.data.update()
    thing.data.update_tag()
    bpy.context.view_layer.update()
    return made


def bulge(centre, radius, amount, direction=(1, 0, 0)):
    """A change for `sculpt`: vertices around a centre go in a direction, by a smooth bump."""
    def change(form):
        near = numpy.exp(-(((form - centre) / radius) ** 2).sum(1))
        near[near < 1e-3] = 0
        return form + amount * near[:, None] * numpy.asarray(direction)
    return change


def human(folder):
    """MakeHuman's body from its files, with its 163 bones, z up, in decimetres: (object, armature). Helpers are left out."""
    import json
    count, vertices, faces = 13380, [], []
    with open(folder / "3dobjs" / "base.obj", encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if words and words[0] == "v":
                x, y, z = (float(word) for word in words[1:4])
                vertices.append((x, -z, y))
            elif words and words[0] == "f":
                face = [int(word.split("/")[0]) - 1 for word in words[1:]]
                if max(face) < count:
                    faces.append(face)
    rig = json.loads((folder / "rigs" / "default.mhskel").read_text(encoding="utf-8"))
    weights = json.loads((folder / "rigs" / "default_weights.mhw").read_text(encoding="utf-8"))["weights"]
    whole = numpy.array(vertices)
    mesh = bpy.data.meshes.new("Human")
    mesh.from_pydata(vertices[:count], [], faces)
    thing, skeleton = bpy.data.objects.new("Human", mesh), bpy.data.armatures.new("Skeleton")
    armature = bpy.data.objects.new("Skeleton", skeleton)
    for each in (thing, armature):
        bpy.context.scene.collection.objects.link(each)
    use(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, bone in rig["bones"].items():
        made = skeleton.edit_bones.new(name)
        made.head, made.tail = (whole[rig["joints"][bone[end]]].mean(0) for end in ("head", "tail"))
    for name, bone in rig["bones"].items():
        if bone["parent"]:
            skeleton.edit_bones[name].parent = skeleton.edit_bones[bone["parent"]]
    bpy.ops.object.mode_set(mode="OBJECT")
    for name, rows in weights.items():
        group = thing.vertex_groups.new(name=name)
        for vertex, weight in rows:
            if vertex < count:
                group.add([vertex], weight, "REPLACE")
    thing.parent = armature
    thing.modifiers.new("Armature", "ARMATURE").object = armature
    thing.scale = armature.scale = (1, 1, 1)
    bpy.context.view_layer.update()
    return use(thing), armature


def gltf(path):
    """Objects of a glTF file, by Blender's own importer."""
    import addon_utils
    addon_utils.enable("io_scene_gltf2")
    if not hasattr(numpy, "bool"):
        numpy.bool = bool  # 3.4's importer needs it
    before = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=str(path))
    return [thing for thing in bpy.data.objects if thing not in before]


def sleeve(body, armature, around=16, along=16, cloth=True, scale=1.0, turn=(0.0, 0.0, 0.0), place=(0.0, 0.0, 0.0)):
    """A sleeve around the tube, moved by the same two bones; with cloth simulated, held at its lower end. The object may
    have a place of its own: its vertices are around the tube all the same."""
    heights, angles = numpy.linspace(0.5, 3.5, along + 1), numpy.arange(around) * 2 * math.pi / around
    vertices = numpy.array([(0.6 * math.cos(a), 0.6 * math.sin(a), h) for h in heights for a in angles])
    faces = [(i * around + j, i * around + (j + 1) % around, (i + 1) * around + (j + 1) % around, (i + 1) * around + j)
             for i in range(along) for j in range(around)]
    thing = bpy.data.objects.new("Sleeve", bpy.data.meshes.new("Sleeve"))
    thing.rotation_euler, thing.scale, thing.location = turn, (scale,) * 3, place
    bpy.context.scene.collection.objects.link(thing)
    bpy.context.view_layer.update()
    into = numpy.array(thing.matrix_world.inverted() @ body.matrix_world)
    thing.data.from_pydata((vertices @ into[:3, :3].T + into[:3, 3]).tolist(), [], faces)
    upper, lower, held = (thing.vertex_groups.new(name=name) for name in ("bone 2", "bone 1", "held"))
    for v, (_, _, h) in enumerate(vertices):
        x = min(1, max(0, h - 1.5))
        upper.add([v], x * x * (3 - 2 * x), "REPLACE")
        lower.add([v], 1 - x * x * (3 - 2 * x), "REPLACE")
    held.add(list(range(around)), 1, "REPLACE")
    thing.modifiers.new("Armature", "ARMATURE").object = armature
    if cloth:
        modifier = thing.modifiers.new("Cloth", "CLOTH")
        modifier.settings.vertex_group_mass, modifier.settings.mass = "held", 0.2
        modifier.collision_settings.distance_min = 0.02
        body.modifiers.new("Collision", "COLLISION")
        body.collision.thickness_outer = 0.02
    bpy.context.view_layer.update()
    return thing


def act(armature, poses, step=15, begin=1):
    """Animates bones one after the other: poses are rows with the angles (x, z) of each bone, in degrees."""
    armature.animation_data_clear()
    for i, row in enumerate(poses):
        for bone, (x, z) in zip(armature.pose.bones, row):
            bone.rotation_mode, bone.rotation_euler = "XYZ", (math.radians(x), 0, math.radians(z))
            bone.keyframe_insert("rotation_euler", frame=begin + i * step)


def arms(around=12, along=48, reach=3.0, radius=0.3, roll=0.0, scale=1.0, turn=(0.0, 0.0, 0.0)):
    """A tube along x, the same on both sides: a spine in the middle, arms and forearms with .L and .R. roll: of the
    bones on the right, in radians."""
    stations = numpy.linspace(-reach, reach, along + 1)
    angles = numpy.arange(around) * 2 * math.pi / around
    vertices = [(x, radius * math.cos(a), radius * math.sin(a)) for x in stations for a in angles]
    faces = [(i * around + j, (i + 1) * around + j, (i + 1) * around + (j + 1) % around, i * around + (j + 1) % around)
             for i in range(along) for j in range(around)]
    mesh = bpy.data.meshes.new("Arms")
    mesh.from_pydata(vertices, [], faces)
    thing = bpy.data.objects.new("Arms", mesh)
    skeleton = bpy.data.armatures.new("Bones")
    armature = bpy.data.objects.new("Bones", skeleton)
    for each in (thing, armature):
        bpy.context.scene.collection.objects.link(each)
        each.rotation_euler, each.scale = turn, (scale,) * 3
    use(armature)
    bpy.ops.object.mode_set(mode="EDIT")
    spine = skeleton.edit_bones.new("spine")
    spine.head, spine.tail = (0, 0, -0.2), (0, 0, 0.2)
    middle = reach / 2
    for side, sign in (("L", 1), ("R", -1)):
        above = spine
        for name, begin, end in (("arm", 0.3, middle), ("forearm", middle, reach)):
            bone = skeleton.edit_bones.new(f"{name}.{side}")
            bone.head, bone.tail, bone.roll = (sign * begin, 0, 0), (sign * end, 0, 0), roll if sign < 0 else 0.0
            bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    for side, sign in (("L", 1), ("R", -1)):
        for name in ("arm", "forearm"):
            group = thing.vertex_groups.new(name=f"{name}.{side}")
            for v, (x, _, _) in enumerate(vertices):
                inner = min(1, max(0, (sign * x - 0.3) / 0.4 + 0.5))
                outer = min(1, max(0, (sign * x - middle) / 0.6 + 0.5))
                weight = inner * (1 - outer) if name == "arm" else outer
                if weight > 1e-6:
                    group.add([v], weight, "REPLACE")
    group = thing.vertex_groups.new(name="spine")
    for v, (x, _, _) in enumerate(vertices):
        weight = 1 - min(1, max(0, (abs(x) - 0.3) / 0.4 + 0.5))
        if weight > 1e-6:
            group.add([v], weight, "REPLACE")
    modifier = thing.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature
    bpy.context.view_layer.update()
    return use(thing), armature


def turn(armature, bone, x=0.0, y=0.0, z=0.0):
    """Turns a bone by degrees about its own axes."""
    bone = armature.pose.bones[bone]
    bone.rotation_mode = "XYZ"
    bone.rotation_euler = [math.radians(angle) for angle in (x, y, z)]
    bpy.context.view_layer.update()
