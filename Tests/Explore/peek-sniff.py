# Bug: one peek at the first bytes determines the protocol, and fewer than four bytes are taken for the old protocol.
# Why tests miss it: a client's first segment contains its whole first message.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError), conn.makefile("rb") as lines:
        conn.sendall(b"220 ready\r\n")
        new = conn.recv(4, socket.MSG_PEEK | (socket.MSG_WAITALL if FIXED else 0)) == b"NEW/"
        for line in lines:
            conn.sendall((b"new " if new else b"old ") + line)
