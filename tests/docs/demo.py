"""'make demo' runs, the person's pictures move, and the page leads only to files that are there.

    demo.py REPOSITORY
"""
import os
import pathlib
import re
import struct
import subprocess
import sys

FRAMES = 12  # a moving picture has at least as many


def frames(path):
    """The number of frames of a PNG: from its acTL chunk, which comes before the first pixels."""
    found = re.search(rb"\0\0\0\x08acTL(....)", path.read_bytes()[:4096], re.S)
    return struct.unpack(">I", found.group(1))[0] if found else 1


def main():
    repository = pathlib.Path(sys.argv[1]).resolve()
    folder = repository / "out/demo"
    faults = []
    subprocess.run(["scripts/demo"], cwd=repository, env=dict(os.environ, OPEN="no"), check=True)
    page = (folder / "index.html").read_text(encoding="utf-8")
    names = re.findall(r"^([a-z]+)\|", (repository / "scripts/demo-page").read_text(encoding="utf-8"), re.M)
    for name in names:
        if f'src="{name}.png"' not in page:
            faults.append(f"the page does not show {name}.png")
        elif frames(folder / f"{name}.png") < FRAMES:
            faults.append(f"{name}.png has {frames(folder / f'{name}.png')} frames")
    live = sorted(path.name for path in (folder / "live").glob("*.html"))
    faults += [f"the page does not lead to live/{name}" for name in live if f'href="live/{name}"' not in page]
    checked = subprocess.run([sys.executable, "-B", repository / "tests/docs/site.py", folder], check=False)
    if checked.returncode != 0:
        faults.append("links of the page are wrong")
    for fault in faults:
        print("FAILED:", fault)
    print(f"{1 if not faults else 0} passed, {len(faults)} failed")
    return 1 if faults else 0


sys.exit(main())
