# Bug: a reply is considered complete if nothing arrives for 20 ms.
# Why tests miss it: on a single machine, the pieces of a reply are never 20 ms apart.
import socket, sys

FIXED = "--fixed" in sys.argv

with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
    conn.sendall(b"LIST\r\n")
    reply = conn.recv(1024)
    conn.settimeout(5 if FIXED else 0.02)
    try:
        while not reply.endswith(b"\r\n.\r\n") and (part := conn.recv(1024)):
            reply += part
    except TimeoutError:
        pass
    print("list", reply.decode().split("\r\n"), flush=True)
