"""Help: all ways to ask give the same page, every page has an example, and docs/reference/commands/ shows it verbatim.

With UPDATE_DOCS=1 in the environment, the blocks in docs/reference/commands/ are rewritten instead of compared.
tests/docs/examples.py tests the examples, tests/docs/commands.py the rest of the pages.
"""
import os
import re

import harness

BLOCK = re.compile(r"```text\n(exemplar [a-z]+: .*?)```\n", re.DOTALL)

INNER_BLOCK = re.compile(r"```text\n(exemplar ([a-z]+ [a-z]+): .*?)```\n", re.DOTALL)


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


harness.main()
