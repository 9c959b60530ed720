"""The Blender add-on where people use it: built, installed by Blender from its zip, and tried in the background.

usage: clients.py REPOSITORY BUILD_FOLDER FOLDER [TEST_FILE…]

Prints a line for each test, and the number that passed and failed at the end. FOLDER is made anew; Blender's settings go
there, not into the user's.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

repository, build, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
here = repository / "tests" / "blender"
chosen = [here / pathlib.Path(word).name for word in sys.argv[4:]] or sorted(here.glob("test_*.py"))
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
environment = {**os.environ, "EXEMPLAR_TOOL": str(build / "bin" / "exemplar"), "TEST_FOLDER": str(folder)}
for name in ("CONFIG", "SCRIPTS", "DATAFILES"):
    (folder / name.lower()).mkdir()
    environment["BLENDER_USER_" + name] = str(folder / name.lower())
environment.pop("PYTHONPATH", None)
counts = {"passed": 0, "failed": 0}
INSTALL = """
import bpy, sys
bpy.ops.preferences.addon_install(filepath=sys.argv[-1])
bpy.ops.preferences.addon_enable(module="exemplar_blender")
import exemplar_blender.library as library
print("installed" if library.found else library.problem)
"""


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=environment)
    return done.returncode, done.stdout


def note(name, passed, said):
    counts["passed" if passed else "failed"] += 1
    print(f"{name}: {'passed' if passed else 'failed'}", flush=True)
    if not passed:
        print(said.strip()[-3000:], flush=True)


if not shutil.which("blender"):
    print("skipped: Blender is not installed\n0 passed, 0 failed")
    sys.exit(0)
code, said = run(sys.executable, "-B", repository / "scripts" / "blender-addon", "--build", build, "-o", folder)
note("add-on", code == 0, said)
if code == 0:
    archive = next(folder.glob("exemplar-blender-*.zip"))
    code, said = run("blender", "--background", "--factory-startup", "--python-exit-code", 3, "--python-expr", INSTALL, "--",
                     archive)
    note("install", code == 0 and "installed" in said, said)
for test in chosen if not counts["failed"] else []:
    code, said = run("blender", "--background", "--factory-startup", "--python-exit-code", 3, "--python", here / "inside.py",
                     "--", test.name)
    lines = re.findall(r"^(test_\S+): (passed|failed)$", said, re.M)
    for name, outcome in lines:
        counts[outcome] += 1
        print(f"{name}: {outcome}", flush=True)
    if code or not lines:
        print(said.strip()[-4000:], flush=True)
        if not any(outcome == "failed" for _, outcome in lines):
            note(f"{test.stem} ends well", False, f"Blender ended with {code}")
def pictures():
    """Blender's window in memory, up to a second Keep: every step changes what is seen, and nothing goes wrong in drawing."""
    shots = folder / "shots"
    command = ["xvfb-run", "-a", "-s", "-screen 0 640x480x24", "blender", "--factory-startup", "--window-geometry", 0, 0, 640, 480,
               "--enable-event-simulate", "--python", here / "screens.py", "--", shots, "two"]
    environment["LIBGL_ALWAYS_SOFTWARE"] = "1"
    code, said = run(*command)
    if code in (132, -4):  # Mesa's compiler took instructions that this processor lacks
        environment["GALLIUM_DRIVER"] = "softpipe"
        code, said = run(*command)
    if code or "Traceback" in said:
        return False, said
    sys.path.insert(0, str(folder / "scripts" / "addons" / "exemplar_blender" / "lib"))
    import exemplar
    seen = [exemplar.read_image(shots / f"{name}.png").astype(int) for name in ("start", "tab", "made", "bent", "sculpted", "kept", "two")]
    changed = [float((abs(a - b).max(axis=2) > 16).mean()) for a, b in zip(seen, seen[1:])]
    return min(changed) > 0.002, f"parts of the window that changed: {changed}"


if shutil.which("xvfb-run") and not counts["failed"] and len(sys.argv) < 5:
    note("window", *pictures())
bare = folder / "scripts without library"
if not counts["failed"] and len(sys.argv) < 5:
    shutil.copytree(folder / "scripts", bare, ignore=shutil.ignore_patterns("lib", "__pycache__"))
    for step, scripts in (("write", folder / "scripts"), ("plain", folder / "none"), ("bare", bare), ("again", folder / "scripts")):
        environment["BLENDER_USER_SCRIPTS"] = str(scripts)
        code, said = run("blender", "--background", "--factory-startup", "--python-exit-code", 3, "--python",
                         here / "without.py", "--", step, folder)
        note(f"a file without the add-on: {step}", code == 0 and "without: fine" in said, said)
print(f"{counts['passed']} passed, {counts['failed']} failed")
sys.exit(counts["failed"] > 0)
