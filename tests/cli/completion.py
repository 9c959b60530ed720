"""Completion: the words that the tool offers, and the scripts of bash, zsh and fish that ask for them.

Every command, option and value on offer is on the page that -h prints. The scripts run in their shells: bash with
COMP_WORDS as its line editor sets them, zsh with stand-ins for what its completion system brings, fish by its own
'complete -C'.
"""
import re
import shutil
import subprocess

import harness


class Words(harness.Case):
    def lines(self, *words):
        return self.succeed("completion", "--words", "--", *words).out.splitlines()

    def offered(self, *words):
        return [line.split("\t")[0] for line in self.lines(*words)]

    def pages(self):
        """The words of every command and subcommand, with its help."""
        for name in [word for word in self.offered("") if word != "help"]:
            page = self.succeed(name, "-h").out
            yield [name], page
            if "\nCommands:\n" in page:
                for inner in self.offered(name, ""):
                    yield [name, inner], self.succeed(name, inner, "-h").out

    def test_commands(self):
        self.assertEqual(self.offered("bu"), ["build"])
        self.assertEqual(self.offered("buildx"), [])
        self.assertEqual(self.offered("example", "m"), ["move", "mute", "mirror"])
        self.assertEqual(self.offered("help", "we"), ["weights"])
        self.assertEqual(self.offered("help", "--man", "scan", "f"), ["fit"])
        self.assertEqual(self.offered("help", "--"), ["--man"])
        self.assertEqual(self.offered("--"), ["--help", "--version"])
        self.assertEqual(self.offered("nonsense", ""), [])
        summary = self.succeed("build", "-h").out.splitlines()[0].split(": ", 1)[1]
        self.assertEqual(self.lines("bu"), ["build\t" + summary])
        overview = self.succeed("-h").out.split("Commands:\n")[1].split("\n\n")[0]
        listed = [line.split()[0] for line in overview.splitlines()]
        self.assertEqual(self.offered(), listed + ["help"])
        self.assertEqual(self.offered(""), listed + ["help"])

    def test_options_are_those_of_the_help(self):
        for words, page in self.pages():
            with self.subTest(command=words):
                options = re.findall(r"^  (?:-\w, |    )(--[a-z0-9-]+)", page.split("\nOptions:\n")[1].split("\n\n")[0], re.M)
                self.assertEqual(self.offered(*words, "--"), options)

    def test_values_are_those_of_the_help(self):
        seen = 0
        for words, page in self.pages():
            for text in re.findall(r"^  (?:-\w, |    )(--[a-z0-9-]+ [^ ].*(?:\n {7,}.*)*)", page, re.M):
                for value in self.offered(*words, text.split()[0], ""):
                    if not value.startswith(":"):
                        seen += 1
                        self.assertRegex(text, rf"(^|\W){re.escape(value)}", f"{words}: the help does not name it")
        self.assertGreater(seen, 20)

    def test_options_given_before(self):
        self.assertNotIn("--watch", self.offered("build", "a.json", "-w", "--"))
        self.assertNotIn("--output", self.offered("build", "--output=a.glb", "--"))
        self.assertIn("--at", self.offered("example", "add", "a.json", "--at", "x=1", "--"))
        self.assertEqual(self.offered("build", "--", "--"), [":files .json"])

    def test_values(self):
        self.assertEqual(self.offered("render", "--up", ""), ["y", "z"])
        self.assertEqual(self.offered("render", "--up="), ["y", "z"])
        self.assertEqual(self.offered("render", "--background", "w"), ["white"])
        self.assertEqual(self.offered("warp", "--mode=g"), ["guided"])
        self.assertEqual(self.offered("render", "--show", "sk"), ["skin:"])
        self.assertEqual(self.offered("render", "--show", "skin:"), [])
        self.assertEqual(self.offered("build", "--threads", ""), [])
        kinds = self.offered("plot", "a.glb", "--compare", "")
        self.assertEqual(sorted(kinds), ["calm", "cardinal", "gaussian", "nearest", "shepard"])
        self.assertEqual(sorted(self.offered("plot", "--compare", "gaussian,ca")), ["gaussian,calm", "gaussian,cardinal"])
        self.assertEqual(self.offered("plot", "--compare=calm,gaussian,ca"), ["calm,gaussian,cardinal"])
        self.assertEqual(self.offered("plot", "--compare", "calm,calm"), [])
        self.assertEqual(self.offered("plot", "--compare", "x" * 300 + ","), [])
        self.assertEqual(self.offered("demo", "bl"), ["blob"])
        self.assertEqual(self.offered("demo", "blob", ""), [])
        self.assertIn("skin", self.offered("bench", "s"))
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])

    def test_files(self):
        self.assertEqual(self.offered("build", ""), [":files .json"])
        self.assertEqual(self.offered("build", "x", ""), [])
        self.assertEqual(self.offered("build", "-o", ""), [":files .glb"])
        self.assertEqual(self.offered("build", "--output=b"), [":files .glb"])
        self.assertEqual(self.offered("info", ""), [":files"])
        self.assertEqual(self.offered("init", ""), [":files .glb .gltf .obj"])
        self.assertEqual(self.offered("edit", ""), [":files .json .glb"])
        self.assertEqual(self.offered("unpack", "a.glb", "-o", ""), [":folders"])
        self.assertEqual(self.offered("scan", "run", ""), [":folders"])
        self.assertEqual(self.offered("warp", "a", "b", "c", ""), [":files .obj .ply .off .glb .gltf"])
        self.assertEqual(self.offered("plot", "a.glb", "-o", ""), [":files .svg .png"])
        self.assertEqual(self.offered("plot", "a.glb", "--axes", ""), [])
        self.assertEqual(self.offered("example", "add", "a.json", "--at", "x=1", ""), [":files .obj .ply .off .glb .gltf"])

    def test_axes_of_a_rig(self):
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        self.assertEqual(self.offered("pose", "band.glb", ""), ["bend=", "girth="])
        self.assertEqual(self.offered("weights", "band.glb", "bend=1", "g"), ["girth="])
        self.assertEqual(self.offered("weights", "band.glb", "bend="), [])
        self.assertEqual(self.offered("weights", "missing.glb", ""), [])
        (self.folder / "broken.glb").write_bytes(b"glTF")
        self.assertEqual(self.offered("weights", "broken.glb", ""), [])

    def test_wrong_usage(self):
        self.sentence(self.run_tool("completion"), 2, "name one shell: bash, zsh or fish")
        self.sentence(self.run_tool("completion", "tcsh"), 2, "no script for 'tcsh'")


    def test_scripts(self):
        for shell in ("bash", "zsh", "fish"):
            source = harness.REPOSITORY / f"cli/help/completion.{shell}"
            self.assertEqual(self.succeed("completion", shell).out, source.read_text())


class Shells(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        (self.folder / "folder").mkdir()
        (self.folder / "two words.json").touch()
        (self.folder / "exemplar").symlink_to(harness.TOOL)

    def run_shell(self, shell, script):
        if not shutil.which(shell):
            self.skipTest(f"no {shell}")
        (self.folder / "script").write_text(self.succeed("completion", shell).out)
        words = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
        process = subprocess.run([shell, *words, "-c", script], cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(process.stderr, "")
        return process.stdout.splitlines()

    def bash(self, *words, breaks=r" \t\n\"\'><=;|&(:"):
        """words as bash hands them over: split at '=' and ':', too."""
        quoted = " ".join("'" + word + "'" for word in words)
        return self.run_shell("bash", f"""
            COMP_WORDBREAKS=$'{breaks}'
            source ./script
            COMP_WORDS=(./exemplar {quoted}) COMP_CWORD={len(words)} COMP_LINE='' COMPREPLY=()
            _exemplar ./exemplar '{words[-1]}' ''
            for reply in "${{COMPREPLY[@]}}"; do printf '%s\\n' "$reply"; done
            complete -p exemplar""")[:-1]

    def test_bash(self):
        self.assertEqual(self.bash("bu"), ["build"])
        self.assertEqual(self.bash("example", "mi"), ["mirror"])
        self.assertEqual(self.bash("build", "--w"), ["--watch"])
        self.assertEqual(self.bash("nonsense", ""), [])
        self.assertEqual(self.bash("render", "--up", ""), ["y", "z"])
        self.assertEqual(sorted(self.bash("build", "")), ["band.json", "folder", "two words.json"])
        self.assertEqual(self.bash("build", "ba"), ["band.json"])
        self.assertEqual(self.bash("build", "-o", "b"), ["band.glb"])
        self.assertEqual(self.bash("unpack", "band.glb", "-o", ""), ["folder"])
        self.assertEqual(self.bash("info", "thi"), ["thick.obj"])
        self.assertEqual(self.bash("pose", "band.glb", "be"), ["bend="])

    def test_bash_with_an_equals_sign(self):
        self.assertEqual(self.bash("build", "--output", "=", "b"), ["band.glb"])
        self.assertEqual(self.bash("render", "--up", "=", ""), ["y", "z"])
        self.assertEqual(self.bash("pose", "band.glb", "bend", "=", "1", "g"), ["girth="])
        self.assertEqual(self.bash("render", "band.glb", "--show", "d"), ["difference", "displacement"])
        self.assertEqual(self.bash("build", "--output=b", breaks=r" \t\n"), ["--output=band.glb"])

    def zsh(self, *words):
        quoted = " ".join("'" + word + "'" for word in words)
        return self.run_shell("zsh", f"""
            compdef() {{ }}
            compset() {{ }}
            _describe() {{ print -rl -- "${{(@P)2}}" }}
            _files() {{ print -r -- _files "$@" }}
            source ./script
            words=(./exemplar {quoted}) CURRENT={len(words) + 1} PREFIX='{words[-1]}'
            _exemplar""")

    def test_zsh(self):
        self.assertEqual(self.zsh("bu"), [self.succeed("completion", "--words", "--", "bu").out.strip().replace("\t", ":")])
        self.assertEqual(self.zsh("render", "--up", ""), ["y", "z"])
        self.assertEqual(self.zsh("render", "--show", "e"), [r"example\:"])
        self.assertEqual(self.zsh("pose", "band.glb", "be"), ["bend="])
        self.assertEqual(self.zsh("build", ""), ["_files -g *(.json|.)"])
        self.assertEqual(self.zsh("init", ""), ["_files -g *(.glb|.gltf|.obj|.)"])
        self.assertEqual(self.zsh("info", ""), ["_files"])
        self.assertEqual(self.zsh("unpack", "band.glb", "-o", ""), ["_files -/"])
        self.assertEqual(self.zsh("nonsense", ""), [])

    def fish(self, line):
        said = self.run_shell("fish", f"set -x PATH $PWD $PATH; source ./script; complete -C 'exemplar {line}'")
        return sorted(reply.split("\t")[0] for reply in said)

    def test_fish(self):
        self.assertEqual(self.fish("bu"), ["build"])
        self.assertEqual(self.fish("build --w"), ["--watch"])
        self.assertEqual(self.fish("render --up "), ["y", "z"])
        self.assertEqual(self.fish("render --up="), ["--up=y", "--up=z"])
        self.assertEqual(self.fish("build "), ["band.json", "folder/", "two words.json"])
        self.assertEqual(self.fish("build --output=ban"), ["--output=band.glb"])
        self.assertEqual(self.fish("unpack band.glb -o "), ["folder/"])
        self.assertEqual(self.fish("pose band.glb be"), ["bend="])


harness.main()
