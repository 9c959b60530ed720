"""Gathers the pages of the documentation site for Sphinx: the Markdown files of docs/, those beside it that they lead to,
and the sources that they name.

    gather.py REPOSITORY FOLDER [LIVE]      FOLDER takes the pages; LIVE has the live pages of scripts/docs, NAME.html

The side bar comes from docs/README.md: its headings are the groups, the links of its lists are the pages, in that order.
Pages that README.md of a folder lists are below it; any other page is below the first page that leads to it. So a page
that no page leads to is an error. Files that are no Markdown, such as headers, become pages with line numbers.
"""
import html
import json
import os
import pathlib
import posixpath
import re
import shutil
import sys

from pygments import highlight, lexers
from pygments.formatters import HtmlFormatter

FENCE = re.compile(r"^([ \t]*)(```+|~~~+).*?^\1\2[ \t]*$\n?", re.M | re.S)
COMMENT = re.compile(r"<!--.*?-->[ \t]*\n?", re.S)
LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)")
TAG = re.compile(r"""(<(?:a|img)\b[^>]*?\b(?:href|src)=")([^"]+)(")""")
PICTURES = (".png", ".svg", ".jpg", ".gif")
# What the looping pictures of the first page show: docs/pictures/hero-NAME.png, the page to read, and the still picture
# in its place until there is one.
HEROES = {
    "sculpt": ("Sculpts that hold at a pose", "guides/sculpt", "pose-space-9.png"),
    "space": ("Spaces of shapes", "guides/edit", "sheet_arm.png"),
    "paths": ("Paths that turn", "guides/warp", "trajectory-warping-mixtures.png"),
    "clothes": ("Clothes that follow", "guides/drive", "drive-motion.png"),
    "scan": ("Bodies from scans", "guides/scan", "scan-cage-whole.png"),
}


def masked(text):
    """The text with blocks, comments and `code` replaced by x: the same length and lines, and no links in them."""
    def cross(found):
        return re.sub(r"[^\n]", "x", found.group())
    text = COMMENT.sub(cross, FENCE.sub(cross, text))
    return re.sub(r"(?<!`)(`+)(?!`)((?:(?!\n\n).)+?)(?<!`)\1(?!`)", cross, text, flags=re.S)


class Site:
    def __init__(self, repository, folder, live):
        self.repository, self.folder, self.live = repository, folder, live
        self.pages, self.sources = {}, {}   # path in the repository: its text; and of sources, None
        self.children = {}                  # page: [(title, page)]
        self.summaries = {}                 # name: what docs/README.md says of it, for the search
        self.blocks = {}                    # name of a public header: [line, text] of its declarations, for the search
        self.faults = []

    # ---- names ----

    def name(self, path):
        """The page's name in the site, without an ending. docs/ is its root."""
        path = path.removeprefix("docs/") if path != "docs/README.md" else "contents"
        if path == "README.md":
            return "readme"
        if not path.endswith(".md"):
            return path if path == "contents" else "source/" + path.replace(".", "-").lower()
        folder, file = posixpath.split(path[:-3])
        return posixpath.join(folder, "index" if file == "README" else file.lower() if not folder else file)

    def place(self, page, target):
        """The path in the repository that a link of a page means, and the anchor in it; None of one that leads outside."""
        if re.match(r"[a-z][a-z0-9+.-]*:|//", target):
            return None, ""
        file, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), file)) if file else page
        if (self.repository / path).is_dir():
            path += "/README.md"
        return path, anchor

    def links(self, page):
        """(title, path) of the pages that a page leads to."""
        text = self.pages[page]
        for found in LINK.finditer(masked(text)):
            path, _ = self.place(page, found.group(3))
            if path and not found.group(1) and path != page:
                yield text[found.start(2):found.end(2)].replace("`", ""), path

    # ---- which pages there are ----

    def read(self, path):
        if path in self.pages or path in self.sources:
            return False
        if not (self.repository / path).is_file():
            self.faults.append(f"{path} is not there")
            self.sources[path] = None
        elif path.endswith(".md"):
            self.pages[path] = (self.repository / path).read_text(encoding="utf-8")
            return True
        elif not path.endswith(PICTURES):
            self.sources[path] = None
        return False

    def heading(self, page):
        found = re.search(r"^# (.+)", self.pages[page], re.M)
        return found.group(1).replace("`", "") if found else page

    def gather(self):
        """Reads all pages, from docs/README.md on, and finds the place of each."""
        start = "docs/README.md"
        self.read(start)
        self.groups, placed = [], {start}
        for caption, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", self.pages[start], re.M | re.S):
            listed = []
            for title, link, summary in re.findall(r"^- \[([^]]+)\]\(([^)]+)\):? *(.*)", text, re.M):
                path = self.place(start, link)[0]
                listed.append((title, path))
                self.summaries[self.name(path)] = re.sub(r"[`*]|\]\([^)]*\)|\[", "", summary)
            if listed:
                self.groups.append((caption, listed))
                placed.update(path for _, path in listed)
        waiting = [path for _, listed in self.groups for _, path in listed]
        for path in waiting:
            self.read(path)
        # Folders that list their own pages.
        for page in [path for path in waiting if path in self.pages and path.endswith("/README.md")]:
            for title, path in self.links(page):
                if posixpath.dirname(path) == posixpath.dirname(page) and path.endswith(".md") and path not in placed:
                    self.put(page, title, path)
                    placed.add(path)
                    waiting.append(path)
        # Everything else, nearest first; what the first README.md leads to has a better place elsewhere.
        waiting.sort(key=lambda path: path == "README.md")
        waiting.insert(0, start)
        while waiting:
            page = waiting.pop(0)
            for _, path in self.links(page) if page in self.pages else []:
                if self.read(path) and path not in placed:
                    self.put(page, self.heading(path), path)
                    placed.add(path)
                    waiting.append(path)
        for path in sorted((self.repository / "docs").glob("**/*.md")):
            path = path.relative_to(self.repository).as_posix()
            if path not in placed:
                self.faults.append(f"{path}: no page leads here from docs/README.md")

    def put(self, parent, title, path):
        self.read(path)
        self.children.setdefault(parent, []).append((title, path))

    # ---- writing ----

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def link(self, page, target, ending):
        """A link of a page, as it is in the site."""
        path, anchor = self.place(page, target)
        if path is None or path == page or target.startswith("live/"):
            return target
        here = posixpath.dirname(self.name(page))
        if path.endswith(PICTURES):
            there = self.picture(path, "extra/" if ending == ".html" else "")  # Sphinx does not see pictures of tags
        else:
            self.read(path)
            if path in self.sources and ending == ".md":
                return f"source:{self.name(path)}#{anchor}"  # a line, which MyST would look for among headings: see conf.py
            there = self.name(path) + ending
        return posixpath.relpath(there, here or ".") + ("#" + anchor if anchor else "")

    def picture(self, path, under):
        there = path.removeprefix("docs/")
        copy = self.folder / under / there
        if not (self.repository / path).is_file():
            self.faults.append(f"{path} is not there")
        elif not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.repository / path, copy)
        return there

    def rewritten(self, page, text):
        """The text with links as they are in the site, and without comments, which are for tests."""
        hidden = masked(text)
        changes = [(m.start(3), m.end(3), self.link(page, m.group(3), ".md")) for m in LINK.finditer(hidden)]
        # A picture can be the text of a link.
        changes += [(m.start(2) + i.start(3), m.start(2) + i.end(3), self.link(page, i.group(3), ".md"))
                    for m in LINK.finditer(hidden) for i in LINK.finditer(m.group(2))]
        changes += [(m.start(2), m.end(2), self.link(page, m.group(2), ".html")) for m in TAG.finditer(hidden)]
        fences = [(m.start(), m.end()) for m in FENCE.finditer(text)]
        changes += [(m.start(), m.end(), re.sub(r"[^\n]", "", m.group())) for m in COMMENT.finditer(text)
                    if not any(a <= m.start() < b for a, b in fences)]
        for start, end, new in sorted(changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def tree(self, entries, caption=None):
        lines = [f"{title} <{'/' + self.name(path)}>" for title, path in entries]
        return "\n".join(["", "```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *lines, "```", ""])

    def write_pages(self):
        for page, text in list(self.pages.items()):
            text = self.rewritten(page, text)
            if page == "docs/gallery.md":
                text += self.demo_pictures()
            if page in self.children:
                text += self.tree(self.children[page])
            self.write(self.name(page) + ".md", text)

    def write_first(self):
        text = (self.repository / "docs/site/index.myst").read_text(encoding="utf-8")
        text = self.rewritten("docs/index.md", text.replace("HEROES\n", self.heroes()))
        text += self.tree([("Overview", "docs/README.md")])
        for caption, listed in self.groups:
            if any(path == "docs/gallery.md" for _, path in listed) and self.write_play():
                listed = [*listed, ("Play", "docs/play.md")]
            text += self.tree(listed, caption)
        self.write("index.md", text)

    def heroes(self):
        """The row of pictures on the first page: those that loop, or still ones in their place."""
        there = {path.stem.removeprefix("hero-"): path.name for path in sorted((self.repository / "docs/pictures").glob("hero-*.png"))}
        rows = [(name, *HEROES[name][:2], file) for name, file in there.items() if name in HEROES]
        rows.sort(key=lambda row: list(HEROES).index(row[0]))
        rows += [(name, name.replace("-", " ").capitalize(), "gallery", file) for name, file in there.items() if name not in HEROES]
        kind = "hero"
        if not rows:
            rows, kind = [(name, *row) for name, row in HEROES.items()], "hero still"
        return "".join(f'<a class="{kind}" href="{page}.md"><img src="pictures/{file}" alt=""><span>{text}</span></a>\n'
                       for _, text, page, file in rows)

    def demo_pictures(self):
        """What 'make demo' drew, if it was run, with the commands of scripts/demo."""
        table = re.search(r"cat <<'END'\n(.*?)^END$", (self.repository / "scripts/demo").read_text(), re.M | re.S).group(1)
        parts = []
        for name, command, options in (line.split(None, 2) for line in table.splitlines()):
            drawn = self.repository / "out/demo" / f"{name}.png"
            if drawn.is_file():
                (self.folder / "pictures").mkdir(parents=True, exist_ok=True)
                shutil.copyfile(drawn, self.folder / "pictures" / f"demo-{name}.png")
                parts.append(f"![The demo {name}](pictures/demo-{name}.png)\n\n*The demo `{name}`.* "
                             f"`exemplar {command} {name}/{name}.glb {options} -o {name}.png`\n")
        return "\n## Sample projects\n\n`make demo` made these here.\n\n" + "\n".join(parts) if parts else ""

    def write_play(self):
        """The page of live rigs; False if there are none."""
        cards = []
        for line in (self.repository / "docs/site/play.txt").read_text(encoding="utf-8").splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            name, title, sentence, _ = (word.strip() for word in line.split("|"))
            page = self.live / f"{name}.html" if self.live else None
            if page is None or not page.is_file():
                continue
            size = f"{page.stat().st_size / 1e6:.1f}".removesuffix(".0") + " MB"
            cards.append(f'<div class="play-card"><a class="play-start" href="live/{name}.html" data-name="{html.escape(title)}">'
                         f'<img src="live/{name}.png" alt=""><strong>{html.escape(title)}</strong></a>'
                         f'<p>{html.escape(sentence)}</p><p class="play-more">{size} · '
                         f'<a href="live/{name}.html" target="_blank">open alone</a></p></div>')
        if cards:
            text = (self.repository / "docs/site/play.myst").read_text(encoding="utf-8")
            self.pages["docs/play.md"] = text.replace("CARDS\n", "\n".join(cards) + "\n")
        return bool(cards)

    def write_sources(self):
        for path in self.sources:
            file = self.repository / path
            if not file.is_file():
                continue
            text = file.read_text(encoding="utf-8")
            try:
                lexer = lexers.get_lexer_for_filename("x.c" if path.endswith(".h") else file.name)
            except lexers.ClassNotFound:
                lexer = lexers.get_lexer_by_name("text")
            if path.startswith("include/"):
                self.blocks[self.name(path)] = [[text.count("\n", 0, m.start()) + 1, m.group()]
                                                for m in re.finditer(r"(?:^.*\S.*$\n?)+", text, re.M)]
            drawn = highlight(text, lexer, HtmlFormatter(linenos="inline", linespans="L", cssclass="highlight source"))
            drawn = re.sub(r'id="L-(\d+)"', r'id="L\1"', drawn)
            self.write(self.name(path) + ".html", drawn)
            self.write(self.name(path) + ".md", f"---\norphan: true\nnosearch: true\nhide-toc: true\n---\n\n# {file.name}\n\n"
                       f"`{path}`\n\n```{{raw}} html\n:file: {posixpath.basename(self.name(path))}.html\n```\n")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    repository, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    live = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) == 4 else None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    site = Site(repository, folder, live)
    site.gather()
    site.write_first()
    site.write_pages()
    site.write_sources()
    site.write("search.json", json.dumps({"summaries": site.summaries, "blocks": site.blocks}))
    for fault in site.faults:
        print(f"error: {fault}", file=sys.stderr)
    print(f"{len(site.pages)} pages, {len(site.sources)} sources in {os.path.relpath(folder)}")
    sys.exit(bool(site.faults))


main()
