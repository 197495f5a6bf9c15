# Bug: each chunk is decoded separately, and a character that is split between two chunks becomes U+FFFD.
# Why tests miss it: characters are short, and a chunk rarely ends inside one.
# Connections are served one at a time.
import codecs, contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        text, decoder = "", codecs.getincrementaldecoder("utf-8")(errors="replace")
        while chunk := conn.recv(1024):
            text += decoder.decode(chunk) if FIXED else chunk.decode("utf-8", errors="replace")
            while "\r\n" in text:
                line, text = text.split("\r\n", 1)
                conn.sendall(f"250 {line.upper()}\r\n".encode())
