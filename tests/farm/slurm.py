"""A Slurm of its own for tests: munged, slurmctld and slurmd of one node with 2 CPUs, in a temporary folder.

    with slurm.Slurm() as cluster:
        subprocess.run(["sbatch", …], env=cluster.environment)
        cluster.wait_jobs()

It works for root and for other users, in containers too: without systemd, cgroups and accounting. Ports, keys and state
are its own, so that several can run side by side. If programs are missing, Slurm() raises Missing with a sentence.

No process outlives it. The daemons are children of a keeper, this file run as a program, which adopts what they orphan.
Whenever the test ends, in whatever way, the keeper sees its end of the pipe close and ends everything below it.
"""
import ctypes
import json
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client", "squeue": "slurm-client",
            "scontrol": "slurm-client", "sinfo": "slurm-client"}
PATH = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"
CPUS = 2
WAIT = 60  # seconds until something counts as stuck, on a machine with other work
# Ended jobs stay visible for MinJobAge seconds. A job that is put back in the queue waits for its credential to expire
# (120 s by default). A node that does not answer for SlurmdTimeout seconds is down, and ReturnToService brings it back.
# config_overrides takes 2 CPUs whatever the machine has. With an Epilog, slurmd reports the end of every job, and the next
# one starts at once; without it, the queue is looked at once a second.
SETTINGS = {
    "ClusterName": "test",
    "AuthType": "auth/munge",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "JobAcctGatherType": "jobacct_gather/none",
    "AccountingStorageType": "accounting_storage/none",
    "MpiDefault": "none",
    "MailProg": "/bin/true",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CPU",
    "SchedulerType": "sched/backfill",
    "SchedulerParameters": "batch_sched_delay=0,sched_interval=1,bf_interval=1",
    "Epilog": "/bin/true",
    "SlurmdParameters": "config_overrides",
    "MaxJobCount": 20000,
    "MaxArraySize": 1001,
    "MinJobAge": 300,
    "JobRequeue": 1,
    "ReturnToService": 2,
    "SlurmdTimeout": 5,
    "SlurmctldTimeout": 5,
    "MessageTimeout": 5,
    "CompleteWait": 0,
    "KillWait": 1,
    "SlurmctldDebug": "verbose",
    "SlurmdDebug": "verbose",
}


class Missing(Exception):
    """This machine cannot run Slurm; the sentence says why."""


def missing():
    """The sentence that says what this machine lacks, or None."""
    lacking = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if lacking:
        packages = sorted({PROGRAMS[name] for name in lacking})
        return f"{', '.join(lacking)} cannot be found; 'make setup FOR=clients' installs {', '.join(packages)}"
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return f"Slurm needs a user with a name, and user {os.getuid()} has none"
    return None


def wait_until(done, what, seconds=WAIT, pause=0.05):
    """Asks done() until it returns something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        got = done()
        if got:
            return got
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen in {seconds} s")
        time.sleep(pause)


def free_ports(count):
    """Ports that are free now. Another program may take one before Slurm does: start() then tries others."""
    listeners = [socket.socket() for _ in range(count)]
    for listener in listeners:
        listener.bind(("127.0.0.1", 0))
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


class Slurm:
    """The cluster. settings add to those of slurm.conf, or replace them."""

    def __init__(self, settings=None):
        sentence = missing()
        if sentence:
            raise Missing(sentence)
        self.settings = {**SETTINGS, **(settings or {})}
        self.keeper = None
        # Names of Unix sockets are short, so the folder is not below a long TMPDIR.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self.conf = self.folder / "slurm.conf"
        # munged wants a folder that others can enter and cannot write.
        self.folder.chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "SQUEUE", "SINFO"))}
        self.environment = {**kept, "PATH": PATH, "SLURM_CONF": str(self.conf)}

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    # ---- start and stop ----

    def start(self):
        keeper = [sys.executable, "-B", __file__, "keep", str(self.folder)]
        self.keeper = subprocess.Popen(keeper, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
        self._munge()
        for _ in range(5):
            self._configure()
            self._daemon("slurmctld", "-D", "-c", "-f", self.conf)
            self._daemon("slurmd", "-D", "-f", self.conf)
            try:
                wait_until(self._is_up, "the start of Slurm")
                return
            except ChildProcessError:
                if "Address already in use" not in self.logs():
                    raise
                self._ask("end", "slurmctld", "slurmd")
            except TimeoutError as late:
                raise TimeoutError(f"{late}\n{self.logs()}") from late

    def stop(self):
        """Ends every process and removes the folder; does nothing the second time."""
        if self.keeper:
            self.keeper.stdin.close()
            self.keeper.wait()
            self.keeper.stdout.close()
            self.keeper = None
        shutil.rmtree(self.folder, ignore_errors=True)  # as the keeper did, if it started

    def _munge(self):
        folder = self.folder / "munge"
        folder.mkdir(mode=0o755)
        key = folder / "key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        self._daemon("munged", "--foreground", f"--key-file={key}", f"--socket={folder}/socket", f"--pid-file={folder}/pid",
                     f"--log-file={folder}/log", f"--seed-file={folder}/seed")
        wait_until(lambda: self._ask("alive", "munged") and (folder / "socket").exists(), "the start of munged")

    def _configure(self):
        """Writes slurm.conf, with other ports each time."""
        user = pwd.getpwuid(os.getuid()).pw_name
        ports = free_ports(2)
        version = subprocess.run(["slurmd", "-V"], env=self.environment, stdout=subprocess.PIPE, text=True).stdout
        known = tuple(int(word) for word in re.search(r"(\d+)\.(\d+)", version).groups())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        host = socket.gethostname().split(".")[0]
        settings = {
            "SlurmctldHost": f"{host}(127.0.0.1)", "SlurmctldPort": ports[0], "SlurmdPort": ports[1],
            "SlurmUser": user, "SlurmdUser": user, "AuthInfo": f"socket={self.folder}/munge/socket,cred_expire=5",
            "StateSaveLocation": self.folder / "state", "SlurmdSpoolDir": self.folder / "spool",
            "SlurmctldPidFile": self.folder / "slurmctld.pid", "SlurmdPidFile": self.folder / "slurmd.pid",
            "SlurmctldLogFile": self.folder / "slurmctld.log", "SlurmdLogFile": self.folder / "slurmd.log", **self.settings}
        lines = [f"{name}={value}" for name, value in settings.items() if value is not None]
        lines += [f"NodeName=localhost NodeHostname={host} NodeAddr=127.0.0.1 CPUs={CPUS} RealMemory={memory} State=UNKNOWN",
                  "PartitionName=farm Nodes=localhost Default=YES MaxTime=INFINITE State=UP"]
        self.conf.write_text("\n".join(lines) + "\n")
        # slurmd prepares cgroups even if nothing uses them, and for version 2 it needs systemd. The plugin for version 1
        # touches none before it is used; later Slurms can do without a plugin.
        (self.folder / "cgroup.conf").write_text(f"CgroupPlugin={'disabled' if known >= (24, 5) else 'cgroup/v1'}\n")
        for name in ("state", "spool"):
            (self.folder / name).mkdir(exist_ok=True, mode=0o755)

    # ---- what the cluster does ----

    def run(self, *command, check=True):
        """Runs a program of Slurm and returns its output."""
        done = subprocess.run([str(word) for word in command], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(map(str, command))}: {done.stdout.strip()}")
        return done.stdout

    def sbatch(self, *words, script=None):
        """Submits a job and returns its number. The script is a shell script's text."""
        command = [*words, "--parsable"] + (["--wrap", script] if script is not None else [])
        return self.run("sbatch", "--output=/dev/null", *command).strip().split(";")[0]

    def node_state(self):
        """The node's state: idle, mixed, allocated, down, …; with * if it does not answer."""
        return self.run("sinfo", "--noheader", "--Node", "--format=%T").strip()

    def jobs(self, *words):
        """The states of jobs by number (7, or 7_3 for a task of an array), as squeue has them, with those that ended."""
        said = self.run("squeue", "--noheader", "--array", "--states=all", "--format=%i %T", *words)
        return dict(line.split() for line in said.splitlines())

    def wait_idle(self, seconds=WAIT):
        """Until the node is idle."""
        wait_until(lambda: self._check() and self.node_state() == "idle", "an idle node", seconds)

    def wait_jobs(self, seconds=WAIT):
        """Until no job is pending or running; returns the states as jobs() does."""
        wait_until(lambda: self._check() and not self.run("squeue", "--noheader"), "the end of all jobs", seconds, 0.2)
        return self.jobs()

    # ---- a lost node ----

    def kill_node(self):
        """Ends slurmd, its steps and what they run with SIGKILL, as a power cut does. Slurm finds out after about 20 s."""
        self._ask("end", "slurmd", "*")

    def lose_node(self):
        """The same, and Slurm knows at once: jobs that ran there are pending again."""
        self.kill_node()
        self.run("scontrol", "update", "NodeName=localhost", "State=DOWN", "Reason=lost")

    def start_node(self):
        """Starts slurmd again. Slurm brings the node back by itself, and the jobs it lost start again after about 6 s. If it
        did not find out before, they count as running for 25 s."""
        self._daemon("slurmd", "-D", "-f", self.conf)

    def wait_down(self, seconds=WAIT):
        """Until the node counts as lost; its jobs are pending again then."""
        wait_until(lambda: self.node_state().startswith("down"), "a node that is down", seconds)

    # ---- processes ----

    def processes(self):
        """Command lines of all processes of the cluster by process number, apart from the keeper."""
        found = {}
        for process in descendants(self.keeper.pid):
            try:
                words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
                found[process] = b" ".join(words).decode(errors="replace").strip()
            except OSError:
                pass
        return {process: line for process, line in found.items() if line}

    def logs(self):
        """The last lines that the daemons wrote."""
        texts = []
        for names in (["munge/log", "munged.out"], ["slurmctld.log", "slurmctld.out"], ["slurmd.log", "slurmd.out"]):
            for path in (self.folder / name for name in names):
                text = path.read_text(errors="replace").strip() if path.exists() else ""
                if text:
                    texts.append(f"---- {path.name}\n" + "\n".join(text.splitlines()[-15:]))
                    break
        return "\n".join(texts)

    def _daemon(self, name, *words):
        self._ask("start", name, shutil.which(name, path=PATH), str(self.folder / f"{name}.out"), self.environment,
                  *[str(word) for word in words])

    def _ask(self, *request):
        self.keeper.stdin.write(json.dumps(request) + "\n")
        self.keeper.stdin.flush()
        return json.loads(self.keeper.stdout.readline())

    def _check(self):
        if not self._ask("alive", "munged", "slurmctld"):
            raise ChildProcessError(f"a daemon of Slurm ended:\n{self.logs()}")
        return True

    def _is_up(self):
        if not self._ask("alive", "munged", "slurmctld", "slurmd"):
            raise ChildProcessError(f"a daemon of Slurm ended:\n{self.logs()}")
        return "idle" == self.run("sinfo", "--noheader", "--Node", "--format=%T", check=False).strip()


# ---- the keeper ----

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def descendants(root):
    """The numbers of all processes below one, with those that ended and were not waited for."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    words = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            children.setdefault(int(words[1]), []).append(int(entry))
    found, todo = [], [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


class Keeper:
    """Starts daemons and ends them with all that they leave behind, as the parent that orphans get."""

    def __init__(self):
        self.daemons = {}

    def start(self, name, program, log, environment, *words):
        process = os.fork()
        if process == 0:
            try:
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                nothing = os.open(os.devnull, os.O_RDONLY)
                out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                for source, target in ((nothing, 0), (out, 1), (out, 2)):
                    os.dup2(source, target)
                os.closerange(3, 64)
                os.setsid()
                os.execve(program, [program, *words], environment)
            finally:
                os._exit(127)
        self.daemons[name] = process
        return process

    def alive(self, *names):
        return all(name in self.daemons for name in names)

    def end(self, *names):
        """Ends daemons; with *, all that is not below the others: their orphans."""
        while True:
            self.reap()
            doomed = {self.daemons[name] for name in names if name in self.daemons}
            for process in list(doomed):
                doomed.update(descendants(process))
            if "*" in names:
                spared = {process for name, process in self.daemons.items() if name not in names}
                for process in list(spared):
                    spared.update(descendants(process))
                doomed.update(set(descendants(os.getpid())) - spared)
            if not doomed:
                return True
            # All stop before the first ends: a shell whose child was killed would go on with its next line.
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for process in doomed:
                    try:
                        os.kill(process, number)
                    except ProcessLookupError:
                        pass
            time.sleep(0.005)

    def reap(self):
        try:
            while True:
                process = os.waitpid(-1, os.WNOHANG)[0]
                if process == 0:
                    return
                self.daemons = {name: number for name, number in self.daemons.items() if number != process}
        except ChildProcessError:
            pass

    def serve(self):
        """Obeys until the pipe closes."""
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        rest = b""
        while True:
            self.reap()
            if not select.select([0], [], [], 0.2)[0]:
                continue
            got = os.read(0, 65536)
            if not got:
                break
            *lines, rest = (rest + got).split(b"\n")
            for line in lines:
                self.reap()
                verb, *words = json.loads(line)
                os.write(1, json.dumps({"start": self.start, "alive": self.alive, "end": self.end}[verb](*words)).encode() + b"\n")
        self.end(*self.daemons, "*")


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        Keeper().serve()
        shutil.rmtree(sys.argv[2], ignore_errors=True)
