"""Shared by the tests of exemplar edit: the tool serving a project, and requests like those of the page."""
import http.client
import json
import os
import pathlib
import re
import select
import signal
import socket
import struct
import subprocess
import sys
import urllib.parse

import harness

TABLE = "time,bend,girth\n0,0,0\n0.5,45,1\n1,90,0.25\n"


def pack_of(path):
    """The pack of a rig file, which begins its binary part: everything but what a file adds for other programs."""
    file = path.read_bytes()
    start = file.index(b"BIN\0EXEMPLAR") + 4
    return file[start:start + int.from_bytes(file[start + 24:start + 32], "little")]


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    def json(self):
        return json.loads(self.bytes)

    def framed(self):
        """The JSON object, and the bytes after it."""
        size, = struct.unpack("<I", self.bytes[:4])
        assert (4 + size) % 8 == 0
        return json.loads(self.bytes[4:4 + size]), self.bytes[4 + size:]


class Editor:
    """The tool serving a project, and requests like those of the page."""

    def __init__(self, folder, name="band.json", *words, modes=False, open_files=None, env=None, **how):
        how["env"] = {"XDG_CACHE_HOME": str(pathlib.Path(folder).resolve() / ".cache"), **(env or os.environ)}
        self.process = subprocess.Popen([harness.TOOL, "edit", str(name), "--no-open", *words], cwd=folder, **how,
                                        preexec_fn=harness.limits(modes=modes, open_files=open_files),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if not select.select([self.process.stdout], [], [], 60)[0]:
            self.end()
            raise AssertionError("it does not start")
        self.line = self.process.stdout.readline().decode()
        address = re.search(r"http://127\.0\.0\.1:(\d+)(/[0-9a-f]{32}/)", self.line)
        if not address:
            raise AssertionError(self.line + self.process.stderr.read().decode())
        self.port, self.path = int(address[1]), address[2]

    def ask(self, method, path, body=None, headers={}, query=None, whole=False, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        address = path if whole else self.path + path
        if query:
            address += "?" + urllib.parse.urlencode(query)
        try:
            connection.request(method, address, body, headers)
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def send(self, head, body=b""):
        """Sends a head, which is completed, and a body; returns the answer."""
        return self.send_raw(head.encode("latin-1").replace(b"\n", b"\r\n") + b"\r\n" + body)

    def send_raw(self, data):
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as connection:
            connection.sendall(data)
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

    def open(self, *words, modes=False):
        editor = Editor(self.folder, *words, modes=modes)
        self.editors.append(editor)
        return editor

    def refused(self, answer, status, *fragments):
        self.assertEqual(answer.status, status, answer.bytes)
        said = answer.json()["error"]
        for fragment in fragments:
            self.assertIn(fragment, said)
        return answer.json()


def main():
    """Like harness.main, but skips a tool that was built without the editor."""
    probe = subprocess.run([sys.argv[1], "edit", "none.json"], capture_output=True, text=True) if len(sys.argv) > 1 else None
    if probe and "built without" in probe.stderr:
        print("skipped: built without the editor")
        sys.exit(77)
    harness.main()
