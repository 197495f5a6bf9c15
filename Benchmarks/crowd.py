"""The benchmarks of crowds, compared with slowhttptest (if it is installed) and with a C program that opens the same
number of connections (`crowd.c`, if it is among the reference programs). Measures how fast members connect, how much
memory they use, how many members a crowd can have, and how much they slow down a client that is served at the same
time."""

import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import time
from pathlib import Path

SECOND = 1_000_000_000
# A process may open at most 20,000 descriptors on this machine, and it needs some of them for other purposes.
MEMBERS_OF_A_WORKER = 18_000
DRIP = """scenario "a client is served while others drip"
timeout 60s
case-timeout 170s
framing lf
process P = nginx -e stderr -p {folder} -c {folder}/nginx.conf
{crowd}crowd A = 1 clients -> 127.0.0.1:(int("${{P.port}}"))

P start
P expect listening
{start}A start {{ connect; repeat {{ send "GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"; expect until "\\r\\n\\r\\nok\\n" within 5s; wait 2ms }} }}
A expect connected 1
wait {seconds}s
{alive}A expect failed == 0
A expect latency p99 <= 10s of until
A stop
"""


class Worker:
    """A `tcpprobe-crowd` process, which is given the same commands as the engine would give it."""

    def __init__(self, program, role, members, instructions, first=0, step=1, count=None, sources=None):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        order = {"role": role, "first": first, "step": step, "count": members if count is None else count,
                 "program": {"terminator": "\r\n", "patience": 60 * SECOND, "instructions": instructions}}
        if sources:
            order["sources"] = sources
        self.say(order)

    def say(self, order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()

    def hear(self):
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer

    def snapshot(self):
        self.say({"do": "snapshot", "latencies": False})
        return self.hear()

    def resident(self):
        """Returns the resident memory of the process in bytes."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * resource.getpagesize()

    def processor(self):
        """Returns the processor time of the process in seconds."""
        words = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.stdin.close()
        self.process.wait()


class CrowdFigures:
    """A mixin that adds the benchmarks of crowds to `Bench`."""

    tool: Path
    work: Path

    def crowd(self):
        program = self.tool.with_name("tcpprobe-crowd")
        if not program.exists():
            return self.add("crowds", "tcpprobe-crowd", "not measured: it is not next to the tool")
        self.crowd_beside_proof(program)
        self.crowd_in_workers(program)
        self.crowd_beside_slowhttptest(program)
        self.crowd_beside_client()

    def fill(self, program, members, base=0x7f400001):
        """Connects members to sinks; returns the seconds until all were connected, and the workers of both sides."""
        count = math.ceil(members / MEMBERS_OF_A_WORKER)
        began = time.monotonic()
        sinks = [Worker(program, {"kind": "sink", "at": {"address": "127.0.0.1", "port": 0}, "place": 1, "places": 1}, 0, [])]
        port = sinks[0].hear()["port"]
        sinks += [Worker(program, {"kind": "sink", "at": {"address": "127.0.0.1", "port": port}, "place": 1, "places": 1}, 0, [])
                  for _ in range(count - 1)]
        for sink in sinks[1:]:
            sink.hear()
        if count > 1:  # The kernel distributes connections unevenly, so there is one spare sink.
            sinks.append(Worker(program, {"kind": "sink", "at": {"address": "127.0.0.1", "port": port}, "place": 1, "places": 1}, 0, []))
            sinks[-1].hear()
        sources = {"first": base, "addresses": max(1, min(4096, members // 16)), "ports": [10000, 32768]}
        target = {"kind": "clients", "at": {"address": "127.0.0.1", "port": port}}
        connect = [{"do": "connect", "within": 60 * SECOND}]
        clients = [Worker(program, target, 0, connect, number, count, members, sources) for number in range(count)]
        for client in clients:
            client.hear()
        alone = clients[0].resident()
        started = time.monotonic()
        at = time.monotonic_ns() + 2_000_000
        for client in clients:
            client.say({"do": "begin", "at": at})
        connected = 0
        while connected < members and time.monotonic() - started < 120:
            connected = 0
            for client in clients:
                snapshot = client.snapshot()
                connected += snapshot["connected"]
                if snapshot["failed"]:
                    raise RuntimeError(str(snapshot["failures"]))
            time.sleep(0.005)
        ended = time.monotonic()
        figures = {"connect": ended - started, "all": ended - began, "connected": connected,
                   "memory": (clients[0].resident() - alone) / (members / count),
                   "processor": sum(worker.processor() for worker in clients + sinks)}
        for worker in clients + sinks:
            worker.end()
        return figures

    def crowd_beside_proof(self, program):
        members = self.count(MEMBERS_OF_A_WORKER, 4000)
        reference = Path(__file__).resolve().parents[2] / "shared/bench/crowd.c"
        proof = None
        if reference.is_file():
            proof = self.work / "crowd-proof"
            subprocess.run(["cc", "-O2", "-w", "-o", proof, reference], check=True)
        own, other, memory = [], [], []
        for number in range(self.count(5, 2)):
            figures = self.fill(program, members, 0x7f400001 + number * 0x10000)
            own.append(figures["connect"])
            memory.append(figures["memory"])
            if proof:
                # The C program holds both ends of each connection, so it opens half as many connections.
                done = subprocess.run([proof, str(members // 2), "1", "20000"], check=True, stdout=subprocess.PIPE, text=True)
                other.append(members / float(re.search(r"= (\d+) conn/s", done.stdout)[1]))
        wall = statistics.median(own)
        if other:
            ratio = wall / statistics.median(other)
            self.add(f"crowd of {members:,}", "<= 1.5 x of the C program's time", f"{wall:.2f} s, compared with {statistics.median(other):.2f} s", f"{ratio:.2f}", ratio <= 1.5)
        else:
            self.add(f"crowd of {members:,}", "<= 1.5 x of the C program's time", f"{wall:.2f} s; the C program is not available")
        each = statistics.median(memory)
        self.add("memory of a member", "<= 400 B", f"{each:.0f} B", "", each <= 400)

    def crowd_in_workers(self, program):
        members = self.count(100_000, 30_000)
        figures = self.fill(program, members)
        passed = figures["connected"] == members and figures["all"] <= 15
        self.add(f"crowd of {members:,} in workers", "<= 15 s", f"{figures['connected']:,} in {figures['all']:.1f} s, {figures['processor']:.1f} s of CPU", "", passed)
        if not self.quick:
            figures = self.fill(program, 250_000)
            self.add("crowd of 250,000", "attempted", f"{figures['connected']:,} in {figures['all']:.1f} s, {figures['processor']:.1f} s of CPU")

    def nginx(self):
        folder = self.work / "nginx"
        folder.mkdir(exist_ok=True)
        (folder / "ok").mkdir(exist_ok=True)
        (folder / "ok" / "index.html").write_text("ok\n")
        (folder / "nginx.conf").write_text("""daemon off; master_process off; pid nginx.pid; error_log stderr crit; worker_rlimit_nofile 19500;
events { worker_connections 19000; }
http { access_log off; keepalive_requests 1000000; client_header_timeout 600s; server { listen 127.0.0.1:PORT backlog=4096; root ok; } }
""")
        return folder

    def crowd_beside_slowhttptest(self, program):
        command = shutil.which("slowhttptest")
        if not command or not shutil.which("nginx"):
            return self.add("slow clients, compared with slowhttptest", "as fast", "not measured: slowhttptest or nginx is not installed")
        members, folder = self.count(5000, 1000), self.nginx()
        configuration = folder / "slow.conf"
        configuration.write_text((folder / "nginx.conf").read_text().replace("PORT", "18099"))
        server = subprocess.Popen(["nginx", "-e", "stderr", "-p", folder, "-c", configuration], stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.5)
            request = "GET / HTTP/1.1\r\nHost: a\r\n"
            sources = {"first": 0x7f600001, "addresses": max(1, members // 16), "ports": [10000, 32768]}
            worker = Worker(program, {"kind": "clients", "at": {"address": "127.0.0.1", "port": 18099}}, members,
                            [{"do": "connect", "within": 60 * SECOND}, {"do": "send", "pieces": [request], "pause": 0},
                             {"do": "sendEndlessly", "bytes": "X-a: b\r\n", "every": 10 * SECOND}], sources=sources)
            worker.hear()
            began = time.monotonic()
            worker.say({"do": "begin", "at": time.monotonic_ns()})
            while worker.snapshot()["connected"] < members and time.monotonic() - began < 60:
                time.sleep(0.005)
            own = time.monotonic() - began
            processor = worker.processor()
            worker.end()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds = 20
            done = subprocess.run([command, "-c", str(members), "-H", "-i", "10", "-r", str(members), "-l", str(seconds), "-u", "http://127.0.0.1:18099/", "-x", "8", "-p", "3", "-g", "-o", folder / "slow"],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            other = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows = [[float(word) for word in line.split(",")[:5]] for line in (folder / "slow.csv").read_text().splitlines()[1:] if line.strip()]
            full = [row[0] for row in rows if row[4] + row[1] >= members or row[4] >= members]
            when = f"{full[0]:.0f} s" if full else f"never ({max(row[4] for row in rows):.0f} connected)"
            passed = not full or own <= full[0] + 1
            self.add(f"{members:,} slow clients of nginx", "not slower than slowhttptest", f"{own:.2f} s, {processor:.1f} s of CPU, compared with {when}, {other:.1f} s", "", passed)
        finally:
            server.terminate()
            server.wait()

    def crowd_beside_client(self):
        if not shutil.which("nginx"):
            return self.add("a client alongside a crowd", "p99 < 5 ms more", "not measured: nginx is not installed")
        folder, members, seconds = self.nginx(), self.count(15_000, 2000), self.count(10, 3)
        (folder / "run.sh").write_text('sed "s/PORT/$2/" "$1/nginx.conf" >"$1/run.conf"; exec nginx -e stderr -p "$1" -c "$1/run.conf"\n')
        found = []
        for crowded in (False, True):
            text = DRIP.format(
                folder=folder, seconds=seconds,
                crowd=f'crowd W = {members} clients -> 127.0.0.1:(int("${{P.port}}"))\n' if crowded else "",
                start=f'W start {{ connect; send "GET / HTTP/1.1\\r\\nHost: a\\r\\n"; send "X-a: b\\r\\n" every 1s }}\nW expect connected {members}\n' if crowded else "",
                alive=f"W expect alive {members}\n" if crowded else "")
            text = text.replace(f"nginx -e stderr -p {folder} -c {folder}/nginx.conf", f"sh {folder}/run.sh {folder} ${{P.port}}")
            script = self.work / "beside.scn"
            script.write_text(text)
            report = self.work / "beside.json"
            done = subprocess.run([self.tool, "run", "--keep", "none", "--json", report, script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode:
                self.failures.append(f"--- a client alongside a crowd:\n{done.stdout[-3000:]}")
                return self.add("a client alongside a crowd", "p99 < 5 ms more", f"exit status {done.returncode}", passed=False)
            found.append(self.percentile(report.read_text()))
        more = found[1] - found[0]
        self.add(f"a client alongside {members:,} slow ones", "p99 < 5 ms more than alone", f"{found[1]:.2f} ms, compared with {found[0]:.2f} ms alone", "", more < 5)

    @staticmethod
    def percentile(report):
        """Returns the 99th percentile of the waits of the crowd A, in milliseconds."""
        for line in report.splitlines():
            for crowd in json.loads(line).get("crowds", []):
                if crowd["name"] == "A":
                    return crowd["latencies"][-1]["p99"] / 1e6
        raise ValueError("the report does not contain the crowd A")
