# Bug: the empty line that ends the header is searched for only in the last chunk, not in everything received.
# Why tests miss it: a request without a body fits in one segment, and most cuts do not separate the last four bytes of
# its header.
# Connections are served one at a time. An incomplete request is answered with 400.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.settimeout(0.3)
        head, whole = b"", False
        with contextlib.suppress(TimeoutError):
            while not whole and (chunk := conn.recv(1024)):
                head += chunk
                whole = b"\r\n\r\n" in (head if FIXED else chunk)
        status = b"200 OK" if whole else b"400 Bad Request"
        conn.sendall(b"HTTP/1.0 " + status + b"\r\n\r\n" + head.split(b"\r\n")[0])
