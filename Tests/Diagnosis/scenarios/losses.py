"""Packets that the path loses, delays, duplicates or reorders."""
import struct
import time

from captures import parsed
from catalogue import scenario
from packets import ACK, TO_CLIENT, TO_SERVER, unreachable
from scenarios.windows import DIRECTIONS, REQUEST, receiver_of, transfer
from variant import DROP, NO_DELAY, Flag, Net, drain, receive

# For each sender, the places that its packets pass after the sender's own capture point, in order.
AFTER_SENDER = {"server": ("east", "west", "client"), "client": ("west", "east", "server")}


def seen_before(sender, place):
    """Returns the points that a packet of the sender has passed when it reaches the place."""
    order = ("server", "middle", "client") if sender == "server" else ("client", "middle", "server")
    return order[:AFTER_SENDER[sender].index(place) + 1]


def seen_after(sender, place):
    """Returns the points that a packet of the sender passes after the place."""
    order = ("server", "middle", "client") if sender == "server" else ("client", "middle", "server")
    return order[AFTER_SENDER[sender].index(place) + 1:]


def first_copies(minimum=1):
    """Returns a function that numbers the segments with data from 1, and returns None for retransmissions."""
    highest, count = [None], [0]

    def number(packet):
        if packet.payload_length < minimum:
            return None
        if highest[0] is not None and (packet.end - highest[0]) & 0xFFFFFFFF >= 1 << 31 or packet.end == highest[0]:
            return None
        highest[0] = packet.end
        count[0] += 1
        return count[0]
    return number


def bulk(net, sender, size):
    def send(connection):
        connection.sendall(bytes(size))
        connection.close()

    transfer(net, sender, send, drain)


@scenario("loss", 3)
def loss(variant):
    """Segments of a transfer are lost: chosen ones, any of them, or those for which a queue has no room."""
    sender = variant.turn("sender", "server", "client")
    kind = variant.turn("kind", "chosen", "chosen", "random", "queue")
    if kind != "chosen":
        return random_loss(variant, sender, kind)
    share = variant.turn("loss", 0.02, 0.035, 0.005, 0.015, 0.025)
    size = variant.number_between("bytes", 900_000, 1_400_000) if share < 0.01 else \
        variant.number_between("bytes", 500_000, 800_000)
    place = variant.choose("place", *AFTER_SENDER[sender])
    point = variant.choose("capture", "original", "original", "retransmission")
    points = seen_before(sender, place) if point == "original" or place == AFTER_SENDER[sender][2] \
        else seen_after(sender, place)
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.04), points=points,
              congestion=variant.choose("congestion", "cubic", "reno", "bbr"))
    total = size // 1448
    count = max(8, int(total * share * 1.2))
    # Neighbours may be lost together, but neither the first flight nor the last segments.
    lost = set(variant.random.sample(range(12, total - 40), count))
    number, dropped = first_copies(), [0]

    def lose(packet):
        if number(packet) in lost:
            dropped[0] += 1
            return DROP
        return None

    net.rule(place, DIRECTIONS[sender], lose)
    bulk(net, sender, size)
    net.run(limit=20)
    variant.require(dropped[0] >= count * 0.9, "too few packets were lost")
    return variant.label(side=f"path-to-{receiver_of(sender)}",
                         also=["timeout-stall", "spurious-retransmission", "window-limited", "application-limited"])


def random_loss(variant, sender, kind):
    """Loses each segment with the same probability, or those that arrive while a short queue is full."""
    place = AFTER_SENDER[sender][1]
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.04), points=seen_before(sender, place),
              congestion=variant.choose("congestion", "cubic", "reno"), alone=True)
    if kind == "random":
        share = variant.number_between("share", 0.025, 0.045)
        net.rule(place, DIRECTIONS[sender],
                 lambda packet: DROP if packet.payload_length and variant.random.random() < share else None)
    else:
        hop = net.hops[DIRECTIONS[sender], place]
        hop.rate = variant.number_between("rate", 4_000_000, 8_000_000)
        hop.queue = variant.choose("queue", 6_000, 9_000)
    bulk(net, sender, variant.number_between("bytes", 1_000_000, 1_400_000))
    net.run(limit=25)
    sent = [(packet.source_port, packet.seq) for _, packet in parsed(variant.records) if packet.payload_length > 1000]
    again = len(sent) - len(set(sent))
    variant.require(again >= max(8, 0.005 * len(sent)), "too few packets were lost")
    return variant.label(side=f"path-to-{receiver_of(sender)}",
                         also=["timeout-stall", "spurious-retransmission", "window-limited", "application-limited",
                               "tail-loss", "bufferbloat"])


@scenario("timeout-stall", 3.5)
def timeout_stall(variant):
    """All copies of one segment are lost until its third or fourth retransmission, or nothing passes for a while."""
    sender = variant.turn("sender", "server", "client")
    if variant.turn("kind", "segment", "segment", "segment", "outage") == "outage":
        return outage(variant, sender)
    copies = variant.turn("lost copies", 4, 3, 4, 2)
    rtt = variant.number_between("rtt", 0.01, 0.06)
    place = variant.choose("place", *AFTER_SENDER[sender])
    # Without tail-loss probes, the same number of copies is a longer series.
    probes = variant.choose("probes", True, False)
    net = Net(variant, rtt=rtt, points=seen_before(sender, place),
              **{sender: {"ipv4.tcp_early_retrans": 3 if probes else 0}})
    rounds = variant.number_between("rounds", 4, 9)
    unlucky = variant.random.randint(2, rounds - 1)
    count, sequence = [0], [None]
    number = first_copies()

    def lose(packet):
        if packet.payload_length == 0:
            return None
        if number(packet) == unlucky:
            sequence[0] = packet.seq
        if packet.seq == sequence[0] and count[0] < copies:
            count[0] += 1
            return DROP
        return None

    net.rule(place, DIRECTIONS[sender], lose)
    size = {"server": (60, 700), "client": (700, 60)}[sender]

    def serve(connection):
        for _ in range(rounds):
            receive(connection, size[0])
            connection.sendall(bytes(size[1]))

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(rounds):
            connection.sendall(bytes(size[0]))
            receive(connection, size[1])

    net.serve(serve)
    net.client(ask)
    net.run(limit=12)
    return variant.label(side=f"path-to-{receiver_of(sender)}", also=["tail-loss", "loss"])


def outage(variant, sender):
    """Loses everything in both directions for more than a second, beginning when the sender has a segment to send."""
    place = AFTER_SENDER[sender][2]
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.06), points=seen_before(sender, place)[:2])
    seconds = variant.number_between("seconds", 1.1, 1.6)
    broken, began = Flag(), []

    def lose(packet):
        if not broken.is_set():
            return None
        if not began:
            began.append(time.monotonic())
        return DROP if time.monotonic() - began[0] < seconds else None

    for direction in (TO_SERVER, TO_CLIENT):
        net.rule(place, direction, lose)

    def serve(connection):
        for number in range(4):
            receive(connection, 80)
            if number == 2 and sender == "server":
                # The acknowledgement of the request leaves before the path breaks.
                time.sleep(0.15)
                broken.set()
            connection.sendall(bytes(500))
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for number in range(4):
            if number == 2 and sender == "client":
                time.sleep(0.15)
                broken.set()
            connection.sendall(bytes(80))
            receive(connection, 500)

    net.serve(serve)
    net.client(ask)
    net.run(limit=12)
    return variant.label(side=f"path-to-{receiver_of(sender)}", also=["tail-loss", "loss", "spurious-retransmission"])


@scenario("tail-loss", 1)
def tail_loss(variant):
    """The last segments of an answer are lost, and a tail-loss probe after two round trips repairs them."""
    family = variant.choose("family", 4, 4, 6)
    segments = variant.number_between("segments", 4, 9)
    # With one lost segment, Linux waits 200 ms longer; with three, it needs a timeout after the probe.
    lost = 2
    place = variant.choose("place", *AFTER_SENDER["server"])
    net = Net(variant, rtt=variant.number_between("rtt", 0.015, 0.04), points=seen_before("server", place),
              family=family)
    size = segments * (1448 if family == 4 else 1428)
    number = first_copies()

    def lose(packet):
        index = number(packet)
        if index is None:
            # RACK ignores the answer to the probe if its round trip is the shortest one.
            return [(0.002, packet)] if packet.payload_length else None
        return DROP if segments - lost < index <= segments else None

    net.rule(place, TO_CLIENT, lose)

    def serve(connection):
        receive(connection, REQUEST)
        connection.sendall(bytes(size))
        receive(connection, REQUEST)
        connection.sendall(bytes(500))
        drain(connection)

    def ask():
        connection = net.connect()
        connection.sendall(bytes(REQUEST))
        receive(connection, size)
        connection.sendall(bytes(REQUEST))
        receive(connection, 500)

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label(side="path-to-client", also=["loss"])


@scenario("reordering", 2)
def reordering(variant):
    """Some segments take a longer path and are overtaken, but not by so much that the sender repeats them."""
    sender = variant.turn("sender", "server", "client")
    place = variant.choose("place", *AFTER_SENDER[sender][:2])
    rtt = variant.number_between("rtt", 0.04, 0.08)
    net = Net(variant, rtt=rtt, points=seen_after(sender, place), **{
        sender: {"ipv4.tcp_max_reordering": 2000, "ipv4.tcp_reordering": 2000}})
    share = variant.number_between("share", 0.03, 0.07)
    detour = variant.number_between("detour", 0.002, 0.006)

    def delay(packet):
        if packet.payload_length > 1000 and variant.random.random() < share:
            return [(detour, packet)]
        return None

    net.rule(place, DIRECTIONS[sender], delay)
    bulk(net, sender, variant.number_between("bytes", 600_000, 1_200_000))
    net.run()
    return variant.label(side=f"path-to-{receiver_of(sender)}",
                         also=["spurious-retransmission", "window-limited", "application-limited"])


@scenario("spurious-retransmission", 3)
def spurious(variant):
    """Segments are delayed by most of a round trip after the capture, so the sender repeats them needlessly."""
    sender = variant.turn("sender", "server", "client")
    place = variant.choose("place", *AFTER_SENDER[sender][1:])
    rtt = variant.number_between("rtt", 0.02, 0.05)
    # With bit 2, Linux doesn't learn the degree of reordering.
    net = Net(variant, rtt=rtt, points=seen_before(sender, place),
              **{sender: {"ipv4.tcp_recovery": 3, "ipv4.tcp_max_reordering": 3}})
    size = variant.number_between("bytes", 500_000, 900_000)
    late = set(variant.random.sample(range(15, size // 1448 - 40), variant.number_between("late", 14, 22)))
    number = first_copies()

    def delay(packet):
        return [(rtt * variant.random.uniform(0.6, 0.85), packet)] if number(packet) in late else None

    net.rule(place, DIRECTIONS[sender], delay)
    bulk(net, sender, size)
    net.run()
    return variant.label(side=sender, also=["reordering", "window-limited", "application-limited"])


@scenario("mtu-black-hole", lambda number: 7 if number % 3 == 2 else 4)
def mtu_black_hole(variant):
    """A router drops large packets without an ICMP error."""
    sender = variant.turn("sender", "server", "client")
    place = variant.choose("place", *AFTER_SENDER[sender])
    probing = variant.turn("probing", False, False, True)
    family = variant.turn("family", 4, 4, 6)
    net = Net(variant, rtt=variant.number_between("rtt", 0.008, 0.05), points=seen_before(sender, place),
              family=family, **{sender: {"ipv4.tcp_mtu_probing": 1 if probing else 0, "ipv4.tcp_base_mss": 900}})
    mtu = variant.number_between("mtu", 1280, 1440) if family == 6 else variant.number_between("mtu", 1000, 1440)
    net.rule(place, DIRECTIONS[sender], lambda packet: DROP if packet.length > mtu else None)
    size = variant.number_between("bytes", 3_200, 12_000)

    def send(connection):
        # A last segment below the MTU arrives, so a selective acknowledgement shows that the path is alive.
        connection.sendall(bytes(size // 1428 * 1428 + 300))
        time.sleep(2)

    transfer(net, sender, send, drain)
    net.run(limit=7.0 if probing else variant.number_between("watched", 2.4, 4.0))
    return variant.label(side=f"path-to-{receiver_of(sender)}", also=["timeout-stall", "loss", "tail-loss"])


@scenario("bufferbloat", 4)
def bufferbloat(variant):
    """A slow hop queues everything that the sender's window allows."""
    sender = variant.turn("sender", "server", "client")
    rtt = variant.number_between("rtt", 0.012, 0.03)
    rate = variant.number_between("rate", 5_000_000, 10_000_000)
    # The round trip that includes the queue is measured between the sender and the queue.
    place = "east" if sender == "client" else "west"
    memory = {"ipv4.tcp_rmem": "4096 2000000 8000000"}
    # A companion would wait in the same queue.
    net = Net(variant, rtt=rtt, congestion="reno", client=memory, server=memory, points=seen_before(sender, place),
              alone=True)
    net.hops[DIRECTIONS[sender], place].rate = rate
    bulk(net, sender, int(rate / 8 * variant.number_between("seconds", 1.4, 2.2)))
    net.run(limit=12)
    return variant.label(side=f"path-to-{receiver_of(sender)}",
                         also=["window-limited", "application-limited", "spurious-retransmission"])


@scenario("duplicate-packets", 2)
def duplicates(variant):
    """The path delivers some packets twice."""
    sender = variant.turn("sender", "server", "client")
    place = variant.choose("place", *AFTER_SENDER[sender][:2])
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.04), points=seen_after(sender, place), family=4)
    later = variant.number_between("later", 0.002, 0.006)
    detour = variant.choose("detour", True, False)
    share = variant.number_between("share", 0.02, 0.05)

    def duplicate(packet):
        if packet.payload_length == 0 or variant.random.random() >= share:
            return None
        copy = packet.copy()
        if detour:
            copy.set_ttl(copy.ttl - 1)
        return [(0.0, packet), (later, copy)]

    net.rule(place, DIRECTIONS[sender], duplicate)
    bulk(net, sender, variant.number_between("bytes", 400_000, 900_000))
    net.run()
    return variant.label(side=f"path-to-{receiver_of(sender)}",
                         also=["spurious-retransmission", "reordering", "window-limited", "application-limited"])


@scenario("sack-reneging", 2)
def sack_reneging(variant):
    """A receiver acknowledges segments selectively and then discards them.

    No stack does so on demand: segments are dropped in front of the receiver, and its ACKs are changed as if it had
    kept them. The sender's reaction is real.
    """
    sender = variant.turn("sender", "server", "client")
    receiver = receiver_of(sender)
    net = Net(variant, rtt=variant.number_between("rtt", 0.01, 0.04))
    first = variant.number_between("lost segment", 2, 3)
    length = variant.number_between("discarded", 2, 3)
    number = first_copies()
    hole, discarded = [None], [None, None]

    def drop(packet):
        index = number(packet)
        if index == first:
            hole[0] = packet.seq
            return DROP
        if index is not None and first < index <= first + length:
            discarded[0] = packet.seq if discarded[0] is None else discarded[0]
            discarded[1] = packet.end
            return DROP
        return None

    def claim(packet):
        """Extends the block that begins after the discarded segments so that it includes them."""
        if discarded[0] is None or packet.ack != hole[0] or not packet.flags & ACK:
            return None
        for kind, place, size in packet.options():
            if kind != 5:
                continue
            for at in range(place + 2, place + size, 8):
                if struct.unpack_from("!I", packet.raw, at)[0] == discarded[1]:
                    struct.pack_into("!I", packet.raw, at, discarded[0])
                    packet.fix_checksums()
        return None

    net.rule(receiver, DIRECTIONS[sender], drop)
    net.rule(receiver, DIRECTIONS[receiver], claim)
    size = variant.number_between("segments", 8, 9) * 1428

    def send(connection):
        connection.sendall(bytes(size))
        time.sleep(0.5)
        connection.close()

    transfer(net, sender, send, drain)
    net.run()
    return variant.label(side=receiver, also=["loss", "spurious-retransmission", "timeout-stall", "tail-loss"])


@scenario("icmp-unreachable", 3)
def icmp_unreachable(variant):
    """A router rejects a SYN, rejects packets of an established connection, or reports its smaller MTU."""
    kind = variant.turn("kind", "syn", "established", "syn", "mtu", "recovers")
    code = variant.choose("code", 0, 1, 13, 10) if kind == "syn" else variant.choose("code", 0, 1)
    family = variant.choose("family", 4, 4, 6)
    net = Net(variant, rtt=variant.number_between("rtt", 0.006, 0.05), family=family,
              points=("client", "middle") if kind == "syn" else ("server", "middle"))
    if family == 6:
        code = {0: 0, 1: 3, 13: 1, 10: 1}[code]
    count = [0]

    def reject(packet):
        if kind == "mtu":
            if packet.length <= 1300:
                return None
            error = unreachable(packet, code, mtu=1300)
        else:
            if kind != "syn" and packet.payload_length < 1000:
                return None
            count[0] += 1
            if kind == "recovers" and count[0] > 2:
                return None
            error = unreachable(packet, code)
        packets_direction = TO_CLIENT if packet.direction == TO_SERVER else TO_SERVER
        error.direction = packets_direction
        # The error starts its way back at the point in the middle.
        net.link.record(error, 1)
        net.link.arrive(error, 2)
        return DROP

    net.rule("east" if kind == "syn" else "west", TO_SERVER if kind == "syn" else TO_CLIENT, reject)

    def serve(connection):
        receive(connection, REQUEST)
        connection.sendall(bytes(300))
        receive(connection, REQUEST)
        connection.sendall(bytes(1300 if kind != "mtu" else 6000))
        drain(connection)

    def ask():
        connection = net.connect()
        connection.sendall(bytes(REQUEST))
        receive(connection, 300)
        connection.sendall(bytes(REQUEST))
        receive(connection, 1300 if kind != "mtu" else 6000)

    net.serve(serve)
    net.client(ask)
    net.run(limit=3.0 if kind != "syn" else 1.0)
    return variant.label(side="middlebox", also=["vanished", "timeout-stall", "loss", "tail-loss", "mtu-black-hole"])
