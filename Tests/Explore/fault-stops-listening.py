# Bug: the exception of a connection that was reset ends the thread that accepts; the program stays, and refuses everyone.
# Why tests miss it: an orderly end of a connection raises nothing.
# Connections are served one after the other.
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
