"""Every link, picture, script and style of the documentation site is there, with its anchor, and none needs a network.

    site.py FOLDER                                checks a site that is there, such as out/docs
    site.py --make REPOSITORY FOLDER TOOL         makes one of the pages first, with a live page, and searches it
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.I)
FETCHED = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href", "video": "src"}
# Queries, and pages of which one must be the first result.
SEARCHES = {
    "corrective": ["guides/sculpt"],
    "BVH": ["guides/motion"],
    "ex_rig_evaluate": ["reference/c-api"],
    "--paths": ["reference/commands/init"],
    "EX_KERNEL_BSPLINE": ["style", "source/include/exemplar/weigh-h"],
    "morph targets": ["reference/commands/bake", "guides/bake", "guides/embed"],
    "kick": ["tutorial"],
}


class Page(html.parser.HTMLParser):
    """Links and anchors of a page, what it fetches, and its text."""

    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.links, self.fetched, self.modules, self.anchors = [], [], [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[key] for key in ("id", "name") if given.get(key))
        if tag == "script" and given.get("type") == "module":
            self.modules.append(given.get("src"))
        if tag in FETCHED and given.get(FETCHED[tag]):
            self.fetched.append(given[FETCHED[tag]])
        elif given.get("href"):
            self.links.append(given["href"])


class Site:
    def __init__(self, folder):
        self.folder, self.faults, self.read, self.checked = folder, [], {}, 0

    def page(self, path):
        if path not in self.read:
            self.read[path] = Page(path)
        return self.read[path]

    def check(self, path, target, fetched):
        if OUTSIDE.match(target):
            if fetched and not target.startswith("data:"):
                self.faults.append((path, f"'{target}' is fetched from elsewhere"))
            elif target.startswith("file:"):
                self.faults.append((path, f"'{target}' leads to this machine"))
            return
        self.checked += 1
        file, _, anchor = target.partition("#")
        file = urllib.parse.unquote(file.partition("?")[0])
        place = (path.parent / file).resolve() if file else path
        if file.startswith("/") or self.folder not in place.parents:
            self.faults.append((path, f"'{target}' leads out of the site"))
        elif not place.is_file():
            self.faults.append((path, f"'{target}' is not there"))
        elif anchor and place.suffix == ".html" and anchor not in self.page(place).anchors and "live" not in place.parts:
            self.faults.append((path, f"'{target}': nothing there has this anchor"))

    def check_all(self):
        pages = sorted(path for path in self.folder.glob("**/*.html") if path.parent.name != "live")
        for path in pages:
            for target in self.page(path).links:
                self.check(path, target, False)
            for target in self.page(path).fetched:
                self.check(path, target, True)
            for target in self.page(path).modules:
                self.faults.append((path, f"'{target}' is a module, which does not load from disk"))
        for path in self.folder.glob("_static/**/*.css"):
            for target in re.findall(r"url\(\s*[\"']?([^\"')]+)", path.read_text(encoding="utf-8")):
                self.check(path, target, True)
        for path in self.folder.glob("_static/**/*.js"):
            if re.search(r"^\s*import\s", path.read_text(encoding="utf-8"), re.M):
                self.faults.append((path, "a module, which does not load from disk"))
        self.reach(pages)
        return len(pages)

    def reach(self, pages):
        """Every page can be reached from the first one."""
        first = self.folder / "index.html"
        if not first.is_file():
            self.faults.append((first, "there is no first page"))
            return
        seen, waiting = {first}, [first]
        while waiting:
            path = waiting.pop()
            for target in self.page(path).links:
                place = (path.parent / urllib.parse.unquote(re.split("[#?]", target)[0])).resolve()
                if not OUTSIDE.match(target) and place not in seen and place in pages:
                    seen.add(place)
                    waiting.append(place)
        for path in pages:
            if path not in seen and path.name != "search.html":
                self.faults.append((path, "no page leads here"))

    def check_pages_of(self, repository):
        """Every page of docs/ is in the site, and in its side bar."""
        beside = {(self.folder / urllib.parse.unquote(link.partition("#")[0])).resolve() for link in self.page(self.folder / "index.html").links
                  if not OUTSIDE.match(link)}
        for path in sorted((repository / "docs").glob("**/*.md")):
            name = path.relative_to(repository / "docs").as_posix()[:-3]
            name = "contents" if name == "README" else re.sub("README$", "index", name)
            if self.folder / f"{name}.html" not in beside:
                self.faults.append((path, f"{name}.html is not in the side bar"))


def find_node():
    return shutil.which("node") or shutil.which("nodejs")


def check_search(site):
    """Runs search.js in node, with as much of a page as it needs, and looks at the first results."""
    node = find_node()
    if not node:
        print("not checked: the search, for there is no node")
        return
    program = """
        const fs = require("fs");
        const make = () => ({ children: [], append(...c) { this.children.push(...c); }, replaceChildren(...c) { this.children = c; } });
        const parts = { query: { form: { addEventListener() {} }, addEventListener() {}, focus() {} }, "search-hits": make(), "search-count": make() };
        global.document = { getElementById: (id) => parts[id], createElement: () => make() };
        global.location = { search: "?q=" + encodeURIComponent(process.argv[2]) };
        (0, eval)(fs.readFileSync(process.argv[1] + "/search-data.js", "utf8").replace("const SECTIONS", "globalThis.SECTIONS"));
        (0, eval)(fs.readFileSync(process.argv[1] + "/_static/search.js", "utf8"));
        console.log(JSON.stringify(parts["search-hits"].children.map((hit) => hit.children[0].children[0].href)));
    """
    for query, wanted in SEARCHES.items():
        done = subprocess.run([node, "-e", program, str(site.folder), query], stdout=subprocess.PIPE, text=True, check=True)
        found = [link.partition(".html")[0] for link in json.loads(done.stdout)]
        if not set(found[:1]) & set(wanted):
            site.faults.append((site.folder / "search.html", f"a search for '{query}' finds {found[:4]} first, not {' or '.join(wanted)}"))


def make(repository, folder, tool):
    """The pages with one live page, as scripts/docs makes them. Ends this test as skipped if the generator is missing."""
    asked = subprocess.run(["/usr/bin/python3", "-c", "import sphinx, myst_parser, furo"], stderr=subprocess.DEVNULL)
    if asked.returncode:
        print("skipped: no Sphinx with MyST-Parser and Furo (make setup FOR=docs)")
        sys.exit(77)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "live").mkdir(parents=True)
    rig = folder.parent / "arm"
    subprocess.run([tool, "demo", "arm", "-o", rig, "--force", "-q"], check=True)
    subprocess.run([tool, "edit", "--export", folder / "live/arm.html", rig / "arm.glb", "-q"])  # refused without an editor
    subprocess.run([tool, "render", rig / "arm.glb", "--size", "64x64", "-o", folder / "live/arm.png"], check=True)
    done = subprocess.run([repository / "scripts/docs", "--pages", folder])
    if done.returncode:
        sys.exit("FAILED: the site could not be made")


def main():
    words = sys.argv[1:]
    if len(words) == 4 and words[0] == "--make":
        repository, folder = (pathlib.Path(word).resolve() for word in words[1:3])
        make(repository, folder, words[3])
    elif len(words) == 1:
        repository, folder = None, pathlib.Path(words[0]).resolve()
    else:
        sys.exit(__doc__)
    site = Site(folder)
    count = site.check_all()
    if repository:
        site.check_pages_of(repository)
        check_search(site)
    for path, text in site.faults:
        print(f"FAILED: {path.relative_to(folder) if folder in path.parents else path}: {text}")
    print(f"{count} pages, {site.checked} links, {len(site.faults)} faults")
    sys.exit(bool(site.faults))


main()
