"""Flows without a fault on difficult paths, or close to a threshold: nothing above `note` may be found in them."""
import socket
import time

from scenarios.healthy import answer, healthy
from variant import NO_DELAY, TO_CLIENT, Net, drain, network, receive, receive_buffer

MSG_FASTOPEN = 0x20000000


@healthy("idle", 5)
def idle(variant):
    """A connection that is kept alive between two requests."""
    pause = variant.number_between("pause", 1.2, 3.2)
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.05))
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1),
               (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 1)]

    def ask():
        connection = net.connect(*(options if variant.choose("keep-alive", True, True, False) else []))
        for number in range(2):
            connection.sendall(bytes(80))
            receive(connection, 1200)
            if number == 0:
                time.sleep(pause)

    net.serve(lambda connection: answer(connection, 2, 80, 1200))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("high-rtt", 5)
def high_rtt(variant):
    """A path with a long round trip, as over a satellite."""
    size = variant.number_between("response", 2_000, 250_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.12, 0.45))

    def ask():
        connection = net.connect()
        for _ in range(2):
            connection.sendall(bytes(100))
            receive(connection, size)

    net.serve(lambda connection: answer(connection, 2, 100, size))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("jitter", 4)
def jitter(variant):
    """A path whose delay varies as in a mobile network, without losses and without reordering."""
    rtt = variant.number_between("rtt", 0.035, 0.06)
    spread = variant.number_between("jitter", 0.01, 0.03)
    size = variant.number_between("response", 20_000, 150_000)
    net = Net(variant, rtt=rtt)
    for direction_and_half, hop in net.hops.items():
        if direction_and_half[1] == "west":
            hop.jitter = lambda: variant.random.uniform(0, spread)

    def ask():
        connection = net.connect()
        for _ in range(5):
            connection.sendall(bytes(120))
            receive(connection, size)

    net.serve(lambda connection: answer(connection, 5, 120, size))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("mobile", 4)
def mobile(variant):
    """A mobile network: the delay varies widely, and now and then nothing is delivered for 0.1 s."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.05, 0.08))
    spread = variant.number_between("jitter", 0.01, 0.03)
    size = variant.number_between("response", 20_000, 100_000)
    interval = variant.number_between("interval", 0.6, 1.2)

    def delay():
        phase = (time.monotonic() - net.link.began) % interval
        return variant.random.uniform(0, spread) + max(0.0, 0.1 - phase)

    for (_, half), hop in net.hops.items():
        if half == "west":
            hop.jitter = delay

    def ask():
        connection = net.connect()
        for _ in range(6):
            connection.sendall(bytes(200))
            receive(connection, size)
            time.sleep(0.1)

    net.serve(lambda connection: answer(connection, 6, 200, size))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("rare-loss", 3)
def rare_loss(variant):
    """A download in which up to four segments are lost and repaired at once."""
    size = variant.number_between("bytes", 600_000, 1_500_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.008, 0.04))
    total = size // 1448
    lost = set(variant.random.sample(range(40, total - 60), variant.number_between("lost", 1, 4)))
    seen = [0]

    def lose(packet):
        if packet.payload_length < 1000:
            return None
        seen[0] += 1
        return () if seen[0] in lost else None

    net.rule(variant.choose("place", "west", "east"), TO_CLIENT, lose)

    def fetch():
        connection = net.connect()
        connection.sendall(bytes(40))
        drain(connection)

    def serve(connection):
        receive(connection, 40)
        connection.sendall(bytes(size))

    net.serve(serve)
    net.client(fetch)
    net.run()
    return variant.label()


@healthy("rare-reordering", 2)
def rare_reordering(variant):
    """A download in which a few segments, fewer than one in a hundred, are overtaken by their neighbours."""
    size = variant.number_between("bytes", 900_000, 1_500_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.04))
    late = set(variant.random.sample(range(30, size // 1448 - 60), variant.number_between("late", 1, 3)))
    seen = [0]

    def delay(packet):
        if packet.payload_length < 1000:
            return None
        seen[0] += 1
        return [(0.0002, packet)] if seen[0] in late else None

    net.rule(variant.choose("place", "west", "east"), TO_CLIENT, delay)

    def serve(connection):
        receive(connection, 40)
        connection.sendall(bytes(size))

    def fetch():
        connection = net.connect()
        connection.sendall(bytes(40))
        drain(connection)

    net.serve(serve)
    net.client(fetch)
    net.run()
    return variant.label()


@healthy("long-poll", 3)
def long_poll(variant):
    """A request that the server answers when there is news, within three seconds."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.06))
    wait = variant.number_between("wait", 0.6, 2.6)

    def serve(connection):
        for number in range(3):
            receive(connection, 120)
            time.sleep(wait if number == 1 else 0.01)
            connection.sendall(bytes(350))
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(3):
            connection.sendall(bytes(120))
            receive(connection, 350)

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("brief-zero-window", 2)
def brief_zero_window(variant):
    """A receiver that is busy for a moment, so that its buffer is full for less than half a second."""
    options = [receive_buffer(variant.choose("buffer", 32_768, 65_536))]
    pause = variant.number_between("pause", 0.1, 0.38)
    size = variant.number_between("bytes", 500_000, 1_500_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.002, 0.0045))

    def serve(connection):
        receive(connection, 40)
        connection.sendall(bytes(size))

    def fetch():
        connection = net.connect(*options)
        connection.sendall(bytes(40))
        receive(connection, size // 2)
        time.sleep(pause)
        drain(connection)

    net.serve(serve)
    net.client(fetch)
    net.run()
    return variant.label()


@healthy("fast-open", 1)
def fast_open(variant):
    """Two connections with TCP Fast Open: the first one fetches the cookie, and the second one uses it."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.06), client={"ipv4.tcp_fastopen": 1},
              server={"ipv4.tcp_fastopen": 2},
              server_options=[(socket.IPPROTO_TCP, socket.TCP_FASTOPEN, 16)])
    size = variant.number_between("bytes", 30, 900)

    def ask():
        for _ in range(2):
            connection = net.socket()
            connection.sendto(bytes(size), MSG_FASTOPEN, (net.server_addresses[0], net.port))
            receive(connection, 700)
            connection.close()
            time.sleep(0.1)

    def serve(connection):
        receive(connection, size)
        connection.sendall(bytes(700))
        drain(connection)
        connection.close()

    net.serve(serve, connections=2)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("pauses", 4)
def pauses(variant):
    """A client that pauses between its requests, for less than half a second."""
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.06))
    pause = variant.number_between("pause", 0.25, 0.42)
    requests = variant.number_between("requests", 4, 8)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(requests):
            connection.sendall(bytes(110))
            receive(connection, 2000)
            time.sleep(pause)

    net.serve(lambda connection: answer(connection, requests, 110, 2000, 0.01))
    net.client(ask)
    net.run()
    return variant.label()
