# Bug: the beginning of an unfinished line is kept per host, not per connection, so it is joined to a line of another client on the same host.
# Why tests miss it: each test has one client, and its lines arrive at once.
import select
import socket
import sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
clients, rests = {}, {}
while True:
    for conn in select.select([listener, *clients], [], [])[0]:
        if conn is listener:
            client, address = listener.accept()
            clients[client] = address if FIXED else address[0]
            continue
        key = clients[conn]
        try:
            data = conn.recv(4096)
            *lines, rests[key] = (rests.get(key, b"") + data).split(b"\r\n")
            for line in lines:
                conn.sendall(b"hello " + line + b"\r\n")
        except ConnectionError:
            data = b""
        if not data:
            del clients[conn]
            rests.pop(key, None)
            conn.close()
