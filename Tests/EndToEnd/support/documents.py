"""Tests the examples of README.md and of the pages in docs/; the convention is described at the top of `run`."""
import glob
import os
import re
import shutil
import subprocess

import comparison
from workspace import Outcome, Workspace

FENCE = re.compile(r"^( *)(```+)(.*)$")
ISOLATED = "isolated: capture is not permitted"
NOT_RUN = ("make", "git", "sudo", "cd", "swift", "apt-get", "brew")


class Block:
    """A fenced block: the words after its opening fence, its lines, and the number of the first line."""

    def __init__(self, words, number):
        self.words = words
        self.number = number
        self.lines = []
        self.renewed = None

    @property
    def text(self):
        return "\n".join(self.lines) + "\n"

    @property
    def name(self):
        for word in self.words:
            if word.startswith("file="):
                return word.removeprefix("file=")
        return None


def find(root):
    """Returns the documents that have examples."""
    paths = [os.path.join(root, "README.md")] + sorted(glob.glob(os.path.join(root, "docs", "**", "*.md"), recursive=True))
    return [path for path in paths if os.path.exists(path) and any(b.words[0] in ("scn", "console") for b in blocks(path))]


def blocks(path):
    found = []
    current = None
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().split("\n"), 1):
            fence = FENCE.match(line)
            if current is not None:
                if fence and fence[2] == mark and not fence[3].strip():
                    if current.words:
                        found.append(current)
                    current = None
                else:
                    current.lines.append(line[indent:] if line[:indent].isspace() else line)
            elif fence:
                indent, mark = len(fence[1]), fence[2]
                current = Block(fence[3].split(), number)
    return found


def run(path, tool, root, update=False):
    outcome = Outcome()
    work = Workspace(tool)
    try:
        for name in ("Scenarios", "Examples", "docs"):
            source = os.path.join(root, name)
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(work.files, name), symlinks=True)
        everything = blocks(path)
        for block in everything:
            if block.name:
                work.write(block.name, block.text.encode("utf-8"))
        can_capture = work.unmet("capture") is None
        for block in everything:
            where = f"{os.path.relpath(path, root)}:{block.number}"
            if block.words[0] == "scn":
                scenario(block, where, work, can_capture, outcome)
            elif block.words[0] == "console" and "fragment" not in block.words:
                console(block, where, work, can_capture, outcome)
        if update:
            rewrite(path, everything)
    finally:
        outcome.problems += work.close()
    return outcome


# The text that the tool prints if a busy machine prevented a judgment. The case is then run again automatically.
STANDSTILL = "the harness itself stood still"
MOST_STANDSTILLS = 20
# The number of runs if other differences occur. Documents show output without delays, but on a busy machine, one read
# may return two segments.
MOST_OTHERS = 3
# The time limit of a block's commands in seconds; an idle machine needs a tenth of it.
PATIENCE = 1200


def scenario(block, where, work, can_capture, outcome):
    """Runs a ```scn block."""
    if "fragment" in block.words:
        return
    if not any(line.startswith("scenario ") for line in block.lines):
        outcome.problems.append(f"{where}: not a complete scenario: mark the block `scn fragment`")
        return
    name = block.name or f"example-{block.number}.scn"
    if not block.name:
        work.write(name, block.text.encode("utf-8"))
    if "wrong" in block.words:
        words, wanted = ["check", name], (2,)
    elif "check" in block.words:
        words, wanted = ["check", name], (0,)
    else:
        # Without a capture, a wire step is inconclusive, which is the correct verdict.
        words, wanted = ["run", "--keep", "none", name], (1,) if "fails" in block.words else (0,) if can_capture else (0, 3)
    # ```scn transport=nio-websocket
    for word in block.words:
        if word.startswith("transport="):
            words += ["--transport", word.removeprefix("transport=")]
    for _ in range(MOST_STANDSTILLS):
        status, text = shell(work, " ".join(["tcpprobe"] + words))
        outcome.log += text
        if status in wanted or STANDSTILL not in text:
            break
    if status not in wanted:
        outcome.problems.append(f"{where}: `tcpprobe {' '.join(words)}`: exit {status}, expected {wanted[0]}\n{text}")
    if not block.name:
        os.unlink(os.path.join(work.files, name))


def without_note(text, expected):
    """Removes the note that is printed first if capturing is not permitted: documents show the output of a run that may capture."""
    if any(line.startswith(ISOLATED) for line in expected):
        return text
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(ISOLATED))


def console(block, where, work, can_capture, outcome):
    """Runs a ```console block: its commands in one shell, with the output of each."""
    commands = []
    for line in block.lines:
        if line.startswith("$ "):
            commands.append((line[2:], []))
        elif commands:
            commands[-1][1].append(line)
        elif line.strip():
            outcome.problems.append(f"{where}: the first line is not a command (`$ …`)")
            return
    mark = "==end of the command=="
    program = ""
    for command, _ in commands:
        first = command.split()[0] if command.split() else ""
        # `$?` in a command is the status of the previous command.
        program += f"(exit $last)\n{command}\n" if first not in NOT_RUN else "true\n"
        program += f"last=$?; echo '{mark}'\n"
    for attempt in range(1, MOST_STANDSTILLS + 1):
        _, text = shell(work, "last=0\n" + program)
        outcome.log += text
        block.renewed, problems = compare(where, commands, text.split(mark + "\n"), can_capture)
        # If only the summary is printed, an inconclusive case is the only sign that the machine stopped the tool.
        if not problems or attempt >= MOST_OTHERS and not re.search(f"{STANDSTILL}|\\d inconclusive", text):
            break
    outcome.problems += problems


def compare(where, commands, printed, can_capture):
    """Returns the block with the actual output, and the differences of that output from the expected output."""
    renewed, problems = [], []
    for (command, expected), actual in zip(commands, printed):
        renewed.append("$ " + command)
        if command.split() and command.split()[0] in NOT_RUN:
            renewed += expected
            continue
        if not can_capture:
            if re.search(r"\| head\b", command):  # the time limit also covers the note
                renewed += expected
                continue
            actual = without_note(actual, expected)
        diff = comparison.difference("\n".join(expected), actual)
        if diff is not None:
            problems.append(f"{where}: `{command}` printed different output:\n{diff}")
        renewed += expected if diff is None else actual.rstrip().split("\n")
    return renewed, problems


def rewrite(path, everything):
    """Replaces the expected output in the document with the actual output if the two differ."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    for block in reversed(everything):
        if block.renewed is not None:
            lines[block.number:block.number + len(block.lines)] = block.renewed
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def shell(work, program):
    """Runs a command in a shell, and returns its exit status and both streams as one text."""
    try:
        done = subprocess.run(
            ["bash", "-c", program], cwd=work.files, env=work.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=PATIENCE)
    except subprocess.TimeoutExpired as error:
        return -1, (error.stdout or b"").decode("utf-8", "replace") + f"\n(the command did not end within {PATIENCE} s)\n"
    return done.returncode, done.stdout.decode("utf-8", "replace")
