"""The benchmarks of captures: reading files, compared with libpcap alone, and live capturing.

The programs that generate captures (`genbig.c`) and read captures for comparison (`loop.c`) are not part of the
project. They are in the folder that TCPPROBE_BENCH names, or in `../shared/bench` next to the project. Without these
programs, nothing is measured.
"""

import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from execution import Execution

HERE = Path(__file__).resolve().parent
# The arguments of `genbig`: megabytes, concurrent connections, seed, imperfect packets per 3,000, percentage of bulk
# data.
CAPTURES = {"mixed": "500 2000 1 0 15", "small": "200 2000 1 0 0", "lossy": "100 2000 1 30 15"}
CHECKS = ("wire client -> server lines crlf", "wire server -> client lines crlf")
PACE = 45_000  # Lines per second. Including acknowledgments, there are about 1.5 packets per line.


@dataclass
class Times:
    walls: list[float]
    cpus: list[float]
    peak: int  # KiB

    @property
    def best(self) -> float:
        return min(self.walls)


def references() -> Path | None:
    named = os.environ.get("TCPPROBE_BENCH")
    folders = [Path(named)] if named else []
    folders.append(HERE.parent.parent / "shared" / "bench")
    return next((folder for folder in folders if (folder / "genbig.c").is_file() and (folder / "loop.c").is_file()), None)


class CaptureFigures:
    """A mixin that adds the benchmarks of captures to `Bench`."""

    # Reading captures

    def inspect(self):
        """Measures flows, reassembly, analysis and the line endings of every stream, alternating with `loop` on the
        same file."""
        target = ">= 0.8 of loop, <= 64 MB"
        problem = self.build_references()
        if problem:
            return self.add("inspect", target, f"not measured: {problem}")
        for name, arguments in CAPTURES.items():
            self.inspect_one(name, arguments, target)

    def build_references(self) -> str | None:
        """Builds the reference programs; returns the reason if they can't be built."""
        sources, compiler = references(), next(filter(None, map(shutil.which, ("cc", "clang", "gcc"))), None)
        if sources is None:
            return "genbig.c and loop.c were not found (TCPPROBE_BENCH names their folder)"
        if compiler is None:
            return "no C compiler"
        if shutil.disk_usage(self.work).free < 3 << 30:
            return f"less than 3 GB free in {self.work.parent}"
        for name, libraries in (("genbig", []), ("loop", ["-lpcap"])):
            built = self.execute(compiler, "-O2", "-w", sources / f"{name}.c", "-o", self.work / name, *libraries)
            if built.status != 0:
                return f"{name}.c can't be compiled: {built.output.strip().splitlines()[-1]}"
        return None

    def inspect_one(self, name: str, arguments: str, target: str):
        capture = self.work / "capture.pcap"
        made = self.execute(self.work / "genbig", capture, *arguments.split(), limit=300)
        if made.status != 0:
            return self.failed(f"inspect, {name}", target, made)
        # Without `sync`, the system would write the file to disk during the measurement and occupy one of the CPUs.
        os.sync()
        fields = made.output.split()
        packets, payload = int(fields[fields.index("packets") + 1]), int(fields[fields.index("payload") + 1])
        command = [self.tool, "inspect", capture]
        for check in CHECKS:
            command += ["--check", check]
        # Some lines that genbig generates do not end in CRLF, so some statements fail. If packets are lost, one statement is
        # inconclusive.
        times = self.alternate(
            self.count(9, 3), ([self.work / "loop", capture], (0,), ""), (command, (0, 1, 3), "statements on"))
        if isinstance(times, Execution):
            return self.failed(f"inspect, {name}", target, times)
        loop, ours = times
        ratio = loop.best / ours.best
        self.add(
            f"inspect, {name}", target,
            f"{packets / ours.best / 1e6:.2f} of {packets / loop.best / 1e6:.2f} Mpackets/s, CPU {statistics.median(ours.cpus):.2f} of "
            f"{statistics.median(loop.cpus):.2f} s, {ours.peak / 1024:.0f} MB; two busy loops at once take {slowdown():.2f} of one",
            f"{ratio:.2f}", ratio >= 0.8 and ours.peak <= 64 * 1024,
        )
        self.count_bytes(name, capture, payload)
        self.diagnose(name, capture)
        if name == "mixed":
            self.peers(capture, loop.best)
        capture.unlink()

    def alternate(self, runs: int, *commands) -> list[Times] | Execution:
        """Runs the commands in turn, each with its allowed exit statuses and a text that it must print. Returns the times of
        each, or the execution that failed."""
        measured = [Times([], [], 0) for _ in commands]
        for number in range(-1, runs):  # one extra run of each command, to warm up
            for times, (words, statuses, text) in zip(measured, commands):
                execution = self.execute(*words, limit=300)
                if execution.status not in statuses or text not in execution.output:
                    return execution
                if number >= 0:
                    times.walls.append(execution.wall)
                    times.cpus.append(execution.cpu)
                    times.peak = max(times.peak, execution.peak)
        return measured

    def diagnose(self, name: str, capture: Path):
        """Measures a diagnosis of all flows, alternating with `inspect` on the same file."""
        figure, target = f"diagnose, {name}", "<= 1.6 of inspect, <= 60 MB"
        times = self.alternate(
            self.count(5, 2), ([self.tool, "inspect", capture], (0,), ""), ([self.tool, "diagnose", capture], (0, 1), ""))
        if isinstance(times, Execution):
            return self.failed(figure, target, times)
        table, ours = times
        ratio = ours.best / table.best
        self.add(
            figure, target,
            f"{ours.best:.2f} of {table.best:.2f} s, CPU {statistics.median(ours.cpus):.2f} of {statistics.median(table.cpus):.2f} s, "
            f"{ours.peak / 1024:.0f} of {table.peak / 1024:.0f} MB",
            f"{ratio:.1f}", ratio <= 1.6 and ours.peak <= 60 * 1024,
        )

    def count_bytes(self, name: str, capture: Path, payload: int):
        """Checks that all sent bytes are captured at least once, or reported as missing."""
        figure, target = f"bytes, {name}", f"{payload:,}"
        execution = self.execute(self.tool, "inspect", "--json", capture, limit=300)
        if execution.status != 0:
            return self.failed(figure, target, execution)
        seen, missing = 0, 0
        for line in execution.output.splitlines():
            flow = json.loads(line)
            if flow["type"] == "flow":
                for direction in (flow["fromClient"], flow["fromServer"]):
                    seen += direction["bytes"]
                    missing += sum(gap["length"] for gap in direction["gaps"])
        if name == "lossy":  # lost bytes at a flow's end can't be detected if they were never acknowledged
            self.add(figure, f"<= {target}", f"{seen:,} and {missing:,} missing", passed=payload * 0.999 <= seen + missing <= payload)
        else:
            self.add(figure, target, f"{seen:,}", passed=seen == payload and missing == 0)

    def peers(self, capture: Path, loop: float):
        self.add("gopacket, mixed", "for reference", "0.15 of loop was measured elsewhere")
        streams = self.work / "streams"
        commands = {
            "tcpflow": ["tcpflow", "-q", "-r", capture, "-o", streams], "tshark": ["tshark", "-r", capture, "-q", "-z", "conv,tcp"],
        }
        for name, command in commands.items():
            if shutil.which(name) is None:
                self.add(f"{name}, mixed", "for reference", "not installed")
                continue
            if self.quick:
                self.add(f"{name}, mixed", "for reference", "not measured with --quick")
                continue
            execution = self.execute(*command, limit=600)
            measured = f"{execution.wall:.1f} s, {execution.peak / 1024:.0f} MB"
            if execution.status != 0:
                measured = f"exit status {execution.status}"
            self.add(f"{name}, mixed", "for reference", measured, f"{loop / execution.wall:.3f}" if execution.status == 0 else "")
        shutil.rmtree(streams, ignore_errors=True)

    # Live capturing

    def live(self):
        """Sends lines over one loopback connection at a fixed rate, while the tool captures them in another process."""
        target = ">= 60,000 packets/s, none dropped"
        seconds = self.count(10, 3)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            capture = subprocess.Popen(
                [self.tool, "bench", "capture", str(port)], cwd=self.work, env=self.environment(), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True, text=True,
            )
            try:
                if capture.stdout.readline() != "ready\n":
                    return self.add("live capture", target, "not measured: capturing is not permitted")
                sent = exchange(listener, port, seconds)
                output, _ = capture.communicate(timeout=60)
            finally:
                capture.kill()
                capture.wait()
        found = json.loads(output.splitlines()[-1])
        rate = found["packets"] / found["seconds"] if found["seconds"] else 0
        lost = found["dropped"] or found["missing-bytes"] or not found["complete"]
        self.add(
            "live capture", target,
            f"{rate:,.0f} packets/s for {found['seconds']:.1f} s, {found['dropped']} dropped, {found['missing-bytes']} bytes missing, "
            f"{sent:,} lines sent", passed=rate >= 60_000 and not lost,
        )

    def last(self, hogs: int = 0):
        """Runs the same script each time. Its wire steps fail or are inconclusive if the end of an exchange is not in
        the capture."""
        runs = self.count(1000, 50)
        name = f"last packet, {hogs} CPU hogs" if hogs else "last packet, idle"
        missing, walls, began = 0, [], time.monotonic()
        processes = [self.start_hog(limit=600) for _ in range(hogs)]
        try:
            while len(walls) < runs and time.monotonic() - began < self.count(400, 60):
                execution = self.run_tool(HERE / "last.scn")
                walls.append(execution.wall)
                if execution.status != 0:
                    missing += 1
                    if missing <= 3:
                        self.keep(f"{name}, run {len(walls)}", execution)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        self.add(
            name, f"never missing in {runs}", f"{missing} of {len(walls)} runs, {statistics.median(walls) * 1000:.0f} ms each",
            passed=missing == 0 and len(walls) == runs,
        )


def slowdown() -> float:
    """Returns the time of a busy loop that runs at the same time as another one, divided by its time when it runs
    alone. The value is 1 if two CPUs are two cores, and up to 2 if they are threads of one core. `inspect` has two
    threads and `loop` has one thread, so on a shared machine the ratio of their times depends on this value, which
    may change."""
    code = "for _ in range(8_000_000): pass"

    def best(count: int) -> float:
        walls = []
        for _ in range(3):
            began = time.monotonic()
            for process in [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]:
                process.wait(timeout=60)
            walls.append(time.monotonic() - began)
        return min(walls)

    alone = best(1)
    return best(2) / alone


def exchange(listener: socket.socket, port: int, seconds: float) -> int:
    """Sends lines at the rate PACE to a process that reads them; returns the number of lines."""
    reader = os.fork()
    if reader == 0:
        accepted, _ = listener.accept()
        while accepted.recv(1 << 16):
            pass
        os._exit(0)
    sent, line = 0, b"x" * 30 + b"\r\n"
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = time.monotonic()
        while (passed := time.monotonic() - began) < seconds:
            # Sends all lines that are due, but only a few at a time, so that a process that overslept does not send a
            # burst.
            for _ in range(min(int(passed * PACE) - sent, 200)):
                client.sendall(line)
                sent += 1
            if sent >= int((time.monotonic() - began) * PACE):
                time.sleep(0.0002)
    os.waitpid(reader, 0)
    return sent
