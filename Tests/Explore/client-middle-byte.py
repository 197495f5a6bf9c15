# Bug: a single byte that arrives between two other pieces of a line is taken for a heartbeat and dropped.
# Why tests miss it: a single cut never creates a piece of one byte in the middle; two cuts are needed.
import socket, sys

FIXED = "--fixed" in sys.argv

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
    conn.sendall(b"GET\r\n")
    line = b""
    while not line.endswith(b"\n") and (chunk := conn.recv(1024)):
        if not FIXED and line and len(chunk) == 1 and chunk != b"\n":
            continue
        line += chunk
    print("line", line.decode().rstrip(), flush=True)
