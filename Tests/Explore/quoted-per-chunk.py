# Bug: the state of being inside quotes is lost at the end of a chunk.
# Why tests miss it: the bug appears only after a cut inside quotes, followed by a space or the closing quote.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        words, quoted = [""], False
        while chunk := conn.recv(1024):
            quoted = quoted and FIXED
            for char in chunk.decode("ascii"):
                if char == "\n":
                    conn.sendall(("250 " + "|".join(words) + "\r\n").encode())
                    words, quoted = [""], False
                elif char == '"':
                    quoted = not quoted
                elif char == " " and not quoted:
                    words.append("")
                elif char != "\r":
                    words[-1] += char
