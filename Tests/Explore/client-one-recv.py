# Bug: the client takes the result of its first recv for the whole reply.
# Why tests miss it: a short reply arrives in one recv.
import socket, sys

FIXED = "--fixed" in sys.argv

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
    conn.sendall(b"GET colour\r\n")
    reply = conn.recv(1024)
    while FIXED and not reply.endswith(b"\r\n"):
        reply += conn.recv(1024)
    print("value", reply[len(b"VALUE "):-len(b"\r\n")].decode(), flush=True)
    conn.sendall(b"QUIT\r\n")
    while conn.recv(1024):
        pass
