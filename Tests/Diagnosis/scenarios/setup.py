"""Faults of the handshake, and options that were not negotiated."""
import random
import socket
import time

from captures import parsed
from catalogue import scenario
from packets import ACK, RST, SYN, TO_CLIENT, TO_SERVER, reply
from scenarios.windows import REQUEST, exchange
from variant import DROP, NO_DELAY, Flag, Net, abort, drain, network, receive

TCP_MAXSEG, MSG_FASTOPEN = 2, 0x20000000
SYN_ACK = SYN | ACK


@scenario("refused", 0.5)
def refused(variant):
    """No program listens at the port, or a firewall on the path rejects the SYN with an RST."""
    by = variant.turn("by", "server", "server", "firewall")
    net = network(variant, rtt=variant.number_between("rtt", 0.001, 0.12),
                  points=("client", "middle") if by == "firewall" else ("client", "middle", "server"))
    for listener in net.listeners:
        listener.close()
    if by == "firewall":
        def reject(packet):
            answer = reply(packet, 0, packet.seq + 1, RST | ACK, ttl=variant.choose("ttl", 64, 255))
            answer.direction = TO_CLIENT
            net.link.record(answer, 1)
            net.link.arrive(answer, 2)
            return DROP

        net.rule("east", TO_SERVER, reject)
    net.client(net.connect)
    net.run(limit=0.6)
    return variant.label(side="server")


@scenario("no-answer", 4)
def no_answer(variant):
    """All SYNs are lost after the capture."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.05),
              client={"ipv4.tcp_syn_linear_timeouts": variant.choose("linear", 0, 4)})
    net.rule("server", TO_SERVER, lambda packet: DROP)
    net.client(net.connect)
    net.run(limit=variant.number_between("watched", 1.6, 4.2))
    return variant.label(side="path-to-server")


@scenario("syn-lost", 2.5)
def syn_lost(variant):
    """The first SYN is lost after the capture, or the first SYN-ACK is."""
    lost = variant.turn("lost", "SYN", "SYN-ACK")
    copies = variant.turn("copies", 1, 1, 1, 2)
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.06),
              points=("client", "middle", "server") if lost == "SYN" else ("middle", "server"))
    dropped = [0]

    def lose(packet):
        if packet.flags & SYN and dropped[0] < copies:
            dropped[0] += 1
            return DROP
        return None

    net.rule(*("server", TO_SERVER) if lost == "SYN" else ("client", TO_CLIENT), lose)
    exchange(net, variant.number_between("requests", 3, 10))
    net.run()
    return variant.label(side="path-to-server" if lost == "SYN" else "path-to-client")


@scenario("accept-queue-full", 4)
def accept_queue_full(variant):
    """The last of four clients completes its handshake when three connections wait to be accepted.

    With a backlog of 2, Linux queues three connections. The last two clients connect at the same time, so that the
    server has answered both SYNs before the first of their connections fills the queue.
    """
    recovers = variant.turn("recovers", False, True, False)
    # Data that is ignored until the server recovers would be a longer delay than the handshake's.
    sends = not recovers and variant.choose("client sends", True, True, False)
    # The capture sees the client's ACK before it sees the repeated SYN-ACK at each point.
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.05), backlog=2, points=("server", "server", "middle"))
    watched = 4.5 if recovers else variant.number_between("watched", 2.5, 4.0)
    begin = Flag()

    def serve():
        time.sleep(1.5 if recovers else 20)
        kept = []
        for _ in range(4):
            kept.append(net.listeners[0].accept()[0])
            receive(kept[-1], REQUEST)
            kept[-1].sendall(bytes(100))
        time.sleep(0.1)

    def ask(number):
        if number < 2:
            connection = net.connect()
        else:
            begin.wait()
            time.sleep(0.02)
            connection = net.connect()
        if number == 1:
            begin.set()
        if not sends:
            time.sleep(1.8 if recovers else 20)
        connection.sendall(bytes(REQUEST))
        receive(connection, 100)

    net.server(serve)
    for number in range(4):
        net.client(ask, number)
    repeated = repeated_answers(net.run(limit=watched))
    variant.require(repeated, "no SYN-ACK was repeated after the client's ACK")
    return variant.label(side="server", main=repeated[0],
                         also=["timeout-stall", "loss", "vanished", "tail-loss", "no-data", "slow-server", "syn-lost",
                               "spurious-retransmission"])


def repeated_answers(records):
    """Returns the keys of the flows in which a SYN-ACK followed the client's ACK."""
    acknowledged, found = set(), []
    for _, packet in parsed(records):
        if packet.flags & SYN_ACK == SYN_ACK and packet.flow_key in acknowledged and packet.flow_key not in found:
            found.append(packet.flow_key)
        elif packet.flags & SYN_ACK == ACK:
            acknowledged.add(packet.flow_key)
    return found


@scenario("slow-handshake", 1.5)
def slow_handshake(variant):
    """The server answers the SYN late, but everything else at once."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.006, 0.03))
    delay = variant.number_between("delay", 0.35, 0.85)
    net.rule("server", TO_CLIENT, lambda packet: [(delay, packet)] if packet.flags & SYN else None)
    exchange(net, variant.number_between("requests", 4, 12))
    net.run()
    return variant.label(side="server")


@scenario("wrong-syn-answer", 2.5)
def wrong_syn_answer(variant):
    """The SYN is answered for another connection: a real challenge ACK, or an answer with a foreign ACK number."""
    kind = variant.turn("kind", "challenge", "SYN-ACK", "RST", "ACK")
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.04), server={"ipv4.tcp_syncookies": 0})
    if kind == "challenge":
        half_open(net)
        net.run(limit=4)
        return variant.label(side="server", also=["syn-lost"])
    foreign = random.Random(variant.random.random())

    def answer(packet):
        number = (packet.seq + 1 + foreign.randint(100_000, 2_000_000_000)) & 0xFFFFFFFF
        flags = {"SYN-ACK": SYN_ACK, "RST": RST | ACK, "ACK": ACK}[kind]
        options = b"\x02\x04\x05\xb4" if kind == "SYN-ACK" else b""
        if packet.flags & SYN:
            net.link.send(reply(packet, foreign.getrandbits(32), number, flags, window=0 if kind == "RST" else 29200,
                                options=options), TO_CLIENT, "server")
        return DROP

    net.rule("server", TO_SERVER, answer)
    net.client(net.connect)
    net.run(limit=variant.number_between("watched", 1.3, 2.5))
    return variant.label(side="server", also=["no-answer", "refused", "syn-lost"])


def half_open(net):
    """Leaves a connection behind at the server, and connects again from the same port while it exists."""
    begin, lost = Flag(), Flag()
    port = net.variant.random.randint(20000, 60000)
    net.link.recording = False
    # The client's abort must not reach the server, which keeps the old connection.
    net.rule("client", TO_SERVER, lambda packet: DROP if packet.flags & RST and lost.is_set() else None)

    def serve():
        connections = []
        for _ in range(2):
            connections.append(net.listeners[0].accept()[0])
            receive(connections[-1], REQUEST)
            connections[-1].sendall(bytes(200))
        drain(connections[-1])

    def ask():
        connection = net.connect(source=port)
        connection.sendall(bytes(REQUEST))
        receive(connection, 200)
        lost.set()
        abort(connection)
        time.sleep(0.15)
        lost.set(0)
        begin.set()
        time.sleep(0.05)
        connection = net.connect(source=port)
        connection.sendall(bytes(REQUEST))
        receive(connection, 200)

    def record():
        net.link.recording = begin.is_set()
        if not net.link.recording:
            net.link.schedule(time.monotonic() + 0.005, record, ())

    net.link.at(0.01, record)
    net.server(serve)
    net.client(ask)


@scenario("small-mss", 1)
def small_mss(variant):
    """One side announces a small maximum segment size."""
    side = variant.turn("side", "client", "server")
    mss = variant.turn("mss", 260, 400, 500, 900, 320)
    family = 4 if mss != 900 else variant.choose("family", 4, 6)
    options = [(socket.IPPROTO_TCP, TCP_MAXSEG, mss)]
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.05), family=family,
              server_options=options if side == "server" else ())
    requests = variant.number_between("requests", 2, 6)

    def serve(connection):
        for _ in range(requests):
            receive(connection, REQUEST)
            connection.sendall(bytes(200))
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY, *(options if side == "client" else ()))
        for _ in range(requests):
            connection.sendall(bytes(REQUEST))
            receive(connection, 200)

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label(side=side)


@scenario("fast-open-rejected", 1)
def fast_open_rejected(variant):
    """The client sends data with its SYN, and the server, without TCP Fast Open, acknowledges the SYN only."""
    size = variant.number_between("bytes", 30, 900)
    answer = variant.number_between("answer", 100, 1400)
    # Bit 4: send data without a cookie.
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.06), client={"ipv4.tcp_fastopen": 5},
              server={"ipv4.tcp_fastopen": 0})

    def serve(connection):
        receive(connection, size)
        connection.sendall(bytes(answer))
        drain(connection)

    def ask():
        connection = net.socket()
        connection.sendto(bytes(size), MSG_FASTOPEN, (net.server_addresses[0], net.port))
        receive(connection, answer)

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label(side="server", also=["loss", "spurious-retransmission"])
