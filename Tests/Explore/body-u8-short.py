# Bug: recv(length) is believed to give all of the body: what comes later is taken for the next length.
# Why tests miss it: a short body has arrived as a whole when it is read.
# Connections are served one after the other.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        while head := conn.recv(1):
            body = conn.recv(head[0], socket.MSG_WAITALL if FIXED else 0)
            conn.sendall(b"got " + body + b"\r\n")
