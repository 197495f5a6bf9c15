# Bug: reads until nothing is left; where the input ends there, what was read in the same round is not answered.
# Why tests miss it: the FIN comes behind the last command, in a segment of its own, when that has been answered.
# Connections are served one after the other. Each line is answered by its length.
import select
import socket
import sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    client, _ = listener.accept()
    client.setblocking(False)
    poll, rest, ended = select.poll(), b"", False
    poll.register(client, select.POLLIN)
    while not ended:
        poll.poll()
        try:
            while not ended:
                data = client.recv(4096)
                ended = not data
                rest += data
        except BlockingIOError:
            pass
        except ConnectionResetError:
            rest, ended = b"", True
        if FIXED or not ended:
            *lines, rest = rest.split(b"\r\n")
            for line in lines:
                client.sendall(b"%d\r\n" % len(line))
    client.close()
