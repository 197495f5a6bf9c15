# Bug: a proxy replaces the backend's name in each chunk of the reply; a name that is split between two chunks is forwarded unchanged.
# Why tests miss it: the head of a reply is sent at once.
# Connections are served one at a time. The arguments are the port and the backend's port.
import socket
import sys

FIXED = "--fixed" in sys.argv


def forward(source, target, change, whole):
    """Forwards one message, which ends with an empty line. With `whole`, lines are forwarded only as a whole."""
    rest, tail = b"", b""
    while tail != b"\r\n\r\n" and (data := source.recv(4096)):
        tail = (tail + data)[-4:]
        rest += data
        ready = rest.rfind(b"\n") + 1 if whole else len(rest)
        target.sendall(change(rest[:ready]))
        rest = rest[ready:]
    return tail == b"\r\n\r\n"


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    backend = socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    with client, backend:
        try:
            while forward(client, backend, lambda data: data, False):
                forward(backend, client, lambda data: data.replace(b"inner", b"outer"), FIXED)
        except ConnectionError:
            pass
