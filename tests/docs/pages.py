"""Markdown pages as the tests of the documentation read them: pieces to run, commands that are only mentioned, links.

A page is a list of pieces, in order:

    ```sh                     commands, run line by line
    ```console                lines "$ COMMAND", each with its output below; run, and compared
    <!-- run: COMMAND -->     run too, but hidden from readers
    Save this as `NAME`:      the block below is written to that file
    <!-- not run: REASON -->  the block below is not run

All other blocks, and `code` in the text, are only searched for mentions of the tool.
"""
import dataclasses
import pathlib
import re
import subprocess

FENCE = re.compile(r"^([ \t]*)(```+|~~~+)[ \t]*(\S*).*$")
HIDDEN = re.compile(r"^\s*<!--\s*run:\s*(.*?)\s*-->\s*$")
REASON = re.compile(r"^\s*<!--\s*not run:\s*(.*?)\s*-->\s*$")
SAVED = re.compile(r"[Ss]ave\s+(?:this|it)\s+as\s+`([^`]+)`[^`]*:\s*$")
RUNS = ("sh", "console")


@dataclasses.dataclass
class Piece:
    line: int       # of the first line of its text, from 1
    language: str   # "run" of a hidden command
    text: str
    reason: str = None  # why it is not run
    saved: str = None   # the file to write it to


@dataclasses.dataclass
class Page:
    path: pathlib.Path
    pieces: list    # fenced blocks and hidden commands
    prose: str      # the rest: the same number of lines, empty where a piece was
    faults: list    # (line, text): a reason without a block, a fence that does not end


def read(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    page, at, reason, reason_line = Page(path, [], "", []), 0, None, 0
    prose = []

    def no_block():
        if reason is not None:
            page.faults.append((reason_line, "'not run' stands before no block"))

    while at < len(lines):
        line = lines[at]
        fence, hidden, given = FENCE.match(line), HIDDEN.match(line), REASON.match(line)
        at += 1
        if fence:
            indent, mark, language = fence.groups()
            first, body = at + 1, []
            while at < len(lines) and not re.match(rf"^[ \t]*{re.escape(mark)}[ \t]*$", lines[at]):
                body.append(lines[at].removeprefix(indent))
                at += 1
            if at == len(lines):
                page.faults.append((first - 1, "this block does not end"))
            at += 1
            before = SAVED.search("\n".join(prose).rstrip().rsplit("\n\n", 1)[-1])  # the paragraph above it
            page.pieces.append(Piece(first, language, "".join(f"{text}\n" for text in body), reason,
                                     before.group(1) if before and language not in RUNS else None))
            prose += [""] * (len(body) + 2)
            reason = None
            continue
        if hidden:
            page.pieces.append(Piece(at, "run", hidden.group(1) + "\n"))
        if given:
            no_block()
            reason, reason_line = given.group(1) or "?", at
        elif line.strip() and not hidden:
            no_block()
            reason = None
        prose.append("" if hidden or given else line)
    no_block()
    page.prose = "\n".join(prose)
    return page


def all_pages(repository):
    """README.md and the pages of docs/, those that the tests run."""
    return [repository / "README.md", *sorted((repository / "docs").glob("**/*.md"))]


# ---- shell ----

def is_complete(text):
    """True if bash has a complete command: no quote, loop, here-document or continued line is open."""
    if re.search(r"(?<!\\)(\\\\)*\\\n$", text):
        return False
    done = subprocess.run(["bash", "-n", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True)
    return not re.search(r"unexpected end of file|unexpected EOF|here-document", done.stderr)


def commands_of(text, line):
    """(line, command) of each command of a shell text, without comments and empty lines."""
    begun, start = "", line
    for number, row in enumerate(text.splitlines(), line):
        if not begun:
            if not row.strip() or row.lstrip().startswith("#"):
                continue
            start = number
        begun += row + "\n"
        # Nearly all lines are plain, and bash need not check them.
        plain = begun.count("\n") == 1 and not re.search(r"\\$|<<|['\"({`]|\b(for|while|if|until|case)\b", row)
        if plain or is_complete(begun):
            yield start, begun.rstrip("\n")
            begun = ""
    if begun:
        yield start, begun.rstrip("\n")


# ---- the tool ----

class Tool:
    """The tool as it describes itself: commands, commands of commands, options."""

    def __init__(self, path):
        self.path, self.pages = str(path), {}

    def help(self, *words):
        if words not in self.pages:
            done = subprocess.run([self.path, *words, "-h"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
            self.pages[words] = done.stdout
        return self.pages[words]

    def commands(self):
        return [line.split()[0] for line in self.help().split("Commands:\n")[1].split("\n\n")[0].splitlines()]

    def inner(self, name):
        return re.findall(rf"^  {name} ([a-z]+)  ", self.help(name), re.M) if name in self.commands() else []

    def everything(self):
        """Words of all help pages: () is the overview, ("drive", "learn") a command of a command."""
        return [(), *[words for name in self.commands() for words in [(name,), *[(name, i) for i in self.inner(name)]]]]

    def options(self, *words):
        listed = self.help(*words).split("\nOptions:\n")
        found = re.findall(r"^ {2,6}(?:(-\w), )?(--[a-z0-9][a-z0-9-]*)", listed[1], re.M) if len(listed) > 1 else []
        return {word for pair in found for word in pair if word} | {"-h", "--help"} | (set() if words else {"--version"})

    def examples(self, *words):
        """The lines below "Examples:" of a help page."""
        found = self.help(*words).split("\nExamples:\n")
        return "".join(line[2:] + "\n" for line in found[1].splitlines()) if len(found) > 1 else ""

    def fault(self, mention):
        """An error message if a mention, the words after 'exemplar', names something that does not exist."""
        words = mention.split()
        if not words or not re.fullmatch(r"[a-z]+(\|[a-z]+)*:?", words[0]) or words[0].endswith(":"):
            return self.unknown_options(words, [()])
        if words[0] == "help":
            return self.fault(" ".join(word for word in words[1:] if word != "--man"))
        names = words.pop(0).split("|")
        missing = [name for name in names if name not in self.commands()]
        if missing:
            return f"there is no command '{missing[0]}'"
        pages = [(name,) for name in names]
        inner = self.inner(names[0]) if len(names) == 1 else []
        if inner and words and re.fullmatch(r"[a-z]+(\|[a-z]+)*", words[0]):
            chosen = words.pop(0).split("|")
            missing = [name for name in chosen if name not in inner]
            if missing:
                return f"there is no command '{names[0]} {missing[0]}'"
            pages = [(names[0], name) for name in chosen]
        return self.unknown_options(words, pages)

    def unknown_options(self, words, pages):
        for word in words:
            if word == "--":
                break
            option = re.fullmatch(r"(--[A-Za-z0-9][\w-]*|-[A-Za-z])(=.*)?", word)
            if option and not any(option.group(1) in self.options(*page) for page in pages):
                return f"'exemplar {' '.join(pages[0])}'".replace(" '", "'") + f" has no option '{option.group(1)}'"
        return None


# ---- mentions ----

START = re.compile(r"(?:(?<=['\"`(])|(?:(?<=\s)|^)(?:[\w./$-]*/)?)exemplar[ \t]+(?=\S)", re.M)
BREAK = re.compile(r"\s(?:\||\|\||&&|;|>>?|2>|<|#)\s|;\s|['\"`]|…|\s#|\n|$")


def mentions_in_shell(text):
    """(line from 0, words after 'exemplar') in a shell text or an output."""
    joined = re.sub(r"\\\n\s*", lambda found: " " * len(found.group()), text)
    for found in START.finditer(joined):
        before = joined[joined.rfind("\n", 0, found.start()) + 1:found.start()]
        if before.lstrip().startswith("#"):
            continue
        rest = joined[found.end():]
        words = rest[:BREAK.search(rest).start()]
        yield text.count("\n", 0, found.start()), re.sub(r"[][(),;]", " ", words).strip()


def mentions_in_prose(text):
    """(line from 0, words after 'exemplar') in `code` that begins with the tool's name."""
    for found in re.finditer(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", text, re.S):
        if "\n\n" in found.group(2):
            continue
        code = " ".join(found.group(2).split())
        for _, words in mentions_in_shell(code):
            yield text.count("\n", 0, found.start()), words


def mentions(page):
    """(line, words) of every mention that is not run."""
    for piece in page.pieces:
        if piece.language == "run" or (piece.language in RUNS and piece.reason is None):
            continue
        if piece.language in ("sh", "console", "text", "bash", ""):
            for line, words in mentions_in_shell(piece.text):
                yield piece.line + line, words
    for line, words in mentions_in_prose(page.prose):
        yield line + 1, words
