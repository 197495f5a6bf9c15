# Bug: the exception raised when a connection is reset ends the accepting thread. The program keeps running, but refuses
# all connections.
# Why tests miss it: a connection that is closed normally raises no exception.
# Connections are served one at a time.
import socket, sys, threading

def accept():
    with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as listener:
        while True:
            conn, _ = listener.accept()
            with conn, conn.makefile("rb") as lines:
                conn.sendall(b"220 ready\r\n")
                for line in lines:
                    conn.sendall(b"250 " + line)

threading.Thread(target=accept).start()
threading.Event().wait()
