"""exemplar edit: every request of editor/README.md, and what is refused. Whatever is refused leaves the project whole."""
import concurrent.futures
import fcntl
import http.client
import json
import math
import os
import random
import re
import select
import signal
import socket
import stat
import struct
import subprocess
import sys
import time
import unittest
import urllib.parse

import harness

TABLE = "time,bend,girth\n0,0,0\n0.5,45,1\n1,90,0.25\n"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    def json(self):
        return json.loads(self.bytes)

    def framed(self):
        """The object, and what follows it."""
        size, = struct.unpack("<I", self.bytes[:4])
        assert (4 + size) % 8 == 0
        return json.loads(self.bytes[4:4 + size]), self.bytes[4 + size:]


class Editor:
    """The tool at work on a project, and what a page asks of it."""

    def __init__(self, folder, name="band.json", *words, **how):
        self.process = subprocess.Popen([harness.TOOL, "edit", str(name), "--no-open", *words], cwd=folder, **how,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not select.select([self.process.stdout], [], [], 60)[0]:
            self.end()
            raise AssertionError("it does not start")
        self.line = self.process.stdout.readline().decode()
        address = re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.line)
        if not address:
            raise AssertionError(self.line + self.process.stderr.read().decode())
        self.port, self.path = int(address[1]), address[2]

    def ask(self, method, path, body=None, headers={}, query=None, whole=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        address = path if whole else self.path + path
        if query:
            address += "?" + urllib.parse.urlencode(query)
        try:
            connection.request(method, address, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def send(self, head, body=b""):
        """Bytes as they are; what comes back."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(head.encode("latin-1").replace(b"\n", b"\r\n") + b"\r\n" + body)
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        return answer.decode("latin-1")

    def head(self, method="GET", path="", more=""):
        return f"{method} {self.path}{path} HTTP/1.1\nHost: 127.0.0.1:{self.port}\n{more}"

    def save(self, text, version):
        return self.ask("PUT", "api/project", text, {"If-Match": version})

    def version(self):
        return self.ask("GET", "api/version").json()["version"]

    def end(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            said = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, said[1].decode()


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        harness.write_project(self.folder)
        self.text = (self.folder / "band.json").read_text()
        self.editors = []

    def tearDown(self):
        for editor in self.editors:
            code, said = editor.end()
            self.assertEqual(code, 0, said)
            self.assertNotRegex(said, "Sanitizer|runtime error|definitely lost")
        super().tearDown()

    def open(self, *words, user=None):
        editor = Editor(self.folder, *words, user=user)
        self.editors.append(editor)
        return editor

    def refused(self, answer, status, *fragments):
        self.assertEqual(answer.status, status, answer.bytes)
        said = answer.json()["error"]
        for fragment in fragments:
            self.assertIn(fragment, said)
        return answer.json()


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
        programs = self.folder / "programs"
        programs.mkdir()
        for present in (False, True):
            if present:
                (programs / "xdg-open").write_text('#!/bin/sh\nprintf "%s\\n" "$1" > seen.part; mv seen.part seen\n')
                (programs / "xdg-open").chmod(0o755)
            process = subprocess.Popen([harness.TOOL, "edit", "band.json"], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       env={**os.environ, "PATH": f"{programs}:/bin" if present else str(programs)})
            address = process.stdout.readline().decode()
            end = time.monotonic() + 20
            while present and not (self.folder / "seen").exists() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0 if present else 0.1)
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=60)[1].decode()
            self.assertEqual(process.returncode, 0)
            if present:
                self.assertEqual((self.folder / "seen").read_text(), address)
                self.assertNotIn("browser", said)
            else:
                self.assertIn("open that address", said)

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
        # The same again changes nothing, and keeps what was before.
        self.assertEqual(self.editor.save(changed, f'"{second}"').json()["version"], second)
        self.assertEqual((self.folder / "band.json~").read_text(), self.text)
        # Somebody else wrote.
        answer = self.editor.save(self.text + " ", first)
        self.assertEqual(self.refused(answer, 409, "another program")["version"], second)
        self.assertEqual((self.folder / "band.json").read_text(), changed)
        self.assertEqual(self.editor.save(self.text, "*").status, 200)
        self.assertEqual((self.folder / "band.json").read_text(), self.text)
        self.refused(self.editor.ask("PUT", "api/project", self.text), 428, "If-Match")
        self.assertEqual(set(self.listing()), {"band.json", "band.json~", *[f"{form}.obj" for form in harness.FORMS]})

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
        self.assertEqual(rig, (self.folder / "band.glb").read_bytes())
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
        picture = {"asset": {"version": "2.0"}, "images": [{"uri": "../secret.png"}]}
        self.refused(self.post("file", json.dumps(picture), name="a.gltf"), 422, "secret.png")
        self.assertEqual(self.listing(), before)

    def test_names(self):
        before = self.listing()
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
        self.assertEqual(list(self.folder.parent.glob("a.*")), [])

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
        self.refused(self.post("group", inside, name="my arm", mesh="straight.obj"), 400, "blanks")
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
        for name in ("walk.glb", "walk.pc2"):
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
        self.assertEqual(rig, (self.folder / "arm/arm.glb").read_bytes())
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


class Hostile(Case):
    def setUp(self):
        super().setUp()
        self.editor = self.open()
        self.before = self.listing()

    def tearDown(self):
        self.assertEqual(self.listing(), self.before)
        super().tearDown()

    def test_token(self):
        page = self.editor.ask("GET", "").bytes
        wrong = self.editor.path[:-2] + ("0" if self.editor.path[-2] != "0" else "1") + "/"
        for path in ("/", "/api/project", "/index.html", wrong, wrong + "api/project", self.editor.path[:-1],
                     "/" + "0" * 32 + "/", self.editor.path[:20], "//" + self.editor.path, "/favicon.ico",
                     self.editor.path + "../band.json", self.editor.path + "%2e%2e/band.json", "/../../etc/passwd",
                     "/%2e%2e/%2e%2e/etc/passwd", self.editor.path + "..%2f..%2fetc/passwd", self.editor.path + "band.json",
                     self.editor.path + "api/../../etc/passwd", self.editor.path + "api", self.editor.path + "api/"):
            for method, body in (("GET", None), ("PUT", self.text + "\n"), ("POST", self.text)):
                answer = self.editor.ask(method, path, body, {"If-Match": "*"}, whole=True)
                self.assertIn(answer.status, (400, 403, 404), path)
                self.assertNotIn(b"exemplar\": 1", answer.bytes)
                self.assertNotIn(b"root:", answer.bytes)
                self.assertNotEqual(answer.bytes, page)

    def test_who_asks(self):
        port = self.editor.port
        put = {"If-Match": "*"}
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1"},
                        {"Origin": f"http://localhost:{port}"}, {"Origin": f"https://127.0.0.1:{port}"},
                        {"Origin": f"http://127.0.0.1:{port}.evil.example"}, {"Host": "evil.example"},
                        {"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Host": f"127.0.0.1:{port + 1}"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            for method, path in (("GET", ""), ("GET", "api/project"), ("PUT", "api/project"), ("POST", "api/build")):
                answer = self.editor.ask(method, path, self.text + "\n" if method != "GET" else None, {**put, **headers})
                self.assertEqual(answer.status, 403, headers)
                self.assertLess(len(answer.bytes), 100)
        for headers in ({"Origin": f"http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"},
                        {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"}, {"Sec-Fetch-Site": "none"}):
            self.assertEqual(self.editor.ask("GET", "api/version", headers=headers).status, 200, headers)
        twice = self.editor.send(self.editor.head(more="Host: evil.example\n"))
        self.assertRegex(twice, r"^HTTP/1\.1 40[03]")
        origins = f"Origin: http://127.0.0.1:{port}\nOrigin: http://evil.example\n"
        self.assertRegex(self.editor.send(self.editor.head(more=origins)), r"^HTTP/1\.1 403")
        # A link in a page of another site may be clicked; it may not be fetched, framed, or sent to.
        clicked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        self.assertEqual(self.editor.ask("GET", "", headers=clicked).status, 200)
        for method, path, headers in (("PUT", "api/project", clicked), ("POST", "api/build", clicked),
                                      ("GET", "", {**clicked, "Sec-Fetch-Dest": "iframe"}),
                                      ("GET", "", {**clicked, "Sec-Fetch-Mode": "no-cors"})):
            answer = self.editor.ask(method, path, self.text if method != "GET" else None, {**put, **headers})
            self.assertEqual(answer.status, 403, headers)
        # Headers that were cut off might have said who asks.
        many = "".join(f"X-{n}: y\n" for n in range(70)) + "Origin: http://evil.example\n"
        self.assertRegex(self.editor.send(self.editor.head(more=many)), r"^HTTP/1\.1 400")
        none = self.editor.send(f"GET {self.editor.path} HTTP/1.0\n")
        self.assertRegex(none, r"^HTTP/1\.1 403")

    def test_methods(self):
        for method, path, allowed in (("POST", "", "GET"), ("DELETE", "api/project", "GET, PUT"), ("HEAD", "", "GET"),
                                      ("GET", "api/build", "POST"), ("OPTIONS", "api/project", "GET, PUT"),
                                      ("PATCH", "api/project", "GET, PUT"), ("PUT", "api/file", "POST")):
            answer = self.editor.ask(method, path, headers={"Content-Length": "0"})
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, allowed), (method, path))
        self.assertRegex(self.editor.send(self.editor.head("TRACE")), r"^HTTP/1\.1 (405|400|501)")
        self.assertRegex(self.editor.send(self.editor.head("BREW")), r"^HTTP/1\.1 (405|400|501)")

    def test_bodies(self):
        start = time.monotonic()
        for path, length in (("api/project", 2 << 30), ("api/project", (64 << 20) + 1), ("api/build", 1 << 62)):
            method = "PUT" if path == "api/project" else "POST"
            answer = self.editor.send(self.editor.head(method, path, f"If-Match: *\nContent-Length: {length}\n"))
            self.assertRegex(answer, r"^HTTP/1\.1 413")
            self.assertIn("Connection: close", answer)
        for path in ("file", "form", "mask", "group", "motion"):
            answer = self.editor.send(self.editor.head("POST", f"api/{path}?name=a.obj", f"Content-Length: {2 << 30}\n"))
            self.assertRegex(answer, r"^HTTP/1\.1 413")
        self.assertRegex(self.editor.send(self.editor.head("POST", "api/bake", "Content-Length: 5\n"), b"12345"),
                         r"^HTTP/1\.1 413")
        for length in ("-1", "1e3", "0x10", "", "99999999999999999999999", "5, 5"):
            answer = self.editor.send(self.editor.head("POST", "api/build", f"Content-Length: {length}\n"))
            self.assertRegex(answer, r"^HTTP/1\.1 4\d\d", length)
        chunked = self.editor.send(self.editor.head("PUT", "api/project", "If-Match: *\nTransfer-Encoding: chunked\n"),
                                   b"1\r\n{\r\n0\r\n\r\n")
        self.assertRegex(chunked, r"^HTTP/1\.1 411")
        self.assertRegex(self.editor.send(self.editor.head("PUT", "api/project", "If-Match: *\n")), r"^HTTP/1\.1 411")
        self.assertLess(time.monotonic() - start, 20)

    def test_body_that_is_sent_all_the_same(self):
        head = self.editor.head("PUT", "api/project", f"If-Match: *\nContent-Length: {2 << 30}\n")
        with socket.create_connection(("127.0.0.1", self.editor.port), timeout=20) as connection:
            connection.sendall(head.encode().replace(b"\n", b"\r\n") + b"\r\n")
            try:
                for _ in range(32):
                    connection.sendall(bytes(1 << 20))
            except OSError:
                pass
        self.assertEqual(self.editor.ask("GET", "api/version").status, 200)

    def test_body_that_ends_early(self):
        head = self.editor.head("PUT", "api/project", f"If-Match: *\nContent-Length: {len(self.text) + 10}\n")
        with socket.create_connection(("127.0.0.1", self.editor.port), timeout=20) as connection:
            connection.sendall(head.encode().replace(b"\n", b"\r\n") + b"\r\n" + self.text.encode())
            connection.shutdown(socket.SHUT_WR)
            self.assertIn(b"400", connection.recv(65536))

    def test_deep_nesting(self):
        for depth in (100, 2000, 100000):
            for opening in ("[", '{"a":'):
                self.refused(self.editor.ask("POST", "api/build", opening * depth), 422)
        self.refused(self.editor.ask("POST", "api/file?name=a.gltf", '{"nodes":' + "[" * 2000), 422)

    def test_rubbish(self):
        dice = random.Random(7)
        for size in (1, 10, 1000, 40000):
            with socket.create_connection(("127.0.0.1", self.editor.port), timeout=20) as connection:
                try:
                    connection.sendall(bytes(dice.randrange(256) for _ in range(size)) + b"\r\n\r\n")
                    connection.shutdown(socket.SHUT_WR)
                    connection.recv(65536)
                except OSError:
                    pass
        long = self.editor.send(self.editor.head(more="X: " + "y" * 100000 + "\n"))
        self.assertRegex(long, r"^(HTTP/1\.1 4\d\d.*)?", long)
        query = self.editor.ask("POST", "api/file?" + "name=&" * 2000 + "%%%=%zz&name", "x")
        self.assertIn(query.status, (400, 413, 414, 415))
        self.assertEqual(self.editor.ask("GET", "api/version").status, 200)


class Files(Case):
    def test_files_outside(self):
        outside = self.folder / "outside"
        outside.mkdir()
        inside = self.folder / "inside"
        harness.write_project(inside)
        for name in ("thick.obj", "bent.obj"):
            (outside / name).write_bytes((inside / name).read_bytes())
        (inside / "link.obj").symlink_to("../outside/thick.obj")
        (inside / "own.obj").symlink_to("thick.obj")
        text = (inside / "band.json").read_text()
        named = text.replace("thick.obj", "../outside/thick.obj")
        (inside / "band.json").write_text(named)
        editor = self.open("inside/band.json")
        before = self.listing()
        for path in (str(outside / "thick.obj"), "../inside/../outside/thick.obj", "link.obj", "own.obj", "thick.obj",
                     "../inside/thick.obj"):
            self.assertEqual(editor.ask("POST", "api/build", text.replace("thick.obj", path)).status, 200, path)
        for path in ("../outside/bent.obj", str(outside / "bent.obj"), "/etc/passwd", "../none.obj", "/dev/zero",
                     "x/../../outside/bent.obj"):
            changed = text.replace("thick.obj", path)
            for method, where in (("POST", "build"), ("POST", "check"), ("PUT", "project")):
                answer = editor.ask(method, "api/" + where, changed, {"If-Match": "*"})
                self.assertEqual(self.refused(answer, 403, path)["where"], "layers[0].examples[2].mesh")
        muted = json.loads(text)
        muted["layers"][0]["examples"][2].update(mesh="/etc/passwd", muted=True)
        self.refused(editor.ask("POST", "api/build", json.dumps(muted)), 403, "/etc/passwd")
        self.assertEqual(self.listing(), before)
        # Once it is named no more, it may not be named again.
        self.assertEqual(editor.save(text, "*").status, 200)
        self.refused(editor.save(named, "*"), 403)
        (inside / "link.csv").symlink_to("/etc/hosts")
        (inside / "loop.csv").symlink_to("loop.csv")
        self.assertEqual(editor.ask("GET", "api/motions").json()["files"], [])

    def test_what_is_no_file(self):
        """Nobody waits for a pipe."""
        editor = self.open()
        os.mkfifo(self.folder / "pipe.obj")
        changed = self.text.replace("thick.obj", "pipe.obj")
        for method, where in (("POST", "build"), ("POST", "check"), ("PUT", "project")):
            self.refused(editor.ask(method, "api/" + where, changed, {"If-Match": "*"}), 403, "not a file")
        self.refused(editor.ask("POST", "api/form?name=a&mesh=pipe.obj", bytes(96)), 403, "not a file")
        (self.folder / "pipe.obj").rename(self.folder / "band.json")
        self.refused(editor.save(self.text, "*"), 500, "not a file")
        self.refused(editor.ask("POST", "api/build", self.text.replace("thick.obj", "/etc/passwd")), 403)
        (self.folder / "band.json").unlink()
        (self.folder / "band.json").symlink_to("band.json")
        self.assertIn("cannot read 'band.json'", editor.ask("GET", "api/project").json()["error"])
        self.refused(editor.save(self.text, "*"), 500, "band.json")

    def test_another_command_is_at_work(self):
        editor = self.open()
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            self.refused(editor.save(self.text + "\n", "*"), 503, "another command")
        finally:
            os.close(folder)
        self.assertEqual((self.folder / "band.json").read_text(), self.text)
        self.assertEqual(editor.save(self.text + "\n", "*").status, 200)

    def test_what_a_killed_editor_left(self):
        old, new = (self.folder / f".exemplar-edit.{digit * 16}" for digit in "0f")
        for path in (old, new):
            path.write_text(self.text)
        os.utime(old, (time.time() - 7200,) * 2)
        self.open()
        self.assertEqual((old.exists(), new.exists()), (False, True))

    def test_links(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        (elsewhere / "real.json").write_text(self.text)
        (self.folder / "band.json").unlink()
        (self.folder / "band.json").symlink_to("elsewhere/real.json")
        (elsewhere / "target").write_text("whole")
        (elsewhere / "real.json~").symlink_to("target")
        (self.folder / "new.obj").symlink_to("elsewhere/nothing.obj")
        editor = self.open()
        self.assertEqual(editor.save(self.text + "\n", editor.version()).status, 200)
        self.assertTrue((self.folder / "band.json").is_symlink())
        self.assertEqual((elsewhere / "real.json").read_text(), self.text + "\n")
        self.assertEqual((elsewhere / "real.json~").read_text(), self.text)
        self.assertEqual((elsewhere / "target").read_text(), "whole")
        body = (self.folder / "bent.obj").read_bytes()
        self.assertEqual(editor.ask("POST", "api/file?name=new.obj", body).json(), {"path": "new-2.obj"})
        self.assertFalse((elsewhere / "nothing.obj").exists())

    def test_folder_that_cannot_be_written(self):
        user = None if os.geteuid() else 65534  # root may write everywhere
        if user and subprocess.run([harness.TOOL, "--version"], user=user, capture_output=True).returncode != 0:
            self.skipTest("the tool stands where nobody but root can run it")
        self.folder.chmod(0o555)
        try:
            editor = self.open(user=user)
            self.refused(editor.save(self.text + "\n", "*"), 500, "cannot write 'band.json'")
            self.refused(editor.ask("POST", "api/file?name=a.obj", (self.folder / "bent.obj").read_bytes()), 500,
                         "cannot write 'a.obj'")
        finally:
            self.folder.chmod(0o755)
        self.assertEqual((self.folder / "band.json").read_text(), self.text)

    def test_corrupt_projects(self):
        for text, error, where in ((self.text[:100], "", "line 1, column 100"), ("", "empty", None),
                                   (self.text.replace('"mesh"', '"mehs"', 1), "mehs", None),
                                   (self.text.replace('"bspline"', '"spline"'), "spline", "layers[0].weigh.kernel"),
                                   (self.text[:40] + "\0" + self.text[40:], "", "line 1, column 41"),
                                   ("\xff\xfe", "", "line 1, column"), ("[1, 2]", "object", None)):
            (self.folder / "band.json").write_bytes(text.encode("latin-1"))
            editor = self.open()
            opened = editor.ask("GET", "api/project").json()
            self.assertIn(error, opened["error"] or "", text)
            self.assertTrue(opened["error"])
            self.assertNotIn(str(self.folder), opened["error"])
            if where:
                self.assertTrue((opened["where"] or "").startswith(where), opened)
            self.assertEqual(opened["version"], editor.version())
            self.assertEqual(editor.ask("GET", "").status, 200)
            answer = editor.ask("POST", "api/build", text.encode("latin-1"))
            self.assertEqual(self.refused(answer, 422)["error"], opened["error"])
            self.assertEqual(editor.save(self.text, opened["version"]).status, 200)


class Crowd(Case):
    def test_many_at_once(self):
        editor = self.open()
        texts = {self.text + " " * n for n in range(1, 40)} | {self.text}

        def work(n):
            if n % 4 == 0:
                return editor.ask("POST", "api/build", self.text).status
            if n % 4 == 1:
                return editor.save(self.text + " " * (n % 39 + 1), "*").status
            if n % 4 == 2:
                opened = editor.ask("GET", "api/project").json()
                self.assertIn(opened["text"], texts)
                return editor.save(self.text + " " * (n % 39 + 1), opened["version"]).status
            return editor.ask("POST", "api/file?name=n.obj", harness.obj_text(harness.REST)).status

        with concurrent.futures.ThreadPoolExecutor(50) as pool:
            found = list(pool.map(work, range(100)))
        self.assertLessEqual(set(found), {200, 409})
        self.assertEqual(set(found[0::4]) | set(found[1::4]) | set(found[3::4]), {200})
        self.assertIn((self.folder / "band.json").read_text(), texts)
        self.assertEqual(len(list(self.folder.glob("n*.obj"))), 25)
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_two_editors(self):
        """Each adds one to a number in the file; none is lost."""
        editors = [self.open(), self.open()]

        def add(editor):
            for _ in range(10):
                while True:
                    opened = editor.ask("GET", "api/project").json()
                    project = json.loads(opened["text"])
                    project["layers"][0]["space"][0]["max"] += 1
                    if editor.save(json.dumps(project), opened["version"]).status == 200:
                        break

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(add, editors[n % 2]) for n in range(4)]:
                done.result()
        project = json.loads((self.folder / "band.json").read_text())
        self.assertEqual(project["layers"][0]["space"][0]["max"], 90 + 40)

    def test_kill_while_saving(self):
        dice = random.Random(3)
        pad = " " * 300000
        texts = {self.text, self.text + pad + "\n", self.text + pad + " "}
        for _ in range(8):
            editor = Editor(self.folder)

            def save(n):
                try:
                    return editor.save(self.text + pad + ("\n" if n % 2 else " "), "*").status
                except (OSError, http.client.HTTPException):
                    return 0

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                saves = [pool.submit(save, n) for n in range(40)]
                time.sleep(dice.uniform(0.005, 0.08))
                editor.process.kill()
                for done in saves:
                    done.result()
            editor.process.communicate()
            self.assertIn((self.folder / "band.json").read_text(), texts)
            if (self.folder / "band.json~").exists():
                self.assertIn((self.folder / "band.json~").read_text(), texts)

    def test_end_while_working(self):
        editor = Editor(self.folder)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(editor.ask, "POST", "api/build", self.text) for _ in range(20)]
            time.sleep(0.05)
            code, said = editor.end(signal.SIGINT)
            for done in asked:
                done.exception()
        self.assertEqual((code, said), (0, "exemplar: editing band.json, until Ctrl-C\n"))

    def test_end_while_reading_a_motion(self):
        """What was sent does not stay behind."""
        room = self.folder / "room"
        room.mkdir()
        editor = Editor(self.folder, env={**os.environ, "TMPDIR": str(room)})
        build = editor.ask("POST", "api/build", self.text).framed()[0]["build"]
        table = "time,bend,girth\n" + "".join(f"{n},0,0\n" for n in range(1000000))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            asked = pool.submit(editor.ask, "POST", "api/motion", table, query={"build": build, "name": "long.csv"})
            while not asked.done() and not list(room.iterdir()):
                time.sleep(0.001)
            self.assertEqual(editor.end()[0], 0)
            asked.exception()
        self.assertEqual(list(room.iterdir()), [])

    def test_silent_clients(self):
        """Some who say nothing leave room for those who do."""
        editor = self.open()
        silent = [socket.create_connection(("127.0.0.1", editor.port)) for _ in range(30)]
        silent[0].sendall(b"GET / HTTP/1.1\r\nHost:")
        self.assertEqual(editor.ask("GET", "api/version").status, 200)
        for connection in silent:
            connection.close()


if __name__ == "__main__":
    probe = subprocess.run([sys.argv[1], "edit", "none.json"], capture_output=True, text=True) if len(sys.argv) > 1 else None
    if probe and "built without" in probe.stderr:
        print(f"skipped: {probe.stderr.strip()}")
        sys.exit(0)
    harness.main()
