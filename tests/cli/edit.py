"""exemplar edit: the page, and every request of editor/README.md."""
import base64
import concurrent.futures
import http.client
import json
import math
import os
import signal
import stat
import struct
import subprocess
import sys
import time
import unittest

import editing
from editing import TABLE, Case, Editor
import harness


class Page(Case):
    def test_start_and_end(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            editor = Editor(self.folder)
            self.assertRegex(editor.line, r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/\n$")
            code, said = editor.end(number)
            self.assertEqual((code, said), (0, "exemplar: editing band.json, until Ctrl-C\n"))
        other = Editor(self.folder, "band.json", "--json", "-q")
        described = json.loads(other.line)
        self.assertEqual((described["port"], described["project"]), (other.port, "band.json"))
        self.assertNotEqual(other.path, editor.path)
        taken = self.run_tool("edit", "band.json", "--no-open", "--port", str(other.port))
        self.sentence(taken, 1, f"port {other.port}", "--port")
        self.assertEqual(other.end(), (0, ""))
        again = Editor(self.folder, "band.json", "--port", str(other.port))
        self.assertEqual(again.port, other.port)
        self.assertEqual(again.end()[0], 0)

    def test_what_cannot_be_edited(self):
        self.sentence(self.run_tool("edit", "none.json"), 1, "none.json")
        self.sentence(self.run_tool("edit", "."), 1, "folder")
        self.succeed("build", "band.json", "-q")
        self.sentence(self.run_tool("edit", "band.glb"), 1, "band.glb")
        self.sentence(self.run_tool("edit", "--export", "o.html", "band.glb", "--no-open"), 2, "--no-open")
        (self.folder / "link.json").symlink_to("nowhere.json")
        self.sentence(self.run_tool("edit", "link.json"), 1, "cannot read 'link.json'")
        os.mkfifo(self.folder / "pipe.json")
        self.sentence(self.run_tool("edit", "pipe.json"), 1, "plain file")
        self.sentence(self.run_tool("edit", "/dev/null"), 1, "plain file")

    @unittest.skipUnless(sys.platform.startswith("linux"), "other systems open a browser in another way")
    def test_browser(self):
        """Other users can read the arguments of the program that opens the browser: they hold no token."""
        programs, room = self.folder / "programs", self.folder / "room"
        programs.mkdir()
        room.mkdir()
        for present in (False, True):
            if present:
                (programs / "xdg-open").write_text('#!/bin/sh\nenv > env; printf "%s\\n" "$@" > seen.part; mv seen.part seen\n')
                (programs / "xdg-open").chmod(0o755)
            process = subprocess.Popen([harness.TOOL, "edit", "band.json"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "TMPDIR": str(room), "XDG_RUNTIME_DIR": str(room),
                                            "PATH": f"{programs}:/bin" if present else str(programs)})
            address = process.stdout.readline().decode().strip()
            end = time.monotonic() + 20
            while present and not (self.folder / "seen").exists() and time.monotonic() < end:
                time.sleep(0.01)
            if present:
                self.check_ticket(process, address, (self.folder / "seen").read_text().split())
            time.sleep(0 if present else 0.1)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1].decode()
            self.assertEqual(process.returncode, 0)
            self.assertNotIn(address.split("/")[3], said)
            self.assertEqual("open that address" in said, not present)
        self.assertEqual(list(room.iterdir()), [])

    def check_ticket(self, process, address, words):
        token = address.split("/")[3]
        self.assertEqual(len(words), 1)
        self.assertRegex(words[0], r"^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$")
        for place in (f"/proc/{process.pid}/cmdline", f"/proc/{process.pid}/environ", self.folder / "env", self.folder / "seen"):
            with open(place, "rb") as file:
                self.assertNotIn(token.encode(), file.read(), place)
        for path in self.folder.rglob("*"):
            self.assertFalse(path.is_file() and token.encode() in path.read_bytes(), path)
        port, ticket = int(words[0].split(":")[2].split("/")[0]), "/" + words[0].split("/")[3] + "/"

        def ask(path, method="GET", **headers):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            connection.request(method, path, headers=headers)
            with connection.getresponse() as response:
                self.assertNotIn(token, response.read().decode("utf-8", "replace")[:1000])
                return response.status, response.headers["Location"]

        # It is not the token, and only this user can change it for the token.
        for path in (ticket[:-1], ticket + "api/project", ticket + "x", ticket.upper() + "x"):
            self.assertEqual(ask(path), (404, None))
        self.assertEqual(ask(ticket, "POST")[0], 404)
        self.assertEqual(ask(ticket, Host="evil.example")[0], 403)
        self.assertEqual(ask(ticket, Origin="http://evil.example")[0], 403)
        if os.geteuid() == 0:
            os.seteuid(65534)  # whoever makes a socket owns it
            try:
                self.assertEqual(ask(ticket), (404, None))
            finally:
                os.seteuid(0)
        self.assertEqual(ask(ticket), (303, address))
        self.assertEqual(ask(ticket), (404, None))
        self.assertEqual(ask(f"/{token}/")[0], 200)

    def test_page(self):
        editor = self.open()
        answer = editor.ask("GET", "")
        self.assertEqual(answer.status, 200)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
                            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}.items():
            self.assertEqual(answer.headers[name], value)
        self.assertIn("frame-ancestors 'none'", answer.headers["Content-Security-Policy"])
        self.assertTrue(answer.bytes.lstrip().lower().startswith(b"<!doctype html>"))
        self.assertIn(b"<!--rig-->", answer.bytes)

    def test_export(self):
        self.succeed("edit", "--export", "page.html", "band.json")
        page = (self.folder / "page.html").read_text()
        self.assertIn('id="rig" data-name="band.glb"', page)
        self.assertIn("connect-src 'none'", page)


class Requests(Case):
    def setUp(self):
        super().setUp()
        self.editor = self.open()

    def post(self, what, body, **query):
        return self.editor.ask("POST", "api/" + what, body, query=query)

    def build(self, text=None):
        answer = self.post("build", text or self.text)
        self.assertEqual(answer.status, 200, answer.bytes)
        return answer.framed()

    # ---- the project ----

    def test_project(self):
        opened = self.editor.ask("GET", "api/project").json()
        self.assertEqual(opened, {"name": "band.json", "text": self.text, "version": self.editor.version(),
                                  "error": None, "where": None})

    def test_save(self):
        first = self.editor.version()
        (self.folder / "band.json").chmod(0o640)
        changed = self.text + "\n"
        answer = self.editor.save(changed, first)
        self.assertEqual(answer.status, 200, answer.bytes)
        second = answer.json()["version"]
        self.assertNotEqual(first, second)
        self.assertEqual(self.editor.version(), second)
        self.assertEqual((self.folder / "band.json").read_text(), changed)
        self.assertEqual((self.folder / "band.json~").read_text(), self.text)
        self.assertEqual(stat.S_IMODE((self.folder / "band.json").stat().st_mode), 0o640)
        # Saving the same again changes nothing, and keeps the version before.
        self.assertEqual(self.editor.save(changed, f'"{second}"').json()["version"], second)
        self.assertEqual((self.folder / "band.json~").read_text(), self.text)
        # Another program wrote the file.
        answer = self.editor.save(self.text + " ", first)
        self.assertEqual(self.refused(answer, 409, "another program")["version"], second)
        self.assertEqual((self.folder / "band.json").read_text(), changed)
        self.assertEqual(self.editor.save(self.text, "*").status, 200)
        self.assertEqual((self.folder / "band.json").read_text(), self.text)
        self.refused(self.editor.ask("PUT", "api/project", self.text), 428, "If-Match")
        versions = ".band.json.versions"
        self.assertEqual(set(self.listing()), {"band.json", "band.json~", *[f"{form}.obj" for form in harness.FORMS],
                                               versions, f"{versions}/000001.undo", f"{versions}/000002.undo"})

    def test_save_of_what_is_no_project(self):
        before, version = self.listing(), self.editor.version()
        self.assertEqual(self.refused(self.editor.save(self.text[:50], version), 422)["where"], "line 1, column 50")
        self.refused(self.editor.save("", version), 422, "empty")
        wrong = self.text.replace('"girth": 1}', '"girht": 1}', 1)
        self.assertRegex(self.refused(self.editor.save(wrong, version), 422, "girht")["where"],
                         r"^layers\[0\]\.examples\[2\]")
        self.assertEqual(self.listing(), before)

    def test_file_is_gone(self):
        version = self.editor.version()
        (self.folder / "band.json").unlink()
        self.assertIsNone(self.editor.version())
        self.assertIn("gone", self.editor.ask("GET", "api/project").json()["error"])
        self.assertIsNone(self.refused(self.editor.save(self.text, version), 409, "gone")["version"])
        self.assertEqual(self.editor.save(self.text, "*").status, 200)
        self.assertEqual((self.folder / "band.json").read_text(), self.text)

    # ---- building and checking ----

    def test_build(self):
        head, rig = self.build()
        self.succeed("build", "band.json", "-q")
        self.assertEqual(rig, editing.pack_of(self.folder / "band.glb"))
        self.assertEqual((head["build"], head["notes"], head["damped"]), ("1", [], []))
        self.assertEqual(json.loads(head["text"]), json.loads(self.text))
        self.assertIn("\n  ", head["text"])
        self.assertEqual(self.build(head["text"])[0]["text"], head["text"])
        self.assertEqual(self.build()[1], rig)

    def test_build_of_what_cannot_be_built(self):
        missing = self.text.replace("thick.obj", "none.obj")
        said = self.refused(self.post("build", missing), 422, "none.obj")
        self.assertEqual(said["where"], "layers[0].examples[2]")
        self.assertNotIn(str(self.folder), said["error"])
        (self.folder / "thick.obj").write_text(harness.obj_text(harness.bent(0, 1), harness.FACES[:2]))
        self.assertRegex(self.refused(self.post("build", self.text), 422)["where"], r"^layers\[0\]\.examples\[2\]")
        self.assertEqual(self.refused(self.post("build", self.text[:-1]), 422)["where"], f"line 1, column {len(self.text) - 1}")

    def long_project(self):
        """A project that takes a minute to build: many paths of a large bent sheet."""
        side = 100
        faces = [(v, v + 1, v + side + 1, v + side) for v in range(1, side * (side - 1)) if v % side]
        for name, bend in (("flat", 0), ("wave", 5)):
            points = [(x / side, y / side, bend * math.sin(bend * x / side) / 9) for y in range(side) for x in range(side)]
            (self.folder / f"{name}.obj").write_text("".join("v %g %g %g\n" % p for p in points) + "".join(
                "f %d %d %d %d\n" % face for face in faces))
        names = [f"e{n}" for n in range(200)]
        layer = {"name": "l", "space": [{"name": name, "min": 0, "max": 1} for name in names],
                 "weigh": {"kind": "direct"}, "shape": "trajectory",
                 "examples": [{"name": name, "mesh": "wave.obj"} for name in names]}
        return json.dumps({"exemplar": 1, "mesh": "flat.obj", "layers": [layer]})

    def test_cancel(self):
        self.assertEqual(self.post("cancel", "").json(), {"cancelled": 0})
        build = self.build()[0]["build"]
        text = self.long_project()
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            asked = [pool.submit(self.post, "build", text) for _ in range(2)]  # the second waits for the first
            while self.post("cancel", "").json()["cancelled"] > 0 or not all(done.done() for done in asked):
                time.sleep(0.01)
        for done in asked:
            answer = done.result()
            self.assertEqual(self.refused(answer, 409, "cancelled", "stays")["cancelled"], True)
        # The rig of the build before stays, and others can be built.
        self.assertEqual(self.post("motion", TABLE, build=build, name="a.csv").status, 200)
        self.assertEqual(self.build()[0]["build"], "2")

    def test_progress(self):
        """A build says where it is; a draft runs beside it, is not kept, and says nothing."""
        self.assertEqual(self.editor.ask("GET", "api/progress").json(), {"step": None})
        build, rig = self.build()
        seen = []
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self.post, "build", self.long_project())
            while not (seen and seen[-1]["step"] == "trajectories"):
                seen.append(self.editor.ask("GET", "api/progress").json())
            self.assertEqual(seen[-1]["layer"], "l")
            self.assertTrue(0 < seen[-1]["fraction"] < 1, seen[-1])
            for step in seen:
                if step["step"] == "example":
                    self.assertEqual((step["layer"], step["example"], step["count"]), ("l", f"e{step['number'] - 1}", 200))
            head, draft = self.post("build", self.text, keep=0).framed()
            self.assertEqual((head["build"], draft), ("draft", rig))
            self.assertEqual(self.editor.ask("GET", "api/progress").json()["step"], "trajectories")
            self.post("cancel", "")
            self.refused(asked.result(), 409, "cancelled")
        self.assertEqual(self.editor.ask("GET", "api/progress").json(), {"step": None})
        self.refused(self.post("motion", TABLE, build="draft", name="a.csv"), 409)
        self.assertEqual(self.post("motion", TABLE, build=build["build"], name="a.csv").status, 200)
        missing = self.text.replace("thick.obj", "none.obj")
        self.assertEqual(self.refused(self.post("build", missing, keep=0), 422, "none.obj")["where"], "layers[0].examples[2]")

    def test_the_rig_beside_the_project(self):
        """It is sent if it is newer than all files that it is made from, and has the project's layers."""
        def beside():
            head, rig = self.editor.ask("GET", "api/beside").framed()
            self.assertEqual(head["version"], self.editor.ask("GET", "api/version").json()["version"] if rig else None)
            return rig
        path = self.folder / "band.glb"
        path.unlink(missing_ok=True)
        self.assertEqual(beside(), b"")
        self.succeed("build", "band.json", "-q")
        rig = self.build()[1]
        self.assertEqual(beside(), rig)
        # Motions do not know the page's name for it.
        self.refused(self.post("motion", TABLE, build="beside", name="a.csv"), 409)
        first = now = path.stat().st_mtime_ns
        for name in ("band.json", "thick.obj"):
            os.utime(self.folder / name, ns=(now + 1, now + 1))
            self.assertEqual(beside(), b"", name)
            os.utime(self.folder / name, ns=(first, first))
            now += 10**12
            os.utime(path, ns=(now, now))
            self.assertEqual(beside(), rig)
        # An older file in the place of another, and a link.
        self.succeed("build", "band.json", "-q")
        self.assertEqual(beside(), rig)
        time.sleep(0.03)  # longer than a tick of a file system's clock
        (self.folder / "old.obj").write_bytes((self.folder / "thick.obj").read_bytes())
        os.utime(self.folder / "old.obj", ns=(1, 1))
        os.replace(self.folder / "old.obj", self.folder / "thick.obj")
        self.assertEqual(beside(), b"")
        (self.folder / "thick.obj").rename(self.folder / "real.obj")
        (self.folder / "thick.obj").symlink_to("real.obj")
        self.assertEqual(beside(), b"")
        self.succeed("build", "band.json", "-q")
        self.assertEqual(beside(), rig)
        # A rig of a project with other layers or examples.
        others = [json.loads(self.text) for _ in range(3)]
        others[0]["layers"][0]["name"] = "another"
        others[1]["layers"][0]["examples"][0]["name"] = "another"
        others[2]["layers"][0]["examples"].pop()
        for other in others:
            (self.folder / "other.json").write_text(json.dumps(other))
            self.succeed("build", "other.json", "-o", "band.glb", "-q")
            self.assertEqual(beside(), b"")
        self.succeed("build", "band.json", "-q")
        self.assertEqual(beside(), rig)
        whole = path.read_bytes()
        for damaged in (b"", whole[:1000], whole[:len(whole) // 2] + b"x" + whole[len(whole) // 2 + 1:]):
            path.write_bytes(damaged)
            self.assertEqual(beside(), b"", len(damaged))
        path.unlink()
        path.mkdir()
        self.assertEqual(beside(), b"")

    def test_the_rig_of_a_demo(self):
        """A demo's files get their places one by one, its project last."""
        self.succeed("demo", "blob", "-o", "blob", "-q")
        editor = Editor(self.folder, "blob/blob.json")
        try:
            head, rig = editor.ask("GET", "api/beside").framed()
        finally:
            editor.end()
        self.assertTrue(head["version"])
        self.assertGreater(len(rig), 1000)

    def test_paths_stay_in_the_cache(self):
        """The next process finds them there, and a project beside has nothing new in its folder."""
        text = json.dumps({**json.loads(self.text), "layers": [
            {"name": "l", "space": [{"name": "t", "min": 0, "max": 1}], "weigh": {"kind": "direct"},
             "shape": "trajectory", "examples": [{"name": "bent", "mesh": "bent.obj"}]}]})
        rig = self.build(text)[1]
        files = list((self.folder / ".cache/exemplar/paths").iterdir())
        self.assertEqual([file.suffix for file in files], [".paths"])
        before = files[0].stat().st_mtime_ns
        editor = Editor(self.folder, env={**os.environ, "XDG_CACHE_HOME": str(self.folder / ".cache")})
        try:
            self.assertEqual(editor.ask("POST", "api/build", text).framed()[1], rig)
        finally:
            editor.end()
        self.assertGreater(files[0].stat().st_mtime_ns, before)
        # Without a home, or with a folder that cannot be made, everything is only slower.
        for env in ({"XDG_CACHE_HOME": "cache", "HOME": ""}, {"XDG_CACHE_HOME": str(self.folder / "band.json")}):
            editor = Editor(self.folder, env={**os.environ, **env})
            try:
                self.assertEqual(editor.ask("POST", "api/build", text).framed()[1], rig)
            finally:
                editor.end()

    def test_a_build_when_the_editor_ends(self):
        """It gets no answer, for nobody cancelled it."""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(self.post, "build", self.long_project())
            time.sleep(0.3)
            self.editor.process.send_signal(signal.SIGINT)
            with self.assertRaises((http.client.RemoteDisconnected, ConnectionError)):
                asked.result()
        self.assertEqual(self.editor.process.wait(60), 0)

    def test_check(self):
        found = self.post("check", self.text)
        self.assertEqual(found.status, 200)
        self.assertEqual(found.bytes, self.run_tool("check", "band.json", "--json").bytes)
        missing = self.text.replace("thick.obj", "none.obj")
        (self.folder / "band.json").write_text(missing)
        found = self.post("check", missing)
        self.assertEqual(found.bytes, self.run_tool("check", "band.json", "--json").bytes)
        self.assertIn("none.obj", found.bytes.decode())
        broken = self.post("check", self.text[:50]).json()
        self.assertEqual((broken["errors"], broken["findings"][0]["kind"]), (1, "unreadable"))

    # ---- files ----

    def test_targets(self):
        """Morph targets of a glTF file as forms of the vertices that the project reads from it."""
        floats = lambda *numbers: struct.pack(f"<{len(numbers)}f", *numbers)
        data = floats(0, 0, 0, 1, 0, 0, 0, 1, 0) + floats(0, 0, 0, 0.5, 0, 0, 0, 0, 0)
        scene = {"asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "scene": 0, "nodes": [{"mesh": 0, "translation": [0, 0, 2]}],
                 "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}]}], "weights": [0.25],
                             "extras": {"targetNames": ["wide"]}}],
                 "accessors": [{"bufferView": i, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]}
                               for i in range(2)],
                 "bufferViews": [{"buffer": 0, "byteOffset": 36 * i, "byteLength": 36} for i in range(2)],
                 "buffers": [{"byteLength": 72, "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]}
        (self.folder / "tri.gltf").write_text(json.dumps(scene))
        ask = lambda **query: self.editor.ask("GET", "api/targets", query=query)
        head, forms = ask(mesh="tri.gltf").framed()
        self.assertEqual(head, {"names": ["wide"], "rests": [0.25], "vertices": 3})
        self.assertEqual(struct.unpack("<9f", forms), (0, 0, 2, 1.5, 0, 2, 0, 1, 2))
        self.assertEqual(ask(mesh="tri.gltf", only="names").framed(), ({"names": ["wide"], "rests": [0.25], "vertices": 0}, b""))
        self.assertEqual(ask(mesh="bent.obj").framed()[0]["names"], [])
        self.refused(ask(mesh="none.glb"), 422, "none.glb")
        self.refused(ask(mesh="../x.glb"), 403)
        self.refused(ask(), 400)

    def test_file(self):
        bent = (self.folder / "bent.obj").read_bytes()
        self.assertEqual(self.post("file", bent, name="new.obj").json(), {"path": "new.obj"})
        self.assertEqual(self.post("file", bent, name="new.obj").json(), {"path": "new-2.obj"})
        self.assertEqual(self.post("file", bent, name="näher dran.OBJ").json(), {"path": "näher dran.OBJ"})
        self.assertEqual(self.post("file", harness.png(4, 4), name="skin.png").json(), {"path": "skin.png"})
        self.assertEqual((self.folder / "new-2.obj").read_bytes(), bent)
        self.succeed("build", "band.json", "-q")
        rig = (self.folder / "band.glb").read_bytes()
        self.assertEqual(self.post("file", rig, name="band.glb").json(), {"path": "band-2.glb"})
        before = self.listing()
        self.refused(self.post("file", b"no form", name="a.obj"), 422, "a.obj")
        self.refused(self.post("file", b"no picture", name="a.png"), 422, "a.png")
        self.refused(self.post("file", b"{}", name="a.json"), 415, "a.json")
        self.refused(self.post("file", bent, name="obj"), 415, "obj")
        self.refused(self.post("file", bent), 400, "name")
        outside = {"asset": {"version": "2.0"}, "buffers": [{"uri": "../secret.bin", "byteLength": 36}],
                   "bufferViews": [{"buffer": 0, "byteLength": 36}],
                   "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
                   "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}]}
        self.refused(self.post("file", json.dumps(outside), name="a.gltf"), 422, "secret.bin")
        picture = {"asset": {"version": "2.0"}, "images": [{"uri": "secret.png"}]}
        self.refused(self.post("file", json.dumps(picture), name="a.gltf"), 422, "secret.png")
        self.assertEqual(self.listing(), before)
        # A picture outside the folder is never read; the rest of the file can be used.
        picture["images"][0]["uri"] = "../secret.png"
        self.assertEqual(self.post("file", json.dumps(picture), name="a.gltf").json(), {"path": "a.gltf"})

    def test_names(self):
        before, beside = self.listing(), sorted(self.folder.parent.glob("a.*"))
        body = (self.folder / "bent.obj").read_bytes()
        for name in ("../a.obj", "a/b.obj", "..\\a.obj", ".a.obj", "..", "", "x" * 210 + ".obj", "a\nb.obj", "a\0b.obj"):
            answer = self.post("file", body, name=name)
            self.assertEqual(answer.status, 400, name)
            self.assertIn("error", answer.json())
        bad = self.editor.ask("POST", "api/file?name=%ff%fe.obj", body)
        self.refused(bad, 400, "readable")
        floats = struct.pack("<24f", *[0.0] * 24)
        for path in ("form", "mask", "group", "bake", "motion"):
            answer = self.post(path, b"" if path == "bake" else floats, name="../a.bvh", mesh="straight.obj", count=6,
                               build=1, motion=1)
            self.assertIn(answer.status, (400, 409), (path, answer.bytes))
        self.assertEqual(self.listing(), before)
        self.assertEqual(sorted(self.folder.parent.glob("a.*")), beside)

    def test_form(self):
        positions = [[0.1 * v, v / 3, -v] for v in range(8)]
        body = struct.pack("<24f", *[number for point in positions for number in point])
        exact = struct.unpack("<24f", body)
        answer = self.post("form", body, name="bow", mesh="straight.obj", unit="cm", up="z")
        self.assertEqual(answer.json(), {"path": "bow.obj"})
        self.assertEqual(self.post("form", body, name="bow.obj", mesh="straight.obj").json(), {"path": "bow-2.obj"})
        text = (self.folder / "bow-2.obj").read_text()
        written = [number for point in harness.positions_of(text) for number in point]
        self.assertEqual(struct.pack("<24f", *written), body)
        self.assertIn("v 0.1 ", text)
        self.assertEqual([line for line in text.splitlines() if line[:2] in ("f ", "g ")],
                         [line for line in harness.obj_text(harness.REST).splitlines() if line[:2] in ("f ", "g ")])
        for point, got in zip(zip(*[iter(exact)] * 3), harness.positions_of((self.folder / "bow.obj").read_text())):
            for number, other in zip((point[0] * 100, -point[2] * 100, point[1] * 100), got):
                self.assertAlmostEqual(number, other, places=4)
        self.refused(self.post("form", body[:-4], name="a", mesh="straight.obj"), 422, "8 vertices", "straight.obj")
        self.refused(self.post("form", struct.pack("<24f", *[float("nan")] * 24), name="a", mesh="straight.obj"), 422)
        self.refused(self.post("form", body, name="a", mesh="straight.obj", unit="yd"), 400, "yd")
        self.refused(self.post("form", body, name="a", mesh="straight.obj", unit="1." + "0" * 40), 400, "unit")
        self.refused(self.post("form", body, name="a", mesh="none.obj"), 422, "none.obj")
        self.refused(self.post("form", body, name="a", mesh="/etc/passwd"), 403, "/etc/passwd")
        self.refused(self.post("form", body, name="a", mesh="../x.obj"), 403, "../x.obj")

    def test_form_is_an_example(self):
        body = struct.pack("<24f", *[number for point in harness.bent(1, 0.5) for number in point])
        path = self.post("form", body, name="more", mesh="straight.obj").json()["path"]
        project = json.loads(self.text)
        project["layers"][0]["examples"].append({"name": "more", "mesh": path, "at": {"bend": 90, "girth": 0.5}})
        (self.folder / "more.json").write_text(json.dumps(project))
        self.assertEqual(self.build(json.dumps(project))[0]["damped"], [])
        self.succeed("build", "more.json", "-q")
        self.succeed("pose", "more.glb", "bend=90", "girth=0.5", "-o", "posed.obj", "-q")
        posed = harness.positions_of((self.folder / "posed.obj").read_text())
        self.assertEqual(struct.pack("<24f", *[number for point in posed for number in point]), body)

    def test_mask(self):
        values = [0, 0.25, 1, 0, 0.1, 0, 0, 1]
        body = struct.pack("<8f", *values)
        self.assertEqual(self.post("mask", body, name="arm", count=8).json(), {"path": "arm.txt"})
        self.assertEqual((self.folder / "arm.txt").read_text(), "1 0.25\n2 1\n4 0.1\n7 1\n")
        project = json.loads(self.text)
        self.assertEqual(self.post("values", json.dumps(project), layer=0).framed(), ({"count": 0}, b""))
        project["layers"][0]["mask"] = {"file": "arm.txt"}
        self.build(json.dumps(project))
        self.assertEqual(self.post("values", json.dumps(project), layer=0).framed(), ({"count": 8}, body))
        for layer in ("1", "-1", "x", ""):
            self.assertIn(self.post("values", json.dumps(project), layer=layer).status, (400, 422))
        project["layers"][0]["mask"] = {"file": "gone.txt"}
        self.refused(self.post("values", json.dumps(project), layer=0), 422, "gone.txt")
        nothing = self.post("mask", bytes(32), name="none", count=8).json()["path"]
        project["layers"][0]["mask"] = {"file": nothing}
        self.build(json.dumps(project))
        self.refused(self.post("mask", body, name="arm", count=9), 422, "9")
        self.refused(self.post("mask", struct.pack("<f", 1.5), name="arm", count=1), 422, "0 to 1")

    def test_group(self):
        inside = bytes([1, 1, 1, 1, 1, 1, 0, 0])
        self.assertEqual(self.post("group", inside, name="arm", mesh="straight.obj").json(), {"path": "straight-arm.obj"})
        text = (self.folder / "straight-arm.obj").read_text()
        self.assertEqual([line for line in text.splitlines() if line.startswith("g ")], ["g front arm", "g back arm", "g back"])
        self.assertEqual(harness.positions_of(text), harness.REST)
        again = self.post("group", bytes([0, 0, 0, 0, 1, 1, 1, 1]), name="arm", mesh="straight-arm.obj").json()["path"]
        self.assertEqual([line for line in (self.folder / again).read_text().splitlines() if line.startswith("g ")],
                         ["g front", "g back", "g back arm"])
        project = json.loads(self.text)
        project["mesh"] = "straight-arm.obj"
        project["layers"][0]["mask"] = {"group": "arm"}
        self.build(json.dumps(project))
        long = "a" + "ä" * 60
        (self.folder / f"{long}.obj").write_bytes((self.folder / "straight.obj").read_bytes())
        made = self.post("group", inside, name="arm", mesh=f"{long}.obj").json()["path"]
        self.assertEqual(made, "a" + "ä" * 49 + "-arm.obj")
        self.assertTrue((self.folder / made).exists())
        self.refused(self.post("group", bytes(8), name="arm", mesh="straight.obj"), 422, "face")
        self.refused(self.post("group", inside, name="my arm", mesh="straight.obj"), 400, "spaces")
        self.refused(self.post("group", inside[:7], name="arm", mesh="straight.obj"), 422, "8 vertices")

    # ---- motion ----

    def test_motion(self):
        self.refused(self.post("motion", TABLE, build=1, name="a.csv"), 409)
        build = self.build()[0]["build"]
        (self.folder / "move.csv").write_text(TABLE)
        self.assertEqual(self.editor.ask("GET", "api/motions").json(), {"files": ["move.csv"]})
        head, data = self.post("motion", "", build=build, path="move.csv").framed()
        self.assertEqual((head["name"], head["frames"], head["inputs"], head["joints"]), ("move.csv", 3, 2, 0))
        self.assertEqual(head["times"], [0, 0.5, 1])
        self.assertEqual(struct.unpack("<6d", data), (0, 0, 45, 1, 90, 0.25))
        sent, again = self.post("motion", TABLE, build=build, name="move.csv").framed()
        self.assertEqual(again, data)
        self.assertNotEqual(sent["motion"], head["motion"])
        self.refused(self.post("motion", "time,elbow\n0,1\n", build=build, name="a.csv"), 422, "elbow")
        self.assertNotIn("/", self.post("motion", "x", build=build, name="a.bvh").json()["error"])
        self.refused(self.post("motion", "", build=build, path="none.csv"), 404, "none.csv")
        self.refused(self.post("motion", "", build=build, path="../move.csv"), 400, "slash")
        self.refused(self.post("motion", "", build=build, path="band.json"), 415)
        self.build()
        self.refused(self.post("motion", TABLE, build=build, name="a.csv"), 409, "built again")

    def test_bake(self):
        build = self.build()[0]["build"]
        (self.folder / "move.csv").write_text(TABLE)
        motion = self.post("motion", "", build=build, path="move.csv").framed()[0]["motion"]

        def bake(name, **query):
            return self.post("bake", "", **{"build": build, "motion": motion, "name": name, "overwrite": 0, **query})

        baked = bake("walk.glb").json()
        self.assertEqual((baked["path"], baked["frames"], baked["notes"]), ("walk.glb", 3, []))
        self.assertLess(baked["maximum"], 1e-5)
        self.assertEqual(bake("walk.pc2").json(), {"path": "walk.pc2", "frames": 3, "maximum": None, "rms": None, "notes": []})
        self.assertEqual(bake("walk.obj").status, 200)
        self.succeed("build", "band.json", "-q")
        (self.folder / "by").mkdir()
        self.assertEqual(bake("walk.abc").json()["frames"], 3)
        self.refused(bake("walk.usd"), 415, ".glb, .pc2, .mdd, .abc or .obj is needed")
        for name in ("walk.glb", "walk.pc2", "walk.abc"):
            self.succeed("bake", "band.glb", "--motion", "move.csv", "-o", "by/" + name, "-q")
            self.assertEqual((self.folder / name).read_bytes(), (self.folder / "by" / name).read_bytes())
        self.assertTrue((self.folder / "walk_0003.obj").exists())
        self.assertIn("walk.glb", self.editor.ask("GET", "api/motions").json()["files"])
        self.assertNotIn("band.glb", self.editor.ask("GET", "api/motions").json()["files"])
        before = self.listing()
        self.assertEqual(self.refused(bake("walk.glb"), 409, "walk.glb")["exists"], "walk.glb")
        self.assertEqual(self.refused(bake("walk.obj"), 409, "walk_0001.obj")["exists"], "walk_0001.obj")
        self.refused(bake("move.csv"), 415)
        self.assertNotIn("exists", self.refused(bake("w.glb", motion="17"), 409, "motion"))
        self.assertNotIn("exists", self.refused(bake("w.glb", build="17"), 409, "built again"))
        (self.folder / "link.glb").symlink_to("walk.glb")
        self.refused(bake("link.glb", overwrite=1), 403, "link.glb")
        (self.folder / "link.glb").unlink()
        (self.folder / "thick_0001.obj").write_bytes((self.folder / "thick.obj").read_bytes())
        project = self.text.replace("thick.obj", "thick_0001.obj")
        build = self.build(project)[0]["build"]
        self.refused(bake("w.glb", build=build), 409, "motion")
        motion = self.post("motion", TABLE, build=build, name="move.csv").framed()[0]["motion"]
        self.refused(bake("thick.obj", build=build, motion=motion, overwrite=1), 403, "thick_0001.obj")
        (self.folder / "thick_0001.obj").unlink()
        self.assertEqual(self.listing(), before)
        (self.folder / "walk.glb").write_text("old")
        self.assertEqual(bake("walk.glb", build=build, motion=motion, overwrite=1).status, 200)
        self.assertEqual((self.folder / "walk.glb").read_bytes(), before["walk.glb"])


class Skeletons(Case):
    def test_motion_of_joints(self):
        self.succeed("demo", "arm", "-o", "arm", "-q")
        editor = self.open("arm/arm.json")
        text = (self.folder / "arm/arm.json").read_text()
        head, rig = editor.ask("POST", "api/build", text).framed()
        self.assertEqual(rig, editing.pack_of(self.folder / "arm/arm.glb"))
        table = "time,elbow\n0,0\n1,90\n"
        moved, data = editor.ask("POST", "api/motion", table, query={"build": head["build"], "name": "m.csv"}).framed()
        self.assertGreater(moved["joints"], 1)
        size = moved["frames"] * moved["inputs"] * 8
        self.assertEqual(len(data), size + moved["frames"] * moved["joints"] * 40)
        joints = struct.unpack(f"<{moved['joints'] * 20}f", data[size:])
        turned = [k for k in range(moved["joints"])
                  if joints[10 * k:10 * k + 10] != joints[10 * (k + moved["joints"]):10 * (k + moved["joints"]) + 10]]
        self.assertEqual(len(turned), 1)
        baked = editor.ask("POST", "api/bake", "", query={"build": head["build"], "motion": moved["motion"],
                                                          "name": "m.glb"})
        self.assertEqual(baked.status, 200, baked.bytes)
        bvh = ("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
               "End Site\n{\nOFFSET 1 0 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 0 0\n30 0 0\n")
        query = {"build": head["build"], "name": "wave.bvh"}
        self.refused(editor.ask("POST", "api/motion", bvh, query=query), 422, "'wave.map.json' in the project's folder")
        (self.folder / "arm/wave.map.json").write_text('{"joints": {"forearm": "a"}}')
        self.assertEqual(editor.ask("POST", "api/motion", bvh, query=query).framed()[0]["matched"], 1)
        (self.folder / "m.csv").write_text(table)
        self.succeed("bake", "arm/arm.glb", "--motion", "m.csv", "-o", "m.glb", "-q")
        self.assertEqual((self.folder / "arm/m.glb").read_bytes(), (self.folder / "m.glb").read_bytes())


def tube(radius, angle, first, last):
    """Rings of eight of a tube that bends."""
    points = []
    for ring in range(first, last + 1):
        turn, far = (angle + 0.01) * ring / 8, 1 / (angle + 0.01)
        for side in range(8):
            a = math.pi * side / 4
            out = far - radius * math.cos(a)
            points.append((out * math.sin(turn), far - out * math.cos(turn), radius * math.sin(a)))
    return points


def tube_obj(points):
    faces = [(v, v - v % 8 + (v + 1) % 8) for v in range(len(points) - 8)]
    return "".join("v %.9g %.9g %.9g\n" % p for p in points) + "".join(
        f"f {v + 1} {w + 1} {w + 9} {v + 9}\n" for v, w in faces)


def cache(forms):
    flat = [number for form in forms for point in form for number in point]
    return struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(forms[0]), 0, 0.04, len(forms)) + struct.pack(
        f"<{len(flat)}f", *flat)


class Drivers(Case):
    """A sleeve that follows a tube: its motions are caches of the tube."""

    def setUp(self):
        super().setUp()
        self.forms = [tube(0.25, angle, 0, 8) for angle in (0, 0.5, 1, 1.2)]
        (self.folder / "walk.pc2").write_bytes(cache(self.forms))
        (self.folder / "sleeve.pc2").write_bytes(cache([form[:40] for form in self.forms]))
        for i, form in enumerate(self.forms):
            (self.folder / f"run_{i + 1:04}.obj").write_text(tube_obj(form))
        for name, angle in (("a", 0), ("b", 1.2)):
            (self.folder / f"body_{name}.obj").write_text(tube_obj(tube(0.25, angle, 0, 8)))
            (self.folder / f"sleeve_{name}.obj").write_text(tube_obj(tube(0.3, angle, 2, 6)))
        examples = [{"name": k, "mesh": f"sleeve_{k}.obj", "at": {"body": f"body_{k}.obj"}} for k in "ab"]
        project = {"exemplar": 1, "mesh": "sleeve_a.obj", "driver": {"mesh": "body_a.obj", "frames": 3},
                   "layers": [{"name": "driven", "space": [{"name": "body", "driver": True}],
                               "weigh": {"kind": "convex"}, "examples": examples}]}
        (self.folder / "p.json").write_text(json.dumps(project))
        (self.folder / "move.csv").write_text(TABLE)
        self.editor = self.open("p.json")
        self.head = self.editor.ask("POST", "api/build", json.dumps(project)).framed()[0]

    def post(self, what, body="", **query):
        return self.editor.ask("POST", "api/" + what, body, query={"build": self.head["build"], **query})

    def test_motions_of_a_driver(self):
        self.assertEqual(self.editor.ask("GET", "api/motions").json()["files"], ["run_0001.obj", "walk.pc2"])
        head, data = self.post("motion", path="walk.pc2").framed()
        self.assertEqual((head["frames"], head["inputs"], head["joints"], head["driver"]), (4, 0, 0, 72))
        self.assertAlmostEqual(head["times"][3], 0.12, 6)
        self.assertEqual(data, (self.folder / "walk.pc2").read_bytes()[32:])
        self.assertEqual(self.post("motion", data, name="x.pc2").status, 422)
        objs, numbers = self.post("motion", path="run_0001.obj").framed()
        self.assertEqual((objs["frames"], len(numbers)), (4, len(data)))
        self.refused(self.post("motion", path="sleeve.pc2"), 422, "'sleeve.pc2' has 40 vertices", "72")
        self.refused(self.post("motion", path="move.csv"), 415, "driver 'body'", ".pc2")
        self.refused(self.post("motion", tube_obj(self.forms[0]), name="run_1.obj"), 415, "project's folder")
        frames = 1 + (256 << 20) // (72 * 12)
        with open(self.folder / "long.pc2", "wb") as file:
            file.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, 72, 0, 0.04, frames))
            file.truncate(32 + 72 * 12 * frames)
        self.refused(self.post("motion", path="long.pc2"), 413, "'exemplar drive apply p.glb --driver long.pc2 ")
        self.editor.ask("POST", "api/build", self.text)
        self.assertEqual(self.editor.ask("GET", "api/motions").json()["files"], ["move.csv"])

    def test_bakes_of_a_driver(self):
        walk = (self.folder / "walk.pc2").read_bytes()
        self.succeed("build", "p.json", "-q")
        self.succeed("drive", "apply", "p.glb", "--driver", "walk.pc2", "-o", "right.pc2", "-q")
        right = (self.folder / "right.pc2").read_bytes()
        for name, body, query in (("from.pc2", "", {"path": "walk.pc2"}), ("sent.pc2", walk, {"name": "walk.pc2"})):
            motion = self.post("motion", body, **query).framed()[0]["motion"]
            baked = self.post("bake", motion=motion, name=name).json()
            self.assertEqual((baked["path"], baked["frames"], baked["maximum"]), (name, 4, None))
            self.assertEqual((self.folder / name).read_bytes(), right)
        self.refused(self.post("bake", motion=motion, name="w.glb"), 415, ".pc2")
        self.refused(self.post("bake", motion=motion, name="w.pc2", database=3), 422, "one database")
        self.refused(self.post("bake", motion=motion, name="w.pc2", database="soft"), 400, "soft")
        motion = self.post("motion", path="run_0001.obj").framed()[0]["motion"]
        before = self.listing()
        self.assertEqual(self.refused(self.post("bake", motion=motion, name="run.obj"), 409)["exists"], "run_0001.obj")
        self.refused(self.post("bake", motion=motion, name="run.obj", overwrite=1), 403, "run_0001.obj")
        self.assertEqual(self.listing(), before)


if __name__ == "__main__":
    editing.main()
