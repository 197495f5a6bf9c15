# Bug: a command is recognized as soon as the buffer begins with it, before its line has ended, so STATUS may be taken
# for STAT.
# Why tests miss it: STATUS arrives as a whole, and the longer word is tried first.
# Connections are served one at a time.
import contextlib, socket, sys

FIXED = "--fixed" in sys.argv

ANSWERS = {b"STATUS": b"210 all is well\r\n", b"STAT": b"250 3 messages\r\n"}
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    conn, _ = listener.accept()
    with conn, contextlib.suppress(ConnectionError):
        conn.sendall(b"220 ready\r\n")
        text, answered = b"", False
        while chunk := conn.recv(1024):
            text += chunk
            for word, answer in ANSWERS.items():
                if text.startswith(word) and not answered and (not FIXED or b"\n" in text):
                    conn.sendall(answer)
                    answered = True
            if b"\n" in text:
                text, answered = text.split(b"\n", 1)[1], False
