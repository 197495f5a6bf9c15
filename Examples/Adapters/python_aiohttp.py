"""aiohttp's `ClientSession.ws_connect` and `web.WebSocketResponse`: `receive`, `send_str`, `send_bytes`, `ping`,
`close`, and the limit `max_msg_size`. Needs the package `aiohttp`."""
import asyncio, errno, json, ssl, struct, sys

import aiohttp
from aiohttp import WSMsgType, web

# The object to which each `conn` refers: a connecting task, a WebSocket, or a server's runner.
known, closing, stopping, over, numbers, tasks = {}, {}, set(), set(), iter(range(1_000_000, 10_000_000)), set()
SOCKETS = (aiohttp.ClientWebSocketResponse, web.WebSocketResponse)


def say(**message):
    print(json.dumps(message), flush=True)


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
    if tls := ws.get_extra_info("ssl_object"):
        say(ev="secured", conn=conn, version=tls.version().removeprefix("TLSv"), alpn=tls.selected_alpn_protocol())
    say(ev="start", conn=conn)
    while True:
        message = await ws.receive()
        if message.type == WSMsgType.TEXT and conn not in stopping:
            say(ev="message", conn=conn, kind="text", data=message.data.encode().decode("latin-1"))
        elif message.type == WSMsgType.BINARY and conn not in stopping:
            say(ev="message", conn=conn, kind="binary", data=message.data.decode("latin-1"))
        elif message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
            break
    if message.type == WSMsgType.CLOSE:
        stop(conn, "closed", message.extra, message.data)
    elif message.type == WSMsgType.ERROR:
        stop(conn, reason(message.data), str(message.data))
    else:
        if conn in closing:  # `close` continues to read, and the reading task reports the end.
            await asyncio.wait([closing[conn]])
        # Any other message means that the stream has ended; `receive` returns the same message for a FIN and an RST.
        stop(conn, "eof", f"{message.type.name}, close_code {ws.close_code}")


async def close(conn, ws, **how):
    """`close` itself reads up to the peer's close frame; `close_code` and `exception()` then describe the result."""
    closing.setdefault(conn, asyncio.current_task())
    if not await ws.close(**how):
        return False
    error = ws.exception()
    stop(conn, reason(error) if error else "closed", repr(error or ""), ws.close_code)
    return True


def reason(error):
    if isinstance(error, aiohttp.WebSocketError):
        return "too-long" if error.code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG else "protocol"
    for kind, name in (
        ((aiohttp.ClientSSLError, ssl.SSLError, ssl.CertificateError), "tls-failed"), (aiohttp.WSServerHandshakeError, "protocol"),
        (aiohttp.http.HttpProcessingError, "protocol"), (aiohttp.ClientResponseError, "protocol"),
        (aiohttp.ServerDisconnectedError, "eof"), (aiohttp.EofStream, "eof"), (asyncio.TimeoutError, "timeout"),
    ):
        if isinstance(error, kind):
            return name
    if isinstance(error, OSError):
        for kind, name in ((ConnectionRefusedError, "refused"), (ConnectionResetError, "reset"), (BrokenPipeError, "broken-pipe")):
            # A ClientConnectorError contains the underlying error; a ClientOSError contains only the error's number.
            if isinstance(error, kind) or isinstance(OSError(error.errno, ""), kind):
                return name
    return "other"


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


def stop(conn, reason, detail="", code=None, error=None):
    if conn not in over:
        over.add(conn)
        # The code 0 means a close frame without a code.
        code = {"code": code} if reason == "closed" and code and conn not in stopping else {}
        say(ev="stop", conn=conn, reason="stopped" if conn in stopping else reason, detail=detail, **code,
            **({} if conn in stopping else machine(error)))


async def dial(conn, host, port, op):
    url = f"{'wss' if 'tls' in op else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}{op.get('request-path', '/')}"
    # One session per connection, because only a session can limit the time of the opening handshake.
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=op.get("connect-timeout-ms", 0) / 1000 or None)) as session:
        try:
            ws = await session.ws_connect(
                url, timeout=aiohttp.ClientWSTimeout(ws_close=0.5), max_msg_size=op.get("max-line", 1024), **secure(op.get("tls")))
        except (aiohttp.ClientError, asyncio.TimeoutError, OSError) as error:
            return stop(conn, reason(error), repr(error), error=error)
        await read(conn, ws)


async def listen(listener, host, port, op):
    async def accepted(request):
        ws = web.WebSocketResponse(timeout=0.5, compress=False, max_msg_size=op.get("max-line", 1024))
        await ws.prepare(request)  # Raises an exception for an invalid opening handshake.
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=listener)
        await read(conn, ws)
        return ws
    app = web.Application()
    app.router.add_get("/{path:.*}", accepted)
    known[listener] = runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    return {"port": runner.addresses[0][1]}


async def begin(coroutine):
    """Starts an operation, and returns at once if the op is invalid. `send_str` may wait for the kernel, and `close` for the peer."""
    task = asyncio.ensure_future(coroutine)
    tasks.add(task)
    task.add_done_callback(lambda task: (tasks.discard(task), task.cancelled() or task.exception()))
    await asyncio.wait([task], timeout=0.01)
    try:
        # `close` returns false if the WebSocket is already closed.
        return {"error": "stopped"} if task.done() and task.result() is False else {}
    except (struct.error, ValueError):
        return {"error": "invalid"}
    except ConnectionError:
        return {"error": "stopped"}


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
        return {} if op == "stop" else {"error": "stopped"}
    it = known[conn]
    if op == "stop" and not isinstance(it, SOCKETS):
        stop(conn, "stopped")
        if isinstance(it, asyncio.Task):
            it.cancel()
        else:
            for site in list(it.sites):
                await site.stop()
    elif op == "stop":
        stopping.add(conn)
        await begin(close(conn, it))
    elif not isinstance(it, SOCKETS):
        return {"error": "not-started"}
    elif op == "send" and more.get("kind") == "binary":
        return await begin(it.send_bytes(data))
    elif op == "send":
        try:
            return await begin(it.send_str(data.decode()))
        except UnicodeDecodeError:  # A str can't hold invalid UTF-8.
            return {"error": "invalid"}
    elif op == "ping":
        return await begin(it.ping(data))
    elif op == "close" and "code" in more:  # Without a code, aiohttp would send 1000.
        return await begin(close(conn, it, code=more["code"], message=more.get("reason", "").encode("latin-1")))
    else:
        return {"error": "unsupported"}
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(known.items()):
        if sock and machine(error) and isinstance(it, web.AppRunner) and sock.getsockname() in it.addresses:
            for site in list(it.sites):
                asyncio.ensure_future(site.stop())
            return stop(conn, "other", str(error), error=error)
    loop.default_exception_handler(context)


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    loop.set_exception_handler(failed)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    # With `autoping`, the default, aiohttp does not report pings and pongs.
    say(ev="hello", proto=1, minor=4, name="python-aiohttp", version=aiohttp.__version__, lacks=["pings"],
        can=["connect", "listen", "send", "websocket", "stop", "connect-timeout", "max-line", "tls"])
    while line := await stdin.readline():
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = await do(**request)
        except OSError as error:
            answer = {"error": str(error), **machine(error)}
        say(ev="done", id=id, **answer)


asyncio.run(main())
