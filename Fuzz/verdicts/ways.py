"""The ways to run a batch of cases, and their results."""
import collections
import ctypes
import dataclasses
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

PR_CAPBSET_DROP, CAP_NET_RAW = 24, 13
LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.path.dirname(os.path.abspath(__file__))
MUTANTS = os.path.join(os.path.dirname(os.path.dirname(HERE)), "Tests", "Mutants")
TROUBLE = "the run's trouble"
# The maximum duration of one run in seconds; a run that takes longer is considered hung.
LONGEST = 240


@dataclasses.dataclass(frozen=True)
class Way:
    """One way to run the cases. `transport` determines the subject's capabilities: `bsd` or `async-socket`."""
    name: str
    options: tuple = ()
    transport: str = "bsd"
    adapter: bool = False
    # Whether one run contains both the in-process subject and the subject that an adapter serves.
    both: bool = False
    # The module in Tests/Mutants that implements the adapter in Python.
    module: str | None = None
    jobs: int = 1
    captures: bool = True
    # The delay in milliseconds after which the adapter reports an event about a connection that has ended; None if it
    # reports no such event. With such events, no case with a subject may pass.
    late: int | None = None
    # Whether the harness, or a program or adapter that it has started, is stopped from time to time.
    stops: bool = False
    # The soft limit on descriptors when the run starts.
    descriptors: int | None = None
    is_reversed: bool = False
    # Whether only a few ports are available for outgoing connections. Most connections then reuse an earlier port.
    few_ports: bool = False
    # Whether the run is isolated. Nothing outside the run can then be reached.
    is_alone: bool = False
    repeat: int = 1


WAYS = [
    Way("-j1"),
    Way("-j8", jobs=8),
    Way("-j1 by adapter", adapter=True),
    Way("-j8 by adapter", adapter=True, jobs=8),
    Way("-j1 without a capture", captures=False),
    Way("-j8 without a capture", captures=False, jobs=8),
    Way("-j1 async-socket", transport="async-socket"),
    Way("-j4 async-socket by adapter", transport="async-socket", adapter=True, jobs=4),
    Way("-j1 backwards", is_reversed=True),
    Way("-j1 three times", repeat=3),
    Way("-j1 in a namespace", options=("--isolate",), is_alone=True),
    Way("-j2 stopped now and then", jobs=2, stops=True),
    Way("-j1 by adapter, stopped now and then", adapter=True, stops=True),
    Way("-j1 with two subjects", both=True, adapter=True),
    Way("-j2 with the reference adapter in Python", module="reference", jobs=2),
    Way("-j1 with an adapter that continues after the end", late=0, adapter=True),
    Way("-j4 with an adapter that continues later", late=3, adapter=True, jobs=4),
    Way("-j8 with a low limit on descriptors", jobs=8, descriptors=64),
    Way("-j1 --time-scale 3", options=("--time-scale", "3")),
    Way("-j1 with few ports", few_ports=True, repeat=4),
    Way("-j2 by adapter with few ports", few_ports=True, adapter=True, jobs=2, repeat=4),
]


@dataclasses.dataclass
class Result:
    """The result of one run."""
    command: list
    status: int | None = None
    # The verdicts of each case, by case id, with the summaries of the findings.
    cases: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(list))
    # Problems of the run as a whole.
    troubles: list = dataclasses.field(default_factory=list)
    said: str = ""
    # Events that an adapter withheld because they would have been too late.
    missed: int = 0


def set_outgoing_ports(first, last):
    try:
        with open("/proc/sys/net/ipv4/ip_local_port_range", "w", encoding="ascii") as file:
            file.write(f"{first} {last}")
    except OSError:
        pass


def prepare(way):
    """Prepares the child process before it executes the tool."""
    if not way.captures:
        LIBC.prctl(PR_CAPBSET_DROP, CAP_NET_RAW, 0, 0, 0)
    if way.descriptors:
        resource.setrlimit(resource.RLIMIT_NOFILE, (way.descriptors, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def command(tool, way, folder, files, events, out):
    result = [tool, "run"]
    result += [os.path.join(folder, file) for file in files]
    result += ["-j", str(way.jobs), "--json", events, "--out", out, *way.options]
    if not way.captures:
        result.append("--no-isolate")
    if way.module:
        result += ["--adapter", shlex.join([sys.executable, "-S", "-E", os.path.join(MUTANTS, f"{way.module}.py")])]
    elif way.adapter:
        before = [] if way.late is None else [sys.executable, "-S", "-E", os.path.join(HERE, "late.py"), str(way.late), f"{events}.missed"]
        if way.both:
            result += ["--transport", way.transport]
        result += ["--adapter", shlex.join([*before, tool, "adapter", way.transport])]
    elif way.transport != "bsd":
        result += ["--transport", way.transport]
    if way.repeat > 1:
        result += ["--repeat", str(way.repeat)]
    return result


def family(pid):
    """Returns the ids of the process and of all its descendants."""
    found = [pid]
    for one in found:
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                with open(f"/proc/{one}/task/{thread}/children", encoding="ascii") as file:
                    found += map(int, file.read().split())
        except OSError:
            pass
    return found


def stand_still(process, rng):
    """Repeatedly stops the process, or a process that it has started, for a short time, until the process ends."""
    while process.poll() is None:
        time.sleep(rng.uniform(0.05, 0.5))
        victim = process.pid if rng.random() < 0.6 else rng.choice(family(process.pid))
        try:
            os.kill(victim, signal.SIGSTOP)
            time.sleep(rng.uniform(0.05, 0.6))
            os.kill(victim, signal.SIGCONT)
        except ProcessLookupError:
            pass


def run(tool, way, folder, files, level_of, left_behind):
    """Runs the given files. `level_of` returns a case's level; `left_behind` returns processes that should have
    ended."""
    if way.is_reversed:
        files = files[::-1]
    work = tempfile.mkdtemp(prefix="verdicts-run-")
    temporary = os.path.join(work, "tmp")
    os.mkdir(temporary)
    events = os.path.join(work, "events")
    result = Result(command(tool, way, folder, files, events, os.path.join(work, "out")))
    if way.few_ports:
        set_outgoing_ports(61000, 61047)
    try:
        with open(os.path.join(work, "said"), "wb+") as said:
            process = subprocess.Popen(
                result.command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env={**os.environ, "TMPDIR": temporary},
                preexec_fn=lambda: prepare(way))
            if way.stops:
                threading.Thread(target=stand_still, args=(process, random.Random(folder)), daemon=True).start()
            try:
                result.status = process.wait(LONGEST)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)
                process.wait()
                result.troubles.append(f"it hung for more than {LONGEST} s")
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
                process.wait()
                raise
            said.seek(0)
            result.said = said.read().decode("utf-8", "replace")
        read_events(result, events)
        if os.path.exists(f"{events}.missed"):
            with open(f"{events}.missed", encoding="ascii") as file:
                result.missed = len(file.readlines())
        judge(result, level_of)
        result.troubles += [f"left in the folder for temporary files: {name}" for name in os.listdir(temporary)]
        result.troubles += [f"a process was left behind: {words}" for words in left_behind()]
    finally:
        if way.few_ports:
            set_outgoing_ports(32768, 60999)
        shutil.rmtree(work, ignore_errors=True)
    return result


def read_events(result, path):
    try:
        with open(path, encoding="utf-8") as file:
            for event in map(json.loads, file):
                if event["event"] == "case-ended":
                    result.cases[event["id"]].append(
                        (event["verdict"], [finding["summary"] for finding in event["findings"]]))
                elif event["event"] == "run-ended":
                    result.troubles += [f"{TROUBLE}: {text}" for text in event.get("troubles", [])]
                    if event.get("packets", {}).get("dropped"):
                        result.said += f"\npackets dropped: {event['packets']['dropped']}"
    except (OSError, ValueError) as error:
        how = f"signal {-result.status}" if (result.status or 0) < 0 else f"status {result.status}"
        # The folder's name is removed, because it differs from run to run.
        error = getattr(error, "strerror", None) or error
        result.troubles.append(f"it ended with {how}, and its events can't be read: {error}")


def judge(result, level_of):
    """Checks that the exit status matches the verdicts."""
    found = [(verdict, level_of(case)) for case, outcomes in result.cases.items() for verdict, _ in outcomes]
    if any(verdict == "failed" and level == "must" for verdict, level in found):
        wanted = 1
    elif any(verdict in ("error", "inconclusive") for verdict, _ in found):
        wanted = 3
    else:
        wanted = 0
    if result.troubles and wanted == 0 and result.status == 0:
        result.troubles.append("its exit status is 0 despite a problem")
    if result.status is not None and result.status != wanted and not result.troubles:
        result.troubles.append(f"its exit status is {result.status}; from the verdicts it is {wanted}")
    for word in ("Fatal error", "Crash", "AddressSanitizer"):
        if word in result.said:
            result.troubles.append(f"it says `{word}`")
