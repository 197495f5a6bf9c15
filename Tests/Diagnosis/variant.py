"""One variant of a scenario: its seeded parameters, its two hosts and the programs on them, and its capture."""
import errno
import mmap
import os
import random
import signal
import socket
import struct
import sys
import time
import traceback

import captures
from link import DROP, Hop, Link
from namespaces import Namespace, Unavailable, be_punctual, end_with_parent
from packets import TO_CLIENT, TO_SERVER

TCP_FASTOPEN_CONNECT, TCP_NOTSENT_LOWAT = 30, 25
COMPANION_PORT = 7
# How the ICMP errors of a router reach a program.
UNREACHABLE = (errno.EACCES, errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ETIMEDOUT, errno.EPROTO, errno.ENOPROTOOPT)


class Unfit(Exception):
    """The capture doesn't show the fault, for example because too few packets were lost; the variant runs again."""


class Flag:
    """A flag that the processes of a variant share."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 1)

    def set(self, value=1):
        self.memory[0] = value

    def is_set(self):
        return self.memory[0] != 0

    def wait(self, limit=60.0):
        end = time.monotonic() + limit
        while not self.is_set() and time.monotonic() < end:
            time.sleep(0.001)


class Variant:
    """The seeded choices of one capture. Each named choice is one of the parameters in its label."""

    def __init__(self, identifier, number, seed):
        self.identifier, self.number = identifier, number
        self.random = random.Random(f"{seed}/{identifier}/{number}")
        self.parameters = {}
        self.records, self.file_options = [], {}

    def choose(self, name, *values):
        """Chooses a value at random."""
        return self.note(name, self.random.choice(values))

    def turn(self, name, *values):
        """Takes the values in turn, so that ten variants contain each of up to ten values."""
        return self.note(name, values[self.number % len(values)])

    def number_between(self, name, low, high):
        """Chooses a number: an integer if both limits are integers."""
        if isinstance(low, int) and isinstance(high, int):
            return self.note(name, self.random.randint(low, high))
        return self.note(name, round(self.random.uniform(low, high), 4))

    def note(self, name, value):
        self.parameters[name] = value
        return value

    def require(self, condition, reason):
        if not condition:
            raise Unfit(reason)

    def label(self, side=None, also=(), main=None, summary=False):
        """Returns the label of the capture.

        `main` is the key of the flow with the fault (default: the first flow that isn't the companion's); a label with
        `summary` is about several flows.
        """
        numbers = captures.flow_numbers(self.records)
        ports = {key: {port for _, port in key} for key in numbers}
        if main is None and not summary:
            main = next((key for key in numbers if COMPANION_PORT not in ports[key]), None)
        return {"id": self.identifier, "side": side, "parameters": self.parameters, "flow": numbers.get(main),
                "also": list(also), "healthy": sorted(numbers[key] for key in numbers if COMPANION_PORT in ports[key])}


class Net:
    """Two hosts and the path between them, for one run."""

    def __init__(self, variant, rtt=0.02, point=None, points=("client", "middle", "server"), client=None, server=None,
                 servers=1, mtu=1500, offload=False, family=None, port=None, congestion="cubic", backlog=128,
                 server_options=(), alone=False):
        """`client` and `server` are the parameters (sysctls) of the hosts; `points` are the points to choose from.

        Unless the main connections must be `alone`, some variants have a companion.
        """
        self.variant = variant
        self.rtt = rtt
        self.point = point or variant.choose("point", *points)
        self.family = family or variant.choose("family", 4, 4, 4, 6)
        self.congestion, self.offload = congestion, offload
        one, two = variant.random.randint(1, 254), variant.random.randint(1, 254)
        self.client_address, self.server_addresses = self.addresses(one, two, servers)
        self.port = port or variant.choose("port", 80, 443, 5432, 6379, 8080, 9000)
        defaults = {"ipv4.tcp_no_metrics_save": 1,
                    "ipv4.tcp_timestamps": int(variant.choose("timestamps", True, True, True, True, False))}
        self.client_host = Namespace([self.client_address], mtu, {**defaults, **(client or {})}, offload)
        self.server_host = Namespace(self.server_addresses, mtu, {**defaults, **(server or {})}, offload)
        self.backlog, self.server_options = backlog, server_options
        self.listeners = [self.listen(address, self.port) for address in self.server_addresses]
        share = variant.random.uniform(0.2, 0.8)
        self.hops = {(direction, half): Hop(rtt / 2 * (share if half == "west" else 1 - share))
                     for direction in (TO_SERVER, TO_CLIENT) for half in ("west", "east")}
        self.link = Link(self.client_host.tun, self.server_host.tun, self.hops, self.point, offload)
        self.link.routers = {half: variant.random.randint(1, 8) for half in ("west", "east")}
        self.children, self.main_children = [], set()
        # The path's packets to the main port; the companion's are never affected.
        self.ports = {self.port}
        self.has_companion = alone
        if not alone and variant.choose("companion", True, False, False, False):
            self.companion()

    def addresses(self, one, two, servers):
        if self.family == 4:
            return f"10.{one}.{two}.5", [f"10.{one}.{two}.{9 + index}" for index in range(servers)]
        return f"fd00:{one:x}:{two:x}::5", [f"fd00:{one:x}:{two:x}::{9 + index:x}" for index in range(servers)]

    @property
    def inet(self):
        return socket.AF_INET if self.family == 4 else socket.AF_INET6

    def listen(self, address, port):
        """Listens in the namespace that the process is in, which is the server's."""
        listener = self.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for level, option, value in self.server_options if port == self.port else ():
            listener.setsockopt(level, option, value)
        listener.bind((address, port))
        listener.listen(self.backlog)
        return listener

    def socket(self):
        one = socket.socket(self.inet, socket.SOCK_STREAM)
        try:
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self.congestion.encode())
        except OSError:
            pass
        return one

    def connect(self, *options, server=0, port=None, source=None, limit=None):
        """Connects to a server; call it in a client's program. Options are (level, option, value)."""
        one = self.socket()
        for level, option, value in options:
            one.setsockopt(level, option, value)
        if source:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((self.client_address, source))
        one.settimeout(limit)
        one.connect((self.server_addresses[server], port or self.port))
        one.settimeout(None)
        return one

    # Programs

    def start(self, host, program, is_main=True):
        """Starts a program, which is a function, on a host."""
        process = os.fork()
        if process == 0:
            status = 1
            try:
                end_with_parent()
                signal.signal(signal.SIGPIPE, signal.SIG_IGN)
                host.enter()
                if not is_main:
                    # A scenario that closes a listener must be the only one that has it.
                    for listener in self.listeners:
                        listener.close()
                program()
                status = 0
            except (ConnectionError, socket.timeout, BrokenPipeError, EOFError):
                # Most faults end a program in this way.
                status = 0
            except OSError as error:
                status = 0 if error.errno in UNREACHABLE else 1
                if status:
                    traceback.print_exc()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                os._exit(status)
        self.children.append(process)
        if is_main:
            self.main_children.add(process)

    def server(self, program, *arguments):
        self.start(self.server_host, lambda: program(*arguments))

    def client(self, program, *arguments):
        self.start(self.client_host, lambda: program(*arguments))

    def serve(self, handler, connections=1):
        """Starts a server that accepts connections one after another and passes each of them to the handler."""
        def program():
            kept = []
            for _ in range(connections):
                connection = self.listeners[0].accept()[0]
                kept.append(connection)
                handler(connection)
        self.server(program)

    def companion(self):
        """Adds a healthy connection that lasts to the end of the capture, so that the main one's silence is visible."""
        if self.has_companion:
            return
        self.has_companion = True
        self.variant.note("companion", True)
        self.server_host.enter()
        listener = self.listen(self.server_addresses[0], COMPANION_PORT)
        self.link.background_ports.add(COMPANION_PORT)
        delay = self.variant.random.uniform(0, 0.1)
        pause = self.variant.random.uniform(0.08, 0.15)

        def echo():
            connection = listener.accept()[0]
            connection.setsockopt(*NO_DELAY)
            while data := connection.recv(4096):
                connection.sendall(data * 2)

        def ping():
            time.sleep(delay)
            connection = self.connect(port=COMPANION_PORT)
            connection.setsockopt(*NO_DELAY)
            connection.setblocking(False)
            while True:
                connection.send(b"ping\n" * 4)
                time.sleep(pause)
                # Without waiting for an answer, the packets are frequent even if the round trip is long.
                try:
                    connection.recv(4096)
                except BlockingIOError:
                    pass

        self.start(self.server_host, echo, is_main=False)
        self.start(self.client_host, ping, is_main=False)

    # Rules

    def is_main(self, packet):
        return packet.source_port in self.ports or packet.target_port in self.ports

    def rule(self, place, direction, function):
        """Adds a rule for the packets of the main port in one direction (None: both)."""
        def checked(packet):
            if (direction is None or packet.direction == direction) and self.is_main(packet):
                return function(packet)
            return None
        self.link.rule(place, checked)

    # The run

    def run(self, limit=10.0, settle=None):
        """Runs the programs for `limit` seconds, or until all have ended, and takes the packets that were captured."""
        try:
            self.link.run(limit, self.have_ended, settle if settle is not None else max(0.06, 2.5 * self.rtt))
        finally:
            for process in self.children:
                os.kill(process, signal.SIGKILL)
            for process in self.children:
                os.waitpid(process, 0)
        self.variant.records += self.link.records
        for file in (self.client_host.file, self.client_host.tun, self.server_host.file, self.server_host.tun):
            os.close(file)
        for listener in self.listeners:
            listener.close()
        return self.link.records

    def have_ended(self):
        for process in list(self.main_children):
            # The process stays a zombie, so that its identifier isn't used again before `run` has ended.
            if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                self.main_children.remove(process)
        return not self.main_children


def network(variant, **options):
    """Returns a `Net`, or `Loopback` for every tenth variant; the options are those of `Net`."""
    if variant.number % 10 != 4:
        return Net(variant, **options)
    from loopback import Loopback
    return Loopback(variant, **{name: value for name, value in options.items()
                                if name in ("family", "port", "congestion", "backlog", "server_options")})


# Programs' parts


def receive(connection, size):
    """Receives exactly `size` bytes."""
    left = size
    while left > 0:
        data = connection.recv(min(left, 262144))
        if not data:
            raise EOFError
        left -= len(data)


def drain(connection):
    """Receives until the peer's FIN."""
    while connection.recv(262144):
        pass


def abort(connection):
    """Closes with an RST."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def receive_buffer(size):
    return (socket.SOL_SOCKET, socket.SO_RCVBUF, size)


def run_variant(identifier, function, number, seed, folder):
    """Runs a variant in this process, writes its capture, and returns its label; raises `Unavailable` and `Unfit`."""
    be_punctual()
    for attempt in range(3):
        variant = Variant(identifier, number, f"{seed}" if attempt == 0 else f"{seed}+{attempt}")
        try:
            label = function(variant)
            break
        except Unfit:
            if attempt == 2:
                raise
    name = f"{identifier}-{number:02d}.pcap"
    link_type = variant.random.choice((captures.ETHERNET, captures.ETHERNET, captures.RAW, captures.LINUX_SLL))
    options = {"link_type": link_type, "form": variant.random.choice(("pcap", "pcap", "pcap-us", "pcapng")),
               **variant.file_options}
    if not variant.records:
        raise Unfit("no packet was captured")
    captures.write(os.path.join(folder, name), variant.records, **options)
    return {"file": name, **label}


__all__ = ["COMPANION_PORT", "DROP", "Flag", "NO_DELAY", "Net", "TO_CLIENT", "TO_SERVER", "Unavailable", "Unfit",
           "Variant", "abort", "drain", "network", "receive", "receive_buffer", "run_variant"]
