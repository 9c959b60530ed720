"""The documentation site, for Sphinx with MyST-Parser and Furo. gather.py writes its pages; scripts/docs calls both."""
import json
import pathlib
import re

from docutils import nodes

here = pathlib.Path(__file__).parent
project = "Exemplar"
html_title = "Exemplar"
extensions = ["myst_parser"]
myst_heading_anchors = 6
myst_url_schemes = ["http", "https", "mailto", "source"]
html_theme = "furo"
html_static_path = [str(here / "static")]
templates_path = [str(here / "templates")]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
html_permalinks_icon = "#"
pygments_style = "friendly"
pygments_dark_style = "native"
# Blocks that show a part of a file are not always valid in their language.
suppress_warnings = ["misc.highlighting_failure"]
fonts = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", sans-serif'
html_theme_options = {
    "light_css_variables": {"font-stack": fonts, "color-brand-primary": "#2f6fb3", "color-brand-content": "#2f6fb3",
                            "color-warm": "#c96f4a", "color-code-background": "#f5f7f9", "color-sidebar-link-text--top-level": "var(--color-foreground-secondary)"},
    "dark_css_variables": {"color-brand-primary": "#7fb2e5", "color-brand-content": "#7fb2e5", "color-warm": "#e39a78"},
}


def lead_to_sources(app, doctree, name):
    """Links source:PAGE#LINE, which gather.py makes."""
    for link in doctree.findall(nodes.reference):
        page, _, line = link.get("refuri", "").partition("#")
        if page.startswith("source:"):
            link["refuri"] = app.builder.get_relative_uri(name, page.removeprefix("source:")) + ("#" + line if line else "")
            link["internal"] = True
            link["classes"] = [kind for kind in link["classes"] if kind != "external"]


def words(node):
    """The text of a node, with spaces between cells, items and blocks."""
    return re.sub(r"\s+", " ", node.astext().replace("\n", " ")).strip()


def write_search(app, error):
    """search-data.js: [page, its title, anchor, heading, text, summary] of every section, for search.js."""
    if error:
        return
    given = json.loads((pathlib.Path(app.srcdir) / "search.json").read_text(encoding="utf-8"))
    rows = []
    for name in sorted(app.env.found_docs):
        if "nosearch" in app.env.metadata.get(name, {}):
            continue
        page = app.builder.get_relative_uri("search", name)
        title = app.env.titles[name].astext()
        for section in app.env.get_doctree(name).findall(nodes.section):
            own = [child for child in section.children if not isinstance(child, (nodes.section, nodes.title, nodes.raw))]
            heading = section.next_node(nodes.title).astext()
            top = isinstance(section.parent, nodes.document)
            text = " ".join(words(child) for child in own)
            rows.append([page, title, "" if top else section["ids"][0], heading, text, given["summaries"].get(name, "") if top else ""])
    for name, blocks in given["blocks"].items():
        page, title = app.builder.get_relative_uri("search", name), app.env.titles[name].astext()
        rows += [[page, title, f"L{line}", f"line {line}", re.sub(r"\s+", " ", text), ""] for line, text in blocks]
    text = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    (pathlib.Path(app.outdir) / "search-data.js").write_text(f"const SECTIONS = {text};\n", encoding="utf-8")


def mend_theme(app, error):
    """Debian's Furo takes normalize.css from a web server's root and a script as a module; neither loads from disk. And its
    style has lost the rule that follows a dark system."""
    if error:
        return
    static = pathlib.Path(app.outdir) / "_static"

    def put(file, pattern, folder):
        text = (static / file).read_text(encoding="utf-8")
        found = re.match(pattern, text)
        if found:
            text = (folder / found.group(1)).read_text(encoding="utf-8") + text[found.end():]
            (static / file).write_text(text, encoding="utf-8")

    put("styles/furo.css", r"@import url\(/javascript/(\S+?)\);", pathlib.Path("/usr/share/javascript"))
    put("scripts/furo.js", r'import (?:\* as )?Gumshoe from "\./(\S+?)";', static / "scripts")
    for page in pathlib.Path(app.outdir).glob("**/*.html"):
        text = page.read_text(encoding="utf-8")
        if '<script type="module" ' in text:
            page.write_text(text.replace('<script type="module" ', "<script "), encoding="utf-8")
    style = (static / "styles/furo.css").read_text(encoding="utf-8")
    dark = re.search(r'body\[data-theme="?dark"?\]\s*\{[^}]*--color-background-primary[^}]*\}', style)
    if dark and "body:not([data-theme" not in style:
        rule = re.sub(r"^body\S+", 'body:not([data-theme="light"])', dark.group())
        style += f"\n@media screen and (prefers-color-scheme: dark) {{ {rule} }}\n"
        (static / "styles/furo.css").write_text(style, encoding="utf-8")
    (pathlib.Path(app.outdir) / "searchindex.js").unlink(missing_ok=True)  # of Sphinx's own search


def setup(app):
    app.connect("doctree-resolved", lead_to_sources)
    app.connect("build-finished", write_search)
    app.connect("build-finished", mend_theme)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
