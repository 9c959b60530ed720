"""The cluster that tests start (slurm.py): arrays, dependencies, a lost node, and no process left behind.

usage: test_slurm_rig.py [TOOL REPOSITORY FOLDER, as for all of these tests, unused]

Prints a line for each part. Skipped, with a sentence, on a machine without Slurm.
"""
import os
import pathlib
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import slurm


def same(what, got, wanted):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r} instead of {wanted!r}")


def running(processes):
    return [process for process in processes if os.path.exists(f"/proc/{process}")]


def array(cluster, folder):
    """20 tasks run once each."""
    job = cluster.sbatch("--array=0-19", script=f"echo ran >>{folder}/$SLURM_ARRAY_TASK_ID")
    same("states", cluster.wait_jobs(), {f"{job}_{i}": "COMPLETED" for i in range(20)})
    same("files", {path.name: path.read_text() for path in folder.iterdir()}, {str(i): "ran\n" for i in range(20)})


def dependency(cluster, folder):
    """A job that waits for an array sees the files of all its tasks; one that waits for a failure never starts."""
    before = cluster.sbatch("--array=0-3", script=f"sleep 0.2; touch {folder}/part$SLURM_ARRAY_TASK_ID")
    after = cluster.sbatch(f"--dependency=afterok:{before}", script=f"ls {folder} >{folder}/seen")
    same("state", cluster.wait_jobs()[after], "COMPLETED")
    same("seen", (folder / "seen").read_text().split(), ["part0", "part1", "part2", "part3", "seen"])
    failing = cluster.sbatch(script="exit 3")
    never = cluster.sbatch(f"--dependency=afterok:{failing}", script=f"touch {folder}/never")
    slurm.wait_until(lambda: "DependencyNeverSatisfied" in cluster.run("squeue", "--noheader", "--format=%r"), "the reason")
    same("state", cluster.jobs()[failing], "FAILED")
    cluster.run("scancel", never)
    cluster.wait_jobs()
    same("file", (folder / "never").exists(), False)


def many(cluster, folder):
    """10 000 tasks can wait, in arrays of at most 1001 with indices up to 1000."""
    jobs = [cluster.sbatch("--hold", "--array=0-999", script="true") for _ in range(10)]
    states = cluster.jobs("--jobs=" + ",".join(jobs))
    same("tasks", (len(states), set(states.values())), (10000, {"PENDING"}))
    cluster.run("scancel", *jobs)
    cluster.wait_jobs()
    said = cluster.run("sbatch", "--array=1001", "--wrap", "true", check=False)
    same("refused", "Invalid job array specification" in said, True)


def lost(cluster, folder):
    """Tasks that ran on a lost node run again, from their start, and what waits for them waits on."""
    go = folder / "go"
    script = f"cd {folder}; echo ${{SLURM_RESTART_COUNT:-0}} >>$SLURM_ARRAY_TASK_ID; until test -e {go}; do sleep 0.05; done; " \
             "echo end >>$SLURM_ARRAY_TASK_ID"
    job = cluster.sbatch("--array=0-5", script=script)
    after = cluster.sbatch(f"--dependency=afterok:{job}", script=f"touch {folder}/after")
    slurm.wait_until(lambda: all((folder / str(i)).exists() for i in range(2)), "two tasks that run")
    steps = [process for process, line in cluster.processes().items() if "slurmstepd" in line or "sleep" in line]
    assert len(steps) >= 2, cluster.processes()
    cluster.lose_node()
    same("steps", running(steps), [])
    same("daemons", [line for line in cluster.processes().values() if "slurmd " in line or "slurmstepd" in line], [])
    same("states", set(cluster.jobs(f"--jobs={job},{after}").values()), {"PENDING"})
    go.touch()
    cluster.start_node()
    states = cluster.wait_jobs()
    same("states", {state for name, state in states.items() if name.split("_")[0] in (job, after)}, {"COMPLETED"})
    for i in range(6):
        same(f"task {i}", (folder / str(i)).read_text().split(), ["0", "1", "end"] if i < 2 else ["0", "end"])


def found_out(cluster, folder):
    """Slurm notices a lost node by itself and puts its job back."""
    job = cluster.sbatch(script=f"test -e {folder}/first || {{ touch {folder}/first; sleep 600; }}")
    slurm.wait_until((folder / "first").exists, "the first run")
    cluster.kill_node()
    cluster.wait_down()
    same("state", cluster.jobs()[job], "PENDING")
    cluster.start_node()
    same("state", cluster.wait_jobs()[job], "COMPLETED")


def beside(cluster, folder):
    """Two clusters know nothing of each other, and one that stops leaves neither process nor folder."""
    with slurm.Slurm({"MaxArraySize": 11}) as other:
        other.sbatch("--job-name=other", script="setsid sleep 600 & sleep 600")
        slurm.wait_until(lambda: [line for line in other.processes().values() if line == "sleep 600"][1:], "two sleeping processes")
        same("other jobs", "other" in cluster.run("squeue", "--noheader", "--format=%j"), False)
        processes = [other.keeper.pid, *other.processes()]
    same("processes", running(processes), [])
    same("folder", other.folder.exists(), False)


def killed(cluster, folder):
    """A test that is killed leaves neither process nor folder."""
    program = f"""import sys, time; sys.path.insert(0, {os.path.dirname(slurm.__file__)!r}); import slurm
with slurm.Slurm() as cluster:
    cluster.sbatch(script="setsid sleep 601 & sleep 601")
    slurm.wait_until(lambda: [line for line in cluster.processes().values() if line == "sleep 601"][1:], "sleeping processes")
    print(cluster.folder, cluster.keeper.pid, *cluster.processes(), flush=True)
    time.sleep(600)"""
    child = subprocess.Popen([sys.executable, "-B", "-c", program], stdout=subprocess.PIPE, text=True)
    place, *processes = child.stdout.readline().split()
    assert len(processes) >= 6, processes
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    slurm.wait_until(lambda: not running(processes) and not os.path.exists(place), "the end of all processes")


def main():
    try:
        cluster = slurm.Slurm()
    except slurm.Missing as sentence:
        print(f"skipped: {sentence}")
        sys.exit(77)
    with cluster:
        for part in (array, dependency, many, lost, found_out, beside, killed):
            folder = cluster.folder / part.__name__
            folder.mkdir()
            try:
                part(cluster, folder)
            except BaseException:
                print(f"{part.__name__}: failed\n{cluster.logs()}", flush=True)
                raise
            print(f"{part.__name__}: fine", flush=True)


main()
