# Bug: the body of a request is whatever arrived together with the end of its header; Content-Length is ignored.
# Why tests miss it: a small request is sent in one segment, header and body together.
# Connections are served one at a time.
import contextlib, re, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        data = b""
        while b"\r\n\r\n" not in data and (chunk := conn.recv(4096)):
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1]) if FIXED else 0
        while len(body) < length and (chunk := conn.recv(4096)):
            body += chunk
        conn.sendall(b"HTTP/1.0 200 OK\r\n\r\nposted <" + body + b">")
        conn.shutdown(socket.SHUT_WR)
        while conn.recv(4096):
            pass
