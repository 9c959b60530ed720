"""docs/guides/web.md, verbatim: its program runs in node, prints the text below it and the same vertex as 'exemplar
pose'. The pieces after it run too, with three.js. Skipped if the package of the runtime was not made.

    web.py WEB.md PACKAGE MODULES TOOL NODE WORK_DIR
"""
import pathlib
import re
import shutil
import subprocess
import sys


def fail(sentence):
    sys.exit(f"FAILED: {sentence}")


def run(*command, folder):
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode != 0:
        fail(f"{' '.join(str(word) for word in command)}\n{done.stdout}")
    return done.stdout


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    package, modules, tool, node, work = (pathlib.Path(word) for word in sys.argv[2:7])
    if not (package / "exemplar.wasm").exists():
        print(f"skipped: there is no package in {package}")
        sys.exit(77)
    pieces = re.findall(r"^```js\n(.*?)^```$", page, re.M | re.S)
    text = re.findall(r"^```text\n(.*?)^```$", page, re.M | re.S)
    if len(pieces) != 4 or len(text) != 1:
        fail("the page has no program with three pieces and one text")

    shutil.rmtree(work, ignore_errors=True)
    (work / "node_modules/@exemplar").mkdir(parents=True)
    (work / "node_modules/@exemplar/runtime").symlink_to(package)
    (work / "node_modules/three").symlink_to(modules / "three")
    run(tool, "demo", "arm", "-q", "-o", "arm", folder=work)
    (work / "arm.mjs").write_text(pieces[0])
    (work / "all.mjs").write_text("".join(pieces))
    said = run(node, "arm.mjs", folder=work)
    if said != text[0]:
        fail(f"the program says\n{said}")
    run(tool, "pose", "arm/arm.glb", "elbow=90", "-q", "-o", "posed.obj", folder=work)
    last = [line for line in (work / "posed.obj").read_text().splitlines() if line.startswith("v ")][-1].split()[1:4]
    if any(abs(float(a) - float(b)) > 1e-5 for a, b in zip(said.split()[:3], last)):
        fail(f"the program says {said.split()[:3]}, 'exemplar pose' {last}")
    run(node, "all.mjs", folder=work)
    print("1 passed, 0 failed")


main()
