# Bug: one thread serves all clients, and waits until a client has received a large reply; the other clients are not served meanwhile.
# Why tests miss it: the test's client reads at once.
# The commands are BIG and PING.
import select
import socket
import sys
import threading

FIXED = "--fixed" in sys.argv


def serve(conn):
    """Answers the next command. Returns whether the connection is still open."""
    try:
        command = conn.recv(6, socket.MSG_WAITALL)
        if command.startswith(b"BIG"):
            conn.sendall(b"0123456789abcdef" * 2048 + b"end\r\n")
        elif command:
            conn.sendall(b"PONG\r\n")
        return bool(command)
    except ConnectionError:
        return False


def serve_all(conn):
    with conn:
        while serve(conn):
            pass


listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
clients = []
while True:
    for conn in select.select([listener, *clients], [], [])[0]:
        if conn is listener:
            client, _ = listener.accept()
            if FIXED:
                threading.Thread(target=serve_all, args=[client], daemon=True).start()
            else:
                clients.append(client)
        elif not serve(conn):
            clients.remove(conn)
            conn.close()
