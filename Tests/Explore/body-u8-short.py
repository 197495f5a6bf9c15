# Bug: recv(length) is expected to return the whole body; bytes that arrive later are taken for the length of the next
# message.
# Why tests miss it: a short body has usually arrived completely when it is read.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        while head := conn.recv(1):
            body = conn.recv(head[0], socket.MSG_WAITALL if FIXED else 0)
            conn.sendall(b"got " + body + b"\r\n")
