"""Faults of the receive window, and senders that leave it unused."""
import socket
import time

from catalogue import scenario
from packets import ACK, RST, SYN
from variant import NO_DELAY, TO_CLIENT, TO_SERVER, Net, drain, receive, receive_buffer

REQUEST = 48
# The direction of what a side sends.
DIRECTIONS = {"client": TO_SERVER, "server": TO_CLIENT}


def transfer(net, sender, send, take, options=()):
    """Runs a transfer: the client asks if the server sends. `options` are set on the receiver's socket."""
    if sender == "server":
        def serve(connection):
            receive(connection, REQUEST)
            send(connection)

        def fetch():
            connection = net.connect(*options)
            connection.sendall(bytes(REQUEST))
            take(connection)

        net.serve(serve)
        net.client(fetch)
    else:
        net.serve(take)
        net.client(lambda: send(net.connect()))


def receiver_of(sender):
    return "client" if sender == "server" else "server"


@scenario("zero-window", 3.5)
def zero_window(variant):
    """The receiver stops reading until its buffer is full, then goes on or stays blocked to the end of the capture."""
    sender = variant.turn("sender", "server", "client")
    buffer = variant.choose("buffer", 8192, 16384, 32768, 65536)
    pause = variant.number_between("pause", 0.95, 2.8)
    resumes = variant.turn("resumes", True, True, False)
    is_slow = variant.turn("reads slowly", False, False, False, True)
    first = variant.number_between("read first", 0, 60_000)
    options = [receive_buffer(buffer)]
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.04),
              server_options=options if sender == "client" else ())
    size = first + buffer * 6

    def send(connection):
        connection.sendall(bytes(size))
        connection.close()

    def take(connection):
        receive(connection, first)
        if is_slow:
            # The buffer is full nearly all the time, and each read makes room for a moment.
            for _ in range(8):
                time.sleep(0.35)
                receive(connection, buffer // 4)
        time.sleep(pause if resumes else 30)
        drain(connection)

    transfer(net, sender, send, take, options)
    net.run(limit=12 if resumes else pause + 0.4 + 2.8 * is_slow)
    return variant.label(side=receiver_of(sender), also=["window-limited", "small-window", "no-window-scaling"])


@scenario("window-limited", 2.5)
def window_limited(variant):
    """The receive buffer is smaller than the path's bandwidth-delay product."""
    sender = variant.turn("sender", "server", "client")
    rtt = variant.number_between("rtt", 0.02, 0.07)
    buffer = variant.choose("buffer", 12_000, 16_000, 24_000, 32_000)
    options = [receive_buffer(buffer)]
    net = Net(variant, rtt=rtt, server_options=options if sender == "client" else ())
    size = int(variant.number_between("seconds", 1.4, 2.2) / rtt * buffer)

    def send(connection):
        connection.sendall(bytes(size))
        connection.close()

    transfer(net, sender, send, drain, options)
    net.run()
    return variant.label(side=receiver_of(sender))


@scenario("small-window", 1.5)
def small_window(variant):
    """The receiver never offers more than four segments."""
    sender = variant.turn("sender", "server", "client")
    rtt = variant.number_between("rtt", 0.02, 0.05)
    buffer = variant.choose("buffer", 3000, 4000, 5000)
    options = [receive_buffer(buffer)]
    # Without timestamps, the windows are multiples of the segments' size.
    net = Net(variant, rtt=rtt, server_options=options if sender == "client" else (),
              client={"ipv4.tcp_timestamps": 0})
    size = int(variant.number_between("seconds", 0.3, 0.55) / rtt * buffer)

    def send(connection):
        connection.sendall(bytes(size))
        connection.close()

    transfer(net, sender, send, drain, options)
    net.run()
    return variant.label(side=receiver_of(sender), also=["window-limited"])


@scenario("no-window-scaling", 2.5)
def no_window_scaling(variant):
    """One side doesn't offer window scaling; in some variants, 64 KiB per round trip then limit a transfer."""
    side = variant.turn("side", "client", "server")
    limits = variant.turn("limits", True, True, False)
    rtt = variant.number_between("rtt", 0.04, 0.09) if limits else variant.number_between("rtt", 0.004, 0.03)
    net = Net(variant, rtt=rtt, **{side: {"ipv4.tcp_window_scaling": 0}})
    if limits:
        size = int(variant.number_between("seconds", 1.5, 2.2) / rtt * 65_000)
        transfer(net, variant.choose("sender", "server", "client"),
                 lambda connection: (connection.sendall(bytes(size)), connection.close()), drain)
    else:
        exchange(net, variant.number_between("requests", 2, 8))
    net.run()
    return variant.label(side=side, also=["window-limited"])


@scenario("no-sack", 1)
def no_sack(variant):
    """One side doesn't offer selective acknowledgements."""
    side = variant.turn("side", "client", "server")
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.05), **{side: {"ipv4.tcp_sack": 0}})
    exchange(net, variant.number_between("requests", 2, 8))
    net.run()
    return variant.label(side=side)


def exchange(net, requests, size=900):
    """Sends requests, each of which is answered at once with one segment."""
    def serve(connection):
        for _ in range(requests):
            receive(connection, REQUEST)
            connection.sendall(bytes(size))
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(requests):
            connection.sendall(bytes(REQUEST))
            receive(connection, size)

    net.serve(serve)
    net.client(ask)


@scenario("application-limited", 2.5)
def application_limited(variant):
    """The sender writes less than the window and the path would take."""
    sender = variant.turn("sender", "server", "client")
    pause = variant.number_between("pause", 0.06, 0.3)
    size = variant.number_between("piece", 2_000, 12_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.02), point=variant.choose("at", sender, "middle"))

    def send(connection):
        for _ in range(int(1.6 / pause) + 3):
            connection.sendall(bytes(size))
            time.sleep(pause)
        connection.close()

    transfer(net, sender, send, drain)
    net.run()
    return variant.label(side=sender)


@scenario("silly-window", 3)
def silly_window(variant):
    """The receiver offers a few bytes at a time: its ACKs' windows are changed before the capture sees them."""
    sender = variant.turn("sender", "server", "client")
    receiver = receiver_of(sender)
    step = variant.number_between("step", 15, 75) * 4
    start = variant.number_between("first bytes", 2_400, 3_000) * 4
    # The clamp makes the window's scale small, so that the window can be set in steps of four bytes.
    clamp = (socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, 60_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.0025, 0.004),
              server_options=[clamp] if receiver == "server" else ())
    scale, edge, first = [0], [None], [None]

    def offer(packet):
        """Moves the window's edge by one step for each ACK that leaves no room."""
        if packet.flags & SYN:
            for kind, place, _ in packet.options():
                if kind == 3:
                    scale[0] = packet.raw[place + 2]
        if packet.flags & RST or not packet.flags & ACK:
            return None
        if first[0] is None:
            first[0], edge[0] = packet.ack, packet.ack + start
        if packet.ack - first[0] > start + 8 * step:
            return None
        if packet.ack >= edge[0]:
            edge[0] = packet.ack + step
        packet.set_window(edge[0] - packet.ack >> (0 if packet.flags & SYN else scale[0]))
        return None

    net.rule(receiver, DIRECTIONS[receiver], offer)

    def send(connection):
        connection.sendall(bytes(start + 14 * step))
        connection.close()

    transfer(net, sender, send, drain, [clamp])
    net.run(limit=6)
    variant.require(scale[0] <= 2, f"the window's scale is {scale[0]}")
    return variant.label(side=receiver, also=["window-limited", "small-window", "application-limited"])
