# Bug: the end of a mail, CRLF dot CRLF, is searched for only in the last two chunks. If it is spread over three chunks,
# it is missed.
# Why tests miss it: a test with one cut shows only that the search crosses the boundary between two chunks.
# Connections are served one at a time. A mail that has not ended after 300 ms is refused.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"354 go ahead\r\n")
        conn.settimeout(0.3)
        mail, before, ended = b"", b"", False
        with contextlib.suppress(TimeoutError):
            while not ended and (chunk := conn.recv(4096)):
                mail += chunk
                ended = b"\r\n.\r\n" in (mail if FIXED else before + chunk)
                before = chunk
        conn.sendall(b"250 %d bytes\r\n" % len(mail) if ended else b"451 no end\r\n")
