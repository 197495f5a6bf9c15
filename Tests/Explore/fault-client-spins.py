# Bug: an empty recv, the server's FIN, is taken for `nothing yet`, so the client reads again at once, forever, at 100 %
# CPU.
# Why tests miss it: a server that answers before it closes never ends the connection in the middle of an answer.
import socket, sys

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
    conn.sendall(b"HELLO\r\n")
    reply = b""
    while not reply.endswith(b"\n"):
        reply += conn.recv(1024)
    print("answer", reply.decode().strip(), flush=True)
    conn.sendall(b"QUIT\r\n")
    while conn.recv(1024):
        pass
