"""Every relative link and picture of every Markdown page has a target, including its heading. Every page of docs/ can
be reached from docs/README.md.

    links.py REPOSITORY
"""
import collections
import html
import os
import pathlib
import re
import sys
import urllib.parse

import pages

SKIP = re.compile(r"(^|/)(build|out|prefix|node_modules|dist|\.git)/")
INLINE = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
DEFINED = re.compile(r"^ {0,3}\[([^]]+)\]:\s*<?(\S+?)>?(?:\s+\"[^\"]*\")?\s*$", re.M)
USED = re.compile(r"(?<!!)\[([^][]+)\]\[([^][]*)\]")
TAGGED = re.compile(r"<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)\s*=\s*[\"']([^\"']+)[\"']", re.I)
NAMED = re.compile(r"<\w+\b[^>]*?\b(?:id|name)\s*=\s*[\"']([^\"']+)[\"']", re.I)
HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$", re.M)


def without_code(prose):
    """The text with `code` replaced by x, keeping links around it, lines and columns."""
    return re.sub(r"(?<!`)(`+)(?!`)((?:(?!\n\n).)+?)(?<!`)\1(?!`)", lambda found: re.sub(r"[^\n]", "x", found.group()), prose,
                  flags=re.S)


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", heading)
    text = html.unescape(re.sub(r"<[^>]+>", "", text)).replace("`", "").lower()
    text = re.sub(r"(?<!\w)[*_]+|[*_]+(?!\w)", "", text)
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


class Links:
    def __init__(self, repository):
        self.repository, self.prose, self.anchors, self.faults, self.leads = repository, {}, {}, [], {}
        self.links = self.pictures = 0

    def read(self, path):
        if path not in self.prose:
            self.prose[path] = re.sub(r"<!--.*?-->", lambda found: re.sub(r"[^\n]", " ", found.group()),
                                      pages.read(path).prose, flags=re.S)
        return self.prose[path]

    def anchors_of(self, path):
        if path not in self.anchors:
            counts, found = collections.Counter(), set(NAMED.findall(self.read(path)))
            for _, heading in HEADING.findall(self.read(path)):
                name = slug(heading)
                found.add(f"{name}-{counts[name]}" if counts[name] else name)
                counts[name] += 1
            self.anchors[path] = found
        return self.anchors[path]

    def targets(self, path):
        """(line, target, is a picture) of every link of a page."""
        text = without_code(self.read(path))
        found = [(m.start(), m.group(3), bool(m.group(1))) for m in INLINE.finditer(text)]
        # A picture can be the text of a link.
        found += [(m.start(), i.group(3), bool(i.group(1))) for m in INLINE.finditer(text) for i in INLINE.finditer(m.group(2))]
        found += [(m.start(), m.group(2), False) for m in DEFINED.finditer(text)]
        found += [(m.start(), m.group(1), "img" in m.group()[:5].lower()) for m in TAGGED.finditer(text)]
        defined = {m.group(1).lower() for m in DEFINED.finditer(text)}
        for m in USED.finditer(text):
            if defined and (m.group(2) or m.group(1)).lower() not in defined:
                self.faults.append((path, text.count("\n", 0, m.start()) + 1, f"'{m.group()}' is defined nowhere"))
        for start, target, picture in found:
            yield text.count("\n", 0, start) + 1, target, picture

    def check(self, path):
        self.leads[path] = set()
        for line, target, picture in self.targets(path):
            if re.match(r"[a-z][a-z0-9+.-]*:|//", target, re.I):
                continue
            self.links, self.pictures = self.links + (not picture), self.pictures + picture
            file, _, anchor = target.partition("#")
            place = (path.parent / urllib.parse.unquote(file)).resolve() if file else path
            if file.startswith("/") or self.repository not in [place, *place.parents]:
                self.faults.append((path, line, f"'{target}' leads out of the repository"))
            elif not place.exists():
                self.faults.append((path, line, f"'{target}' is not there"))
            elif picture and not place.is_file():
                self.faults.append((path, line, f"the picture '{target}' is no file"))
            else:
                if place.is_dir() and (place / "README.md").exists():
                    place = place / "README.md"
                self.leads[path].add(place)
                if anchor and place.suffix == ".md" and anchor not in self.anchors_of(place):
                    near = sorted(self.anchors_of(place))
                    self.faults.append((path, line, f"'{target}': no heading there has this anchor; it has {', '.join(near)}"))

    def unreachable(self, start, all_pages):
        seen, waiting = {start}, [start]
        while waiting:
            for place in self.leads.get(waiting.pop(), ()):
                if place not in seen:
                    seen.add(place)
                    waiting.append(place)
        return [page for page in all_pages if page not in seen]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    repository = pathlib.Path(sys.argv[1]).resolve()
    every = sorted(path for path in repository.glob("**/*.md") if not SKIP.search(str(path.relative_to(repository))))
    links = Links(repository)
    for path in every:
        links.check(path)
    start, docs = repository / "docs/README.md", repository / "docs"
    if start.exists():
        for page in links.unreachable(start, [path for path in every if docs in path.parents]):
            links.faults.append((page, 1, "no page leads here from docs/README.md"))
    else:
        print("not checked: that every page can be reached, for there is no docs/README.md")
    for path, line, text in links.faults:
        print(f"FAILED: {os.path.relpath(path, repository)}:{line}: {text}")
    print(f"{len(every)} pages, {links.links} links, {links.pictures} pictures, {len(links.faults)} faults")
    sys.exit(bool(links.faults))


main()
