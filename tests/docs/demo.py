"""'make demo' runs, the person's pictures move, the commands of the page and of the guide to scans run, and the page leads
only to files that are there.

    demo.py REPOSITORY
"""
import html
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys

FRAMES = 12  # a moving picture has at least as many
LIVE = ("human.html", "strides.html")


def frames(path):
    """The number of frames of a PNG: from its acTL chunk, which comes before the first pixels."""
    found = re.search(rb"\0\0\0\x08acTL(....)", path.read_bytes()[:4096], re.S)
    return struct.unpack(">I", found.group(1))[0] if found else 1


def commands(repository, page):
    """Those of the page, and those of the guide to scans that follow the demo `scanned`."""
    block = re.search(r"docs\.demo_page does it -->\n```sh\n(.*?)```", (repository / "docs/guides/scan.md").read_text("utf-8"), re.S)
    guide = [line for line in block.group(1).splitlines() if not line.startswith("exemplar demo")]
    return [html.unescape(text) for text in re.findall(r"<pre>(.*?)</pre>", page, re.S)] + guide


def main():
    repository = pathlib.Path(sys.argv[1]).resolve()
    folder = repository / "out/demo"
    faults = []
    shutil.rmtree(folder / "live", ignore_errors=True)
    subprocess.run(["scripts/demo"], cwd=repository, env=dict(os.environ, OPEN="no"), check=True)
    page = (folder / "index.html").read_text(encoding="utf-8")
    names = re.findall(r"^([a-z]+)\|", (repository / "scripts/demo-page").read_text(encoding="utf-8"), re.M)
    for name in names:
        if f'src="{name}.png"' not in page:
            faults.append(f"the page does not show {name}.png")
        elif frames(folder / f"{name}.png") < FRAMES:
            faults.append(f"{name}.png has {frames(folder / f'{name}.png')} frames")
    faults += [f"the page does not lead to live/{name}" for name in LIVE if f'href="live/{name}"' not in page]
    found = commands(repository, page)
    if len(found) < len(names) + 3:
        faults.append(f"only {len(found)} commands were found")
    for command in found:
        words = shlex.split(command)
        done = subprocess.run([repository / "build/release/bin" / words[0], *words[1:]], cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            faults.append(f"{command}: {done.stderr.strip()}")
    checked = subprocess.run([sys.executable, "-B", repository / "tests/docs/site.py", folder], check=False)
    if checked.returncode != 0:
        faults.append("links of the page are wrong")
    for fault in faults:
        print("FAILED:", fault)
    print(f"{1 if not faults else 0} passed, {len(faults)} failed")
    return 1 if faults else 0


sys.exit(main())
