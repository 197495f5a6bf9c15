"""Imperfect captures of healthy connections. Except for `offload`, they are edited after the run."""
import time

import captures
from catalogue import scenario
from packets import SYN
from scenarios.windows import REQUEST
from variant import NO_DELAY, Net, drain, receive


def healthy(variant, answers=4, low=15_000, high=60_000, **more):
    """Captures a healthy connection in which the server sends several large answers."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.006, 0.03), alone=True, **more)
    size = variant.number_between("answer", low, high)

    def serve(connection):
        for _ in range(answers):
            receive(connection, REQUEST)
            connection.sendall(bytes(size))
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for number in range(answers):
            if number:
                time.sleep(0.02)
            connection.sendall(bytes(REQUEST))
            receive(connection, size)

    net.serve(serve)
    net.client(ask)
    net.run()
    return net


@scenario("capture-dropped-packets", 1)
def capture_dropped(variant):
    """The capture tool has lost packets, most of them in bursts."""
    healthy(variant, low=80_000, high=250_000, points=("client", "middle", "server"))
    share = variant.number_between("share", 0.02, 0.06)
    counter = variant.choose("counter", True, False)
    single = variant.choose("bursts", "one", "many", "many") == "one"
    burst, first = [0], variant.random.randint(20, len(variant.records) // 2)

    def is_dropped(index, packet):
        if index < 6 or packet.flags & (SYN | 1):
            return False
        if single:
            return first <= index < first + 15
        if burst[0] == 0 and variant.random.random() < share / 3:
            burst[0] = variant.random.randint(1, 6)
        burst[0] = max(0, burst[0] - 1) if burst[0] else 0
        return burst[0] > 0

    whole = variant.records
    variant.records = captures.without(whole, is_dropped)
    missing = [packet for _, packet in captures.parsed(sorted(set(whole) - set(variant.records)))
               if packet.payload_length]
    variant.require(len(missing) >= 4, "too few segments were removed")
    if counter:
        variant.file_options.update(form="pcapng", drops=len(whole) - len(variant.records))
    return variant.label(side="capture", also=["application-limited"])


@scenario("one-direction", 0.5)
def one_direction(variant):
    """The capture has the packets of one side only."""
    side = variant.turn("side", "server", "client")
    net = healthy(variant)
    port = net.port
    variant.records = captures.without(
        variant.records, lambda _, packet: (packet.source_port == port) != (side == "server"))
    return variant.label(side="capture", also=["application-limited", "starts-in-the-middle"])


@scenario("snap-length", 0.5)
def snap_length(variant):
    """The capture has the first bytes of each packet only."""
    healthy(variant)
    variant.file_options["snap"] = variant.choose("snap", 96, 128, 200, 256)
    return variant.label(side="capture", also=["application-limited"])


@scenario("starts-in-the-middle", 0.5)
def starts_in_the_middle(variant):
    """The capture begins after the handshake."""
    healthy(variant)
    total = len(variant.records)
    first = variant.number_between("first packet", 4, total // 2)
    variant.records = variant.records[first:]
    return variant.label(side="capture", also=["application-limited"])


@scenario("offload", 0.5)
def offload(variant):
    """The capture sees segments before the device divides them (TSO): the TUN device accepts them undivided."""
    healthy(variant, offload=True, points=("client", "server", "middle"))
    variant.require(any(packet.length > 1500 for _, packet in captures.parsed(variant.records)), "no large segment")
    return variant.label(side="capture", also=["application-limited"])


@scenario("captured-twice", 0.5)
def captured_twice(variant):
    """The capture has each packet twice, as with `-i any` on a bridge or a router."""
    healthy(variant, family=4)
    spread = variant.number_between("microseconds", 20, 400)
    routed = variant.choose("routed", True, False)
    variant.records = captures.twice(variant.records, lambda: spread * variant.random.uniform(0.5, 1.5) / 1e6, routed)
    return variant.label(side="capture", also=["application-limited"])


@scenario("clock-stepped", 0.5)
def clock_stepped(variant):
    """The clock of the capturing machine is set back or forward during a transfer."""
    # Without timestamps, a step forward looks like a pause.
    timestamps = {"ipv4.tcp_timestamps": 1}
    healthy(variant, low=60_000, high=150_000, client=timestamps, server=timestamps)
    step = variant.turn("step", -1, 1)
    seconds = step * (variant.number_between("seconds", 0.002, 0.8) if step < 0
                      else variant.number_between("seconds", 2.0, 60.0))
    packets = [packet for _, packet in captures.parsed(variant.records)]
    # Between two segments of one flight.
    places = [index for index in range(len(packets) // 4, len(packets) * 3 // 4)
              if packets[index].payload_length > 1000 and packets[index - 1].payload_length > 1000
              and variant.records[index][0] - variant.records[index - 1][0] < 1_000_000]
    variant.require(places, "no flight of several segments")
    place = variant.random.choice(places)
    variant.records = captures.shifted(variant.records, lambda index, _: index >= place, seconds)
    return variant.label(side="capture", also=["application-limited"])
