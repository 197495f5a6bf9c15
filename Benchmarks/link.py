"""The benchmarks of links: the round-trip time and the throughput of an idle link, a case in which one segment is
dropped, and the number of cases with a link that can be run per second. The link is compared with a C prototype over
TUN (`tunlink.c`, if it is among the reference programs)."""

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

# This program serves as either end of a connection. One end counts received bytes and answers single bytes. The other
# end measures, and prints the median round-trip time in microseconds and the throughput in MB/s.
PEER = r"""
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static int compare(const void *a, const void *b) { double x = *(double *)a, y = *(double *)b; return (x > y) - (x < y); }
int main(int count, char **words) {
    static char buffer[1 << 20];
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons(atoi(words[3]))};
    inet_pton(AF_INET, words[2], &place.sin_addr);
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (words[1][0] == 's') {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, 4);
        if (bind(fd, (void *)&place, sizeof place) || listen(fd, 9)) return 1;
        for (;;) {
            int peer = accept(fd, 0, 0);
            setsockopt(peer, IPPROTO_TCP, TCP_NODELAY, &one, 4);
            long total = 0, n;
            while ((n = read(peer, buffer, sizeof buffer)) > 0) { total += n; if (n == 1) write(peer, buffer, 1); }
            write(peer, &total, sizeof total);
            close(peer);
        }
    }
    for (int i = 0; connect(fd, (void *)&place, sizeof place); i++) { if (i > 500) return 1; usleep(20000); close(fd); fd = socket(AF_INET, SOCK_STREAM, 0); }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, 4);
    int trips = atoi(words[4]);
    long size = atol(words[5]) << 20;
    double *times = calloc(trips, sizeof *times);
    for (int i = 0; i < trips; i++) { double began = now(); write(fd, "x", 1); read(fd, buffer, 1); times[i] = now() - began; }
    qsort(times, trips, sizeof *times, compare);
    double began = now();
    for (long sent = 0; sent < size;) { long n = write(fd, buffer, 65536); if (n <= 0) return 1; sent += n; }
    shutdown(fd, SHUT_WR);
    long total; read(fd, &total, sizeof total);
    FILE *out = fopen(words[6], "w");
    fprintf(out, "%f %f\n", times[trips / 2] * 1e6, size / 1e6 / (now() - began));
    fclose(out);
    return 0;
}
"""
DROP = """scenario "the third segment is dropped"
server S
client C -> S
link   S <-> C
link S -> C drop data 3
C connect
S accept
S send "1" | "2" | "3" | "4"
C expect "1234"
wire S -> C retransmissions >= 1
"""
PLAIN = """scenario "a case with a link"
server S
client C -> S
link   S <-> C
link S -> C duplicate data 1
C connect
S accept
S send "1"
C expect "1"
"""


class LinkFigures:
    """A mixin that adds the benchmarks of links to `Bench`."""

    tool: Path
    work: Path

    def link(self):
        if os.geteuid() != 0:
            return self.add("link", "root", "not measured: this run is not root")
        self.link_beside_proof()
        self.link_cases()

    def link_beside_proof(self):
        source = self.work / "linkpeer.c"
        source.write_text(PEER)
        peer = self.work / "linkpeer"
        subprocess.run(["cc", "-O2", "-o", peer, source], check=True)
        reference = Path(__file__).resolve().parents[2] / "shared/bench/tunlink.c"
        proof = None
        if reference.is_file() and os.path.exists("/dev/net/tun"):
            proof = self.work / "tunlink"
            subprocess.run(["cc", "-O2", "-w", "-o", proof, reference], check=True)
        trips, size = self.count(5000, 1000), self.count(512, 64)
        script = self.work / "link-figures.scn"
        result = self.work / "link-result"
        script.write_text(f"""scenario "through an idle link"
timeout 60s
process P = {peer} server ${{P.address}} ${{P.port}}
process C = {peer} client ${{P.address}} ${{P.port}} {trips} {size} {result}
link P <-> C
P start
P expect listening
C start
C expect exit 0
P stop
""")
        own, other = [], []
        for _ in range(self.count(5, 2)):
            subprocess.run([self.tool, "run", "--keep", "none", script], check=True, stdout=subprocess.DEVNULL)
            own.append([float(word) for word in result.read_text().split()])
            if proof:
                client = f"{peer} client 10.77.0.1 9000 {trips} {size} {result}"
                subprocess.run([proof, "-s", f"exec {peer} server 10.77.0.1 9000", "-c", f"exec {client}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                other.append([float(word) for word in result.read_text().split()])
        trip, speed = (statistics.median(values) for values in zip(*own))
        if other:
            proof_trip, proof_speed = (statistics.median(values) for values in zip(*other))
            self.add("link round trip", "<= 2 x of the C proof's", f"{trip:.0f} us, compared with {proof_trip:.0f} us", f"{trip / proof_trip:.2f}", trip <= 2 * proof_trip)
            ratio = speed / proof_speed
            self.add("link throughput", ">= 0.7 of the C proof's", f"{speed:.0f} MB/s, compared with {proof_speed:.0f} MB/s", f"{ratio:.2f}", ratio >= 0.7)
        else:
            self.add("link round trip", "<= 2 x of the C proof's", f"{trip:.0f} us; the proof is not available")
            self.add("link throughput", ">= 0.7 of the C proof's", f"{speed:.0f} MB/s; the proof is not available")

    def link_cases(self):
        drop, plain = self.work / "link-drop.scn", self.work / "link-plain.scn"
        drop.write_text(DROP)
        plain.write_text(PLAIN)
        rounds = self.count(1000, 100)
        done = subprocess.run([self.tool, "run", "--keep", "none", "--repeat", str(rounds), drop], stdout=subprocess.PIPE, text=True)
        last = done.stdout.strip().splitlines()[-1]
        passed = int(last.split()[0])
        self.add("link drops the third segment", f"{rounds} of {rounds}", f"{passed} of {rounds}", "", passed == rounds)
        folder = self.work / "link-cases"
        folder.mkdir(exist_ok=True)
        for number in range(100):
            shutil.copy(plain, folder / f"case-{number}.scn")
        wall = self.measured_wall([self.tool, "run", "--keep", "none", folder])
        self.add("100 cases with a link", ">= 20 a second", f"{100 / wall:.0f} a second", "", 100 / wall >= 20)

    @staticmethod
    def measured_wall(command):
        began = time.monotonic()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - began
