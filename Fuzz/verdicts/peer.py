"""A program of a generated scenario: it performs its actions, and exits with status 9 if its peer deviates from them.

    peer.py connect ADDRESS PORT ACTION…
    peer.py listen ADDRESS PORT ACTION…

Actions: recv:HEX, send:HEX, wait:MS, eof, rst, half, close, reset, exit:N, stay; `daemon` leaves an orphaned
process in a separate session, without the environment of the case; `knock:PORT` repeatedly connects to another
address in the meantime.
"""
import os
import socket
import struct
import sys
import threading
import time


def take(peer, wanted):
    """Receives exactly these bytes; the peer must not end the connection before it has sent all of them."""
    got = b""
    while len(got) < len(wanted):
        some = peer.recv(len(wanted) - len(got))
        if not some:
            break
        got += some
    if got != wanted:
        sys.stderr.write(f"wanted {wanted!r}, got {got!r}\n")
        sys.exit(9)


def end(peer, wanted):
    """Waits until the peer ends the connection in the given way; no bytes may be received before that end."""
    try:
        found = "bytes" if peer.recv(1) else "eof"
    except ConnectionResetError:
        found = "rst"
    if found != wanted:
        sys.stderr.write(f"wanted {wanted}, got {found}\n")
        sys.exit(9)


def daemon():
    """Leaves a detached process behind, as servers that become daemons do."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for descriptor in range(3):
                os.dup2(null, descriptor)
            os.closerange(3, 256)
            os.execve("/bin/sleep", ["sleep", "1000"], {})
        os._exit(0)
    os.wait()


def knock(port):
    """Opens connections that are refused, or accepted by an unrelated server."""
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            pass
        time.sleep(0.001)


def main():
    role, host, port, *actions = sys.argv[1:]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if role == "connect":
        peer = socket.create_connection((host, int(port)))
    else:
        listener = socket.create_server((host, int(port)), family=family)
        peer = listener.accept()[0]
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for action in actions:
        word, _, rest = action.partition(":")
        if word == "recv":
            take(peer, bytes.fromhex(rest))
        elif word == "send":
            peer.sendall(bytes.fromhex(rest))
        elif word == "wait":
            time.sleep(int(rest) / 1000)
        elif word in ("eof", "rst"):
            end(peer, word)
        elif word == "half":
            peer.shutdown(socket.SHUT_WR)
        elif word == "close":
            peer.close()
        elif word == "reset":
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
        elif word == "exit":
            sys.exit(int(rest))
        elif word == "daemon":
            daemon()
        elif word == "knock":
            threading.Thread(target=knock, args=(int(rest),), daemon=True).start()
        elif word == "stay":
            time.sleep(600)
        else:
            sys.exit(f"unknown action: {action}")


main()
