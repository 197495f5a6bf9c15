"""asyncio protocols with heartbeats and automatic reconnecting, as in chat and queue clients: `data_received`,
`call_later` and the loop's clock."""
import asyncio, errno, json, socket, struct, sys

TERMINATORS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\0"}
WIDTHS = {"u8": 1, "u16": 2, "u24": 3, "u32": 4, "u64": 8}
connections, numbers = {}, iter(range(1_000_000, 10_000_000))


def say(**message):
    print(json.dumps(message), flush=True)


def reason(error):
    known = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", BrokenPipeError: "broken-pipe", TimeoutError: "timeout"}
    return known.get(type(error), "other")


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


class Connection(asyncio.Protocol):
    """One connection. The only state about the peer is the time at which data was last received from it."""

    def __init__(self, conn, op, listener=None, waits=0):
        self.conn, self.op, self.listener, self.waits = conn, op, listener, waits
        self.terminator, self.width = TERMINATORS.get(op["framing"]), WIDTHS.get(op["framing"])
        self.limit, self.answer = op.get("max-line", 1024), op.get("heartbeat-answer")
        self.buffer, self.searched, self.transport, self.timer = bytearray(), 0, None, None
        self.is_over = self.is_stopping = self.is_paused = self.is_half_closed = False
        connections[conn] = self

    def connection_made(self, transport):
        self.transport = transport
        if self.is_over:  # The connection was stopped just as it was established.
            return transport.abort()
        if self.listener is not None:
            say(ev="accept", conn=self.conn, listener=self.listener)
        say(ev="start", conn=self.conn)
        if self.is_paused:
            transport.pause_reading()
        self.heard = self.sent = asyncio.get_running_loop().time()
        self.look()

    # Receiving

    def data_received(self, data):
        if self.answer is None:
            self.heard = asyncio.get_running_loop().time()
        self.buffer += data
        while not self.is_over and not self.is_stopping and (message := self.next()) is not None:
            if message.decode("latin-1") == self.answer:
                self.heard = asyncio.get_running_loop().time()
            else:
                say(ev="message" if self.width else "line", conn=self.conn, data=message.decode("latin-1"))

    def next(self):
        if self.width:
            start, length = self.width, int.from_bytes(self.buffer[:self.width], "big")
            end = behind = start + length
            found = len(self.buffer) >= start and len(self.buffer) >= end
        else:
            start, end = 0, self.buffer.find(self.terminator, self.searched)
            self.searched = max(0, len(self.buffer) - len(self.terminator) + 1)  # Bytes without a terminator are not searched again.
            found, length = end >= 0, end if end >= 0 else len(self.buffer) - len(self.terminator) + 1
            behind = end + len(self.terminator)
        if length > self.limit and len(self.buffer) >= start:
            return self.end("too-long")
        if not found:
            return None
        message = bytes(self.buffer[start:end])
        del self.buffer[:behind]
        self.searched = 0
        return message

    def eof_received(self):
        if self.buffer and not self.is_stopping and not self.is_over:
            say(ev="leftover", conn=self.conn, data=self.buffer.decode("latin-1"))
        self.end("eof")

    def connection_lost(self, error):
        self.end(reason(error) if error else "eof", error)

    def end(self, reason, error=None):
        if self.is_over:
            return
        self.is_over = True
        why = {"detail": str(error or ""), **({} if self.is_stopping else machine(error))}
        if self.timer:
            self.timer.cancel()
        if self.transport:
            self.transport.close()
        if self.is_stopping or self.is_half_closed or reason in ("too-long", "stopped") or "reconnect-min-ms" not in self.op or self.listener is not None:
            return say(ev="stop", conn=self.conn, reason="stopped" if self.is_stopping else reason, **why)
        if self.transport:
            self.transport.abort()  # Nothing more is written to the connection; unsent bytes are lost.
        say(ev="lost" if self.transport else "attempt-failed", conn=self.conn, reason=reason, **why)
        successor = Connection(self.conn, self.op, waits=0 if self.transport else self.waits)
        successor.is_paused = self.is_paused
        successor.connect_later()

    def connect_later(self):
        """Each connection is a new object, so that no state of the previous one remains."""
        wait = min(self.op["reconnect-min-ms"] * 2 ** self.waits, self.op["reconnect-max-ms"]) / 1000
        self.waits = min(self.waits + 1, 32)
        self.task = asyncio.ensure_future(connect(self, self.op["host"], self.op["port"], wait))

    # Sending

    def send(self, data):
        if self.is_half_closed:
            return {"error": "half-closed"}
        try:
            frame = len(data).to_bytes(self.width, "big") + data if self.width else data + self.terminator
        except OverflowError:
            return {"error": "invalid"}
        self.sent = asyncio.get_running_loop().time()
        self.transport.write(frame)
        return {}

    def abort(self):
        self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    # Heartbeat

    def look(self):
        """Performs the actions that are due, and schedules the next one."""
        if self.is_over or self.is_stopping or self.is_half_closed:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self.transport.get_write_buffer_size():  # Bytes that are still waiting will be written later, which makes a heartbeat unnecessary.
            self.sent = now
        silence = self.op.get("heartbeat-timeout-ms")
        if silence and not self.is_paused and now >= self.heard + silence / 1000:
            self.end("heartbeat", "the peer is silent")
            return self.abort()
        interval = self.op.get("heartbeat-ms")
        if interval and now >= self.sent + interval / 1000:
            self.send(self.op["heartbeat"].encode("latin-1"))
        if interval or silence:
            self.timer = loop.call_later(0.005, self.look)


async def connect(connection, host, port, wait=0.0):
    try:
        await asyncio.sleep(wait)
        await asyncio.get_running_loop().create_connection(lambda: connection, host, port)
    except OSError as error:
        connection.end(reason(error), error)


async def listen(conn, op):
    def accepted():
        return Connection(next(numbers), op, listener=conn)
    server = connections[conn] = await asyncio.get_running_loop().create_server(accepted, op["host"], op["port"])
    return {"port": server.sockets[0].getsockname()[1]}


async def do(conn, op):
    verb, connection = op["op"], connections.get(conn)
    if verb in ("connect", "listen"):
        if connection:
            return {"error": "already-started"}
        if op["framing"] not in TERMINATORS and op["framing"] not in WIDTHS:
            return {"error": "unsupported"}
        if verb == "listen":
            return await listen(conn, op)
        connection = Connection(conn, op)
        connection.task = asyncio.ensure_future(connect(connection, op["host"], op["port"]))
    elif not connection:
        return {"error": "not-started"}
    elif isinstance(connection, asyncio.Server):
        if verb not in ("stop", "reset"):
            return {"error": "invalid"}
        if connection.is_serving():
            connection.close()
            say(ev="stop", conn=conn, reason="stopped")
    elif verb in ("stop", "reset"):
        connection.is_stopping = True
        if not connection.transport:
            connection.task.cancel()
            connection.end("stopped")
        elif verb == "reset":
            connection.abort()
        else:
            connection.transport.close()  # Everything that was sent is written first; `connection_lost` reports the end.
    elif connection.is_over or connection.is_stopping:
        return {"error": "stopped"}
    elif not connection.transport:
        return {"error": "not-started"}
    elif verb == "send":
        return connection.send(op["data"].encode("latin-1"))
    elif verb == "half-close":
        connection.is_half_closed = True
        connection.transport.write_eof()
    elif verb == "stop-reading":
        connection.is_paused = True
        connection.transport.pause_reading()
    elif verb == "resume-reading":
        if connection.is_paused:
            connection.is_paused = False
            connection.heard = asyncio.get_running_loop().time()
            connection.transport.resume_reading()
    else:
        return {"error": "unsupported"}
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(connections.items()):
        if sock and machine(error) and sock.fileno() in [each.fileno() for each in getattr(it, "sockets", ())]:
            it.close()
            return say(ev="stop", conn=conn, reason="other", detail=str(error), **machine(error))
    loop.default_exception_handler(context)


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    loop.set_exception_handler(failed)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    say(ev="hello", proto=1, minor=4, name="python-heartbeat",
        can=["connect", "listen", "send", "lines", "messages", *TERMINATORS, *WIDTHS, "leftover", "half-close", "stop", "reset",
             "stop-reading", "resume-reading", "max-line", "heartbeat", "reconnect"], lacks=["frames"])
    while line := await stdin.readline():
        op = json.loads(line)
        try:
            answer = await do(op["conn"], op)
        except OSError as error:
            answer = {"error": str(error), **machine(error)}
        say(ev="done", id=op["id"], **answer)


asyncio.run(main())
