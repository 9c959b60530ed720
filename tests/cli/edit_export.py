"""exemplar edit --export: one page with a rig in it, byte for byte and compressed, that fetches nothing."""
import base64
import gzip
import hashlib
import html
import os
import re

import harness

RIG = re.compile(r'<script type="text/plain" id="rig" data-name="([^"]*)">([A-Za-z0-9+/]*=*)</script>')
# Places where a page would load something from elsewhere: attributes, styles, and scripts.
FETCHED = re.compile(r"""\b(?:src|href|action|poster|srcset)\s*=\s*["']?\s*(?:https?:)?//|url\(\s*["']?\s*(?:https?:)?//"""
                     r"""|@import|\b(?:import|from|fetch|importScripts|Worker|EventSource|WebSocket)\s*\(?\s*["'`](?:https?|wss?):""")


class Export(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.succeed("build", "band.json", "-q")
        outcome = self.run_tool("edit", "--export", "page.html", "band.glb")
        if "built without the editor" in outcome.err:
            self.sentence(outcome, 1, "-DEX_EDITOR=ON")
            self.assertFalse((self.folder / "page.html").exists())
            self.skipTest("built without the editor")
        self.assertEqual((outcome.code, outcome.err), (0, ""))
        self.said = outcome.out

    def parts(self, name="page.html"):
        """The page around the rig, the rig's name and its bytes."""
        page = (self.folder / name).read_bytes().decode("utf-8")
        found = RIG.findall(page)
        self.assertEqual(len(found), 1)
        self.assertEqual(page.count("id=\"rig\""), 1)
        self.packed = base64.b64decode(found[0][1], validate=True)
        return RIG.sub("", page), html.unescape(found[0][0]), gzip.decompress(self.packed)

    def test_rig(self):
        page, name, rig = self.parts()
        self.assertEqual((name, rig), ("band.glb", (self.folder / "band.glb").read_bytes()))
        self.assertRegex(self.said, r"^page\.html: a page of [\d.]+ [kM]B, with band\.glb \([\d.]+ kB\) in it\n$")
        self.assertNotIn("<!--rig-->", page)

    def test_every_length(self):
        """Base64 ends in three ways."""
        seen = set()
        for length in range(1, 40, 3):
            description = harness.project()
            description["layers"][0]["name"] = "n" * length
            harness.write_project(self.folder, description)
            self.succeed("build", "band.json", "-q")
            rig = (self.folder / "band.glb").read_bytes()
            self.succeed("edit", "--export", "page.html", "band.glb", "-q")
            self.assertEqual(self.parts()[2], rig)
            seen.add(len(self.packed) % 3)
            if len(seen) == 3:
                break
        self.assertEqual(seen, {0, 1, 2})

    def test_small(self):
        """Compressed, with neither a name nor a time in it, so that the same rig gives the same page."""
        rig = self.parts()[2]
        self.assertLess(len(self.packed), 0.7 * len(rig))
        self.assertEqual(self.packed[:8], b"\x1f\x8b\x08\0\0\0\0\0")

    def test_no_connection(self):
        page, _, _ = self.parts()
        policy, = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        self.assertEqual((rules["default-src"], rules["connect-src"]), ("'none'", "'none'"))
        self.assertEqual(page.count("connect-src"), 1)
        self.assertEqual(rules["img-src"], "data: blob:")
        self.assertIsNone(FETCHED.search(page), FETCHED.search(page) and page[FETCHED.search(page).start():][:80])
        # The policy lets the page's own scripts run, and no others.
        scripts = re.findall(r'<script(?: type="module")?>(.*?)</script>', page, re.S)
        self.assertEqual(len(re.findall(r"<script\b", page)), len(scripts))
        digests = [base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode() for script in scripts]
        self.assertEqual(rules["script-src"].split(), [f"'sha256-{digest}'" for digest in digests] + ["'wasm-unsafe-eval'"])
        # The authors of all parts are named.
        for author in ("three.js authors", "Rich Felker", "Permission is hereby granted"):
            self.assertIn(author, page)

    def test_project(self):
        self.succeed("edit", "--export", "again.html", "band.json", "-q")
        self.assertEqual(self.parts("again.html"), self.parts())
        answer = self.succeed("edit", "--export", "again.html", "band.json", "--json").json()
        size = os.path.getsize(self.folder / "again.html")
        self.assertEqual(answer, {"page": "again.html", "size": size, "rig": "band.glb",
                                  "rig_size": os.path.getsize(self.folder / "band.glb")})

    def test_standard_output(self):
        outcome = self.succeed("edit", "--export", "-", "band.glb")
        self.assertEqual(outcome.bytes, (self.folder / "page.html").read_bytes())
        self.sentence(self.run_tool("edit", "--export", "-", "band.glb", "--json"), 2, "standard output")

    def test_name(self):
        os.rename(self.folder / "band.glb", self.folder / 'a"><b>&amp; ü.glb')
        self.succeed("edit", "--export", "named.html", 'a"><b>&amp; ü.glb', "-q")
        page, name, _ = self.parts("named.html")
        self.assertEqual((page, name), (self.parts()[0], 'a"><b>&amp; ü.glb'))

    def test_whole_or_not_at_all(self):
        (self.folder / "page.html").write_text("mine")
        self.succeed("edit", "--export", "page.html", "band.glb", "-q")
        self.parts()
        if harness.THREAD_SANITIZED:
            return
        before = self.listing()
        self.sentence(self.run_tool("edit", "--export", "page.html", "band.glb", file_size=100000), 1, "page.html")
        self.assertEqual(self.listing(), before)

    def test_refusals(self):
        (self.folder / "torn.glb").write_bytes((self.folder / "band.glb").read_bytes()[:-1000])
        description = harness.project()
        description["layers"][0]["examples"][1]["mesh"] = "gone.obj"
        harness.write_project(self.folder, description, "bad.json")
        before = self.listing()
        for words, code, fragments in (
                (("new.html", "none.glb"), 1, ["none.glb"]),
                (("new.html", "none.json"), 1, ["none.json"]),
                (("new.html", "bent.obj"), 1, ["bent.obj"]),
                (("new.html", "torn.glb"), 1, ["torn.glb"]),
                (("new.html", "bad.json"), 1, ["bad.json", "gone.obj"]),
                (("new.txt", "band.glb"), 2, [".html"]),
                (("nowhere/new.html", "band.glb"), 1, ["nowhere"]),
                (("band.glb", "band.glb"), 2, ["would be overwritten"]),
                (("new.html", "band.glb", "--port", "8080"), 2, ["--port"]),
                (("new.html", "band.glb", "--no-open"), 2, ["--no-open"]),
                (("new.html",), 2, [])):
            with self.subTest(words=words):
                self.sentence(self.run_tool("edit", "--export", *words), code, *fragments)
                self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    harness.main()
