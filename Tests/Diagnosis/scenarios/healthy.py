"""Flows without a fault: nothing above `note` may be found in them."""
import socket
import time

from catalogue import scenario
from scenarios.tls import End, contexts
from variant import NO_DELAY, Net, drain, network, receive


def healthy(name, seconds=2.0):
    return scenario(f"healthy-{name}", seconds, is_healthy=True)


def answer(connection, requests, request, response, think=0.0):
    """Answers `requests` requests of a fixed size."""
    for _ in range(requests):
        receive(connection, request)
        if think:
            time.sleep(think)
        connection.sendall(bytes(response))


@healthy("bulk")
def bulk(variant):
    """A download through a fast path without losses."""
    size = variant.number_between("bytes", 300_000, 2_500_000)
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.04),
                  congestion=variant.choose("congestion", "cubic", "reno", "bbr"))

    def serve(connection):
        receive(connection, 40)
        connection.sendall(bytes(size))

    def fetch():
        connection = net.connect()
        connection.sendall(b"get" + bytes(37))
        drain(connection)

    net.serve(serve)
    net.client(fetch)
    net.run()
    return variant.label(also=["application-limited", "window-limited"])


@healthy("upload")
def upload(variant):
    """An upload, which the server confirms."""
    size = variant.number_between("bytes", 300_000, 2_000_000)
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.06))

    def serve(connection):
        receive(connection, size)
        connection.sendall(b"stored\n")

    def send():
        connection = net.connect()
        connection.sendall(bytes(size))
        receive(connection, 7)

    net.serve(serve)
    net.client(send)
    net.run()
    return variant.label()


@healthy("chatty")
def chatty(variant):
    """Many requests, each of which is answered at once."""
    slow = variant.turn("slow", False, False, True)
    requests = variant.number_between("requests", 4, 8) if slow else variant.number_between("requests", 20, 80)
    think = variant.number_between("think", 0.2, 0.42) if slow else variant.number_between("think", 0.001, 0.02)
    response = variant.number_between("response", 20, 4000)
    net = network(variant, rtt=variant.number_between("rtt", 0.002, 0.03))

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(requests):
            connection.sendall(bytes(100))
            receive(connection, response)

    net.serve(lambda connection: answer(connection, requests, 100, response, think))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("short", 0.5)
def short(variant):
    """A connection for one request."""
    net = network(variant, rtt=variant.number_between("rtt", 0.002, 0.08))
    size = variant.number_between("response", 1, 9000)

    def serve(connection):
        receive(connection, 60)
        connection.sendall(bytes(size))
        connection.close()

    def ask():
        connection = net.connect()
        connection.sendall(bytes(60))
        drain(connection)
        connection.close()

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("half-duplex", 1)
def half_duplex(variant):
    """A client that ends its side after the request, as some HTTP clients do."""
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.05))
    size = variant.number_between("response", 1_000, 300_000)
    think = variant.number_between("think", 0.0, 1.5)

    def serve(connection):
        drain(connection)
        time.sleep(think)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + bytes(size))
        connection.close()

    def ask():
        connection = net.connect()
        connection.sendall(b"GET / HTTP/1.1\r\nHost: server.example\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        drain(connection)

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("messages", 2.5)
def messages(variant):
    """Small messages from one side, each written when it is due."""
    count = variant.number_between("messages", 40, 120)
    pause = variant.number_between("pause", 0.012, 0.025)
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.06))
    from_server = variant.choose("sender", "client", "server") == "server"

    def send(connection):
        for _ in range(count):
            connection.sendall(bytes(variant.random.randint(20, 400)))
            time.sleep(pause)
        connection.shutdown(socket.SHUT_WR)
        drain(connection)

    def take(connection):
        connection.setsockopt(*NO_DELAY)
        drain(connection)

    net.serve(send if from_server else take)
    net.client(lambda: (take if from_server else send)(net.connect(NO_DELAY)))
    net.run()
    return variant.label()


@healthy("stream", 3)
def stream(variant):
    """A server that sends a piece of a live stream at regular intervals."""
    net = network(variant, rtt=variant.number_between("rtt", 0.005, 0.08))
    size = variant.number_between("piece", 3_000, 40_000)
    pause = variant.number_between("pause", 0.05, 0.25)

    def serve(connection):
        receive(connection, 50)
        for _ in range(10):
            connection.sendall(bytes(size))
            time.sleep(pause)
        connection.close()

    def watch():
        connection = net.connect()
        connection.sendall(bytes(50))
        drain(connection)

    net.serve(serve)
    net.client(watch)
    net.run()
    return variant.label()


@healthy("tls", 1)
def tls(variant):
    """A TLS session that both sides end with `close_notify`."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.06), port=variant.choose("port", 443, 8443))
    client_context, server_context = contexts(variant)
    requests = variant.number_between("requests", 1, 6)
    size = variant.number_between("response", 100, 40_000)

    def serve(connection):
        end = End(connection, server_context, True)
        end.shake_hands()
        for _ in range(requests):
            end.receive(90)
            end.send(bytes(size))
        drain(connection)
        end.close()

    def ask():
        end = End(net.connect(NO_DELAY), client_context, False)
        end.shake_hands()
        for _ in range(requests):
            end.send(bytes(90))
            end.receive(size)
        end.close()

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("http", 2)
def http(variant):
    """HTTP requests and responses over one connection, with and without chunks."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.003, 0.06), port=variant.choose("port", 80, 8080))
    requests = variant.number_between("requests", 2, 8)
    body = bytes(variant.number_between("body", 0, 30_000))
    upload = variant.choose("upload", True, False)
    if variant.choose("chunked", True, False):
        response = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        response += b"".join(b"%x\r\n%s\r\n" % (len(body[at:at + 4096]), body[at:at + 4096])
                             for at in range(0, len(body), 4096)) + b"0\r\n\r\n"
    else:
        response = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    request = (b"POST /items HTTP/1.1\r\nHost: server.example\r\nContent-Length: 700\r\n\r\n" + bytes(700) if upload
               else b"GET /items HTTP/1.1\r\nHost: server.example\r\n\r\n")

    def serve(connection):
        for _ in range(requests):
            receive(connection, len(request))
            connection.sendall(response)
        drain(connection)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(requests):
            connection.sendall(request)
            receive(connection, len(response))
            time.sleep(variant.random.uniform(0.0, 0.2))

    net.serve(serve)
    net.client(ask)
    net.run()
    return variant.label()


@healthy("parallel", 2)
def parallel(variant):
    """Several connections of one client at the same time, as a browser makes them."""
    count = variant.number_between("connections", 4, 7)
    size = variant.number_between("response", 5_000, 150_000)
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.05))

    def serve():
        connection = net.listeners[0].accept()[0]
        answer(connection, 2, 150, size)
        drain(connection)

    def ask(index):
        time.sleep(0.01 * index)
        connection = net.connect(NO_DELAY)
        for _ in range(2):
            connection.sendall(bytes(150))
            receive(connection, size)

    for index in range(count):
        net.server(serve)
        net.client(ask, index)
    net.run()
    return variant.label()


@healthy("pipelined", 1)
def pipelined(variant):
    """Requests that the client sends without waiting for the answers, which the server sends in order."""
    net = Net(variant, rtt=variant.number_between("rtt", 0.004, 0.08))
    count = variant.number_between("requests", 10, 60)
    size = variant.number_between("response", 50, 5_000)
    think = variant.number_between("think", 0.0, 0.004)

    def ask():
        connection = net.connect(NO_DELAY)
        for _ in range(count):
            connection.sendall(bytes(130))
            time.sleep(variant.random.uniform(0, 0.004))
        receive(connection, count * size)

    net.serve(lambda connection: answer(connection, count, 130, size, think))
    net.client(ask)
    net.run()
    return variant.label()


@healthy("pings", 4)
def pings(variant):
    """Both sides send small messages now and then, as with WebSocket."""
    net = network(variant, rtt=variant.number_between("rtt", 0.004, 0.08))
    pause = variant.number_between("pause", 0.15, 0.4)

    def talk(connection, first):
        connection.setsockopt(*NO_DELAY)
        time.sleep(first)
        for _ in range(6):
            connection.sendall(bytes(variant.random.randint(6, 120)))
            time.sleep(pause)
        connection.shutdown(socket.SHUT_WR)
        drain(connection)

    net.serve(lambda connection: talk(connection, pause / 2))
    net.client(lambda: talk(net.connect(), 0.0))
    net.run()
    return variant.label()
