# Bug: each chunk is unescaped separately, so a backslash at the end of a chunk is kept as a literal backslash.
# Why tests miss it: the bug appears only if the data is cut immediately after a backslash.
import re, socket, sys

FIXED = "--fixed" in sys.argv

NAMES = {"n": "\n", "t": "\t", "\\": "\\"}
with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as conn:
    conn.sendall(b"GET note\r\n")
    text, unescaped = "", ""
    while not text.endswith("\r\n") and (chunk := conn.recv(1024)):
        unescaped = unescaped + chunk.decode() if FIXED else chunk.decode()
        part = re.sub(r"\\(.)", lambda found: NAMES[found[1]], unescaped)
        text = part if FIXED else text + part
    print("note", repr(text.rstrip("\r\n")), flush=True)
