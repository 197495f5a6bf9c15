# Bug: a proxy that reads data and the FIN in the same round forwards the data, but not the FIN.
# Why tests miss it: a FIN that follows later is read in a round of its own.
# Connections are served one at a time. The arguments are the port and the backend's port.
import select
import socket
import sys

FIXED = "--fixed" in sys.argv


def drain(conn):
    """Returns the bytes that have arrived, and whether the stream has ended."""
    data = b""
    try:
        while part := conn.recv(4096, socket.MSG_DONTWAIT):
            data += part
        return data, True
    except BlockingIOError:
        return data, False
    except ConnectionError:
        return b"", True


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    backend = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    other = {client: backend, backend: client}
    reading = set(other)
    with client, backend:
        while reading:
            for conn in select.select(reading, [], [])[0]:
                data, ended = drain(conn)
                try:
                    other[conn].sendall(data)
                    if ended and (FIXED or not data):
                        other[conn].shutdown(socket.SHUT_WR)
                except OSError:
                    ended = True
                if ended:
                    reading.discard(conn)
