"""Python's protobuf over asyncio streams: a delimited stream of `Sample`, as described in docs/adapter-protocol.md (PyPI: protobuf)."""
import asyncio, errno, json, sys

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

FIELDS = "text:9 number:5 zigzag:18 list:5* child:11 data:12 word:7 long_word:16 large:4 flag:8 real:1"
writers, listeners, over, numbers = {}, {}, set(), iter(range(1_000_000, 10_000_000))


def sample():
    """Returns the message class of the schema, created without protoc."""
    file = descriptor_pb2.FileDescriptorProto(name="sample.proto", syntax="proto3")
    kind = file.message_type.add(name="Sample")
    for number, field in enumerate(FIELDS.split(), 1):
        name, type = field.split(":")
        made = kind.field.add(name=name, number=number, type=int(type.strip("*")), label=3 if "*" in type else 1)
        if made.type == made.TYPE_MESSAGE:
            made.type_name = ".Sample"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Sample"))


Sample = sample()


def say(**event):
    print(json.dumps(event), flush=True)


def machine(error):
    """Returns the field `machine` with the name of the errno if the machine, not the peer, caused the error."""
    name = errno.errorcode.get(getattr(error, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


def stop(conn, reason, detail="", error=None):
    if conn not in over:
        over.add(conn)
        say(ev="stop", conn=conn, reason=reason, detail=detail, **machine(error))


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out) + bytes([number])


class Broken(Exception):
    pass


async def next_message(reader, limit):
    """Returns the next message, or None at the end of the stream, and the bytes of an incomplete message."""
    head, length = b"", 0
    while True:
        byte = await reader.read(1)
        if not byte:
            return None, head
        head += byte
        length |= (byte[0] & 0x7F) << 7 * (len(head) - 1)
        if byte[0] < 0x80:
            break
        if len(head) == 10:
            raise Broken("the length has more than ten bytes")
    if length > limit:
        raise OverflowError
    try:
        return await reader.readexactly(length), b""
    except asyncio.IncompleteReadError as end:
        return None, head + end.partial


async def serve(conn, limit, reader, writer):
    writers[conn] = writer
    say(ev="start", conn=conn)
    try:
        while True:
            data, rest = await next_message(reader, limit)
            if conn in over:
                break
            if data is None:
                if rest:
                    say(ev="leftover", conn=conn, data=rest.decode("latin-1"))
                stop(conn, "eof")
                break
            parsed = Sample.FromString(data).SerializeToString()
            say(ev="message", conn=conn, data=parsed.decode("latin-1"))
    except OverflowError:
        stop(conn, "too-long")
    except (Broken, message.DecodeError) as error:
        stop(conn, "protocol", str(error))
    except ConnectionResetError as error:
        stop(conn, "reset", str(error))
    except OSError as error:
        stop(conn, "other", str(error), error)
    writer.close()


async def connect(conn, limit, host, port):
    try:
        streams = await asyncio.open_connection(host, port)
    except ConnectionRefusedError as error:
        return stop(conn, "refused", str(error))
    except OSError as error:
        return stop(conn, "other", str(error), error)
    if conn in over:
        return streams[1].close()
    await serve(conn, limit, *streams)


async def listen(listener, limit, host, port):
    async def accepted(reader, writer):
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=listener)
        await serve(conn, limit, reader, writer)

    listeners[listener] = await asyncio.start_server(accepted, host, port)
    return {"port": listeners[listener].sockets[0].getsockname()[1]}


async def do(op, conn, **more):
    limit = more.get("max-line", 1024)
    if op in ("connect", "listen"):
        if more.get("framing") != "varint" or not more.get("protobuf"):
            return {"error": "unsupported"}
        if op == "listen":
            return await listen(conn, limit, more["host"], more["port"])
        tasks.add(asyncio.create_task(connect(conn, limit, more["host"], more["port"])))
    elif op == "stop":
        if conn in listeners:
            listeners.pop(conn).close()
        elif conn not in writers and conn not in over:
            return stop(conn, "stopped") or {} if conn < 1_000_000 else {"error": "not-started"}
        elif conn in writers:
            writers[conn].close()
        stop(conn, "stopped")
    elif conn in over:
        return {"error": "stopped"}
    elif conn not in writers:
        return {"error": "not-started"}
    elif op == "send":
        try:
            data = Sample.FromString(more["data"].encode("latin-1")).SerializeToString()
        except message.DecodeError:
            return {"error": "invalid"}
        writers[conn].write(varint(len(data)) + data)
    else:
        return {"error": "unsupported"}
    return {}


def failed(loop, context):
    """Stops a listener that can't accept a connection. By default, asyncio would retry every second while the client
    waits."""
    error, sock = context.get("exception"), context.get("socket")
    for conn, it in list(listeners.items()):
        if sock and machine(error) and sock.fileno() in [each.fileno() for each in it.sockets]:
            it.close()
            return stop(conn, "other", str(error), error)
    loop.default_exception_handler(context)


async def main():
    say(ev="hello", proto=1, minor=4, name="python-protobuf", can="connect listen send messages varint protobuf stop leftover max-line".split())
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(failed)
    stdin = asyncio.StreamReader(limit=64 << 20)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    while line := await stdin.readline():
        op = json.loads(line)
        id = op.pop("id")
        try:
            answer = await do(**op)
        except OSError as error:
            answer = {"error": str(error), **machine(error)}
        say(ev="done", id=id, **answer)


tasks = set()
asyncio.run(main())
