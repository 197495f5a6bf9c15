# Bug: CRLF, CR and LF all become LF, but in each chunk by itself: a CRLF between two chunks becomes two line ends.
# Why tests miss it: a chunk ends behind a whole CRLF, or inside of a word.
# Connections are served one after the other.
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
