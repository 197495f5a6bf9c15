# Bug: one read from a TLS connection is taken for the whole reply, so a reply in two records is truncated.
# Why tests miss it: a server that writes its reply at once creates one record, however TCP divides the record into
# segments.
import socket, ssl, sys

FIXED = "--fixed" in sys.argv

context = ssl.create_default_context(cafile=sys.argv[2])
context.check_hostname = False
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as plain, context.wrap_socket(plain) as connection:
    connection.sendall(b"STATUS\r\n")
    reply = connection.recv(4096)
    while FIXED and not reply.endswith(b"\n"):
        reply += connection.recv(4096)
    connection.sendall(b"GOT %d\r\n" % len(reply))
    connection.recv(1)
