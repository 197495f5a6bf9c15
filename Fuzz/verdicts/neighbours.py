"""Servers in the same network as the cases, and connections that use the port numbers of the cases at other addresses.
The late actions of these servers belong to no case.

    neighbours.py SEED      prints `ready` once all servers listen; exits at the end of its input
"""
import random
import selectors
import socket
import struct
import sys
import threading
import time

HOST = "127.0.0.1"
# The last digit of the port determines what the server does once the other side of a connection has closed.
PORTS = range(9800, 9805)
NOISE = ("127.0.0.77", range(9741, 9745))


def lines(peer):
    """Yields the received lines up to the end; a reset is treated as an end, too."""
    rest = b""
    while True:
        try:
            some = peer.recv(65536)
        except OSError:
            return
        if not some:
            return
        *whole, rest = (rest + some).split(b"\r\n")
        for line in whole:
            yield line + b"\r\n"


def serve(peer, behaviour, rng):
    try:
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.sendall(b"hello\r\n")
        for line in lines(peer):
            peer.sendall(line)
        if behaviour:
            time.sleep(rng.choice([0, 0.001, 0.002, 0.004, 0.007, 0.01]))
        if behaviour == 2:
            peer.sendall(b"too late\r\n")
        elif behaviour == 3:
            time.sleep(0.1)
        if behaviour in (1, 4):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    finally:
        peer.close()


def listen(address, serving):
    listener = socket.create_server(address, backlog=128)

    def accept():
        while True:
            peer = listener.accept()[0]
            threading.Thread(target=serving, args=(peer,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def noise(rng):
    """Opens unrelated connections with the cases' port numbers; many of them are reset."""
    host, ports = NOISE
    while True:
        time.sleep(rng.uniform(0.005, 0.05))
        try:
            with socket.socket() as peer:
                # The port must not be one of the few ports that a run may use.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                peer.bind((host, rng.randrange(62000, 65000)))
                peer.settimeout(5)
                peer.connect((host, rng.choice(ports)))
                peer.sendall(b"noise\r\n" * rng.randrange(1, 5))
                if rng.random() < 0.5:
                    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        except OSError:
            pass


def main():
    seed = sys.argv[1]
    for port in PORTS:
        rng = random.Random(f"{seed}/{port}")
        listen((HOST, port), lambda peer, port=port, rng=rng: serve(peer, port % 10, rng))
    for port in NOISE[1]:
        rng = random.Random(f"{seed}/noise/{port}")
        listen((NOISE[0], port), lambda peer, rng=rng: serve(peer, 4 if rng.random() < 0.3 else 0, rng))
    threading.Thread(target=noise, args=(random.Random(f"{seed}/noise"),), daemon=True).start()
    print("ready", flush=True)
    with selectors.DefaultSelector() as waiting:
        waiting.register(sys.stdin, selectors.EVENT_READ)
        waiting.select()


main()
