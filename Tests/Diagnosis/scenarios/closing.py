"""Connections that end badly, or don't end."""
import socket
import time

from catalogue import scenario
from captures import longest_silence, shifted
from packets import ACK, RST, TO_CLIENT, TO_SERVER, reply
from scenarios.losses import AFTER_SENDER, seen_before
from scenarios.windows import DIRECTIONS, REQUEST, receiver_of
from variant import DROP, NO_DELAY, Flag, Net, abort, drain, network, receive

OTHER = {"client": "server", "server": "client"}


def converse(net, requests, size=300, client_end=None, server_end=None):
    """Exchanges requests and answers; then the sides call `client_end` and `server_end` with their connections."""
    def serve(connection):
        for _ in range(requests):
            receive(connection, REQUEST)
            connection.sendall(bytes(size))
        (server_end or drain)(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(requests):
            connection.sendall(bytes(REQUEST))
            receive(connection, size)
        if client_end:
            client_end(connection)

    net.serve(serve)
    net.client(ask)


def wait_forever(connection):
    time.sleep(600)


def reset(variant, side):
    """Ends a connection with an RST of one side, for a reason that the variants take in turn."""
    reason = variant.turn("reason", "abort", "data-after-close", "unread-data", "idle-timeout", "in-flight", "abort")
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.05),
                  client={"ipv4.tcp_timestamps": 0 if reason == "idle-timeout" else 1})
    requests = variant.number_between("requests", 2, 6)

    def end(connection):
        if reason in ("abort", "idle-timeout"):
            time.sleep(0.45 if reason == "idle-timeout" else 0.05)
            abort(connection)
        elif reason == "unread-data":
            time.sleep(0.2)
            connection.close()
        elif reason == "data-after-close":
            connection.close()
        else:
            receive(connection, 100_000)
            abort(connection)

    def other_end(connection):
        if reason == "data-after-close":
            # The FIN has been acknowledged, and the program goes on as if nothing had happened.
            time.sleep(net.rtt + 0.1)
            for _ in range(3):
                connection.sendall(bytes(500))
                time.sleep(net.rtt + 0.05)
        elif reason == "unread-data":
            connection.sendall(bytes(3000))
            drain(connection)
        elif reason == "in-flight":
            connection.sendall(bytes(2_000_000))
        else:
            drain(connection)

    ends = {f"{side}_end": end, f"{OTHER[side]}_end": other_end}
    converse(net, requests, **ends)
    net.run(limit=4, settle=net.rtt * 2 + 0.2)
    if reason == "idle-timeout":
        silence = variant.choose("silence", 30, 60, 300, 350, 3600)
        last = longest_silence(variant.records)
        gap = (variant.records[last][0] - variant.records[last - 1][0]) / 1e9
        # Without timestamps, a longer silence differs only in the times of the packets that follow it.
        variant.records = shifted(variant.records, lambda index, _: index >= last, silence - gap)
    variant.require(any(raw[33 if raw[0] >> 4 == 4 else 53] & RST for _, raw in variant.records), "no RST")
    return variant.label(side=side, also=["data-lost-at-close", "half-closed"])


@scenario("reset-by-client", 1.5)
def reset_by_client(variant):
    """The client's stack sends an RST."""
    return reset(variant, "client")


@scenario("reset-by-server", 1.5)
def reset_by_server(variant):
    """The server's stack sends an RST."""
    return reset(variant, "server")


@scenario("injected-reset", 2)
def injected_reset(variant):
    """A middlebox sends an RST with the address of one end, and that end continues to send."""
    forged = variant.turn("forged", "server", "client")
    victim = OTHER[forged]
    point = variant.choose("at", victim, "middle")
    net = Net(variant, rtt=variant.number_between("rtt", 0.006, 0.05), point=point,
              family=variant.choose("family", 4, 4, 6))
    after = variant.number_between("after segments", 6, 14)
    # With the same TTL, the IP ID and the sender that goes on show that the RST is forged.
    ttl = variant.choose("ttl", 250, 128, 32, 41, 113, *([0] if net.family == 4 else []))
    both = ttl != 0 and variant.choose("both directions", True, False)
    count = [0]

    def inject(packet):
        """Follows a data segment of the forged end with an RST that continues it."""
        if packet.payload_length == 0 or packet.flags & RST:
            return None
        count[0] += 1
        if count[0] == after:
            source = reply(packet, 0, 0, RST)
            source.raw[:] = packet.raw[:packet.payload_offset]
            forgery = reply(reply(packet, 0, 0, ACK), packet.end, packet.ack, RST | ACK, window=0,
                            ttl=ttl or packet.ttl, identification=variant.random.randint(1, 65535))
            # The RST leaves the middle of the path shortly after the segment has passed.
            net.link.schedule(time.monotonic() + 0.0008, send, (forgery, packet.direction))
            if both:
                other = reply(packet, packet.ack, packet.seq, RST, window=0, ttl=ttl, identification=0x1234)
                net.link.schedule(time.monotonic() + 0.001, send,
                                  (other, TO_CLIENT if packet.direction == TO_SERVER else TO_SERVER))
        return None

    def send(forgery, direction):
        forgery.direction = direction
        net.link.record(forgery, 1)
        net.link.arrive(forgery, 2)

    net.rule("east" if forged == "client" else "west", DIRECTIONS[forged], inject)
    pause = variant.number_between("pause", 0.01, 0.03)

    def talk(connection):
        connection.setsockopt(*NO_DELAY)
        for _ in range(after + 20):
            connection.sendall(bytes(variant.random.randint(50, 600)))
            time.sleep(pause)

    def serve(connection):
        receive(connection, REQUEST)
        (talk if forged == "server" else drain)(connection)

    def run_client():
        connection = net.connect(NO_DELAY)
        connection.sendall(bytes(REQUEST))
        (talk if forged == "client" else drain)(connection)

    net.serve(serve)
    net.client(run_client)
    net.run(limit=3, settle=0.3)
    variant.require(count[0] > after or both and count[0] == after, "the sender did not go on after the RST")
    return variant.label(side="middlebox", also=["reset-by-client", "reset-by-server", "data-lost-at-close"])


@scenario("data-lost-at-close", 3)
def data_lost(variant):
    """One side sends its last data and closes, and the capture ends before anything of it is acknowledged."""
    sender = variant.turn("sender", "server", "client")
    # With a long round trip, only one copy is sent again before the capture ends.
    place = AFTER_SENDER[sender][2]
    net = Net(variant, rtt=variant.number_between("rtt", 0.28, 0.4), points=seen_before(sender, place))
    lost, closed = Flag(), Flag()
    net.rule(place, DIRECTIONS[sender], lambda packet: DROP if lost.is_set() else None)
    size = variant.number_between("bytes", 60, 900)
    watched = variant.number_between("watched", 1.12, 1.25)
    net.companion()

    def end(connection):
        time.sleep(net.rtt * 1.6)
        lost.set()
        connection.sendall(bytes(size))
        connection.close()
        closed.set()
        time.sleep(20)

    def stop():
        # The last packets need half a round trip to the capture.
        if closed.is_set() and stopping[0] is None:
            stopping[0] = time.monotonic() + watched + net.rtt / 2
        if stopping[0] is not None and time.monotonic() > stopping[0]:
            net.link.recording = False
            net.main_children.clear()
            net.link.queue.clear()
            net.link.last_packet = 0.0
            return
        net.link.schedule(time.monotonic() + 0.005, stop, ())

    stopping = [None]
    net.link.at(0.01, stop)
    converse(net, 1, **{f"{sender}_end": end, f"{OTHER[sender]}_end": wait_forever})
    net.run(limit=6)
    return variant.label(side=receiver_of(sender), also=["timeout-stall", "tail-loss", "loss", "vanished"])


@scenario("half-closed", lambda number: 62 if number == 9 else 4)
def half_closed(variant):
    """One side has sent its FIN; the other side acknowledges it but doesn't close."""
    side = variant.turn("open side", "server", "client")
    long = variant.number == 9
    ends = "stays open" if long else variant.turn("ends", "stays open", "reset", "closes late")
    wait = 61.0 if long else variant.number_between("wait", 2.25, 3.5)
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.05))
    if ends == "stays open":
        net.companion()

    def close(connection):
        connection.shutdown(socket.SHUT_WR)
        time.sleep(600)

    def keep_open(connection):
        if ends == "stays open":
            time.sleep(600)
        while connection.recv(1000):
            pass
        time.sleep(wait)
        if ends == "reset":
            abort(connection)

    converse(net, variant.number_between("requests", 1, 5), **{f"{side}_end": keep_open, f"{OTHER[side]}_end": close})
    net.run(limit=wait + (0.3 if ends == "stays open" else 0.7))
    return variant.label(side=side, also=["reset-by-client", "reset-by-server", "slow-server", "keep-alive-failed"])


@scenario("vanished", 4)
def vanished(variant):
    """The path to one side breaks in both directions; the other side repeats its data."""
    sender = variant.turn("sender", "client", "server")
    place = AFTER_SENDER[sender][2]
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.06), points=seen_before(sender, place)[:2])
    broken = Flag()
    for direction in (TO_SERVER, TO_CLIENT):
        net.rule(place, direction, lambda packet: DROP if broken.is_set() else None)
    size = variant.number_between("bytes", 40, 400)
    is_bulk = variant.turn("during", "a request", "a request", "a transfer") == "a transfer"

    def send(connection):
        if is_bulk:
            # The peer reads nothing, so the buffers must have room for all of it.
            connection.sendall(bytes(40_000))
        time.sleep(0.2)
        broken.set()
        connection.sendall(bytes(20_000 if is_bulk else size))
        time.sleep(600)

    converse(net, variant.number_between("requests", 2, 5),
             **{f"{sender}_end": send, f"{OTHER[sender]}_end": wait_forever})
    net.run(limit=variant.number_between("watched", 2.2, 4.0))
    return variant.label(side=OTHER[sender], also=["timeout-stall", "loss", "tail-loss", "mtu-black-hole"])


@scenario("keep-alive-failed", 6)
def keep_alive_failed(variant):
    """The peer has vanished while nothing was sent: its absence shows in unanswered keep-alives only."""
    sender = variant.turn("sender", "client", "server")
    place = AFTER_SENDER[sender][2]
    net = Net(variant, rtt=variant.number_between("rtt", 0.005, 0.06), points=seen_before(sender, place)[:2])
    broken = Flag()
    for direction in (TO_SERVER, TO_CLIENT):
        net.rule(place, direction, lambda packet: DROP if broken.is_set() else None)
    count = variant.choose("probes", 3, 4, 9)

    def probe(connection):
        for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, count)):
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
        time.sleep(0.1)
        broken.set()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.recv(10)

    converse(net, variant.number_between("requests", 1, 5),
             **{f"{sender}_end": probe, f"{OTHER[sender]}_end": wait_forever})
    net.run(limit=variant.number_between("watched", 4.6, 5.8))
    return variant.label(side=OTHER[sender], also=["vanished", "reset-by-client", "reset-by-server"])
