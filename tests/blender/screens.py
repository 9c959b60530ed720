r"""Pictures of the add-on in Blender's window, for the documentation: the sidebar and the map, before and after Keep.

  xvfb-run -a -s "-screen 0 1200x900x24" blender --factory-startup --window-geometry 0 0 1200 900 \
      --enable-event-simulate --python screens.py -- FOLDER [LAST]

The add-on must be installed. FOLDER gets a PNG for each step below, up to the one called LAST. Blender ends by itself, with
3 if a step failed or a picture is missing.
"""
import os
import pathlib
import sys
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
sys.dont_write_bytecode = True

import addon_utils  # noqa: E402
import bpy  # noqa: E402
import scenes  # noqa: E402

folder, *last = sys.argv[sys.argv.index("--") + 1:]
folder = pathlib.Path(folder)
WAIT = 0.7  # seconds for Blender to draw


def view():
    """The 3D view: its area and its main region."""
    area = next(area for area in bpy.context.window_manager.windows[0].screen.areas if area.type == "VIEW_3D")
    return area, next(region for region in area.regions if region.type == "WINDOW")


def within(function, **options):
    area, region = view()
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=region):
        return function(**options)


def look(thing, area):
    """Looks at an object from its side, without what distracts."""
    space = area.spaces.active
    space.show_region_ui = True
    space.show_region_toolbar = False
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    space.overlay.show_cursor = space.overlay.show_object_origins = False
    within(bpy.ops.view3d.view_axis, type="RIGHT")
    within(bpy.ops.view3d.view_selected)
    space.region_3d.view_distance *= 1.6


def open_tab():
    """Shows our tab of the sidebar: by a click, since Blender before 4.2 has no call for it."""
    region = next(region for region in view()[0].regions if region.type == "UI")
    x, y = region.x + region.width - 10, region.y + region.height - 80
    window = bpy.context.window_manager.windows[0]
    window.event_simulate(type="MOUSEMOVE", value="NOTHING", x=x, y=y)
    window.event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y)
    window.event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y)


def only_our_tab():
    """Takes the other tabs from the sidebar but the first, which Blender itself makes."""
    for each in list(bpy.types.Panel.__subclasses__()):
        if getattr(each, "bl_region_type", "") == "UI" and getattr(each, "bl_space_type", "") == "VIEW_3D" and \
                getattr(each, "bl_category", "") != "Exemplar" and each.is_registered:
            bpy.utils.unregister_class(each)


class State:
    thing = armature = None


def start():
    for each in list(bpy.data.objects):
        bpy.data.objects.remove(each)
    State.thing, State.armature = scenes.tube(around=32, along=80, names=("upper arm", "forearm"))
    State.thing.data.polygons.foreach_set("use_smooth", [True] * len(State.thing.data.polygons))
    State.thing.data.update()
    State.armature.show_in_front = True
    only_our_tab()
    within(bpy.ops.screen.screen_full_area)
    look(State.thing, view()[0])


def make():
    within(bpy.ops.exemplar.make)


def bend():
    scenes.turn(State.armature, "forearm", x=90)


def sculpt():
    scenes.sculpt(State.thing, scenes.bulge((0, 0.4, 2.1), 0.5, 0.35, (0, 1, 0.2)))


def keep():
    within(bpy.ops.exemplar.keep, name="bent")


def second():
    scenes.turn(State.armature, "forearm", x=-60)
    scenes.sculpt(State.thing, scenes.bulge((0, -0.4, 2.1), 0.4, 0.3, (0, -1, 0.2)))
    within(bpy.ops.exemplar.keep, name="back")
    scenes.turn(State.armature, "forearm", x=40)


def check():
    within(bpy.ops.exemplar.check)


def two_axes():
    """A space of two bones, with five examples and a pseudo-example."""
    for x, z, name in ((70, 0, "forward"), (0, 60, "side"), (70, 60, "forward and side"), (-60, 0, "backward"),
                       (72, 8, "close by")):
        scenes.turn(State.armature, "forearm", x=x)
        scenes.turn(State.armature, "upper arm", z=z)
        scenes.sculpt(State.thing, scenes.bulge((0, 0.4, 2.1), 0.5, 0.1, (0, 1, 0.2)))
        within(bpy.ops.exemplar.keep, name=name, axes="forearm:X; upper arm:Z")
    scenes.turn(State.armature, "forearm", x=-40)
    scenes.turn(State.armature, "upper arm", z=50)
    within(bpy.ops.exemplar.take_form, example="side")
    scenes.turn(State.armature, "forearm", x=40)
    scenes.turn(State.armature, "upper arm", z=20)


def rotation():
    """A layer over the whole rotation of a bone."""
    for x, z, name in ((50, 30, "one"), (-50, 30, "two"), (10, -60, "three")):
        scenes.turn(State.armature, "upper arm")
        scenes.turn(State.armature, "forearm", x=x, z=z)
        scenes.sculpt(State.thing, scenes.bulge((0, 0.4, 2.1), 0.5, 0.1, (0, 1, 0.2)))
        within(bpy.ops.exemplar.keep, name=name, axes="forearm:ROTATION")
    scenes.turn(State.armature, "forearm", x=20, z=10)


def layout():
    """The view beside Blender's other editors, as it starts."""
    within(bpy.ops.screen.screen_full_area)


def small():
    """A view of half the height: the map shrinks."""
    within(bpy.ops.screen.area_split, direction="HORIZONTAL", factor=0.55)


def large():
    """Everything one and a half times as large."""
    bpy.context.preferences.view.ui_scale = 1.5


STEPS = [("start", start), ("tab", open_tab), ("made", make), ("bent", bend), ("sculpted", sculpt), ("kept", keep), ("two", second),
         ("checked", check), ("two-axes", two_axes), ("rotation", rotation), ("layout", layout),
         ("small", small), ("large", large)]
STEPS = STEPS[:[name for name, _ in STEPS].index(last[0]) + 1] if last else STEPS
todo = list(STEPS)


def end(code):
    sys.stdout.flush()
    os._exit(code)  # a window's own end asks whether to save


def tick():
    """Does one step, and takes its picture when it is drawn."""
    try:
        if not todo:
            missing = [name for name, _ in STEPS if not (folder / f"{name}.png").exists()]
            print(f"{len(STEPS) - len(missing)} pictures, missing: {missing}")
            end(3 if missing else 0)
        name, step = todo[0]
        if step:
            step()
            todo[0] = (name, None)
            for area in bpy.context.window_manager.windows[0].screen.areas:
                area.tag_redraw()
        else:
            with bpy.context.temp_override(window=bpy.context.window_manager.windows[0]):
                bpy.ops.screen.screenshot(filepath=str(folder / f"{name}.png"))
            todo.pop(0)
        return WAIT
    except Exception:
        traceback.print_exc()
        end(3)


folder.mkdir(parents=True, exist_ok=True)
for path in (folder / f"{name}.png" for name, _ in STEPS):
    path.unlink(missing_ok=True)
bpy.context.preferences.view.show_splash = False
if addon_utils.enable("exemplar_blender", default_set=True) is None:
    end(3)
bpy.app.timers.register(tick, first_interval=2.0)
