"""`websockets` with its asyncio API, client and server: `recv`, `send`, `ping`, `close`, and its limit `max_size`. Needs the package `websockets`."""
import asyncio, errno, json, socket, ssl, struct, sys

import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed, InvalidHandshake, PayloadTooBig, ProtocolError
from websockets.protocol import State

# The object to which each `conn` refers: a connecting task, a connection, or a server.
known, stopping, over, numbers, tasks = {}, set(), set(), iter(range(1_000_000, 10_000_000)), set()


def say(**message):
    print(json.dumps(message), flush=True)


def options(op):
    """Disables compression and automatic pings, because both would change the frames that the peer receives."""
    timeout = op.get("connect-timeout-ms", 0) / 1000 or None
    return {"compression": None, "ping_interval": None, "open_timeout": timeout, "close_timeout": 0.5, "max_size": op.get("max-line", 1024)}


def secure(tls):
    if not tls:
        return {}
    context = ssl.create_default_context(cafile=tls["ca"])
    if "alpn" in tls:
        context.set_alpn_protocols(tls["alpn"])
    context.minimum_version = ssl.TLSVersion.TLSv1_3 if tls.get("version") == "1.3" else ssl.TLSVersion.TLSv1_2
    if tls.get("version") == "1.2":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    return {"ssl": context, "server_hostname": tls["name"]}


async def read(conn, ws):
    known[conn] = ws
    if tls := ws.transport.get_extra_info("ssl_object"):
        say(ev="secured", conn=conn, version=tls.version().removeprefix("TLSv"), alpn=tls.selected_alpn_protocol())
    say(ev="start", conn=conn)
    try:
        while True:
            message = await ws.recv()
            kind = "text" if isinstance(message, str) else "binary"
            if conn not in stopping:
                say(ev="message", conn=conn, kind=kind, data=(message.encode() if kind == "text" else message).decode("latin-1"))
    except ConnectionClosed as end:
        # The error's cause is the violation that the library found, and `rcvd` is the peer's close frame.
        why = reason(end.__cause__)
        if end.rcvd and why not in ("protocol", "too-long"):
            why = "closed"
        code = end.rcvd.code if why == "closed" and end.rcvd.code != 1005 else None
        stop(conn, why, str(end), code)


def reason(error):
    for kind, name in (
        (PayloadTooBig, "too-long"), ((ProtocolError, UnicodeDecodeError), "protocol"), (ssl.SSLError, "tls-failed"),
        (ConnectionRefusedError, "refused"), (ConnectionResetError, "reset"), (BrokenPipeError, "broken-pipe"),
        (TimeoutError, "timeout"), (EOFError, "eof"),
    ):
        if isinstance(error, kind):
            return name
    if isinstance(error, InvalidHandshake):
        return "eof" if isinstance(error.__cause__, EOFError) else "protocol"
    return "other"


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


def stop(conn, reason, detail="", code=None, error=None):
    if conn not in over:
        over.add(conn)
        code = {"code": code} if code is not None and conn not in stopping else {}
        say(ev="stop", conn=conn, reason="stopped" if conn in stopping else reason, detail=detail, **code,
            **({} if conn in stopping else machine(error)))


async def dial(conn, host, port, op):
    url = f"{'wss' if 'tls' in op else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}{op.get('request-path', '/')}"
    try:
        ws = await connect(url, proxy=None, **options(op), **secure(op.get("tls")))
    except (OSError, InvalidHandshake) as error:
        return stop(conn, reason(error), f"{error} ({error.__cause__ or ''})", error=error)
    await read(conn, ws)


async def listen(listener, host, port, op):
    async def accepted(ws):
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=listener)
        await read(conn, ws)
    server = known[listener] = await serve(accepted, host, port, **options(op))
    return {"port": server.sockets[0].getsockname()[1]}


async def begin(coroutine):
    """Starts an operation, and returns at once if the op is invalid. `send` may wait for the kernel, and `close` for the peer."""
    task = asyncio.ensure_future(coroutine)
    tasks.add(task)
    task.add_done_callback(lambda task: (tasks.discard(task), task.cancelled() or task.exception()))
    await asyncio.sleep(0)
    try:
        if task.done():
            task.result()
    except (ProtocolError, UnicodeDecodeError):
        return {"error": "invalid"}
    except ConnectionClosed:
        return {"error": "stopped"}
    return {}


async def do(op, conn, host="", port=0, data="", **more):
    data = data.encode("latin-1")
    if op in ("connect", "listen"):
        if conn in known:
            return {"error": "already-started"}
        if more["framing"] != "websocket":
            return {"error": "unsupported"}
        if op == "listen":
            return await listen(conn, host, port, more)
        known[conn] = asyncio.ensure_future(dial(conn, host, port, more))
        return {}
    if conn not in known:
        return {"error": "not-started"}
    if conn in over:
        return {} if op in ("stop", "reset") else {"error": "stopped"}
    it = known[conn]
    if op in ("stop", "reset") and not hasattr(it, "recv"):
        stop(conn, "stopped")
        it.cancel() if isinstance(it, asyncio.Task) else it.close(close_connections=False)
    elif op == "stop":
        stopping.add(conn)
        await begin(it.close())  # `read` reports the end of the connection.
    elif op == "reset":
        stopping.add(conn)
        it.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        it.transport.abort()
    elif not hasattr(it, "recv"):
        return {"error": "not-started"}
    elif it.state is not State.OPEN:
        # `send`, `ping` and `close` would wait for the end of the connection, and then raise ConnectionClosed.
        return {"error": "stopped"}
    elif op == "send":
        try:
            return await begin(it.send(data if more.get("kind") == "binary" else data.decode()))
        except UnicodeDecodeError:  # A str can't hold invalid UTF-8.
            return {"error": "invalid"}
    elif op == "ping":
        return await begin(it.ping(data))
    elif op == "close":
        try:
            return await begin(it.close(more.get("code"), more.get("reason", "").encode("latin-1").decode()))
        except UnicodeDecodeError:
            return {"error": "invalid"}
    else:
        return {"error": "unsupported"}
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(known.items()):
        if sock and machine(error) and sock.fileno() in [each.fileno() for each in getattr(it, "sockets", ())]:
            it.close(close_connections=False)
            return stop(conn, "other", str(error), error=error)
    loop.default_exception_handler(context)


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    loop.set_exception_handler(failed)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    # The library does not report pings, and reports a pong only if it answers one of its own pings.
    say(ev="hello", proto=1, minor=4, name="python-websockets", version=websockets.__version__, lacks=["pings"],
        can=["connect", "listen", "send", "websocket", "stop", "reset", "connect-timeout", "max-line", "tls"])
    while line := await stdin.readline():
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = await do(**request)
        except OSError as error:
            answer = {"error": str(error), **machine(error)}
        say(ev="done", id=id, **answer)


asyncio.run(main())
