"""Help: every way to ask gives the same page, every page has an example, and docs/reference/commands/ shows it word for word.

So do the worked examples: every ```console block of a page is run, a page's blocks one after the other in one folder,
where the demo 'blob' stands already on all pages but its own. Lines that begin with "$ " are commands, the lines below
are what they print. A ```json block below "Save this as `NAME`:" is saved as that, and a picture that a page shows has
the size of the one that its commands make. Times and sizes of files differ between machines and builds, so both sides
are masked before they are compared: "12 ms" and "1.5 s" become "TIME", "87 kB" becomes "SIZE", the values of "seconds"
and "bytes" become N. Decimals are cut after the sixth, for compilers may differ in the last of them, and how far off a
sculpt comes back is rounding alone.

With UPDATE_DOCS=1 in the environment, the blocks in docs/reference/commands/ are rewritten instead of compared.
"""
import os
import pathlib
import re
import struct
import subprocess
import tempfile

import harness

BLOCK = re.compile(r"```text\n(exemplar [a-z]+: .*?)```\n", re.DOTALL)

INNER_BLOCK = re.compile(r"```text\n(exemplar ([a-z]+ [a-z]+): .*?)```\n", re.DOTALL)
PIECE = re.compile(r"Save this as\s+`([^`]+)`:\n\n```json\n(.*?)```\n|```console\n(.*?)```\n", re.DOTALL)
PICTURE = re.compile(r"^!\[[^]]+\]\(([^)]+)\)$", re.MULTILINE)
MASKS = [(r"\b[\d.]+ m?s\b", "TIME"), (r"\b[\d.]+ (bytes|[kMG]B)", "SIZE"), (r'"(seconds|bytes)":[\d.e-]+', r'"\1":N'),
         (r"comes back within [\d.e-]+ m?m", "comes back within LENGTH"), (r"(\.\d{6})\d+", r"\1")]


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text


def png_size(path):
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:24])


class Help(harness.Case):
    def commands(self):
        overview = self.succeed("-h").out
        listed = overview.split("Commands:\n")[1].split("\n\n")[0]
        return [line.split()[0] for line in listed.splitlines()]

    def inner_commands(self):
        """Commands of commands: "example add"."""
        return [line.split("  ")[1].strip() for name in self.commands()
                for line in re.findall(rf"^  {name} [a-z]+  .*$", self.succeed(name, "-h").out, re.MULTILINE)]

    def test_overview(self):
        overview = self.succeed().out
        self.assertIn("Examples:\n  exemplar ", overview)
        for words in (["-h"], ["--help"], ["help"], ["help", "-h"]):
            self.assertEqual(self.succeed(*words).out, overview)
        for name in ("demo", "init", "build", "check", "info", "diff", "weights", "pose", "render", "plot", "unpack", "bench"):
            self.assertIn(name, self.commands())

    def test_version(self):
        header = (harness.REPOSITORY / "include/exemplar/base.h").read_text()
        version = re.search(r'EX_VERSION_TEXT +"(.*)"', header).group(1)
        self.assertEqual(self.succeed("--version").out, f"exemplar {version}\n")

    def test_pages(self):
        for name in self.commands():
            with self.subTest(command=name):
                page = self.succeed(name, "-h").out
                self.assertEqual(self.succeed(name, "--help").out, page)
                self.assertEqual(self.succeed("help", name).out, page)
                self.assertEqual(self.succeed(name, "some", "words", "-h", "more").out, page)
                self.assertTrue(page.startswith(f"exemplar {name}: "))
                self.assertRegex(page, rf"Usage:\n  exemplar {name}\b")
                self.assertRegex(page, rf"Examples:\n(  .*\n)*  exemplar {name}\b")
                for option in ("--threads N", "-q, --quiet", "-h, --help"):
                    self.assertIn(option, page)
                for line in page.splitlines():
                    self.assertLessEqual(len(line), 80)
                    self.assertEqual(line, line.rstrip())

    def test_inner_pages(self):
        self.assertIn("example add", self.inner_commands())
        for name in self.inner_commands():
            with self.subTest(command=name):
                words = name.split()
                page = self.succeed(*words, "-h").out
                self.assertEqual(self.succeed("help", *words).out, page)
                self.assertEqual(self.succeed(*words, "some", "--help", "more").out, page)
                self.assertTrue(page.startswith(f"exemplar {name}: "))
                self.assertRegex(page, rf"Usage:\n  exemplar {name}\b")
                self.assertRegex(page, rf"Examples:\n(  .*\n)*  exemplar {name}\b")
                for line in page.splitlines():
                    self.assertLessEqual(len(line), 80)
                    self.assertEqual(line, line.rstrip())
                path = harness.REPOSITORY / f"docs/reference/commands/{words[0]}.md"
                text = path.read_text()
                shown = [block for block, of in INNER_BLOCK.findall(text) if of == name]
                self.assertEqual(len(shown), 1, f"{path} needs one ```text block with the help of '{name}'")
                if os.environ.get("UPDATE_DOCS"):
                    path.write_text(text.replace(shown[0], page))
                else:
                    self.assertEqual(shown[0], page, f"{path} is out of date: run this test with UPDATE_DOCS=1")

    def test_documentation_shows_the_pages(self):
        folder = harness.REPOSITORY / "docs/reference/commands"
        for name in self.commands():
            with self.subTest(command=name):
                path = folder / f"{name}.md"
                self.assertTrue(path.exists(), f"there is no {path}")
                text = path.read_text()
                page = self.succeed(name, "-h").out
                blocks = BLOCK.findall(text)
                self.assertEqual(len(blocks), 1, f"{path} needs one ```text block with the help")
                if os.environ.get("UPDATE_DOCS"):
                    path.write_text(text.replace(blocks[0], page))
                else:
                    self.assertEqual(blocks[0], page, f"{path} is out of date: run this test with UPDATE_DOCS=1")
        pages = sorted(path.stem for path in folder.glob("*.md") if path.stem != "README")
        self.assertEqual(pages, sorted(self.commands()))

    def run_block(self, block, folder):
        """The block as it comes out: its commands, each with what it prints."""
        environment = dict(os.environ, PATH=os.pathsep.join([str(self.folder), os.environ["PATH"]]))
        lines = []
        for line in block.splitlines():
            if not line.startswith("$ "):
                continue
            process = subprocess.run(line[2:], shell=True, cwd=folder, env=environment, timeout=60, text=True,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            lines += [line, *process.stdout.splitlines()]
        return "\n".join(lines) + "\n"

    def test_worked_examples_do_what_the_pages_show(self):
        (self.folder / "exemplar").symlink_to(harness.TOOL)
        seen = 0
        docs = harness.REPOSITORY / "docs"
        for path in [*sorted((docs / "reference/commands").glob("*.md")), docs / "guides/sculpt.md", docs / "guides/warp.md"]:
            with self.subTest(page=path.name), tempfile.TemporaryDirectory() as name:
                folder = pathlib.Path(name)
                if path.stem != "demo":
                    self.succeed("demo", "blob", "-o", folder / "blob")
                text = path.read_text()
                for saved, project, block in PIECE.findall(text):
                    if saved:
                        (folder / saved).write_text(project)
                        continue
                    self.assertTrue(block.startswith("$ "), f"{path}: a console block begins with a command")
                    seen += 1
                    shown = self.run_block(block, folder)
                    if masked(shown) == masked(block):
                        continue
                    if not os.environ.get("UPDATE_DOCS"):
                        self.assertEqual(masked(block), masked(shown), f"{path} is out of date")
                    text = text.replace(f"```console\n{block}```", f"```console\n{shown}```")
                    path.write_text(text)
                for link in PICTURE.findall(text):
                    made = folder / pathlib.Path(link).name
                    if made.exists():
                        self.assertEqual(png_size(path.parent / link), png_size(made), f"{path}: {link} is out of date")
        self.assertGreater(seen, 5)


harness.main()
