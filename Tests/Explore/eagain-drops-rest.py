# Bug: if a non-blocking send fails with EAGAIN, the send is skipped, and its line is never sent.
# Why tests miss it: with a fast reader and a large window, the kernel accepts every line.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # connections inherit this option
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        conn.recv(len(b"BIG\r\n"), socket.MSG_WAITALL)
        conn.setblocking(FIXED)
        for number in range(32):
            with contextlib.suppress(BlockingIOError):
                conn.send(b"%03d %s\r\n" % (number, b"x" * 250))
        conn.setblocking(True)
        conn.sendall(b"end\r\n")
