# Bug: only one line is handled per recv. If the buffer holds two lines, the second line is not handled until more input
# arrives.
# Why tests miss it: a client that sends one line at a time gets an answer to each.
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
            text += chunk
            while b"\r\n" in text:
                line, text = text.split(b"\r\n", 1)
                conn.sendall(b"250 " + line + b"\r\n")
                if not FIXED:
                    break
