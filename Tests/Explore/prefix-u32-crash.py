# Bug: recv(4) is expected to return all four bytes of the length; if fewer arrive, the program ends with an exception.
# Why tests miss it: a length is sent together with its body.
# Connections are served one at a time.
import contextlib, socket, struct, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        while head := conn.recv(4, socket.MSG_WAITALL if FIXED else 0):
            (length,) = struct.unpack(">I", head)
            body = b""
            while len(body) < length and (part := conn.recv(length - len(body))):
                body += part
            conn.sendall(b"got " + body + b"\r\n")
