# Bug: CRLF, CR and LF all become LF, but in each chunk separately, so a CRLF that is split over two chunks becomes two
# line endings.
# Why tests miss it: a chunk usually ends after a complete CRLF, or inside a word.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        text = b""
        while chunk := conn.recv(1024):
            text += chunk if FIXED else chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                conn.sendall(b"250 <" + line.removesuffix(b"\r") + b">\r\n")
