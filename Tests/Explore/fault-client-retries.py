# Bug: a client whose connection is lost before it has received the answer reconnects forever without any delay.
# Why tests miss it: a server that answers gives it no reason to reconnect.
import socket, sys

while True:
    try:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
            conn.sendall(b"HELLO\r\n")
            reply = b""
            while not reply.endswith(b"\n") and (chunk := conn.recv(1024)):
                reply += chunk
            if reply.endswith(b"\n"):
                print("answer", reply.decode().strip(), flush=True)
                conn.sendall(b"QUIT\r\n")
                while conn.recv(1024):
                    pass
                break
    except ConnectionError:
        pass
