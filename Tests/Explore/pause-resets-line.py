# Bug: a line that has not ended after 20 ms is dropped, as if a new line began at that time.
# Why tests miss it: on a single machine, the pieces of a line are never 20 ms apart.
# Connections are served one at a time.
import contextlib, select, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        text = b""
        while True:
            if not FIXED and text and not select.select([conn], [], [], 0.02)[0]:
                text = b""
            if not (chunk := conn.recv(1024)):
                break
            text += chunk
            while b"\n" in text:
                line, text = text.split(b"\n", 1)
                conn.sendall(b"250 " + line.rstrip(b"\r") + b"\r\n")
