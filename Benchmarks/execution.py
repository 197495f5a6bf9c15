"""Runs and measures a command; shared by `run` and `compare`."""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Execution:
    status: int
    wall: float  # seconds
    cpu: float  # seconds, user and system
    output: str
    peak: int = 0  # KiB


def environment(work: Path) -> dict[str, str]:
    """Returns an environment with a private temporary folder, so that files that a run leaves are found."""
    temporary = work / "tmp"
    temporary.mkdir(exist_ok=True)
    return {**os.environ, "TMPDIR": str(temporary), "NO_COLOR": "1"}


def execute(work: Path, *command, limit: float = 120.0) -> Execution:
    """Runs a command in the work folder, as a process group that is killed when the command ends."""
    with tempfile.TemporaryFile(dir=work) as out:
        began = time.perf_counter()
        process = subprocess.Popen(
            [str(word) for word in command], cwd=work, env=environment(work), stdin=subprocess.DEVNULL, stdout=out,
            stderr=subprocess.STDOUT, start_new_session=True,
        )
        previous = signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        wall = time.perf_counter() - began
        out.seek(0)
        output = out.read().decode(errors="replace")
    return Execution(process.returncode, wall, usage.ru_utime + usage.ru_stime, output, usage.ru_maxrss)


def write_long_script(path: Path, lines: int):
    """Writes a valid script with this number of lines."""
    with path.open("w") as text:
        text.write('scenario "long"\nserver S\nclient C -> S\nC connect\nS accept\n')
        for number in range((lines - 8) // 2):
            text.write(f'C send "line {number}\\r\\n"\nS expect line "line {number}"\n')
        text.write("C close\nS expect eof\nS close\n")
