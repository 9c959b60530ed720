"""The Python package where people use it: installed by pip in an environment, inside Blender, and in the notebooks.

usage: clients.py REPOSITORY BUILD_FOLDER FOLDER

Prints a line for each, and the number that passed and failed at the end. FOLDER is made anew; it keeps the notebooks.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

repository, build, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
environment = {key: value for key, value in os.environ.items() if key not in ("EXEMPLAR_LIBRARY", "PYTHONPATH")}
counts = {"passed": 0, "failed": 0}


def note(name, outcome, said=""):
    counts[outcome] += 1
    print(f"{name}: {outcome}")
    if outcome == "failed":
        print(said.strip()[-3000:])


def attempt(name, wanted, *command, **more):
    """Runs a program that must say what is wanted."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**environment, **more})
    note(name, "passed" if done.returncode == 0 and wanted in done.stdout else "failed", done.stdout)
    return done.returncode == 0


everything = repository / "tests" / "python" / "everything.py"
if not attempt("wheel", "MB", sys.executable, "-B", repository / "scripts" / "wheel", "--build", build, "-o", folder):
    sys.exit(1)
wheel = next(folder.glob("exemplar-*.whl"))
site = folder / "a site"
zipfile.ZipFile(wheel).extractall(site)
if attempt("environment", "", sys.executable, "-m", "venv", "--system-site-packages", folder / "env") and \
        attempt("pip install", "", folder / "env/bin/pip", "install", "--no-index", "--quiet", wheel):
    attempt("installed", ": fine", folder / "env/bin/python", everything)
if shutil.which("blender"):
    attempt("Blender", ": fine", "blender", "--background", "--python-exit-code", "3", "--python", everything, "--", site)
else:
    print("skipped: the package in Blender, which is not installed")
docs = repository / "docs"
for page in [docs / "guides" / "python.md", *sorted((docs / "notebooks").glob("*-*.md"))]:
    attempt(page.stem, ": fine", sys.executable, "-B", repository / "scripts" / "notebook", "--ipynb", folder / "notebooks",
            page, PYTHONPATH=str(site))
print(f"{counts['passed']} passed, {counts['failed']} failed")
sys.exit(counts["failed"] > 0)
