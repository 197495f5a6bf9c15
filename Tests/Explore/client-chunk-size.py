# Bug: the size of a chunk is parsed from the received part of its line, even if the CRLF has not arrived.
# Why tests miss it: the line with the size is sent together with the chunk.
import socket, sys

FIXED = "--fixed" in sys.argv

conn = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
conn.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
data = b""

def need(ready):
    """Receives until `ready` returns true."""
    global data
    while not ready():
        if not (part := conn.recv(4096)):
            sys.exit("the server closed the connection")
        data += part

need(lambda: b"\r\n\r\n" in data)
data = data.split(b"\r\n\r\n", 1)[1]
body = b""
while True:
    need(lambda: b"\r\n" in data if FIXED else data)
    line, _, data = data.partition(b"\r\n")
    size = int(line, 16)
    need(lambda: len(data) >= size + 2)
    body += data[:size]
    data = data[size + 2:]
    if size == 0:
        break
print("body", body.decode(errors="replace"), flush=True)
