# Bug: the server waits with select and reads with readline, so a second line that is already in readline's buffer is not noticed.
# Why tests miss it: each line arrives in a segment of its own.
# Each line is answered with its length.
import select
import socket
import sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
files, rests = {}, {}


def received(conn):
    """Returns the next lines, and whether the connection is still open."""
    if not FIXED:
        line = files[conn].readline()
        return [line] if line else [], bool(line)
    data = conn.recv(4096)
    *lines, rests[conn] = (rests[conn] + data).split(b"\n")
    return lines, bool(data)


while True:
    for conn in select.select([listener, *files], [], [])[0]:
        if conn is listener:
            client, _ = listener.accept()
            files[client], rests[client] = client.makefile("rb"), b""
            continue
        try:
            lines, is_open = received(conn)
            for line in lines:
                conn.sendall(b"%d\r\n" % len(line.strip()))
        except ConnectionError:
            is_open = False
        if not is_open:
            files.pop(conn).close()
            conn.close()
