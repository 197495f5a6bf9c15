"""The server of crowd.scn: it echoes everything that it receives.

    python3 lines.py [PORT [FILE]]

It prints its port, a free port by default. It writes the time and the source address of each connection to FILE.
"""
import os
import selectors
import socket
import sys
import time

listener = socket.create_server(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 0), backlog=512)
listener.setblocking(False)
print(listener.getsockname()[1], flush=True)
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
with open(sys.argv[2] if len(sys.argv) > 2 else os.devnull, "w", buffering=1, encoding="utf-8") as arrivals:
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                try:
                    peer, address = listener.accept()
                except BlockingIOError:
                    continue
                arrivals.write(f"{time.time():.6f} {address[0]}\n")
                selector.register(peer, selectors.EVENT_READ)
                continue
            try:
                data = key.fileobj.recv(65536)
                if data:
                    key.fileobj.sendall(data)
            except ConnectionError:
                data = b""
            if not data:
                selector.unregister(key.fileobj)
                key.fileobj.close()
