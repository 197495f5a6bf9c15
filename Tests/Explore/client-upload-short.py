# Bug: the client writes once to a non-blocking socket and ignores how much of its upload the kernel accepted.
# Why tests miss it: if the server reads at once and the window is large, the kernel accepts the whole upload.
import socket, sys

FIXED = "--fixed" in sys.argv

with socket.socket() as conn:
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    conn.connect(("127.0.0.1", int(sys.argv[1])))
    conn.sendall(b"PUT 8192\r\n")
    if conn.recv(len(b"go\r\n"), socket.MSG_WAITALL) != b"go\r\n":
        sys.exit("no go")
    conn.setblocking(FIXED)
    (conn.sendall if FIXED else conn.send)(b"0123456789abcdef" * 512)
    conn.setblocking(True)
    conn.sendall(b"done\r\n")
    while conn.recv(1024):
        pass
