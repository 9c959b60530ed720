"""Failure is the normal case: nodes and tasks that die at any moment, two submits at once. In the end, 'farm retry' or the
same command again makes what is missing, and the results have the bytes of one process.

usage: test_farm_failure.py TOOL REPOSITORY FOLDER
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import jobs
import slurm

KILLS, FRAMES, PIECES = 10, 100, 10
SLOW = {"untangle": True, "over": "inner.pc2", "over-mesh": "sleeve.obj"}


class Failure(jobs.Case):
    """Tasks that take about a quarter of a second, if something is to happen meanwhile."""

    def setUp(self):
        super().setUp()
        long = any(word in self.id() for word in ("killed", "interrupted", "lost"))
        self.write("walk.pc2", jobs.repeated(jobs.bars(0.7, FRAMES), 60 if long else 15))
        (self.folder / "wanted").mkdir()
        walk = ["drive", "apply", "s.glb", "--driver", "walk.pc2", "-q"]
        self.fine(*walk, "-o", "inner.pc2")
        self.fine(*walk, "-o", "wanted/a.pc2", "--untangle", "--over", "inner.pc2", "--over-mesh", "sleeve.obj")
        self.plan("--no-sample", "--pieces", PIECES, work="drive apply", garments="s.glb", drivers="walk.pc2",
                  output="made/a.pc2", options=SLOW)

    def submit(self, jobs_at_once=2):
        return subprocess.Popen([jobs.harness.TOOL, "farm", "submit", "plan", "--jobs", str(jobs_at_once)], cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ends(self):
        """All is done, the bytes are right, and nothing is left behind."""
        self.assertEqual(self.counts(), {"done": PIECES})
        self.merge()
        self.same("made", "wanted")
        self.assertEqual(self.remains(), [])

    def until_pieces(self, count):
        slurm.wait_until(lambda: len(self.pieces()) >= count, f"{count} pieces", 120)

    def victims(self, processes):
        """Processes of tasks: 'farm do', or the command that it runs."""
        found = []
        for process in processes:
            try:
                words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[1:3] in ([b"farm", b"do"], [b"drive", b"apply"]):
                found.append((process, words[1]))
        return found

    def kill_some(self, processes, busy, count=KILLS):
        """Kills tasks at random until nothing is busy; returns which kinds of process it killed."""
        killed, chance = [], random.Random(11)
        while busy() and len(killed) < count:
            time.sleep(chance.uniform(0.02, 0.25))
            found = self.victims(processes())
            kinds = {kind for _, kind in found}
            if not found:
                continue
            kind = b"farm" if len(killed) % 2 and b"farm" in kinds else b"drive" if b"drive" in kinds else b"farm"
            process = chance.choice([process for process, other in found if other == kind])
            try:
                os.kill(process, signal.SIGKILL)
                killed.append(kind)
            except ProcessLookupError:
                pass
        return killed


class Here(Failure):
    def test_killed_tasks(self):
        """A task that is killed starts again; one that is killed again and again has failed, and retry runs it."""
        killed = []
        run = self.submit()
        killed += self.kill_some(lambda: slurm.descendants(run.pid), lambda: run.poll() is None)
        said = run.communicate(timeout=120)[0]
        self.assertGreater(len(killed), 4, said)
        self.assertEqual(set(killed), {b"farm", b"drive"})
        self.assertIn(run.returncode, (0, 1), said)
        if run.returncode:
            self.assertIn("are not done", said)
            self.assertLess(self.counts()["done"], PIECES)
        self.fine("farm", "retry", "plan", "-q")
        self.ends()

    def kill_first(self, run, before=lambda kills: None):
        """Kills the first task whenever it starts, until a submit ends; before(n) is called before the n-th kill."""
        first, kills, killed = self.tasks()[0]["piece"].encode(), 0, set()
        while run.poll() is None:
            for process, kind in self.victims(slurm.descendants(run.pid)):
                try:
                    words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                    if kind == b"farm" and first in words and process not in killed:
                        os.kill(process, signal.SIGSTOP)
                        before(kills + 1)
                        os.kill(process, signal.SIGKILL)
                        kills += 1
                        killed.add(process)  # it may be seen again until it is gone
                except OSError:
                    pass
            time.sleep(0.01)
        return run.communicate()[0], kills

    def test_killed_at_the_end(self):
        """One that is killed when its piece is there is done, and nothing is said of it."""
        self.fine("farm", "do", "plan", "1", "-q")
        kept = self.piece(1).rename(self.folder / "kept")
        run = self.submit(1)
        said, kills = self.kill_first(run, lambda n: n == 3 and kept.rename(self.piece(1)))
        self.assertEqual((run.returncode, kills), (0, 3), said)
        self.assertNotIn("failed", said)
        self.assertEqual(list((self.folder / "plan/failed").iterdir()), [])
        self.fine("farm", "retry", "plan", "-q")  # sweeps the folders of those that were killed
        self.ends()

    def test_one_that_is_always_killed(self):
        run = self.submit(1)
        said, kills = self.kill_first(run)
        self.assertEqual(run.returncode, 1, said)
        self.assertIn("task 1 ", said)
        self.assertGreaterEqual(kills, 3)
        self.assertEqual(self.counts(), {"done": PIECES - 1, "failed": 1})
        told = self.status()["failures"][0]
        self.assertEqual((told["task"], told["how"]), (1, "killed by signal 9, 3 times"))
        self.assertIn("killed by signal 9", self.fine("farm", "status", "plan").out)
        self.fine("farm", "retry", "plan", "-q")
        self.ends()

    def test_interrupted(self):
        """Ctrl-C, a polite end and a power cut: run the same command to resume, and keeps what is there."""
        before = set()
        for number, (how, code) in enumerate(((signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9))):
            run = self.submit()
            self.until_pieces(2 * number + 1)
            below = slurm.descendants(run.pid)
            run.send_signal(how)
            said = run.communicate(timeout=60)[0]
            self.assertEqual(run.returncode, code, said)
            if code > 0:
                self.assertIn("run the same command to resume", said)
            slurm.wait_until(lambda: not self.victims(below), "the end of all tasks")
            counts = self.counts()
            self.assertTrue(set(counts) <= {"done", "left", "failed", "lost"}, counts)
            self.assertLess(counts["done"], PIECES)
            self.assertTrue(before <= self.pieces())
            before = self.pieces()
        self.local()
        self.ends()

    def test_two_submits(self):
        runs = [self.submit(), self.submit()]
        for run in runs:
            said = run.communicate(timeout=240)[0]
            self.assertEqual(run.returncode, 0, said)
        self.ends()

    def test_two_of_one_task(self):
        """Both end well; there is one piece."""
        runs = [subprocess.Popen([jobs.harness.TOOL, "farm", "do", "plan", "3"], cwd=self.folder) for _ in range(4)]
        self.assertEqual([run.wait(120) for run in runs], [0] * 4)
        self.assertEqual(self.counts(), {"done": 1, "left": PIECES - 1})
        self.local()
        self.ends()

    def test_folders_of_killed_tasks(self):
        """They are removed later, also in TMPDIR; those of others are not."""
        room = self.folder / "local disk"
        room.mkdir()
        other = room / "exemplar-else"
        other.mkdir()
        for where in ({}, {"TMPDIR": str(room)}):
            run = subprocess.Popen([jobs.harness.TOOL, "farm", "do", "plan", "1" if where else "2"], cwd=self.folder,
                                   env={**os.environ, **where})
            at = lambda: [path for path in (room if where else self.folder / "plan/scratch").iterdir() if path != other]
            slurm.wait_until(at, "its folder")
            run.kill()
            run.wait()
            self.assertEqual(len(at()), 1)
            self.assertEqual(self.counts().get("lost"), 1)
            self.fine("farm", "retry", "plan", "-q", env={**os.environ, **where})
            self.assertEqual(at(), [])
        self.assertTrue(other.exists())
        self.local()
        self.ends()


class Cluster(Failure):
    def test_lost_node(self):
        """Half-way, the node goes down and comes back: Slurm runs again what ran there."""
        cluster = jobs.cluster()
        job = self.to_slurm().out.split("job ")[1].split()[0]
        self.until_pieces(2)
        cluster.lose_node()
        counts = self.counts()
        self.assertGreaterEqual(counts["done"], 2)
        self.assertLess(counts["done"], PIECES)
        self.assertNotIn("running", counts)
        cluster.start_node()
        states = cluster.wait_jobs(120)
        self.assertEqual({state for name, state in states.items() if name.split("_")[0] == job}, {"COMPLETED"})
        self.ends()

    def test_killed_tasks(self):
        cluster = jobs.cluster()
        self.to_slurm()
        busy = lambda: bool(cluster.run("squeue", "--noheader"))
        killed = self.kill_some(lambda: list(cluster.processes()), busy)
        self.assertGreater(len(killed), 4)
        self.assertEqual(set(killed), {b"farm", b"drive"})
        cluster.wait_jobs(120)
        counts = self.counts()
        self.assertGreater(counts.get("failed", 0) + counts.get("lost", 0), 0)
        self.fine("farm", "retry", "plan", env=cluster.environment)  # with the engine of the submit before
        cluster.wait_jobs(120)
        self.assertTrue(set(self.counts()) <= {"done", "left"})
        if "left" in self.counts():  # killed before they could leave a mark
            self.slurm()
        self.ends()

    def test_two_submits(self):
        """At the same moment: each has lists of its own, and all tasks run."""
        cluster = jobs.cluster()
        runs = [subprocess.Popen([jobs.harness.TOOL, "farm", "submit", "plan", "--to", "slurm", "-q"], cwd=self.folder,
                                 env=cluster.environment) for _ in range(2)]
        self.assertEqual([run.wait(60) for run in runs], [0, 0])
        self.assertEqual(len(list((self.folder / "plan/submitted").glob("slurm-*.txt"))), 2)
        states = cluster.wait_jobs(120)
        self.ends()

    def test_cancelled(self):
        """All that was cancelled is submitted again by the same command."""
        cluster = jobs.cluster()
        self.to_slurm("plan", "--sbatch", "hold", "--sbatch", "comment=a test")
        self.assertEqual(self.counts(), {"left": PIECES})
        cluster.run("scancel", "--user", str(os.getuid()))
        cluster.wait_jobs()
        self.slurm()
        self.ends()

    def test_refused_options(self):
        """The sentence of sbatch comes through, nothing is left, and failures are still known."""
        cluster = jobs.cluster()
        piece = self.tasks()[0]["piece"]
        (self.folder / "plan/failed" / piece).write_text("{}")
        for verb in ("submit", "retry"):
            said = self.refused("farm", verb, "plan", "--to", "slurm", "--partition", "nowhere", says=["sbatch refused"],
                                env=cluster.environment).err
            self.assertIn("invalid partition", said.lower())
            self.assertEqual(len(said.splitlines()), 1, said)
        self.assertEqual([path.name for path in (self.folder / "plan/submitted").iterdir()], [])
        self.assertEqual(self.counts(), {"failed": 1, "left": PIECES - 1})
        nothing = {**cluster.environment, "PATH": "/nonexistent"}
        self.refused("farm", "retry", "plan", "--to", "slurm", says=["sbatch cannot be started"], env=nothing)
        self.assertEqual(self.counts(), {"failed": 1, "left": PIECES - 1})
        self.local()
        self.ends()

    def test_warnings_of_sbatch(self):
        """A number of a job is found behind warnings: later stages depend on it."""
        cluster = jobs.cluster()
        sbatch = self.write("bin/sbatch", "#!/bin/sh\necho 'sbatch: warning: a word' >&2\nexec "
                            f"{jobs.shutil.which('sbatch', path=slurm.PATH)} \"$@\"\n")
        sbatch.chmod(0o755)
        path = {**cluster.environment, "PATH": f"{sbatch.parent}:{cluster.environment.get('PATH', slurm.PATH)}"}
        self.assertRegex(self.fine("farm", "submit", "plan", "--to", "slurm", env=path).out, r"submitted to Slurm as job \d+\n")
        cluster.wait_jobs(120)
        self.ends()


jobs.main()
