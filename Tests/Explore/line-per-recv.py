# Bug: each recv is taken for one whole line.
# Why tests miss it: a short line that is sent at once arrives in one recv.
# Connections are served one after the other.
import contextlib, socket, sys

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        while line := conn.recv(1024):
            conn.sendall(b"250 " + line.strip() + b"\r\n")
