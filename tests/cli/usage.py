"""Wrong usage: exit code 2, one sentence with a hint on stderr, nothing on stdout. Then all ways to write options."""
import harness

# words, fragments of the sentence
WRONG = [
    (["buld"], "did you mean 'build'"),
    (["wieghts", "a.glb"], "did you mean 'weights'"),
    (["pose", "band.glb", "-o", "a.obj", "--force"], "--force goes with --poses"),
    (["xyzzy"], "there is no command 'xyzzy'"),
    (["export", "band.glb"], "did you mean 'pose' or 'bake'?"),
    (["--verson"], "did you mean '--version'"),
    (["help", "chekc"], "did you mean 'check'"),
    (["build"], "an argument is missing; usage: exemplar build PROJECT.json"),
    (["build", "a.json", "b.json"], "'b.json' is one argument too many"),
    (["build", "--ouput", "x.glb", "a.json"], "did you mean '--output'"),
    (["build", "--ouput=x.glb", "a.json"], "did you mean '--output'"),
    (["build", "--xyzzy", "a.json"], "there is no option '--xyzzy'"),
    (["build", "-x", "a.json"], "there is no option '-x'"),
    (["build", "-qx", "a.json"], "there is no option '-x' in '-qx'"),
    (["build", "a.json", "-o"], "--output needs RIG.glb after it"),
    (["build", "a.json", "--output="], "--output needs RIG.glb, not an empty value"),
    (["build", "a.json", "--json=yes"], "--json takes no value"),
    (["build", "a.json", "--threads", "0"], "--threads needs a whole number from 1 to 1024, not '0'"),
    (["build", "a.json", "--threads", "-2"], "not '-2'"),
    (["build", "a.json", "--threads", "two"], "not 'two'"),
    (["build", "a.json", "--threads", "99999999999999999999"], "--threads needs a whole number"),
    (["build", "a.json", "--threads", "4x"], "not '4x'"),
    (["build", "a.json", "--threads", "1025"], "from 1 to 1024, not '1025'"),
    (["check", "a.json", "--samples", "10000001"], "from 1 to 10000000, not '10000001'"),
    (["bench", "--repeat", "1001"], "from 1 to 1000, not '1001'"),
    (["build", "a.json", "-o", "a.glb", "--output=b.glb"], "--output is given twice"),
    (["build", "a.json", "-qq"], "--quiet is given twice"),
    (["render", "a.glb", "--mute", "a", "--mute", "b", "-o", "a.png"], "--mute is given twice: list several with commas"),
    (["build", "a.json", "-q", "--quiet"], "--quiet is given twice"),
    (["build", "a.json", "--threads", "2", "--threads", "2"], "--threads is given twice"),
    (["--version", "x"], "unexpected argument 'x'"),
    (["help", "build", "x"], "unexpected argument 'x'"),
    (["-h", "build", "x"], "unexpected argument 'x'"),
    (["help", "--json"], "there is no option '--json'"),
    (["help", "--help", "build"], "unexpected argument 'build'"),
    (["bu\nld\x1b[1m", "a.json"], r"'bu\nld\x1b[1m'"),
    (["build", "a.json", "b\r\n.json"], r"'b\r\n.json' is one argument too many"),
    (["build", "band.json", "-o", "band.json"], "'band.json' is also an input and would be overwritten: give another name"),
    (["build", "band.json", "-o", "band.obj"], "does not end in .glb"),
    (["check"], "an argument is missing"),
    (["demo", "blub"], "did you mean 'blob'"),
    (["demo", "xyzzy"], "there is no demo 'xyzzy'"),
    (["info"], "name a file"),
    (["info", "--capabilities", "band.json"], "takes no file"),
    (["info", "--capabilitis"], "did you mean '--capabilities'"),
    (["weights"], "an argument is missing"),
    (["weights", "band.glb", "bend"], "'bend' is not of the form axis=value"),
    (["weights", "band.glb", "=3"], "'=3' is not of the form axis=value"),
    (["weights", "band.glb", "bend=1", "girth=2", "bend=1"], "the axis 'bend' is given twice"),
    (["pose", "band.glb", "bend=1", "bend=2", "-o", "a.obj"], "the axis 'bend' is given twice"),
    (["weights", "band.glb", "bend="], "'bend=' is not of the form axis=value"),
    (["pose", "band.glb", "bend=3"], "-o is required"),
    (["pose", "band.glb", "bend=3", "-o", "x.stl"], "does not end in .obj"),
    (["pose", "band.glb", "bend=3", "-o", "band.glb"], "would be overwritten: give another name"),
    (["pose", "band.glb", "bend=3", "--poses", "p.csv", "-o", "x"], "leave one of the two out"),
    (["plot"], "an argument is missing"),
    (["plot", "band.glb"], "-o is required: it names the output"),
    (["plot", "band.glb", "-o", "a.pdf"], "does not end in .svg or .png"),
    (["plot", "band.glb", "-o", "band.glb"], "would be overwritten: give another name"),
    (["plot", "band.glb", "bend", "-o", "a.svg"], "'bend' is not of the form axis=value"),
    (["plot", "band.glb", "-o", "a.svg", "--size", "900y"], "numbers such as 900x600, or 600 for a square, not '900y'"),
    (["plot", "band.glb", "-o", "a.svg", "--size", "900x"], "not '900x'"),
    (["plot", "band.glb", "-o", "a.svg", "--size", "900x600x2"], "not '900x600x2'"),
    (["plot", "band.glb", "-o", "a.svg", "--size", "-900x600"], "not '-900x600'"),
    (["plot", "band.glb", "-o", "a.svg", "--size", "0x600"], "not '0x600'"),
    (["plot", "band.glb", "-o", "a.png", "--scale", "0"], "above 0 and at most 16, not '0'"),
    (["plot", "band.glb", "-o", "a.png", "--scale", "2x"], "not '2x'"),
    (["plot", "band.glb", "-o", "a.png", "--scale", "17"], "not '17'"),
    (["render", "band.glb", "-o", "a.png", "--size", "300x"], "--size needs pixels such as 800x600, or 600 for a square"),
    (["render", "band.glb", "-o", "a.png", "--size", "1.5"], "not '1.5'"),
    (["render", "band.glb", "-o", "a.png", "--size", "99999"], "not '99999'"),
    (["example", "delete", "band.json", "--name", "X"], "there is no 'delete' here: did you mean 'example remove'?"),
    (["example", "lst", "--xyzzy"], "did you mean 'example list'?"),
    (["drive", "xyzzy", "--keys", "2"], "there is no 'xyzzy' here: use learn"),
    (["unpack", "band.glb"], "-o is required"),
    (["unpack", "-o", "x"], "an argument is missing"),
]


class Usage(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")

    def test_wrong_usage(self):
        before = self.listing()
        for words, fragment in WRONG:
            with self.subTest(words=words):
                outcome = self.run_tool(*words)
                self.sentence(outcome, 2, fragment, "(see 'exemplar")
                if words[0] in ("build", "check", "demo", "info", "weights", "pose", "plot", "unpack"):
                    self.assertIn(f"(see 'exemplar {words[0]} -h')", outcome.err)
                self.assertEqual(outcome.out, "")
        self.assertEqual(self.listing(), before)

    def test_options_stand_anywhere(self):
        pose = ["bend=30", "girth=0.5"]
        expected = None
        for words in (["pose", "band.glb", *pose, "-o", "a.obj"],
                      ["pose", "-o", "a.obj", "band.glb", *pose],
                      ["pose", "band.glb", "-oa.obj", *pose],
                      ["pose", "band.glb", pose[0], "--output=a.obj", pose[1]],
                      ["pose", "band.glb", "--output", "a.obj", *pose],
                      ["pose", "-qoa.obj", "band.glb", *pose],
                      ["pose", "-o", "a.obj", "--threads", "3", "--", "band.glb", *pose]):
            with self.subTest(words=words):
                self.succeed(*words)
                text = (self.folder / "a.obj").read_bytes()
                expected = expected or text
                self.assertEqual(text, expected)
                (self.folder / "a.obj").unlink()

    def test_two_dashes_end_options(self):
        (self.folder / "--json").write_text(harness.obj_text(harness.REST))
        (self.folder / "-x.obj").write_text(harness.obj_text(harness.REST))
        self.assertIn("-x.obj: a form", self.succeed("info", "--", "-x.obj").out)
        self.assertIn("--json: a form", self.succeed("info", "--", "--json").out)

    def test_an_unknown_axis_is_answered_with_the_nearest(self):
        self.sentence(self.run_tool("weights", "band.glb", "bned=3"), 1, "bned", "bend")
        self.sentence(self.run_tool("pose", "band.glb", "grith=3", "-o", "a.obj"), 1, "grith", "girth")

    def test_an_axis_is_given_once_by_its_whole_name(self):
        self.sentence(self.run_tool("weights", "band.glb", "bend=3", "ben=3"), 1, "no axis 'ben'")

    def test_quiet_prints_data_and_errors_alone(self):
        for words in (["build", "band.json"], ["pose", "band.glb", "-o", "a.obj"], ["unpack", "band.glb", "-o", "d"],
                      ["demo", "blob", "-o", "e"]):
            self.assertEqual(self.succeed(*words, "--quiet").out, "")
        self.assertNotEqual(self.succeed("weights", "band.glb", "-q").out, "")
        self.sentence(self.run_tool("weights", "none.glb", "-q"), 1, "none.glb")


harness.main()
