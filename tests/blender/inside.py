"""Runs tests inside Blender, each from an empty scene, with the installed add-on.

  blender --background --factory-startup --python inside.py -- FILE… [NAME]

FILE: a test_*.py beside this file; its functions test_* are the tests; NAME: only those whose name contains it. Prints a
line for each, as tests/blender/clients.py counts them, and ends with 3 if one failed.
"""
import importlib
import pathlib
import sys
import traceback

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here))
sys.dont_write_bytecode = True

import addon_utils  # noqa: E402
import scenes  # noqa: E402


def main(words):
    if addon_utils.enable("exemplar_blender", default_set=True) is None:
        print("the add-on cannot be enabled: failed")
        return 3
    failed, part = 0, next((word for word in words if not word.endswith(".py")), "")
    for word in (word for word in words if word.endswith(".py")):
        module = importlib.import_module(pathlib.Path(word).stem)
        for name in [name for name in vars(module) if name.startswith("test_") and part in name]:
            scenes.clear()
            try:
                getattr(module, name)()
                print(f"{module.__name__}.{name}: passed", flush=True)
            except Exception:
                failed += 1
                print(f"{module.__name__}.{name}: failed\n{traceback.format_exc()}", flush=True)
    return 3 if failed else 0


sys.stdout.flush()
code = main(sys.argv[sys.argv.index("--") + 1:])
if code:
    sys.exit(code)
