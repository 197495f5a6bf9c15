"""asyncio streams: `readuntil` with its limit, the usual way to read lines with asyncio, and `readexactly` after a length."""
import asyncio, errno, json, socket, ssl, struct, sys

TERMINATORS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\0"}
WIDTHS = {"u8": 1, "u16": 2, "u24": 3, "u32": 4, "u64": 8, "u16le": 2, "u32le": 4}
writers, framers, handshakes, stopping, over, numbers = {}, {}, {}, set(), set(), iter(range(1_000_000, 10_000_000))


def say(**message):
    print(json.dumps(message), flush=True)


class TooLong(Exception):
    pass


class Framer:
    """The framing code that an asyncio program needs in addition to `readuntil` and `readexactly`."""

    def __init__(self, framing="crlf", delimiter="", **op):
        self.terminator = TERMINATORS.get(framing, delimiter.encode("latin-1"))
        self.width, self.order = WIDTHS.get(framing), "little" if framing.endswith("le") else "big"
        self.limit, self.goes_on = op.get("max-line", 1024), op.get("discard-too-long")
        self.known = framing in TERMINATORS or framing in WIDTHS or framing == "delimiter"

    async def next(self, reader, discarded):
        """Returns the next message, or None if it was too long and was discarded."""
        if self.width:
            return await self.counted(reader, discarded)
        is_left_out = False
        while True:
            try:
                line = await reader.readuntil(self.terminator)
                return None if is_left_out else line.removesuffix(self.terminator)
            except asyncio.LimitOverrunError as error:
                if not self.goes_on:
                    raise TooLong from None
                if not is_left_out:
                    discarded()
                is_left_out = True
                await reader.readexactly(error.consumed)
            except asyncio.IncompleteReadError:
                if is_left_out:
                    raise asyncio.IncompleteReadError(b"", None) from None
                raise

    async def counted(self, reader, discarded):
        head = await reader.readexactly(self.width)
        length = int.from_bytes(head, self.order)
        if length <= self.limit:
            try:
                return await reader.readexactly(length)
            except asyncio.IncompleteReadError as end:
                raise asyncio.IncompleteReadError(head + end.partial, None) from None
        if not self.goes_on:
            raise TooLong
        discarded()
        try:
            while length:
                length -= len(await reader.readexactly(min(length, 65536)))
        except asyncio.IncompleteReadError:
            raise asyncio.IncompleteReadError(b"", None) from None

    def frame(self, data):
        return len(data).to_bytes(self.width, self.order) + data if self.width else data + self.terminator


def secure(tls):
    """Returns the TLS arguments for `open_connection` and `start_tls`."""
    if not tls:
        return {}
    context = ssl.create_default_context(cafile=tls["ca"])
    context.set_alpn_protocols(tls.get("alpn", []))
    context.minimum_version = ssl.TLSVersion.TLSv1_3 if tls.get("version") == "1.3" else ssl.TLSVersion.TLSv1_2
    if tls.get("version") == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return {"context": context, "server_hostname": tls["name"]}


def secured(conn, writer):
    tls = writer.get_extra_info("ssl_object")
    say(ev="secured", conn=conn, version=tls.version().removeprefix("TLSv"), alpn=tls.selected_alpn_protocol())


async def start_tls(conn, context, **more):
    try:
        await writers[conn].start_tls(context, **more)
        secured(conn, writers[conn])
    except OSError as error:
        stop(conn, reason(error), str(error), error)


async def read(conn, reader, writer):
    if conn in over:  # The connection was stopped just as it was established.
        return writer.close()
    writers[conn], framer = writer, framers[conn]
    if writer.get_extra_info("ssl_object"):
        secured(conn, writer)
    say(ev="start", conn=conn)
    try:
        while True:
            message = await framer.next(reader, lambda: conn in stopping or say(ev="discarded", conn=conn))
            if message is not None and conn not in stopping:
                say(ev="message" if framer.width else "line", conn=conn, data=message.decode("latin-1"))
    except asyncio.IncompleteReadError as end:
        if conn in handshakes:  # The handshake reports the actual reason.
            await handshakes[conn]
        if end.partial and conn not in stopping and conn not in over:
            say(ev="leftover", conn=conn, data=end.partial.decode("latin-1"))
        stop(conn, "eof")
    except TooLong:
        stop(conn, "too-long")
    except OSError as error:
        stop(conn, reason(error), str(error), error)
    writer.close()


def reason(error):
    if isinstance(error, ssl.SSLError):
        return "tls-failed"
    known = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", asyncio.TimeoutError: "timeout"}
    return known.get(type(error), "other")


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


def stop(conn, reason, detail="", error=None):
    if conn not in over:
        over.add(conn)
        trouble = {} if conn in stopping else machine(error)
        say(ev="stop", conn=conn, reason="stopped" if conn in stopping else reason, detail=detail, **trouble)


async def connect(conn, host, port, limit, timeout, context=None, **more):
    try:
        opening = asyncio.open_connection(host, port, limit=limit, ssl=context, **more)
        await read(conn, *await asyncio.wait_for(opening, timeout))
    except (OSError, asyncio.TimeoutError) as error:
        stop(conn, reason(error), str(error), error)


async def listen(listener, host, port, limit):
    async def accepted(reader, writer):
        conn = next(numbers)
        framers[conn] = framers[listener]
        say(ev="accept", conn=conn, listener=listener)
        await read(conn, reader, writer)
    server = writers[listener] = await asyncio.start_server(accepted, host, port, limit=limit)
    return {"port": server.sockets[0].getsockname()[1]}


async def do(op, conn, host="", port=0, data="", **more):
    limit = more.get("max-line", 1024)
    if op in ("connect", "listen"):
        framer = Framer(**more)
        if conn in writers or not framer.known:
            return {"error": "already-started" if conn in writers else "unsupported"}
        framers[conn] = framer
    if op == "connect":
        timeout = more.get("connect-timeout-ms", 0) / 1000 or None
        writers[conn] = asyncio.ensure_future(connect(conn, host, port, limit, timeout, **secure(more.get("tls"))))
    elif op == "listen":
        return await listen(conn, host, port, limit)
    elif conn not in writers:
        return {"error": "not-started"}
    elif conn in over:
        return {} if op in ("stop", "reset") else {"error": "stopped"}
    elif op == "send":
        try:
            writers[conn].write(framers[conn].frame(data.encode("latin-1")))
        except OverflowError:
            return {"error": "invalid"}
    elif op == "start-tls":
        if writers[conn].get_extra_info("ssl_object"):
            return {"error": "already-started"}
        handshakes[conn] = asyncio.ensure_future(start_tls(conn, **secure(more["tls"])))
    elif op == "half-close":
        writers[conn].write_eof()
    elif op in ("stop", "reset"):
        stopping.add(conn)
        writer = writers[conn]  # may also be a connecting task or a server
        if op == "reset" and isinstance(writer, asyncio.StreamWriter):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.cancel() if isinstance(writer, asyncio.Task) else writer.close()
        # For a StreamWriter, `read` reports the end once everything has been written.
        if not isinstance(writer, asyncio.StreamWriter):
            stop(conn, "stopped")
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(writers.items()):
        if sock and machine(error) and sock.fileno() in [each.fileno() for each in getattr(it, "sockets", ())]:
            it.close()
            return stop(conn, "other", str(error), error)
    loop.default_exception_handler(context)


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    loop.set_exception_handler(failed)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    say(ev="hello", proto=1, minor=4, name="python-asyncio",
        can=["connect", "listen", "send", "lines", "messages", *TERMINATORS, "delimiter", *WIDTHS, "leftover", "half-close", "stop",
             "reset", "connect-timeout", "max-line", "discarded", "tls", "start-tls"], lacks=["frames"])
    while line := await stdin.readline():
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = await do(**request)
        except NotImplementedError:  # Raised by `write_eof` with TLS.
            answer = {"error": "unsupported"}
        except (OSError, RuntimeError) as error:  # A write after write_eof raises a RuntimeError.
            answer = {"error": "stopped", "detail": str(error), **machine(error)}
        say(ev="done", id=id, **answer)


asyncio.run(main())
