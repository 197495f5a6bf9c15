# Bug: telnet's doubled byte 0xFF is reduced to one in each chunk separately, so a pair that is split between two chunks
# remains two bytes.
# Why tests miss it: the bug appears only after a cut between two equal bytes of binary data.
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
            text += chunk if FIXED else chunk.replace(b"\xff\xff", b"\xff")
            while b"\r\n" in text:
                line, text = text.split(b"\r\n", 1)
                line = line.replace(b"\xff\xff", b"\xff") if FIXED else line
                conn.sendall(b"250 " + line.hex().encode() + b"\r\n")
