"""asyncio streams: `readuntil` with its limit, as most asyncio clients and servers read lines."""
import asyncio, json, socket, struct, sys

writers, stopping, over, numbers = {}, set(), set(), iter(range(1_000_000, 10_000_000))


def say(**message):
    print(json.dumps(message), flush=True)


async def read(conn, reader, writer):
    if conn in over:  # Stopped in the moment when it was connected.
        return writer.close()
    writers[conn] = writer
    say(ev="start", conn=conn)
    try:
        while line := await reader.readuntil(b"\r\n"):
            if conn not in stopping:
                say(ev="line", conn=conn, data=line[:-2].decode("latin-1"))
    except asyncio.IncompleteReadError as end:
        if end.partial and conn not in stopping:
            say(ev="leftover", conn=conn, data=end.partial.decode("latin-1"))
        stop(conn, "eof")
    except asyncio.LimitOverrunError:
        stop(conn, "too-long")
    except OSError as error:
        stop(conn, reason(error), str(error))
    writer.close()


def reason(error):
    known = {ConnectionRefusedError: "refused", ConnectionResetError: "reset", asyncio.TimeoutError: "timeout"}
    return known.get(type(error), "other")


def stop(conn, reason, detail=""):
    if conn not in over:
        over.add(conn)
        say(ev="stop", conn=conn, reason="stopped" if conn in stopping else reason, detail=detail)


async def connect(conn, host, port, limit, timeout):
    try:
        opening = asyncio.open_connection(host, port, limit=limit)
        await read(conn, *await asyncio.wait_for(opening, timeout))
    except (OSError, asyncio.TimeoutError) as error:
        stop(conn, reason(error), str(error))


async def listen(listener, host, port, limit):
    async def accepted(reader, writer):
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=listener)
        await read(conn, reader, writer)
    server = writers[listener] = await asyncio.start_server(accepted, host, port, limit=limit)
    return {"port": server.sockets[0].getsockname()[1]}


async def do(op, conn, host="", port=0, data="", **more):
    limit = more.get("max-line", 1024)
    if op in ("connect", "listen") and (conn in writers or more["framing"] != "crlf"):
        return {"error": "already-started" if conn in writers else "unsupported"}
    if op == "connect":
        timeout = more.get("connect-timeout-ms", 0) / 1000 or None
        writers[conn] = asyncio.ensure_future(connect(conn, host, port, limit, timeout))
    elif op == "listen":
        return await listen(conn, host, port, limit)
    elif conn not in writers:
        return {"error": "not-started"}
    elif conn in over:
        return {} if op in ("stop", "reset") else {"error": "stopped"}
    elif op == "send":
        writers[conn].write(data.encode("latin-1") + b"\r\n")
    elif op == "half-close":
        writers[conn].write_eof()
    elif op in ("stop", "reset"):
        stopping.add(conn)
        writer = writers[conn]  # or the task that connects, or a server
        if op == "reset" and isinstance(writer, asyncio.StreamWriter):
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        else:
            writer.cancel() if isinstance(writer, asyncio.Task) else writer.close()
        if not isinstance(writer, asyncio.StreamWriter):  # Else `read` tells it, when all that was written is out.
            stop(conn, "stopped")
    return {}


async def main():
    loop, stdin = asyncio.get_running_loop(), asyncio.StreamReader(limit=1 << 24)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    say(ev="hello", proto=1, name="python-asyncio",
        can=["connect", "listen", "send", "lines", "leftover", "half-close", "stop", "reset", "connect-timeout",
             "max-line"])
    while line := await stdin.readline():
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = await do(**request)
        except (OSError, RuntimeError) as error:  # RuntimeError: a write after write_eof.
            answer = {"error": "stopped", "detail": str(error)}
        say(ev="done", id=id, **answer)


asyncio.run(main())
