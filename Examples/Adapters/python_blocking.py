"""Blocking sockets and `makefile`, the simplest approach in Python. One thread reads each connection."""
import errno, json, socket, ssl, sys, threading

conns, lock = {}, threading.Lock()


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


class Connection:
    sock, is_over = None, False

    def tell(self, conn, ev, **more):
        with lock:
            if not self.is_over:
                print(json.dumps(dict(ev=ev, conn=conn, **more)), flush=True)
                self.is_over = ev == "stop"

    def secure(self, conn, sock, tls):
        context = ssl.create_default_context(cafile=tls["ca"])
        context.set_alpn_protocols(tls.get("alpn", []))
        context.minimum_version = ssl.TLSVersion.TLSv1_3 if tls.get("version") == "1.3" else ssl.TLSVersion.TLSv1_2
        if tls.get("version") == "1.2":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        sock = self.sock = context.wrap_socket(sock, server_hostname=tls["name"])
        self.tell(conn, "secured", version=sock.version().removeprefix("TLSv"), alpn=sock.selected_alpn_protocol())
        return sock

    def serve(self, conn, host, port, timeout, tls):
        trouble = {}
        try:
            sock = self.sock = socket.create_connection((host, port), timeout)
            if tls:
                sock = self.secure(conn, sock, tls)
            if self.is_over:  # A pending connect can't be cancelled, because its socket does not exist until it is connected.
                return sock.close()
            sock.settimeout(None)
            self.tell(conn, "start")
            with sock, sock.makefile(encoding="latin-1", newline="\r\n") as lines:
                for line in lines:
                    self.tell(conn, "line" if line.endswith("\r\n") else "leftover", data=line.removesuffix("\r\n"))
            reason = "eof"
        except ssl.SSLError:
            reason = "tls-failed"
        except OSError as error:
            trouble = machine(error)
            reason = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", TimeoutError: "timeout"}.get(type(error), "other")
        self.tell(conn, "stop", reason=reason, **trouble)


def do(op, conn, host="", port=0, data="", **options):
    if op == "connect":
        if conn in conns or options["framing"] != "crlf":
            return "already-started" if conn in conns else "unsupported"
        conns[conn], timeout = Connection(), options.get("connect-timeout-ms", 0) / 1000 or None
        threading.Thread(target=conns[conn].serve, args=(conn, host, port, timeout, options.get("tls")), daemon=True).start()
        return None
    if conn not in conns:
        return "not-started"
    connection = conns[conn]
    if connection.is_over:
        return None if op == "stop" else "stopped"
    if op == "send":
        connection.sock.sendall((data + "\r\n").encode("latin-1"))
    elif op == "half-close":
        connection.sock.shutdown(socket.SHUT_WR)
    elif op == "stop":
        connection.tell(conn, "stop", reason="stopped")
        if connection.sock:
            connection.sock.shutdown(socket.SHUT_RDWR)


def say(**message):
    with lock:
        print(json.dumps(message), flush=True)


say(ev="hello", proto=1, minor=4, name="python-blocking",
    can=["connect", "send", "lines", "crlf", "leftover", "half-close", "stop", "connect-timeout", "tls"], lacks=["frames"])
for request in map(json.loads, sys.stdin):
    id = request.pop("id")
    try:
        error = do(**request)
    except OSError:
        error = "stopped"
    say(ev="done", id=id, error=error)
