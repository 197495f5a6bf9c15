"""The benchmarks of TLS: the cost of a case with TLS, bulk data compared with OpenSSL's own programs, and secrets in a
capture."""

import os
import shutil
import socket
import statistics
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BULK = 128 << 20
PLAIN = (HERE / "min.scn").read_text()
SECURED = PLAIN.replace("server  S\n", "server  S tls\n").replace("client  C -> S\n", "client  C -> S tls\n")
CROWD = """scenario "two hundred connections, each with its own secrets"
server S tls
client C -> S tls

for i in 1..200 {
  C connect
  S accept as A
  C send "line ${i}\\r\\n"
  A expect line "line ${i}"
  A send "GET /${i} HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n"
  C expect until "\\r\\n\\r\\n"
  A close
  C expect eof
  C close
}
wire no rst
"""


class TLSFigures:
    """A mixin that adds the benchmarks of TLS to `Bench`."""

    def write(self, name: str, text: str) -> Path:
        path = self.work / name
        path.write_text(text)
        return path

    def tls(self):
        self.tls_case()
        self.tls_rate()
        self.tls_bulk()
        self.tls_secrets()

    def tls_case(self):
        """Runs many cases at once, alternately plain and with TLS, so that the time to start the program and its
        library is not measured."""
        target = "<= 4 ms CPU more than a plain one"
        count = self.count(200, 40)
        folders = {}
        for name, text in (("plain", PLAIN), ("secured", SECURED)):
            folders[name] = self.work / f"cases-{name}"
            folders[name].mkdir()
            for number in range(count):
                (folders[name] / f"{number}.scn").write_text(text)
        cpus = {"plain": [], "secured": []}
        for _ in range(self.count(7, 2)):
            for name, folder in folders.items():
                execution = self.run_tool("-j", "1", "--quiet", folder)
                if execution.status != 0:
                    return self.failed("tls case", target, execution)
                cpus[name].append(execution.cpu / count)
        plain, secured = (statistics.median(cpus[name]) for name in ("plain", "secured"))
        self.add(
            "tls case", target, f"{1000 * secured:.2f} ms, plain {1000 * plain:.2f} ms", f"+{1000 * (secured - plain):.2f} ms",
            secured - plain <= 0.004,
        )

    def tls_rate(self):
        target = ">= 300 cases/s at -j 2"
        count = self.count(1000, 200)
        folder = self.work / "cases-rate"
        folder.mkdir()
        for number in range(count):
            (folder / f"{number}.scn").write_text(SECURED)
        rates = []
        for _ in range(self.count(3, 1)):
            execution = self.run_tool("-j", "2", "--quiet", folder)
            if execution.status != 0:
                return self.failed("tls rate", target, execution)
            rates.append(count / execution.wall)
        rate = statistics.median(rates)
        self.add("tls rate", target, f"{rate:.0f} cases/s", passed=rate >= 300)

    def tls_bulk(self):
        """Compares one process that contains both ends of a connection with a pair of processes, `openssl s_server` and
        `openssl s_client`. Each process runs on one core, and both connections use the same cipher suite."""
        target = ">= 0.6 of openssl"
        openssl = shutil.which("openssl")
        if openssl is None:
            return self.add("tls bulk", target, "not measured: openssl is not installed")
        core = min(os.sched_getaffinity(0))
        size = BULK if not self.quick else BULK // 4
        script = self.write(
            "bulk.scn",
            'scenario "bulk"\ntimeout 60s\nserver S tls\nclient C -> S tls\nC connect\nS accept\n'
            f'S start sending "x" * {size}\nfor i in 1..{size >> 20} {{ C expect 1048576 bytes as part }}\nS expect sent\nS close\nC expect eof\nC close\n',
        )
        ours, theirs = [], []
        for _ in range(self.count(5, 2)):
            execution = self.execute("taskset", "-c", core, self.tool, "run", "--keep", "none", script)
            if execution.status != 0:
                return self.failed("tls bulk", target, execution)
            ours.append(execution.wall)
            wall = self.openssl_bulk(openssl, core, size)
            if isinstance(wall, str):
                return self.add("tls bulk", target, f"not measured: {wall}")
            theirs.append(wall)
        own, other = statistics.median(ours), statistics.median(theirs)
        ratio = other / own
        self.add(
            "tls bulk", target, f"{size / own / 1e6:.0f} MB/s, openssl {size / other / 1e6:.0f} MB/s", f"{ratio:.2f}", ratio >= 0.6)

    def openssl_bulk(self, openssl: str, core: int, size: int) -> float | str:
        """Returns the seconds that a client takes to fetch a file, or the reason why the time can't be measured."""
        certificate, key, data = self.work / "bulk.pem", self.work / "bulk.key", self.work / "bulk.bin"
        if not data.exists():
            with data.open("wb") as file:
                for _ in range(size >> 20):
                    file.write(b"x" * (1 << 20))
            made = self.execute(
                openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out",
                certificate, "-subj", "/CN=localhost", "-days", "2")
            if made.status != 0:
                return "openssl req failed"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        pinned = ["taskset", "-c", str(core), openssl]
        server = subprocess.Popen(
            [*pinned, "s_server", "-accept", f"127.0.0.1:{port}", "-cert", certificate, "-key", key, "-WWW", "-quiet"],
            cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            began = time.perf_counter()
            client = subprocess.run(
                [*pinned, "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", "-ign_eof"], input=f"GET /{data.name} HTTP/1.0\r\n\r\n".encode(),
                stdout=(self.work / "fetched").open("wb"), stderr=subprocess.DEVNULL, timeout=120)
            wall = time.perf_counter() - began
        finally:
            server.kill()
            server.wait()
        fetched = (self.work / "fetched").stat().st_size
        return wall if fetched >= size else f"openssl s_client got {fetched} bytes, status {client.returncode}"

    def tls_secrets(self):
        """Checks that each of the 200 connections in a capture can be decrypted."""
        target = "200 of 200 decrypted"
        tshark = shutil.which("tshark")
        if tshark is None:
            return self.add("tls secrets", target, "not measured: tshark is not installed")
        script = self.write("crowd.scn", CROWD)
        out = self.work / "crowd-out"
        execution = self.execute(self.tool, "run", "--keep", "all", "--out", out, script)
        captures = list(out.rglob("*.pcapng"))
        if execution.status != 0 or len(captures) != 1:
            return self.failed("tls secrets", target, execution)
        found = self.execute(tshark, "-r", captures[0], "-Y", "http.request", "-d", "tcp.port==0-65535,tls", "-T", "fields", "-e", "http.request.uri")
        uris = {line for line in found.output.splitlines() if line.startswith("/")}
        self.add("tls secrets", target, f"{len(uris)} of 200", passed=len(uris) == 200)
