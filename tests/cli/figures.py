"""exemplar figures: every figure of the list is there, the page is valid and its links work, docs/figures.md says the
same, and pictures have the same bytes in every run."""
import html.parser
import re
import xml.etree.ElementTree

import harness

EMPTY = {"meta", "img", "br", "link"}


class Page(html.parser.HTMLParser):
    """Checks that tags close in order, and collects links, shown and missing figures, by section."""

    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids, self.problems = [], [], [], []
        self.text, self.sections = "", {}

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in EMPTY:
            self.open.append(tag)
        for name in ("href", "src"):
            if name in attributes:
                self.links.append(attributes[name])
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag == "img" and not attributes.get("alt"):
            self.problems.append("a picture without words")
        self.text = ""

    def handle_data(self, data):
        self.text += data

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")
        if tag == "h2":
            self.sections[self.text] = {}
        elif tag == "span":
            self.sections[list(self.sections)[-1]][self.text] = True
        elif tag == "li":
            self.sections[list(self.sections)[-1]][self.text.split(",")[0]] = False
        self.text = ""


def documented():
    """{section: {figure: computed or not}}, from docs/figures.md."""
    sections = {}
    for line in (harness.REPOSITORY / "docs/figures.md").read_text().splitlines():
        if line.startswith("## "):
            sections[line[3:]] = {}
        elif line.startswith("- "):
            number, rest = line[2:].split(",", 1)
            sections[list(sections)[-1]][number] = "not computed" not in rest and "`--all`" not in rest
    return sections


class Figures(harness.Case):
    def make(self, *words):
        outcome = self.run_tool("figures", "--cell", "48", *words)
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def test_all_of_it(self):
        line = self.make("-o", "out").out
        page = Page()
        text = (self.folder / "out/index.html").read_text()
        page.feed(text)
        self.assertEqual((page.problems, page.open), ([], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        for link in page.links:
            if link.startswith("#"):
                self.assertIn(link[1:], page.ids)
            else:
                self.assertRegex(link, r"^[a-z0-9/._-]+$", "links stay inside")
                self.assertTrue((self.folder / "out" / link).is_file(), link)
        self.assertNotIn("http", text)
        self.assertEqual(page.sections, documented())
        shown = sum(sum(figures.values()) for figures in page.sections.values())
        total = sum(len(figures) for figures in page.sections.values())
        self.assertRegex(line, rf"^out/index.html: {shown} of {total} figures and tables, ")
        files = {path.name for path in (self.folder / "out").iterdir() if path.is_file()} - {"index.html"}
        notes = {name for name in files if name.endswith(".figure")}
        self.assertEqual(len(notes), shown)
        files -= notes
        self.assertTrue({name.rsplit(".", 1)[0] + ".figure" for name in files} <= notes)
        self.assertEqual(files, {link for link in page.links if "/" not in link and not link.startswith("#")})
        for name in files:
            data = (self.folder / "out" / name).read_bytes()
            if name.endswith(".png"):
                self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
            else:
                xml.etree.ElementTree.fromstring(data)
        for theirs, ours in (("642, 1280", "642, 1280"), ("2562, 5120", "2562, 5120"), ("8, 4", "8, 4")):
            self.assertIn(f'<td>{theirs}</td><td class="ours">{ours}</td>', text)
        # For trajectory warping: the pair drawn turns by half the bar's bend; links and bases are the paper's.
        turn = re.search(r'the frame turns by</td><td>\S+</td><td class="ours">([0-9]+)', text)
        self.assertLess(abs(int(turn[1]) - 110), 6)
        self.assertIn('links, and bases appended</td><td>4, 2</td><td class="ours">4, 2</td>', text)
        steps = re.search(r'equation 4 end from equation 6, metres</td><td>\S+</td><td class="ours">([-0-9.e]+)', text)
        self.assertLess(float(steps[1]), 1e-5)
        self.assertEqual(len(re.findall(r'<td>(?:5500|4000|2074|30)</td><td class="ours">[1-9]', text)), 5)
        # A folder with files in it is left alone unless told otherwise. Then pictures have the same bytes. One of each
        # kind of drawing is enough: lines, a sheet, forms and their segments on paths that are computed again.
        before = self.listing()
        self.sentence(self.run_tool("figures", "-o", "out"), 1, "'out' is not empty", "--force")
        self.assertEqual(self.listing(), before)
        for name in ("trajectory-warping-2", "shape-by-example-5", "trajectory-warping-6"):
            times = {path: path.stat().st_mtime_ns for path in (self.folder / "out").glob("*.*")}
            line = self.make("-o", "out", "--force", "--threads", "1", "--only", name).out
            self.assertRegex(line, rf"^out/index.html: 1 of {total} figures and tables, ")
            written = {path.stem for path, time in times.items() if path.stat().st_mtime_ns != time}
            self.assertEqual(written, {"index", name})
            page = (self.folder / "out/index.html").read_text()
            self.assertEqual((page.count("<figure "), page.count("was not asked for this time.")), (1, shown - 1))
        after = self.listing()
        self.assertEqual({name for name in before if before[name] != after[name]} - {"out/index.html"}, set())

    def test_wrong_words(self):
        self.sentence(self.run_tool("figures", "--cell", "20"), 2, "from 48 to 2000")
        (self.folder / "file").write_text("mine")
        self.sentence(self.run_tool("figures", "-o", "file", "--force"), 1, "cannot make the folder 'file': a file has that name")
        self.assertEqual((self.folder / "file").read_text(), "mine")
        self.sentence(self.run_tool("figures", "one"), 2, "too many")
        for name in ("pose", "pose-space-", "pose-space-60", "drivenshape"):
            self.sentence(self.run_tool("figures", "--only", name), 2, f"no figure '{name}'", "--only trajectory")
        (self.folder / "file").write_text("x")
        self.sentence(self.run_tool("figures", "-o", "file/out"), 1, "'file' is a file")


harness.main()
