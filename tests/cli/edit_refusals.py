"""exemplar edit: requests that are refused, at any time. A refusal leaves the project intact."""
import concurrent.futures
import fcntl
import http.client
import json
import os
import random
import signal
import socket
import threading
import time

import editing
from editing import Case, Editor
import harness


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
        # A link on a page of another site may be clicked, but not fetched, framed, or posted to.
        clicked = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        self.assertEqual(self.editor.ask("GET", "", headers=clicked).status, 200)
        for method, path, headers in (("PUT", "api/project", clicked), ("POST", "api/build", clicked),
                                      ("GET", "", {**clicked, "Sec-Fetch-Dest": "iframe"}),
                                      ("GET", "", {**clicked, "Sec-Fetch-Mode": "no-cors"})):
            answer = self.editor.ask(method, path, self.text if method != "GET" else None, {**put, **headers})
            self.assertEqual(answer.status, 403, headers)
        # Headers that were cut off might have named the sender.
        many = "".join(f"X-{n}: y\n" for n in range(70)) + "Origin: http://evil.example\n"
        self.assertRegex(self.editor.send(self.editor.head(more=many)), r"^HTTP/1\.1 431")
        none = self.editor.send(f"GET {self.editor.path} HTTP/1.0\n")
        self.assertRegex(none, r"^HTTP/1\.1 403")

    def status(self, data):
        answer = self.editor.send_raw(data.encode("latin-1") if isinstance(data, str) else data)
        self.assertRegex(answer, r"^HTTP/1\.1 \d\d\d ", data)
        self.assertTrue(answer.startswith("HTTP/1.1 200") or "exemplar\": 1" not in answer, data)
        return int(answer[9:12])

    def test_paths(self):
        """No path but the exact one leads anywhere: none is decoded or shortened."""
        for path, status in (("api/project%00", 404), ("api/project%00.html", 404), ("api%2fproject", 404),
                             ("%61pi/project", 404), ("api//project", 404), ("/api/project", 404), ("api/./project", 404),
                             ("api/x/../project", 404), ("api/x/%2e%2e/project", 404), ("api/project/", 404),
                             ("api/project%20", 404), ("api/project%0d%0aX:%20y", 404), ("api/%c0%af../project", 404),
                             ("api/project;x", 404), ("API/PROJECT", 404), ("api/project%", 400), ("api/project%zz", 400),
                             ("api/project%4", 400), ("api/project#x", 400), ("api/project\x80", 400),
                             ("api/project\0", 400), ("api/project\x01", 400), ("api/project\x7f", 400), ("api/project x", 400)):
            head = self.editor.head("GET", path).replace("\n", "\r\n") + "\r\n"
            self.assertEqual(self.status(head), status, path)
        token = self.editor.path.strip("/")
        for path in (f"/%{ord(token[0]):02x}{token[1:]}/api/project", f"/./{token}/api/project", f"//{token}/api/project",
                     f"/x/../{token}/api/project", f"/{token}%2fapi/project", f"/{token}\\api/project"):
            answer = self.editor.ask("GET", path, whole=True)
            self.assertEqual(answer.status, 404, path)
        for name in ("%00a.obj", "a%00.obj", "a%0a.obj", "a%0d%0ab.obj", "a%7f.obj", "%c0%af.obj", "%c0%ae%c0%ae%c0%afa.obj",
                     "%2e%2e%2fa.obj", "..%5ca.obj", "%e0%80%af.obj", "%ff.obj", "%2ea.obj"):
            answer = self.editor.ask("POST", f"api/file?name={name}", harness.obj_text(harness.REST))
            self.assertEqual(answer.status, 400, name)

    def test_grammar(self):
        """RFC 9112 where it demands a refusal or leaves it to the server."""
        host, path = f"127.0.0.1:{self.editor.port}", self.editor.path + "api/version"
        line, own = f"GET {path} HTTP/1.1\r\n", f"Host: {host}\r\n"
        for data, status in (
                (f"{line}{own}\r\n", 200), (f"\r\n\r\n{line}{own}\r\n", 200), (f"{line}{own}X:\t y \t\r\nY:\r\n\r\n", 200),
                (f"GET http://{host}{path} HTTP/1.1\r\n{own}\r\n", 200), (f"{line}{own}X: \xe4\r\n\r\n", 200),
                (f"GET http://evil.example{path} HTTP/1.1\r\n{own}\r\n", 403),
                (f"GET http://{host}{path} HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403),
                (f"GET http://{host}@evil.example{path} HTTP/1.1\r\n{own}\r\n", 403),
                (f"GET http://{host} HTTP/1.1\r\n{own}\r\n", 400), (f"GET https://{host}{path} HTTP/1.1\r\n{own}\r\n", 400),
                (f"GET * HTTP/1.1\r\n{own}\r\n", 400), (f"CONNECT {host} HTTP/1.1\r\n{own}\r\n", 400),
                (f"GET {path[1:]} HTTP/1.1\r\n{own}\r\n", 400),
                # The first line.
                (f"GET  {path} HTTP/1.1\r\n{own}\r\n", 400), (f"GET\t{path} HTTP/1.1\r\n{own}\r\n", 400),
                (f" {line}{own}\r\n", 400), (f"GET {path} HTTP/1.1 \r\n{own}\r\n", 400), (f"GET {path}\r\n{own}\r\n", 400),
                (f"GET {path} http/1.1\r\n{own}\r\n", 400), (f"GET {path} HTTP/1.10\r\n{own}\r\n", 400),
                (f"GET {path} HTTP/2.0\r\n{own}\r\n", 505), (f"G(T {path} HTTP/1.1\r\n{own}\r\n", 400),
                (f"get {path} HTTP/1.1\r\n{own}\r\n", 405),
                # Lines: only CR LF ends them, and none continues another.
                (f"GET {path} HTTP/1.1\n{own}\r\n", 400), (f"{line}Host: {host}\n\n", 400), (f"{line}{own}\n", 400),
                (f"{line}{own}X: y\rZ: z\r\n\r\n", 400), (f"{line}{own}X: y\0\r\n\r\n", 400),
                (f"{line}{own}X: y\r\n z\r\n\r\n", 400), (f"{line}{own}X: y\r\n\tz\r\n\r\n", 400),
                (f"{line} {own}\r\n", 400), (f"{line}{own}X\r\n\r\n", 400), (f"{line}{own}X : y\r\n\r\n", 400),
                (f"{line}{own}: y\r\n\r\n", 400), (f"{line}{own}X y: z\r\n\r\n", 400), (f"{line}{own}X: \x01\r\n\r\n", 400),
                ("\x16\x03\x01\x02\x00\x01\x00\x01", 400),
                # Who is asked, and by whom: not twice.
                (f"{line}\r\n", 403), (f"{line}Host:\r\n\r\n", 403), (f"{line}{own}{own}\r\n", 400),
                (f"{line}{own}Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n\r\n", 400),
                (f"{line}{own}X: {'y' * 20000}\r\n\r\n", 431)):
            self.assertEqual(self.status(data), status, data[:200])

    def test_where_a_body_ends(self):
        """A body has one length, in digits; nothing else says where it ends."""
        for method, more, status in (
                ("POST", "Content-Length: 2\nContent-Length: 2\n", 400), ("POST", "Content-Length: 2\nContent-Length: 3\n", 400),
                ("POST", "Content-Length: 2\nTransfer-Encoding: chunked\n", 400), ("POST", "Transfer-Encoding: gzip\n", 411),
                ("POST", "Transfer-Encoding: chunked\nTransfer-Encoding: identity\n", 400), ("POST", "Content-Length: +2\n", 400),
                ("POST", "Content-Length: 2 2\n", 400), ("POST", "Content-Length: 2,2\n", 400), ("POST", "Content-Length: 0x2\n", 400),
                ("POST", f"Content-Length: {(1 << 64) + 2}\n", 413), ("POST", f"Content-Length: {1 << 63}\n", 413),
                ("POST", f"Content-Length: {'0' * 40}2\n", 422), ("POST", "Content-Length: 2\nExpect: a miracle\n", 417),
                ("GET", "Content-Length: 2\n", 405)):
            answer = self.editor.send(self.editor.head(method, "api/build", more), b"{}")
            self.assertEqual(int(answer[9:12]), status, more)
        self.assertRegex(self.editor.send(self.editor.head("GET", "api/version", "Content-Length: 2\n"), b"{}"), r"^HTTP/1\.1 413")
        self.assertRegex(self.editor.send(self.editor.head("GET", "api/version", "Transfer-Encoding: chunked\n"), b"0\r\n\r\n"),
                         r"^HTTP/1\.1 411")
        # A second request behind the first is not answered.
        two = self.editor.send(self.editor.head("GET", "api/version") + "\n" + self.editor.head("GET", "api/version"))
        self.assertEqual(two.count("HTTP/1.1"), 1)
        head = self.editor.head("POST", "api/build", "Content-Length: 2\nExpect: 100-continue\n") + "\n"
        with socket.create_connection(("127.0.0.1", self.editor.port), timeout=20) as connection:
            connection.sendall(head.encode().replace(b"\n", b"\r\n"))
            self.assertEqual(connection.recv(25, socket.MSG_WAITALL), b"HTTP/1.1 100 Continue\r\n\r\n")
            connection.sendall(b"{}")
            self.assertEqual(connection.recv(12, socket.MSG_WAITALL), b"HTTP/1.1 422")

    def test_methods(self):
        for method, path, allowed in (("POST", "", "GET"), ("DELETE", "api/project", "GET, PUT"), ("HEAD", "", "GET"),
                                      ("GET", "api/build", "POST"), ("OPTIONS", "api/project", "GET, PUT"),
                                      ("PATCH", "api/project", "GET, PUT"), ("PUT", "api/file", "POST")):
            answer = self.editor.ask(method, path, headers={"Content-Length": "0"})
            self.assertEqual((answer.status, answer.headers["Allow"]), (405, allowed), (method, path))
        self.assertTrue(self.editor.send(self.editor.head("HEAD")).endswith("\r\n\r\n"), "an answer to HEAD has no body")
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
        # Once the file no longer names it, the page may not name it either.
        self.assertEqual(editor.save(text, "*").status, 200)
        self.refused(editor.save(named, "*"), 403)
        (inside / "link.csv").symlink_to("/etc/hosts")
        (inside / "loop.csv").symlink_to("loop.csv")
        self.assertEqual(editor.ask("GET", "api/motions").json()["files"], [])

    def test_what_is_no_file(self):
        """A pipe must not block the server."""
        editor = self.open()
        os.mkfifo(self.folder / "pipe.obj")
        changed = self.text.replace("thick.obj", "pipe.obj")
        for method, where in (("POST", "build"), ("POST", "check"), ("PUT", "project")):
            self.refused(editor.ask(method, "api/" + where, changed, {"If-Match": "*"}), 403, "not a file")
        self.refused(editor.ask("POST", "api/form?name=a&mesh=pipe.obj", bytes(96)), 403, "not a file")
        (self.folder / "pipe.obj").rename(self.folder / "band.json")
        self.refused(editor.save(self.text, "*"), 500, "no longer a file")
        self.assertEqual(editor.ask("GET", "api/beside").framed(), ({"version": None}, b""))
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
        left, used = (self.folder / f".band.json.{digit * 6}-0000.exemplar" for digit in "0f")
        for path in (left, used):
            path.write_text(self.text)
            os.utime(path, (1e9, 1e9))
        with open(used, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            editor = self.open()
            self.assertEqual(editor.save(self.text + "\n", "*").status, 200)
        self.assertEqual((left.exists(), used.exists()), (False, True))

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
        if not harness.can_obey_modes():
            self.skipTest("root cannot give up its rights here")
        self.folder.chmod(0o555)
        try:
            editor = self.open(modes=True)
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
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")],
                         [".band.json.versions"])

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
        """Uploads leave nothing behind."""
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

    def crowd(self, editor, heads, count=300):
        """Opens that many connections, which never complete a request: each sends one of the heads."""
        found = []
        for n in range(count):
            found.append(socket.create_connection(("127.0.0.1", editor.port), timeout=20))
            self.addCleanup(found[-1].close)
            try:
                found[-1].sendall(heads[n % len(heads)].replace("\n", "\r\n").encode())
            except OSError:
                pass  # dropped already
        return found

    def works(self, editor):
        """The requests of the page answer at once. The limit is far above that, and below every limit of the server."""
        for method, path, body in (("GET", "", None), ("GET", "api/project", None), ("POST", "api/build", self.text),
                                   ("POST", "api/check", self.text), ("PUT", "api/project", self.text)):
            self.assertEqual(editor.ask(method, path, body, {"If-Match": "*"}, timeout=8).status, 200, path)
        self.assertEqual(editor.ask("GET", "api/project", timeout=8).json()["text"], self.text)

    def test_silent_clients(self):
        """Silent and slow clients leave room for the page, with the token and without."""
        editor = self.open()
        half = editor.head("PUT", "api/project", "If-Match: *\nContent-Length: 1000\n") + "\n{"
        stranger = half.replace(editor.path, "/" + "0" * 32 + "/")
        for heads in ([""], ["GET"], ["GET / HTTP/1.1\nHost:"], [stranger], [half], ["", "GET / HT", stranger, half]):
            waiting = self.crowd(editor, heads)
            self.works(editor)
            for connection in waiting:
                connection.close()

    def test_few_files(self):
        """Connections leave enough of the files that the process may open."""
        editor = Editor(self.folder, open_files=48)
        self.editors.append(editor)
        half = editor.head("PUT", "api/project", "If-Match: *\nContent-Length: 1000\n") + "\n{"
        self.crowd(editor, ["", half])
        self.works(editor)

    def test_slow_clients(self):
        """Clients that keep sending single bytes are not preferred."""
        editor = self.open()
        end = threading.Event()

        def drip(connections):
            while not end.wait(0.01):
                for connection in connections:
                    try:
                        connection.sendall(b"a")
                    except OSError:
                        pass

        slow = self.crowd(editor, [editor.head(more="X: "), editor.head("POST", "api/file?name=a.obj",
                                                                         "Content-Length: 100000\n") + "\n"])
        thread = threading.Thread(target=drip, args=(slow,))
        thread.start()
        try:
            self.works(editor)
        finally:
            end.set()
            thread.join()

    def test_clients_that_do_not_read(self):
        """Answers that nobody takes leave room for others."""
        editor = self.open()
        self.crowd(editor, [editor.head() + "\n"])
        self.works(editor)


if __name__ == "__main__":
    editing.main()
