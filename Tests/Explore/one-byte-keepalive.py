# Bug: a recv of a single byte is taken for a keepalive and dropped.
# Why tests miss it: no client sends a single byte, so one arrives alone only if TCP happens to split the data that way.
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
            if len(chunk) == 1 and not FIXED:
                continue
            text += chunk
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                conn.sendall(b"250 " + line.rstrip(b"\r") + b"\r\n")
