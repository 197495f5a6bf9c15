"""Blocking sockets and `makefile`: what a Python script does first. One thread reads each connection."""
import json, socket, sys, threading

conns, lock = {}, threading.Lock()


def say(**message):
    with lock:
        print(json.dumps(message), flush=True)


def serve(conn, host, port, timeout):
    try:
        sock = conns[conn] = socket.create_connection((host, port), timeout)
        sock.settimeout(None)
        say(ev="start", conn=conn)
        with sock, sock.makefile(encoding="latin-1", newline="\r\n") as lines:
            for line in lines:
                say(ev="line" if line.endswith("\r\n") else "leftover", conn=conn, data=line.removesuffix("\r\n"))
        reason = "eof"
    except OSError as error:
        reason = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", TimeoutError: "timeout"}.get(type(error), "other")
    say(ev="stop", conn=conn, reason="stopped" if conns.get(conn) == "stopping" else reason)


def do(op, conn, host="", port=0, data="", **options):
    if op == "connect" and (conn in conns or options["framing"] != "crlf"):
        return "already-started" if conn in conns else "unsupported"
    if op == "connect":
        timeout = options.get("connect-timeout-ms", 0) / 1000 or None
        conns[conn] = None
        threading.Thread(target=serve, args=(conn, host, port, timeout), daemon=True).start()
        return None
    sock = conns[conn]
    if op == "send":
        sock.sendall((data + "\r\n").encode("latin-1"))
    elif op == "half-close":
        sock.shutdown(socket.SHUT_WR)
    elif op == "stop" and isinstance(sock, socket.socket):
        conns[conn] = "stopping"
        sock.shutdown(socket.SHUT_RDWR)


say(ev="hello", proto=1, name="python-blocking", can=["connect", "send", "lines", "leftover", "half-close", "stop", "connect-timeout"])
for request in map(json.loads, sys.stdin):
    id = request.pop("id")
    try:
        error = do(**request)
    except KeyError:
        error = "not-started"
    except (OSError, AttributeError):
        error = "stopped"
    say(ev="done", id=id, error=error)
