"""Manual pages: one for the tool, each command and each subcommand, which says what -h says and which groff and mandoc
take without a warning. The build has written them all."""
import os
import pathlib
import re
import shutil
import subprocess

import harness

BEFORE = {"SOURCE_DATE_EPOCH": "86400"}


class Pages(harness.Case):
    def setUp(self):
        super().setUp()
        self.inner = [words for words in self.commands() if len(words) > 1]

    def commands(self):
        words = lambda *before: [line.split("\t")[0] for line in
                                 self.succeed("completion", "--words", "--", *before, "").out.splitlines()]
        for name in [word for word in words() if word != "help"]:
            yield [name]
            if "\nCommands:\n" in self.succeed(name, "-h").out:
                yield from ([name, inner] for inner in words(name))

    def page(self, *words, **environment):
        process = subprocess.run([harness.TOOL, "help", "--man", *words], cwd=self.folder, stdout=subprocess.PIPE,
                                 text=True, check=True, env={**os.environ, **BEFORE, **environment})
        return process.stdout

    def shown(self, page):
        """The page as plain text without spaces."""
        process = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-P-c", "-P-b", "-P-o", "-P-u", "-rLL=200n"],
                                 input=page, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return re.sub(r"\s+", "", process.stdout)

    def test_pages_say_what_the_help_says(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        for words in self.commands():
            with self.subTest(command=words):
                text = self.shown(self.page(*words))
                help_page = self.succeed(*words, "-h").out
                self.assertIn(f"NAMEexemplar-{'-'.join(words)}-", text)
                title, rest = help_page.split("\n", 1)
                for line in [title.split(": ", 1)[1], *rest.splitlines()]:
                    line = line.strip()
                    # Headings differ, and the list of subcommands names their pages.
                    if not re.fullmatch(r"(Usage|Commands|Options|Examples):", line) and \
                            not line.startswith(tuple(f"{words[0]} {inner[1]} " for inner in self.inner)):
                        self.assertIn(re.sub(r"\s+", "", line), text)

    def test_mandoc_has_nothing_to_say(self):
        if not shutil.which("mandoc"):
            self.skipTest("no mandoc")
        for words in [[], *self.commands()]:
            with self.subTest(command=words):
                process = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=self.page(*words), text=True,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertEqual(process.stdout, "")

    def test_tool(self):
        page = self.page()
        self.assertTrue(page.startswith(".TH EXEMPLAR 1 "))
        for words in self.commands():
            if len(words) == 1:
                self.assertIn(f"\\fBexemplar\\-{words[0]}\\fR(1)", page)
        for inner in ("add", "mirror"):
            self.assertIn(f"\\fBexemplar\\-example\\-{inner}\\fR(1)", self.page("example"))
        self.assertIn("\\fBexemplar\\-example\\fR(1)", self.page("example", "add").split("SEE ALSO")[1])

    def test_date(self):
        self.assertIn(' 1 "1970-01-02" "Exemplar ', self.page("build"))
        self.assertIn(' 1 "2001-09-09" "Exemplar ', self.page("build", SOURCE_DATE_EPOCH="1000000000"))

    def test_characters_of_roff(self):
        for words in [[], *self.commands()]:
            for line in self.page(*words).splitlines():
                self.assertRegex(line, r"^[^'.]|^\.(TH|SH|PP|TP|RS|RE|nf|fi|nh|ad)\b")
                self.assertNotRegex(line, r"['`^~]|\\(?!e|&|-|f[BIR]|\((aq|ga|ha|ti))")

    def test_the_build_has_written_them(self):
        folder = pathlib.Path(harness.TOOL).parent.parent / "man/man1"
        if harness.SANITIZED or not folder.is_dir():
            self.skipTest("no pages in this build")
        names = {"exemplar.1"} | {f"exemplar-{'-'.join(words)}.1" for words in self.commands()}
        self.assertEqual({path.name for path in folder.iterdir()}, names)
        undated = lambda page: re.sub(r'"\d+-\d+-\d+"', "", page)
        self.assertEqual(undated((folder / "exemplar-edit.1").read_text()), undated(self.page("edit")))

    def test_wrong_usage(self):
        self.sentence(self.run_tool("help", "--man", "buld"), 2, "did you mean 'build'")
        self.sentence(self.run_tool("help", "--man", "build", "x"), 2, "unexpected argument 'x'")


harness.main()
