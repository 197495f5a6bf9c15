"""Reads and runs a test file; the format is described at the top of `run`."""
import os
import re
import signal
import subprocess
import threading
import time

import comparison
from workspace import Outcome, Workspace

FILE = re.compile(r"^-- (.+) --$")
# The exit status of a command that can't judge anything on this machine.
CANCELLED = 77
# A test's `timeout` is the longest time that it takes on an idle machine. The time limit is this factor times the
# timeout, and ends only tests that would otherwise never end.
PATIENCE = 10
# The text that the tool prints for a case that can't be judged because the machine stopped the tool.
STANDSTILL = re.compile(r"(the harness itself|the thread of a link|a worker of \w+) stood still for [^,]*")
# The maximum number of runs of a command if the machine stops the tool in each run.
ATTEMPTS = 3


class Command:
    """A command line and its expected results."""

    def __init__(self, line, number):
        self.line = line
        self.number = number
        self.status = 0
        self.signals = []
        self.checks = []


class Script:
    """A parsed test file."""

    def __init__(self, path):
        self.needs = []
        self.timeout = 60.0
        self.commands = []
        self.files = {}
        signals = []
        name = None
        with open(path, "rb") as file:
            text = file.read().decode("utf-8")
        for number, line in enumerate(text.split("\n"), 1):
            header = FILE.match(line)
            if header:
                name = header[1]
                self.files[name] = ""
                continue
            if name is not None:
                self.files[name] += line + "\n"
                continue
            if not line.strip() or line.startswith("#"):
                continue
            word, _, rest = line.partition(" ")
            rest = rest.strip()
            if word == "needs":
                self.needs += [need.strip() for need in rest.split(",")]
            elif word == "timeout":
                self.timeout = float(rest)
            elif word == "signal":
                which, _, marker = rest.partition(" when ")
                signals.append((getattr(signal, "SIG" + which), marker))
            elif word == "$":
                self.commands.append(Command(rest, number))
                self.commands[-1].signals = signals
                signals = []
            elif word == "exit" and self.commands:
                self.commands[-1].status = int(rest)
            elif word in ("stdout", "!stdout", "stderr", "!stderr") and self.commands:
                self.commands[-1].checks.append((number, word, re.compile(rest, re.M)))
            elif word in ("stdout-is", "stderr-is") and self.commands:
                self.commands[-1].checks.append((number, word, rest))
            else:
                raise ValueError(f"{os.path.basename(path)}:{number}: not understood: {line}")
        # The line break at the end of the test file does not belong to an embedded file.
        if name is not None and self.files[name].endswith("\n"):
            self.files[name] = self.files[name][:-1]


def run(path, tool):
    script = Script(path)
    outcome = Outcome()
    work = Workspace(tool)
    try:
        for need in script.needs:
            reason = work.unmet(need)
            if reason:
                outcome.skipped = reason
                return outcome
        for name, text in script.files.items():
            work.write(name, text.encode("utf-8"))
        deadline = time.monotonic() + script.timeout * PATIENCE
        for command in script.commands:
            if not perform(command, script, work, deadline, outcome):
                break
    finally:
        outcome.problems += work.close()
    return outcome


def perform(command, script, work, deadline, outcome):
    """Runs one command; returns false if the test can't continue.

    If the machine stopped a case, the case is correctly inconclusive, but proves nothing, so the command is run again.
    This is not done if a test expects such a result, or sends signals.
    """
    for attempt in range(ATTEMPTS):
        goes_on, problems, stdout = perform_once(command, script, work, deadline, outcome)
        standstill = STANDSTILL.search(stdout)
        if not (problems and standstill) or command.status == 3 or command.signals or attempt == ATTEMPTS - 1:
            break
        outcome.log += f"run again: line {command.number}: {standstill[0]}\n"
    outcome.problems += problems
    return goes_on


def perform_once(command, script, work, deadline, outcome):
    """Runs one command; returns whether the test can continue, the problems, and the output of the command."""
    process = subprocess.Popen(
        ["bash", "-c", command.line], cwd=work.files, env=work.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    stop = threading.Event()
    signals = threading.Thread(target=send_signals, args=(command, process, work, stop))
    signals.start()
    timed_out = False
    try:
        out, err = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        timed_out = True
        os.killpg(process.pid, signal.SIGKILL)
        try:
            out, err = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            out, err = b"", b"(a process that was left behind holds the output open)"
    stop.set()
    signals.join()
    texts = {"stdout": out.decode("utf-8", "replace"), "stderr": err.decode("utf-8", "replace")}
    outcome.log += f"$ {command.line}\n{texts['stdout']}{texts['stderr']}(exit {process.returncode})\n"

    if process.returncode == CANCELLED != command.status and not timed_out:
        outcome.skipped = (texts["stdout"].strip().splitlines() or ["cancelled"])[-1]
        return False, [], ""
    problems = []
    if timed_out:
        problems.append(f"line {command.number}: did not end within {PATIENCE} times the test's {script.timeout:g} s")
    else:
        status = process.returncode if process.returncode >= 0 else 128 - process.returncode
        if status != command.status:
            problems.append(f"line {command.number}: exit {status}, expected {command.status}")
    for number, kind, wanted in command.checks:
        stream = kind.lstrip("!").removesuffix("-is")
        if kind.endswith("-is"):
            diff = comparison.difference(script.files[wanted], texts[stream])
            if diff is not None:
                problems.append(f"line {number}: {stream} is not {wanted}:\n{diff}")
        elif (wanted.search(texts[stream]) is None) != kind.startswith("!"):
            word = "has" if kind.startswith("!") else "lacks"
            problems.append(f"line {number}: {stream} {word} {wanted.pattern}")
    if problems:
        shown = "".join(shortened(text) for text in texts.values())
        problems.append(f"$ {command.line}\n{shown.encode('unicode_escape').decode().replace(chr(92) + 'n', chr(10))}")
    return not timed_out, problems, texts["stdout"]


def shortened(text):
    """Returns the part of a command's output that is shown, which omits the lines of passed cases so that failures
    appear first."""
    lines = text.splitlines(keepends=True)
    others = [line for line in lines if not line.startswith("passed ")]
    if len(lines) - len(others) > 3:
        text = f"[{len(lines) - len(others)} lines of passed cases omitted]\n" + "".join(others)
    return text if len(text) < 20000 else text[:20000] + "\n[cut]\n"


def send_signals(command, process, work, stop):
    """Sends the signals in turn, each once its file exists."""
    for number, marker in command.signals:
        path = os.path.join(work.files, marker)
        while not os.path.exists(path):
            if stop.wait(0.01):
                return
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
