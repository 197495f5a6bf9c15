# Bug: the first bytes of a character that is split between chunks are kept, but the next chunk must complete the
# character.
# Why tests miss it: a character is rarely cut, and a single cut is handled correctly.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

def split(data):
    """Returns the decodable part of the data, and the bytes of an incomplete character at its end."""
    try:
        return data.decode(), b""
    except UnicodeDecodeError as error:
        return data[: error.start].decode(), data[error.start :]

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        text, rest = "", b""
        while chunk := conn.recv(1024):
            whole = bool(rest)
            part, rest = split(rest + chunk)
            text += part
            if whole and rest and not FIXED:
                rest = b""  # the character is still incomplete after two chunks
            while "\r\n" in text:
                line, text = text.split("\r\n", 1)
                conn.sendall(f"250 {line}\r\n".encode())
