"""Install, load, evaluate, build, drive: what every place where the package works must do. Prints one line.

Run by another Python: in an environment made by pip, inside Blender. usage: everything.py [FOLDER of the package]
"""
import pathlib
import sys
import tempfile

if "--" in sys.argv:  # inside Blender
    sys.argv = sys.argv[sys.argv.index("--"):]
sys.path[:0] = sys.argv[1:]
sys.dont_write_bytecode = True

import numpy  # noqa: E402

import exemplar  # noqa: E402

with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    rig = exemplar.demo("arm", place / "arm").build(place / "arm.glb")
    again = exemplar.load(place / "arm.glb")
    forms = again.evaluate(again.pose(elbow=[0, 70, 120]), threads=2)
    assert numpy.array_equal(forms, rig.evaluate(rig.pose(elbow=[0, 70, 120])))
    assert exemplar.render(again, {"elbow": 70}, size=(64, 48)).shape == (48, 64, 4)
    sheet = numpy.stack(numpy.meshgrid(numpy.arange(5), numpy.arange(5), [0]), -1).reshape(-1, 3).astype(float)
    faces = [[i, i + 1, i + 6, i + 5] for i in range(20) if i % 5 < 4]
    motion = sheet + numpy.sin(numpy.linspace(0, 6, 40))[:, None, None] * [0.5, 0.2, 0] * sheet[:, :1]
    cloth = 0.9 * motion + [0, 0, 0.3]
    learned = exemplar.drive.learn((sheet, faces), (cloth[0], faces), [(motion, cloth)], keys=4)
    made = exemplar.drive.apply(learned, motion)
    assert made.shape == cloth.shape and numpy.abs(made - cloth).mean() < 0.1
print(f"exemplar {exemplar.__version__}, Python {sys.version.split()[0]}, numpy {numpy.__version__}: fine")
