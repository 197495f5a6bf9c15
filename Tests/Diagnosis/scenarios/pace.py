"""Programs that are slow, and how they divide what they write."""
import socket
import time

from captures import parsed
from catalogue import scenario
from scenarios.tls import End, contexts
from scenarios.windows import REQUEST
from variant import NO_DELAY, Net, drain, network, receive


def ask(net, requests, size, pause=0.0, after=lambda connection: None):
    """Sends requests of `REQUEST` bytes and receives `size` bytes for each."""
    connection = net.connect(NO_DELAY)
    for number in range(requests):
        if number and pause:
            time.sleep(pause)
        connection.sendall(bytes(REQUEST))
        receive(connection, size)
    after(connection)


@scenario("slow-server", lambda number: 32 if number == 9 else 5)
def slow_server(variant):
    """The server thinks for a long time: at each request, or at one of them."""
    kind = "very long" if variant.number == 9 else variant.turn("kind", "each", "each", "one")
    net = network(variant, rtt=variant.number_between("rtt", 0.003, 0.06))
    if kind == "each":
        requests = variant.number_between("requests", 3, 5)
        thinks = [variant.number_between("think", 0.56, 1.0)] * requests
    else:
        requests = variant.number_between("requests", 1, 4)
        thinks = [0.01] * requests
        thinks[variant.random.randrange(requests)] = 30.8 if kind == "very long" else \
            variant.number_between("think", 3.15, 4.2)
    size = variant.number_between("response", 100, 20_000)

    def serve(connection):
        # An acknowledgement before the answer shows that the request arrived.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        for think in thinks:
            receive(connection, REQUEST)
            time.sleep(think)
            connection.sendall(bytes(size))
        drain(connection)

    net.serve(serve)
    net.client(ask, net, requests, size)
    net.run(limit=40)
    return variant.label(side="server")


@scenario("slow-client", 5)
def slow_client(variant):
    """The client pauses between an answer and its next request."""
    requests = variant.number_between("requests", 5, 6)
    pause = variant.number_between("pause", 0.56, 0.95)
    size = variant.number_between("response", 100, 20_000)
    net = network(variant, rtt=variant.number_between("rtt", 0.003, 0.05))

    def serve(connection):
        for _ in range(requests):
            receive(connection, REQUEST)
            connection.sendall(bytes(size))
        drain(connection)

    net.serve(serve)
    net.client(ask, net, requests, size, pause)
    net.run()
    return variant.label(side="client", also=["application-limited"])


@scenario("request-unfinished", 4)
def request_unfinished(variant):
    """A message stops before its announced end."""
    kind = variant.turn("kind", "HTTP request", "HTTP response", "TLS record", "chunked", "header")
    is_tls = kind == "TLS record"
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.05),
              port=443 if is_tls else variant.choose("port", 80, 8080))
    wait = variant.number_between("wait", 2.25, 3.5)
    # A FIN inside a record is another finding.
    closes = not is_tls and variant.choose("closes", True, False)
    if not closes:
        net.companion()
    announced = variant.number_between("announced", 3_000, 9_000)
    sent = variant.number_between("sent", 100, 2_500)
    head = f"POST /upload HTTP/1.1\r\nHost: server.example\r\nContent-Length: {announced}\r\n\r\n".encode()
    parts = {
        "HTTP request": head + bytes(sent),
        "HTTP response": b"GET /file HTTP/1.1\r\nHost: server.example\r\n\r\n",
        "chunked": b"POST /upload HTTP/1.1\r\nHost: server.example\r\nTransfer-Encoding: chunked\r\n\r\n"
                   + b"%x\r\n" % announced + b"x" * sent,
        "header": b"GET / HTTP/1.1\r\nHost: server.example\r\nAccept: text/ht",
    }
    response = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % announced + b"x" * sent

    client_context, server_context = contexts(variant) if is_tls else (None, None)

    def serve(connection):
        if is_tls:
            end = End(connection, server_context, True)
            end.shake_hands()
            end.receive(announced)
        elif kind == "HTTP response":
            receive(connection, len(parts[kind]))
            connection.sendall(response)
            time.sleep(wait if closes else 20)
            connection.close()
        else:
            drain(connection)

    def send():
        connection = net.connect()
        if is_tls:
            end = End(connection, client_context, False)
            end.shake_hands()
            end.tls.write(bytes(announced))
            connection.sendall(end.outgoing.read()[:sent])
        else:
            connection.sendall(parts[kind])
        if kind == "HTTP response":
            drain(connection)
        else:
            time.sleep(wait if closes else 20)
            connection.close()

    net.serve(serve)
    net.client(send)
    net.run(limit=wait + (1.0 if closes else 0.0))
    return variant.label(side="server" if kind == "HTTP response" else "client",
                         also=["tls-handshake-stalled", "truncated-tls", "no-data"])


@scenario("slow-drip", 12)
def slow_drip(variant):
    """A client sends a few bytes of its request header at a time."""
    pause = variant.number_between("pause", 0.5, 1.2)
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.05), port=variant.choose("port", 80, 8080))
    text = b"GET /index.html HTTP/1.1\r\nHost: server.example\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n" * 4
    size = variant.number_between("piece", 2, 8)

    def send():
        connection = net.connect(NO_DELAY)
        end, place = time.monotonic() + 10.4, 0
        while time.monotonic() < end:
            connection.sendall(text[place:place + size])
            place += size
            time.sleep(pause)

    net.serve(drain)
    net.client(send)
    net.run(limit=12.5)
    return variant.label(side="client", also=["request-unfinished", "application-limited"])


@scenario("no-data", lambda number: 62 if number == 9 else 6)
def no_data(variant):
    """A connection on which nothing is sent."""
    kind = "very long" if variant.number == 9 else variant.turn("kind", "closed", "open", "keep-alive")
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.06))
    wait = {"closed": lambda: variant.number_between("open for", 0.1, 1.8),
            "very long": lambda: 61.0}.get(kind, lambda: variant.number_between("open for", 5.2, 5.9))()
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 2),
               (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)] if kind == "keep-alive" else []
    if kind == "open":
        net.companion()

    def wait_open():
        connection = net.connect(*options)
        time.sleep(wait)
        if kind == "open":
            time.sleep(10)
        connection.close()

    net.serve(drain)
    net.client(wait_open)
    net.run(limit=wait + 0.4)
    return variant.label(side="client")


@scenario("nagle-delayed-ack", 2.5)
def nagle(variant):
    """A message is written in two parts; Nagle's algorithm holds the second one until a delayed ACK arrives."""
    sender = variant.turn("sender", "client", "server")
    rounds = variant.number_between("rounds", 8, 20)
    first = variant.number_between("first part", 10, 300)
    second = variant.number_between("second part", 20, 800)
    net = Net(variant, rtt=variant.number_between("rtt", 0.001, 0.015))

    def put(connection):
        connection.sendall(bytes(first))
        connection.sendall(bytes(second))

    def take(connection):
        # Without quick acknowledgements, the kernel delays each ACK of a first part.
        left = first + second
        while left:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            data = connection.recv(left)
            if not data:
                raise EOFError
            left -= len(data)

    def serve(connection):
        for _ in range(rounds):
            if sender == "client":
                take(connection)
                connection.sendall(bytes(40))
            else:
                receive(connection, 40)
                put(connection)
        drain(connection)

    def run_client():
        connection = net.connect()
        for _ in range(rounds):
            if sender == "client":
                put(connection)
                receive(connection, 40)
            else:
                connection.sendall(bytes(40))
                take(connection)

    net.serve(serve)
    net.client(run_client)
    net.run()
    return variant.label(side=sender)


@scenario("tinygrams", 2)
def tinygrams(variant):
    """One side writes many small pieces one after another, without Nagle's algorithm."""
    sender = variant.turn("sender", "client", "server")
    count = variant.number_between("pieces", 180, 300)
    size = variant.number_between("size", 5, 80)
    # Pieces that wait for the congestion window would be sent together.
    pause = variant.number_between("pause", 0.0025, 0.0045)
    net = Net(variant, rtt=variant.number_between("rtt", 0.035, 0.055))

    def send(connection):
        connection.setsockopt(*NO_DELAY)
        for _ in range(count):
            connection.sendall(bytes(size))
            time.sleep(pause)
        connection.close()

    def serve(connection):
        if sender == "server":
            receive(connection, REQUEST)
            send(connection)
        else:
            drain(connection)

    def run_client():
        connection = net.connect()
        if sender == "server":
            connection.sendall(bytes(REQUEST))
            drain(connection)
        else:
            send(connection)

    net.serve(serve)
    net.client(run_client)
    net.run()
    segments = [packet for _, packet in parsed(variant.records) if packet.payload_length and net.is_main(packet)]
    variant.require(len(segments) >= 130, "too few segments")
    return variant.label(side=sender, also=["application-limited"])
