# Bug: each recv is taken for one complete line.
# Why tests miss it: a short line that is sent at once arrives in one recv.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        rest = b""
        while line := conn.recv(1024):
            rest += line
            if FIXED and b"\n" not in rest:
                continue
            conn.sendall(b"250 " + rest.strip() + b"\r\n")
            rest = b""
