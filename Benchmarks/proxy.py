"""The benchmarks of `tcpprobe proxy`, compared with socat: throughput, the latency added to a round trip, and the number of connections."""

import contextlib
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

CHUNK = 1 << 20
PEER = r"""
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", 0))
listener.listen(4096)
print(listener.getsockname()[1], flush=True)
buffer, kept = bytearray(1 << 20), []
while True:
    peer, _ = listener.accept()
    if sys.argv[1] == "keep":
        peer.sendall(b"x")
        kept.append(peer)
        continue
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if sys.argv[1] == "echo":
        while data := peer.recv(4096):
            peer.sendall(data)
    else:
        count = 0
        while length := peer.recv_into(buffer):
            count += length
        peer.sendall(b"%d" % count)
    peer.close()
"""


class ProxyFigures:
    """A mixin that adds the benchmarks of `tcpprobe proxy` to `Bench`."""

    tool: Path

    def proxy(self):
        rounds = self.count(5, 2)
        throughput, trip = {}, {}
        with self.peer("count") as sink, self.peer("echo") as echo:
            for _ in range(rounds):
                for way in ("direct", "socat", "tcpprobe"):
                    if way == "socat" and not shutil.which("socat"):
                        continue
                    with self.way(way, sink) as port:
                        throughput.setdefault(way, []).append(self.transfer(port, self.count(1 << 30, 1 << 28)))
                    with self.way(way, echo) as port:
                        trip.setdefault(way, []).append(self.round_trip(port, self.count(20_000, 5_000)))
        own = statistics.median(throughput["tcpprobe"])
        if "socat" in throughput:
            ratio = own / statistics.median(throughput["socat"])
            self.add("proxy throughput", ">= 0.8 of socat's", f"{own / 1e6:.0f} MB/s", f"{ratio:.2f}", ratio >= 0.8)
        else:
            self.add("proxy throughput", ">= 0.8 of socat's", f"{own / 1e6:.0f} MB/s")
        added = statistics.median(trip["tcpprobe"]) - statistics.median(trip["direct"])
        others = f"; socat adds {1e6 * (statistics.median(trip['socat']) - statistics.median(trip['direct'])):.1f} us" if "socat" in trip else ""
        self.add("proxy round trip", "<= 20 us added at p50", f"{1e6 * added:.1f} us{others}", f"{added / 20e-6:.2f}", added <= 20e-6)
        self.many_connections()

    def many_connections(self):
        """Opens all connections at the same time, and sends one byte through each connection."""
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit[1], limit[1]))
        wanted, target = self.count(10_000, 1_000), "10000 connections"
        began, clients = time.monotonic(), []
        with self.peer("keep") as server, self.way("tcpprobe", server) as port:
            try:
                for _ in range(wanted):
                    client = socket.create_connection(("127.0.0.1", port), timeout=10)
                    client.settimeout(3)
                    clients.append(client)
                alive = 0
                for client in clients:
                    if not self.hears(client):
                        break
                    alive += 1
            finally:
                for client in clients:
                    client.close()
        seconds = time.monotonic() - began
        self.add("proxy connections", target, f"{alive} of {wanted} in {seconds:.1f} s", f"{alive / wanted:.2f}", alive == wanted)

    @staticmethod
    def hears(client: socket.socket) -> bool:
        """Returns whether the server's byte has arrived: a connection that only waits in a queue has not reached the server."""
        try:
            return client.recv(1) == b"x"
        except OSError:
            return False

    @contextlib.contextmanager
    def peer(self, what: str):
        process = subprocess.Popen([sys.executable, "-c", PEER, what], stdout=subprocess.PIPE, text=True,
                                   preexec_fn=lambda: resource.setrlimit(
                                       resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2))
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()
            process.wait()

    @contextlib.contextmanager
    def way(self, name: str, target: int):
        if name == "direct":
            yield target
            return
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        command = [str(self.tool), "proxy", str(port), f"127.0.0.1:{target}", "--quiet"]
        if name == "socat":
            command = ["socat", f"TCP-LISTEN:{port},fork,reuseaddr,bind=127.0.0.1,nodelay", f"TCP:127.0.0.1:{target},nodelay"]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            for _ in range(500):
                with open("/proc/net/tcp", encoding="ascii") as table:
                    if any(f"0100007F:{port:04X} " in line and " 0A " in line for line in table):
                        break
                time.sleep(0.02)
            yield port
        finally:
            process.terminate()
            process.wait()

    @staticmethod
    def connected(port: int) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return client

    def transfer(self, port: int, total: int) -> float:
        """Returns the throughput in bytes per second, measured until the other end has counted all bytes."""
        with self.connected(port) as client:
            chunk, began = bytes(CHUNK), time.perf_counter()
            for _ in range(total // CHUNK):
                client.sendall(chunk)
            client.shutdown(socket.SHUT_WR)
            if int(client.recv(100)) != total:
                raise RuntimeError(f"{total} bytes were sent, but a different number was received")
            return total / (time.perf_counter() - began)

    def round_trip(self, port: int, count: int) -> float:
        """Returns the median round-trip time in seconds."""
        with self.connected(port) as client:
            times = []
            for _ in range(count):
                began = time.perf_counter()
                client.sendall(b"x" * 32)
                client.recv(64)
                times.append(time.perf_counter() - began)
            return statistics.median(times)
