"""Runs every command of README.md and docs/, page by page, in order, from an empty folder.

    commands.py TOOL REPOSITORY [PATTERN…]     all pages, or those that match: 'docs/guides/*', '!docs/guides/*' for not
    UPDATE_DOCS=1 commands.py …                writes the output of ```console blocks into the pages
    UPDATE_PICTURES=1 commands.py …            copies the pictures that a page's commands make to where the page has them

pages.py defines which blocks are run. Commands of ```sh blocks must end with 0. If a ```text block follows, each of its
lines must be among what they print, or begin such a line; numbers may differ by a sixth, since scans and times differ
between machines, and lines with an ellipsis are not looked up. Commands of ```console blocks must print the text below
them. Times and sizes of files differ between machines and builds, so both sides are masked before they
are compared: "12 ms" and "1.5 s" become "TIME", "87 kB" becomes "SIZE", the values of "seconds" and "bytes" become N.
Decimals are cut after the sixth, since compilers may differ in the last. The error of a sculpt is masked too: it is
only rounding.

A picture on a page has the size of the one that its commands make. A command that is not run must exist in the tool,
with options that its help lists.
"""
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shlex
import shutil
import struct
import sys
import tempfile
import time

import pages
import shell

# Pages that do not follow the rules of pages.py yet: their faults are printed, but do not count.
NOT_YET = []

# Pages with their own test, which runs all of their commands.
RUN_ELSEWHERE = {"docs/tutorial.md": "docs.tutorial runs it"}

LIMIT = 400  # seconds per page; shared machines are slow
MASKS = [(r"\b[\d.]+ (m?s|min)\b", "TIME"), (r"\b[\d.]+ (bytes|[kMG]B)", "SIZE"), (r'"(seconds|bytes)":[\d.e-]+', r'"\1":N'),
         (r"reproduced within [\d.e-]+ m?m", "reproduced within LENGTH"), (r"(\.\d{6})\d+", r"\1")]
PROGRESS = re.compile(r"^exemplar: (.*, \d+% done(, \d+ (s|min|h) left)?|learning will take .*)\n", re.M)
# Commands in blocks that are not run: at the start of a line, since help and answers indent them.
HIDING = re.compile(r"^(\$ |exemplar [a-z]+ (?![a-z]+: ))", re.M)
INDENTED = re.compile(r"^(?:    |\t)\s*(?:\$ )?exemplar [a-z]+ .*$", re.M)
PICTURE = re.compile(r"!\[[^]]*\]\(([^)\s]+)\)")


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    return text


def png_size(path):
    with open(path, "rb") as file:
        return struct.unpack(">II", file.read(24)[16:24])


def console_steps(piece):
    steps = []
    for line, text in enumerate(piece.text.splitlines(), piece.line):
        if text.startswith("$ "):
            steps.append(shell.Step(line, "console", text[2:]))
        elif steps:
            steps[-1].shown += text + "\n"
    return steps


def steps_of(page, faults):
    steps = []
    for piece in page.pieces:
        if piece.reason is not None:
            continue
        if piece.saved:
            folder = shlex.quote(os.path.dirname(piece.saved) or ".")
            text = f"mkdir -p {folder} && printf %s {shlex.quote(piece.text)} > {shlex.quote(piece.saved)}"
            steps.append(shell.Step(piece.line, "save", text))
        elif piece.language == "console":
            if not piece.text.startswith("$ "):
                faults.append((piece.line, "a console block begins with '$ ' and a command"))
            steps += console_steps(piece)
        elif piece.language in ("sh", "run"):
            if re.match(r"\s*\$ ", piece.text):
                faults.append((piece.line, "a sh block holds commands alone, without '$ '"))
            steps += [shell.Step(line, piece.language, command) for line, command in pages.commands_of(piece.text, piece.line)]
    return steps


def excerpts_of(page, steps):
    """(line, text, steps): each ```text block directly below a ```sh block, and the steps of that."""
    found = []
    for above, below in zip(page.pieces, page.pieces[1:]):
        end = above.line + above.text.count("\n")
        if above.language == "sh" and above.reason is None and below.language == "text" and below.line <= end + 3:
            found.append((below.line, below.text, [step for step in steps if above.line <= step.line < end]))
    return found


def is_like(shown, printed):
    """The same words, and numbers that are nearly the same; printed may go on."""
    words, others = (re.split(r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)", " ".join(line.split())) for line in (shown, printed))
    if words[-1] == "":
        words.pop()
    if len(others) < len(words):
        return False
    for a, b in zip(words[1::2], others[1::2]):
        if abs(float(a) - float(b)) > max(abs(float(a)), abs(float(b))) / 6 + 0.02:
            return False
    last = len(words) - 1
    return all(others[i].startswith(words[i]) if i == last else others[i] == words[i] for i in range(0, len(words), 2))


def check_excerpts(page, steps, faults):
    for line, text, of in excerpts_of(page, steps):
        if not of or any(step.printed is None or step.had_no_editor() for step in of):
            continue
        printed = [masked(row) for step in of for row in step.printed.splitlines()]
        for number, row in enumerate(text.splitlines(), line):
            if row.strip() and "…" not in row and not any(is_like(masked(row), other) for other in printed):
                faults.append((number, f"the page shows\n{row}\nwhere the commands above print\n" + "\n".join(printed[:40])))


class Result:
    def __init__(self, page):
        self.page, self.faults, self.ran, self.not_run, self.checked, self.seconds = page, [], 0, {}, 0, 0.0
        self.slowest = None


def compare(result, step):
    shown, printed = step.shown.rstrip("\n"), PROGRESS.sub("", step.printed).rstrip("\n")
    if masked(shown) == masked(printed):
        return
    if os.environ.get("UPDATE_DOCS"):
        text = result.page.path.read_text(encoding="utf-8")
        begin = f"$ {step.command}\n"
        block = begin + step.shown
        result.page.path.write_text(text.replace(block, begin + (printed + "\n" if printed else "")), encoding="utf-8")
        return
    result.faults.append((step.line, f"'{step.command}' prints\n{printed}\nwhere the page shows\n{shown}"))


def check_page(path, named, tool, environment):
    page = pages.read(path)
    for piece in page.pieces if named in RUN_ELSEWHERE else []:
        if piece.reason is None and piece.language in ("sh", "console", "run"):
            piece.reason = RUN_ELSEWHERE[named]
    result = Result(page)
    result.faults += page.faults
    steps = steps_of(page, result.faults)
    for piece in page.pieces:
        if piece.reason is not None:
            listed = list(pages.commands_of(piece.text, piece.line)) if piece.language == "sh" else console_steps(piece)
            if listed:
                result.not_run[piece.reason] = result.not_run.get(piece.reason, 0) + len(listed)
        elif piece.language in ("bash", "shell", "zsh") or HIDING.search(piece.text) and piece.language in ("", "text"):
            result.faults.append((piece.line, f"a block '{piece.language}' with commands: make it sh or console, so that "
                                  "they are run, or precede it by <!-- not run: REASON -->"))
    for found in INDENTED.finditer(page.prose):
        line = page.prose.count("\n", 0, found.start()) + 1
        result.faults.append((line, "a command in an indented block: make it a block sh, so that it is run"))
    for line, words in pages.mentions(page):
        result.checked += 1
        fault = tool.fault(words)
        if fault:
            result.faults.append((line, f"'exemplar {words}': {fault}"))
    if steps:
        begun = time.time()
        with tempfile.TemporaryDirectory(prefix="exemplar-docs-") as name:
            work = pathlib.Path(name) / "work"
            work.mkdir()
            in_time = shell.run(steps, work, environment, LIMIT)
            for step in steps:
                if step.printed is None:
                    break
                if step.had_no_editor():
                    result.not_run["this build has no editor"] = result.not_run.get("this build has no editor", 0) + 1
                    continue
                result.ran += step.kind != "save"
                if result.slowest is None or step.seconds > result.slowest.seconds:
                    result.slowest = step
                if step.kind == "console" and step.code is not None:
                    compare(result, step)
                elif fault := shell.fault_of(step, in_time, LIMIT):
                    result.faults.append((step.line, fault))
            check_excerpts(page, steps, result.faults)
            for link in PICTURE.findall(page.prose):
                made = work / pathlib.PurePath(link).name
                if made.suffix not in (".png", ".svg") or not made.exists():
                    continue
                if os.environ.get("UPDATE_PICTURES"):
                    shutil.copyfile(made, path.parent / link)
                elif made.suffix == ".png" and png_size(path.parent / link) != png_size(made):
                    result.faults.append((0, f"{link} has another size than what the page's commands make; "
                                          "UPDATE_PICTURES=1 copies it"))
        result.seconds = time.time() - begun
    return result


def is_chosen(name, patterns):
    """'*' also matches slashes. With only negative patterns, all other pages match."""
    meant = [pattern for pattern in patterns if not pattern.startswith("!")]
    return ((not meant or any(fnmatch.fnmatch(name, pattern) for pattern in meant)) and
            not any(fnmatch.fnmatch(name, pattern[1:]) for pattern in patterns if pattern.startswith("!")))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, repository, patterns = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    chosen = [path for path in pages.all_pages(repository) if is_chosen(str(path.relative_to(repository)), patterns)]
    if not chosen:
        sys.exit(f"FAILED: no page matches {' '.join(patterns)}")
    with tempfile.TemporaryDirectory(prefix="exemplar-docs-") as name:
        environment = shell.environment_for(tool, name)
        asked = pages.Tool(tool)
        asked.everything()
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("EX_DOCS_JOBS", "1"))) as pool:
            results = list(pool.map(lambda path: check_page(path, str(path.relative_to(repository)), asked, environment),
                                    chosen))
    failed, reasons = 0, {}
    for result in results:
        named = str(result.page.path.relative_to(repository))
        for line, text in result.faults:
            print(f"{'not counted' if named in NOT_YET else 'FAILED'}: {named}:{line}: {text}")
        failed += len(result.faults) if named not in NOT_YET else 0
        if result.ran:
            slow = f", {result.slowest.seconds:.1f} s of it for '{result.slowest.command.splitlines()[0][:60]}'"
            print(f"{named}: {result.ran} commands in {result.seconds:.1f} s{slow if result.slowest.seconds > 1 else ''}")
        for reason, count in result.not_run.items():
            reasons.setdefault(reason, []).append((count, named))
    for named in NOT_YET:
        if not any(str(result.page.path.relative_to(repository)) == named and result.faults for result in results):
            print(f"NOT_YET names {named}, which has no fault any more")
    print(f"{sum(result.ran for result in results)} commands ran; of {sum(result.checked for result in results)} mentions "
          "the command and its options were looked up")
    print(f"{sum(count for places in reasons.values() for count, _ in places)} commands were not run:")
    for reason, places in sorted(reasons.items()):
        print(f"  {sum(count for count, _ in places):3} {reason} ({', '.join(dict.fromkeys(page for _, page in places))})")
    print(f"{len(results) - sum(bool(r.faults) for r in results)} pages fine, {failed} faults")
    sys.exit(bool(failed))


main()
