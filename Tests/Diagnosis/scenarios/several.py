"""Faults that show in several connections of one capture; their labels name no flow."""
import socket
import time

from catalogue import scenario
from packets import ACK, RST, SYN, TO_CLIENT, TO_SERVER, reply, segment
from scenarios.windows import REQUEST
from variant import DROP, NO_DELAY, Net, abort, drain, receive


@scenario("reconnect-storm", 4)
def reconnect_storm(variant):
    """A client connects again and again to a server that refuses, or that accepts and resets."""
    kind = variant.turn("kind", "refused", "reset")
    count = variant.number_between("connections", 13, 24)
    pause = variant.number_between("pause", 0.04, 0.15)
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.03))
    if kind == "refused":
        net.listeners[0].close()
    else:
        def serve(connection):
            receive(connection, REQUEST)
            abort(connection)
        net.serve(serve, connections=count)

    def insist():
        for _ in range(count):
            try:
                connection = net.connect()
                connection.sendall(bytes(REQUEST))
                drain(connection)
            except ConnectionError:
                pass
            time.sleep(pause)

    net.client(insist)
    net.run()
    return variant.label(side="client", also=["refused", "reset-by-server"], summary=True)


@scenario("port-reuse", 2)
def port_reuse(variant):
    """A client connects from the port of its previous connection, shortly after that was closed."""
    kind = variant.turn("kind", "accepted", "refused", "accepted", "ignored")
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.04),
              server={"ipv4.tcp_max_tw_buckets": 0})
    port = variant.random.randint(20000, 60000)
    pause = variant.number_between("pause", 0.1, 0.8)
    count = [0]

    def second(packet):
        if not packet.flags & SYN:
            return None
        count[0] += 1
        return DROP if count[0] > 1 and kind == "ignored" else None

    net.rule("server", TO_SERVER, second)

    def serve():
        for number in range(2):
            connection = net.listeners[0].accept()[0]
            receive(connection, REQUEST)
            if kind == "refused":
                net.listeners[0].close()
            connection.sendall(bytes(400))
            connection.close()
            if kind != "accepted":
                return
            time.sleep(0.01 * number)

    def connect_twice():
        # The listener that this process inherited would keep the port open.
        net.listeners[0].close()
        for number in range(2):
            connection = net.connect(source=port, limit=1.6)
            connection.sendall(bytes(REQUEST))
            drain(connection)
            connection.close()
            if number == 0:
                time.sleep(pause)

    net.server(serve)
    net.client(connect_twice)
    if kind == "refused":
        net.listeners[0].close()
    net.run(limit=4)
    return variant.label(side="client", also=["refused", "no-answer"], summary=True)


@scenario("connections-refused-under-load", 3)
def refused_under_load(variant):
    """A server serves some connections and refuses, or ignores, further ones."""
    kind = variant.turn("kind", "limit", "queue")
    accepted = variant.number_between("accepted", 2, 3)
    further = variant.number_between("further", 4, 6)
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.03),
              backlog=128 if kind == "limit" else accepted - 1)
    opened = set()

    def limit(packet):
        """Answers as a firewall that limits the number of connections (`REJECT --reject-with tcp-reset`)."""
        if not packet.flags & SYN or packet.source_port in opened:
            return None
        if len(opened) < accepted:
            opened.add(packet.source_port)
            return None
        net.link.send(reply(packet, 0, packet.seq + 1, RST | ACK), TO_CLIENT, "server")
        return DROP

    if kind == "limit":
        net.rule("server", TO_SERVER, limit)

    def serve():
        kept = []
        if kind == "limit":
            for _ in range(accepted):
                kept.append(net.listeners[0].accept()[0])
                receive(kept[-1], REQUEST)
                kept[-1].sendall(bytes(300))
        time.sleep(20)

    def connect_all():
        kept = []
        for number in range(accepted + further):
            one = net.socket()
            kept.append(one)
            one.setblocking(False)
            one.connect_ex((net.server_addresses[0], net.port))
            time.sleep(net.rtt * 2 + 0.02 if number < accepted else 0.02)
            if number < accepted:
                one.setblocking(True)
                one.sendall(bytes(REQUEST))
        time.sleep(20)

    net.server(serve)
    net.client(connect_all)
    net.run(limit=variant.number_between("watched", 1.5, 2.2))
    return variant.label(side="server", also=["refused", "no-answer", "accept-queue-full", "slow-server"], summary=True)


@scenario("one-server-slow", 4)
def one_server_slow(variant):
    """One of several servers takes much longer to answer than the others."""
    servers = variant.number_between("servers", 3, 5)
    slow = variant.random.randrange(servers)
    think = variant.number_between("slow think", 0.26, 0.4)
    usual = variant.number_between("usual think", 0.004, 0.02)
    requests = variant.number_between("requests", 6, 8)
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.02), servers=servers)

    def serve(index):
        connection = net.listeners[index].accept()[0]
        for _ in range(requests):
            receive(connection, REQUEST)
            time.sleep(think if index == slow else usual * variant.random.uniform(0.7, 1.3))
            connection.sendall(bytes(600))
        drain(connection)

    def ask(index):
        connection = net.connect(NO_DELAY, server=index)
        for _ in range(requests):
            connection.sendall(bytes(REQUEST))
            receive(connection, 600)
            time.sleep(0.03)

    for index in range(servers):
        net.server(serve, index)
        net.client(ask, index)
    net.run()
    return variant.label(side="server", also=["slow-server"], summary=True)


@scenario("all-flows-stall", 4)
def all_flows_stall(variant):
    """The path holds the packets of all connections for a while and then delivers them."""
    flows = variant.number_between("flows", 4, 7)
    stall = variant.number_between("stall", 0.65, 1.2)
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.006, 0.03))
    begin = variant.number_between("begins", 0.5, 0.8)
    held = set()

    def hold(packet):
        age = time.monotonic() - net.link.began
        if not begin <= age < begin + stall:
            return None
        # What was sent again during the stall is not delivered twice.
        key = (packet.direction, packet.flow_key, packet.seq, packet.ack, packet.payload_length)
        again = key[:3] + key[4:]
        if key in held or (packet.payload_length and again in held):
            return DROP
        held.update((key, again))
        return [(begin + stall - age, packet)]

    net.rule("client", TO_SERVER, hold)
    net.rule("server", TO_CLIENT, hold)

    def serve():
        listener = net.listeners[0]
        connection = listener.accept()[0]
        while True:
            receive(connection, REQUEST)
            connection.sendall(bytes(400))

    def ask(index):
        connection = net.connect(NO_DELAY)
        end = net.link.began + begin + stall + 0.5
        while time.monotonic() < end:
            connection.sendall(bytes(REQUEST))
            receive(connection, 400)
            time.sleep(0.012 + 0.003 * index)

    for index in range(flows):
        net.server(serve)
        net.client(ask, index)
    net.run(limit=begin + stall + 1.0)
    return variant.label(side="path-to-server", also=["timeout-stall", "loss", "tail-loss", "slow-server",
                                                      "spurious-retransmission"], summary=True)


@scenario("syn-flood", 2)
def syn_flood(variant):
    """Many SYNs arrive, from one or many addresses, and none of them is followed by an ACK."""
    rate = variant.number_between("rate", 140, 230)
    seconds = variant.number_between("seconds", 1.3, 1.7)
    spoofed = variant.choose("addresses", "one", "many") == "many"
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.02), backlog=64)
    source = socket.inet_pton(net.inet, net.client_address)
    target = socket.inet_pton(net.inet, net.server_addresses[0])
    # The client's stack would answer each SYN-ACK with an RST.
    net.rule("client", TO_CLIENT, lambda packet: DROP)
    used = set()

    def flood():
        host = source[:-1] + bytes([variant.random.randint(20, 250)]) if spoofed else source
        port = variant.random.randint(1024, 65535)
        while (host, port) in used:
            port = variant.random.randint(1024, 65535)
        used.add((host, port))
        net.link.send(segment((host, port), (target, net.port), variant.random.getrandbits(32), 0, SYN, window=64240,
                              options=b"\x02\x04\x05\xb4", identification=variant.random.randint(1, 65535)),
                      TO_SERVER, "client")
        if time.monotonic() < net.link.began + 0.1 + seconds:
            net.link.schedule(began[0] + len(used) / rate, flood, ())

    began = [time.monotonic() + 0.1]
    net.link.schedule(began[0], flood, ())
    net.client(lambda: time.sleep(seconds + 0.3))
    net.run(limit=seconds + 0.4)
    return variant.label(side="client", also=["no-answer", "syn-lost", "no-data"], summary=True)


@scenario("port-scan", 3)
def port_scan(variant):
    """A client tries many ports of a host; the host refuses them, or a firewall ignores them."""
    kind = variant.turn("kind", "refused", "ignored", "some")
    count = variant.number_between("ports", 14, 40)
    pause = variant.number_between("pause", 0.005, 0.05)
    net = Net(variant, alone=True, rtt=variant.number_between("rtt", 0.003, 0.03))
    ports = [port for port in variant.random.sample(range(1, 30000), count) if port != net.port]
    net.ports.update(ports)
    ignored = set(ports) if kind == "ignored" else set(ports[::3]) if kind == "some" else set()
    net.rule("server", TO_SERVER, lambda packet: DROP if packet.target_port in ignored else None)

    def scan():
        for port in ports:
            try:
                # A scanner does not wait for an answer.
                net.connect(port=port, limit=0.05).close()
            except OSError:
                pass
            time.sleep(pause)

    net.client(scan)
    net.run(limit=6)
    return variant.label(side="client", also=["refused", "no-answer"], summary=True)
