# Bug: a connection whose peer has sent FIN stays registered and remains readable, so the loop spins at 100 % CPU.
# Why tests miss it: a client sends QUIT, and the server closes first.
# Several connections are served at once.
import selectors, socket, sys

buffers = {}
selector = selectors.DefaultSelector()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
selector.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in selector.select():
        conn = key.fileobj
        if conn is listener:
            conn, _ = listener.accept()
            selector.register(conn, selectors.EVENT_READ)
            buffers[conn] = b""
            try:
                conn.sendall(b"220 ready\r\n")
            except ConnectionError:
                pass  # the connection was reset; recv reports the error
            continue
        lost = False
        try:
            *lines, buffers[conn] = (buffers[conn] + conn.recv(1024)).split(b"\r\n")
            for line in lines:
                if line == b"QUIT":
                    lost = True
                    break
                conn.sendall(b"250 " + line + b"\r\n")
        except ConnectionError:
            lost = True
        if lost:  # must also happen if recv returned nothing
            selector.unregister(conn)
            del buffers[conn]
            conn.close()
