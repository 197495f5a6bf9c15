"""asyncio streams with explicit reads: `readexactly`, `readuntil` with its limit, and `read`; also listens."""
import asyncio, errno, json, socket, struct, sys

TERMINATORS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\0", "none": b""}
known, numbers = {}, iter(range(1_000_000, 10_000_000))


def say(**message):
    print(json.dumps(message), flush=True)


def reason(error):
    known = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", BrokenPipeError: "broken-pipe",
             asyncio.TimeoutError: "timeout", asyncio.LimitOverrunError: "too-long"}
    return known.get(type(error), "other")


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


class Peer:
    def __init__(self, conn, limit, terminator):
        self.conn, self.limit, self.terminator, self.over, self.why = conn, limit, terminator, False, None
        self.reads = asyncio.Queue()
        self.writer = self.task = None

    def stop(self, why, error=None):
        if not self.over:
            self.over = True
            say(ev="stop", conn=self.conn, reason=self.why or why, detail=str(error or ""), **({} if self.why else machine(error)))

    async def connect(self, host, port, timeout):
        try:
            streams = await asyncio.wait_for(asyncio.open_connection(host, port, limit=self.limit), timeout)
        except (OSError, asyncio.TimeoutError) as error:
            return self.stop(reason(error), error)
        await self.serve(*streams)

    async def serve(self, reader, writer):
        if self.over:  # The connection was stopped just as it was established.
            return writer.close()
        self.writer, self.task = writer, asyncio.current_task()
        say(ev="start", conn=self.conn)
        try:
            while True:
                request = await self.reads.get()
                timeout = request.get("timeout-ms")
                data = await asyncio.wait_for(self.read(reader, request), timeout if timeout is None else timeout / 1000)
                if not data:
                    self.stop("eof")
                    break
                if not self.why:
                    say(ev="data", conn=self.conn, data=data.decode("latin-1"))
        except asyncio.IncompleteReadError as end:
            if end.partial and not self.why:
                say(ev="leftover", conn=self.conn, data=end.partial.decode("latin-1"))
            self.stop("eof")
        except (OSError, asyncio.TimeoutError, asyncio.LimitOverrunError) as error:
            self.stop(reason(error), error)
        except asyncio.CancelledError:
            pass
        writer.close()
        try:
            await writer.wait_closed()  # Returns when everything that was sent has been written.
        except OSError:
            pass
        self.stop("stopped")

    def read(self, reader, request):
        if "length" in request:
            return reader.readexactly(request["length"])
        if "until" in request:
            return reader.readuntil(request["until"].encode("latin-1"))
        return reader.read(65536)

    def end(self, abort):
        is_first, self.why = not self.why, "stopped"
        if not self.writer:
            self.stop("stopped")
            return self.task.cancel()
        if abort:
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        if is_first:
            self.task.cancel()


class Listener:
    over = False

    def __init__(self, conn, limit, terminator):
        self.conn, self.limit, self.terminator = conn, limit, terminator

    async def listen(self, host, port):
        self.server = await asyncio.start_server(self.accepted, host, port, limit=self.limit)
        return {"port": self.server.sockets[0].getsockname()[1]}

    async def accepted(self, reader, writer):
        peer = Peer(next(numbers), self.limit, self.terminator)
        known[peer.conn] = peer
        say(ev="accept", conn=peer.conn, listener=self.conn)
        await peer.serve(reader, writer)

    def end(self, abort, error=None):
        self.over = True
        self.server.close()
        say(ev="stop", conn=self.conn, reason="other" if error else "stopped", **machine(error))


async def do(op, conn, host="", port=0, data="", **more):
    it = known.get(conn)
    if op in ("connect", "listen"):
        if it or more["framing"] not in TERMINATORS:
            return {"error": "already-started" if it else "unsupported"}
        kind = Peer if op == "connect" else Listener
        it = known[conn] = kind(conn, more.get("max-line", 1024), TERMINATORS[more["framing"]])
        if op == "listen":
            return await it.listen(host, port)
        timeout = more.get("connect-timeout-ms")
        it.task = asyncio.ensure_future(it.connect(host, port, timeout if timeout is None else timeout / 1000))
    elif not it:
        return {"error": "not-started"}
    elif it.over or op not in ("stop", "reset") and getattr(it, "why", None):
        return {} if op in ("stop", "reset") else {"error": "stopped"}
    elif op in ("stop", "reset"):
        it.end(op == "reset")
    elif op == "read":
        it.reads.put_nowait(more)
    elif op == "half-close":
        it.writer.write_eof()
    elif op == "send":
        it.writer.write(data.encode("latin-1") + it.terminator)
    else:
        return {"error": "unsupported"}
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(known.items()):
        if sock and machine(error) and sock.fileno() in [each.fileno() for each in (it.server.sockets if isinstance(it, Listener) else ())]:
            it.end(False, error)
            return
    loop.default_exception_handler(context)


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    loop.set_exception_handler(failed)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    say(ev="hello", proto=1, minor=4, name="python-asyncio-reads", lacks=["frames", "watches"],
        can=["connect", "listen", "send", "data", "reads", "leftover", "half-close", "stop", "reset", "connect-timeout",
             "max-line", *TERMINATORS])
    while line := await stdin.readline():
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = await do(**request)
        except (OSError, RuntimeError) as error:  # A write after write_eof raises a RuntimeError.
            answer = {"error": "stopped", "detail": str(error), **machine(error)}
        say(ev="done", id=id, **answer)


asyncio.run(main())
