# Control: a server for lines that end in CRLF or LF, without a planted bug; explore must find nothing.
# Each connection has its own thread. A line has at most 1000 bytes. Characters are decoded once their line is complete.
# An unterminated line at the end of the input is not a command. QUIT is handled in order.
import contextlib, socket, sys, threading

LIMIT = 1000

def lines(conn):
    data = b""
    while chunk := conn.recv(4096):
        data += chunk
        while b"\n" in data:
            line, data = data.split(b"\n", 1)
            yield line.removesuffix(b"\r")
        if len(data) > LIMIT:
            yield None
            return

def serve(conn):
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        for line in lines(conn):
            if line is None:
                conn.sendall(b"500 too long\r\n")
                break
            if line == b"QUIT":
                conn.sendall(b"221 bye\r\n")
                break
            text = line.decode("utf-8", errors="replace")
            conn.sendall(f"250 {len(text)} {text[::-1]}\r\n".encode())
        conn.shutdown(socket.SHUT_WR)
        conn.settimeout(2)  # reads the rest of the input, because an RST could destroy the answer
        with contextlib.suppress(TimeoutError):
            while conn.recv(4096):
                pass

listener = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
while True:
    with contextlib.suppress(ConnectionError):
        threading.Thread(target=serve, args=listener.accept()[:1], daemon=True).start()
