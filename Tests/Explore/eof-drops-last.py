# Bug: the server reads until no bytes are left; if the input has ended by then, the bytes read in the same round are
# not answered.
# Why tests miss it: the FIN follows the last command in a separate segment, after the command has been answered.
# Connections are served one at a time. Each line is answered with its length.
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
