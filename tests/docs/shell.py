"""Runs shell commands of the documentation in order in one folder, with the built tool on PATH."""
import os
import pathlib
import re
import signal
import subprocess

# A test installs, fetches and opens nothing.
FORBIDDEN = ("sudo", "apt", "apt-get", "pip", "pip3", "npm", "npx", "curl", "wget", "git", "docker", "xdg-open")
NO_EDITOR = "built without the editor"
MARK = "@@exemplar-docs@@"


class Step:
    """A command at a line of its page; 'sh' must end with 0, 'console' may fail."""

    def __init__(self, line, kind, command):
        self.line, self.kind, self.command = line, kind, command
        self.shown = ""      # below it on the page
        self.printed = None  # None: it was not reached
        self.code = None     # None: it did not end
        self.seconds = 0.0

    def had_no_editor(self):
        return self.code == 1 and NO_EDITOR in self.printed


def script_of(steps):
    """One shell for all steps, so that folders and variables stay; a mark with a time precedes each command."""
    lines = []
    for number, step in enumerate(steps):
        lines.append(f'printf "\\n{MARK} {number} $EPOCHREALTIME\\n"')
        # Commands must not read from this script.
        lines.append("{ " + step.command + "\n} < /dev/null 2>&1")
        goes_on = step.kind == "console" or "exemplar edit " in step.command
        lines.append(f'code=$?; if [ $code -ne 0 ]; then printf "\\n{MARK} code $code\\n"; {":" if goes_on else "exit 1"}; fi')
    return "\n".join(lines + [f'printf "\\n{MARK} {len(steps)} $EPOCHREALTIME\\n"', ""])


def run(steps, folder, environment, limit):
    """Runs the steps in a folder up to the first that fails; returns False if it ran out of time."""
    with open(f"{folder}.script", "w", encoding="utf-8") as file:
        file.write(script_of(steps))
    process = subprocess.Popen(["bash", f"{folder}.script"], cwd=folder, env=environment, start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    in_time = True
    try:
        output = process.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, in_time = process.communicate()[0], False
    step, begun = None, 0.0
    for part in re.split(rf"\n(?={MARK})", "\n" + output.decode("utf-8", "replace")):
        mark, _, text = part.partition("\n")
        words = mark.split()
        if not words or words[0] != MARK:
            continue
        if words[1] == "code":
            step.code = int(words[2])
            continue
        if step:
            step.seconds = float(words[2]) - begun
            step.code = step.code or 0
        if int(words[1]) == len(steps):
            break
        step, begun = steps[int(words[1])], float(words[2])
        step.printed = text + "\n" if text and not text.endswith("\n") else text
    return in_time


def fault_of(step, in_time, limit):
    """An error message if a step that must end with 0 did not."""
    if step.code == 0 or step.had_no_editor():
        return None
    why = f"ends with {step.code}" if step.code else "ended the shell" if in_time else f"did not end within {limit} s"
    return f"'{step.command}' {why}\n{step.printed}"


def environment_for(tool, folder):
    """An environment with a PATH that begins with the tool and with stand-ins for forbidden programs."""
    folder = pathlib.Path(folder)
    for name in FORBIDDEN:
        (folder / name).write_text("#!/bin/sh\n"
                                   f"echo 'a test must not call {name}: precede the block by <!-- not run: REASON -->'\n"
                                   "exit 1\n")
        (folder / name).chmod(0o755)
    (folder / "exemplar").symlink_to(tool)
    return dict(os.environ, PATH=os.pathsep.join([str(folder), os.environ["PATH"]]), LC_ALL="C.UTF-8", HOME=str(folder))
