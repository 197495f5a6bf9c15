# Bug: QUIT is searched for anywhere in the buffer and obeyed at once, so a command that precedes QUIT in the same
# segment is lost.
# Why tests miss it: a client operated by hand sends QUIT separately.
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
            if text.startswith(b"QUIT\r\n") if FIXED else b"QUIT\r\n" in text:
                conn.sendall(b"221 bye\r\n")
                break
            while b"\r\n" in text and not text.startswith(b"QUIT\r\n"):
                line, text = text.split(b"\r\n", 1)
                conn.sendall(b"250 " + line + b"\r\n")
            if text.startswith(b"QUIT\r\n"):
                conn.sendall(b"221 bye\r\n")
                break
