# Control: a client of a line server, without a planted bug; explore must find nothing.
# It reads complete lines, however many pieces they arrive in, and values by their count. It gives up after 10 s without
# a byte. If the server closes too early, it prints an error to stderr and exits with status 1.
import socket, sys

class Lines:
    def __init__(self, conn):
        self.conn, self.data = conn, b""

    def more(self):
        if not (chunk := self.conn.recv(4096)):
            raise EOFError("the server closed the connection")
        self.data += chunk

    def line(self):
        while b"\r\n" not in self.data:
            self.more()
        line, self.data = self.data.split(b"\r\n", 1)
        return line.decode("utf-8", errors="replace")

    def value(self, size):
        while len(self.data) < size:
            self.more()
        value, self.data = self.data[:size], self.data[size:]
        return value.decode("utf-8", errors="replace")

try:
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=10) as conn:
        server = Lines(conn)
        print("banner", server.line(), flush=True)
        conn.sendall(b"GET name\r\n")
        size = int(server.line().removeprefix("$"))
        print("name", server.value(size), flush=True)
        server.value(2)  # the CRLF after the value
        conn.sendall(b"QUIT\r\n")
        print("end", server.line(), flush=True)
except (OSError, EOFError, ValueError) as error:
    sys.exit(f"control-client: {error}")
