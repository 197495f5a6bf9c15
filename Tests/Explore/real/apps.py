"""apps.py NAME PORT: runs the Python server NAME on a port of 127.0.0.1.

An HTTP server answers each request with a line that names the method, the path and the body: "<POST /a body>".
A WebSocket server sends each message back. The other servers answer as their libraries do.
"""
import sys


def answer(method, path, body):
    return b"<%s %s %s>\n" % (method.encode(), path.encode(), body)


def wsgi(environ, start_response):
    if environ.get("HTTP_TRANSFER_ENCODING") and not environ.get("CONTENT_LENGTH"):
        body = environ["wsgi.input"].read()
    else:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    text = answer(environ["REQUEST_METHOD"], environ["PATH_INFO"], body)
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(text)))])
    return [text]


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            text, data = message.get("text"), message.get("bytes")
            if text is not None:
                await send({"type": "websocket.send", "text": text})
            else:
                await send({"type": "websocket.send", "bytes": data})
        return
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message.get("body", b"")
        more = message.get("more_body", False)
    text = answer(scope["method"], scope["path"], body)
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(text)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def aiohttp(port):
    from aiohttp import WSMsgType, web

    async def respond(request):
        return web.Response(body=answer(request.method, request.path, await request.read()))

    async def websocket(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            if message.type == WSMsgType.TEXT:
                await socket.send_str(message.data)
            elif message.type == WSMsgType.BINARY:
                await socket.send_bytes(message.data)
        return socket

    application = web.Application()
    application.router.add_get("/ws", websocket)
    application.router.add_route("*", "/{path:.*}", respond)
    web.run_app(application, host="127.0.0.1", port=port, print=None)


def cheroot(port):
    from cheroot.wsgi import Server
    Server(("127.0.0.1", port), wsgi, numthreads=2).safe_start()


def eventlet(port):
    import eventlet
    import eventlet.wsgi
    eventlet.wsgi.server(eventlet.listen(("127.0.0.1", port)), wsgi, log_output=False)


def gevent(port):
    from gevent.pywsgi import WSGIServer
    WSGIServer(("127.0.0.1", port), wsgi, log=None).serve_forever()


def hypercorn(port):
    import asyncio
    from hypercorn.asyncio import serve
    from hypercorn.config import Config
    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    asyncio.run(serve(asgi, config))


def tornado(port):
    import asyncio
    from tornado import web, websocket

    class Respond(web.RequestHandler):
        def prepare(self):
            self.set_header("Content-Type", "text/plain")
            self.finish(answer(self.request.method, self.request.path, self.request.body))

    class Echo(websocket.WebSocketHandler):
        def on_message(self, message):
            self.write_message(message, binary=isinstance(message, bytes))

    async def serve():
        web.Application([("/ws", Echo), ("/.*", Respond)]).listen(port, "127.0.0.1")
        await asyncio.Event().wait()

    asyncio.run(serve())


def twisted(port):
    from twisted.internet import reactor
    from twisted.web import resource, server

    class Respond(resource.Resource):
        isLeaf = True

        def render(self, request):
            return answer(request.method.decode(), request.path.decode(), request.content.read())

    reactor.listenTCP(port, server.Site(Respond()), interface="127.0.0.1")
    reactor.run()


def uvicorn(port):
    import uvicorn
    uvicorn.run(asgi, host="127.0.0.1", port=port, log_level="error")


def waitress(port):
    import waitress
    waitress.serve(wsgi, host="127.0.0.1", port=port, threads=2)


def waitress_header_limit(port):
    import waitress
    waitress.serve(wsgi, host="127.0.0.1", port=port, threads=2, max_request_header_size=256)


def websockets(port):
    import asyncio
    import websockets

    async def echo(socket, path=None):
        async for message in socket:
            await socket.send(message)

    async def serve():
        async with websockets.serve(echo, "127.0.0.1", port, compression=None):
            await asyncio.Event().wait()

    asyncio.run(serve())


def aiosmtpd(port):
    import asyncio
    from aiosmtpd.smtp import SMTP

    class Handler:
        async def handle_DATA(self, server, session, envelope):
            text = envelope.content.replace(b"\r\n", b"|").decode()
            return f"250 <{text}>"

    async def serve():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(Handler(), hostname="h"), "127.0.0.1", port)
        await server.serve_forever()

    asyncio.run(serve())


def pyftpdlib(port):
    import logging
    import os
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.servers import FTPServer
    logging.basicConfig(level=logging.ERROR)
    os.makedirs("files/up", exist_ok=True)
    authorizer = DummyAuthorizer()
    authorizer.add_user("ftp", "p", "files", perm="elradfmw")
    FTPHandler.authorizer = authorizer
    FTPServer(("127.0.0.1", port), FTPHandler).serve_forever()


def twisted_names(port):
    from twisted.internet import reactor
    from twisted.names import dns, server

    class Resolver:
        def query(self, query, timeout=None):
            from twisted.internet import defer
            record = dns.RRHeader(query.name.name, dns.A, dns.IN, 60, dns.Record_A("192.0.2.1", 60))
            return defer.succeed(([record], [], []))

    reactor.listenTCP(port, server.DNSServerFactory(clients=[Resolver()]), interface="127.0.0.1")
    reactor.run()


def dnslib(port):
    import time
    from dnslib import RR
    from dnslib.server import BaseResolver, DNSLogger, DNSServer

    class Resolver(BaseResolver):
        def resolve(self, request, handler):
            reply = request.reply()
            reply.add_answer(*RR.fromZone("a.test. 60 A 192.0.2.1"))
            return reply

    DNSServer(Resolver(), address="127.0.0.1", port=port, tcp=True, logger=DNSLogger("-request")).start_thread()
    while True:
        time.sleep(60)


def pymodbus(port):
    from pymodbus import __version__
    if __version__.startswith("2."):
        from pymodbus.datastore import ModbusSequentialDataBlock, ModbusServerContext, ModbusSlaveContext
        from pymodbus.server.sync import StartTcpServer
        block = ModbusSequentialDataBlock(0, [7] * 20)
        context = ModbusServerContext(slaves=ModbusSlaveContext(hr=block, zero_mode=True), single=True)
    else:
        from pymodbus.datastore import ModbusDeviceContext, ModbusSequentialDataBlock, ModbusServerContext
        from pymodbus.server import StartTcpServer
        context = ModbusServerContext(devices=ModbusDeviceContext(hr=ModbusSequentialDataBlock(1, [7] * 20)), single=True)
    StartTcpServer(context=context, address=("127.0.0.1", port))


def umodbus(port):
    import socketserver
    from umodbus import conf
    from umodbus.server.tcp import RequestHandler, get_server
    conf.SIGNED_VALUES = False
    registers = {n: 7 for n in range(20)}
    socketserver.TCPServer.allow_reuse_address = True
    server = get_server(socketserver.ThreadingTCPServer, ("127.0.0.1", port), RequestHandler)

    @server.route(slave_ids=[1], function_codes=[3, 6], addresses=list(range(20)))
    def registers_of(slave_id, function_code, address, value=None):
        if value is None:
            return registers[address]
        registers[address] = value

    server.serve_forever()


def modbus_tk(port):
    import time
    from modbus_tk import defines, modbus_tcp
    server = modbus_tcp.TcpServer(port=port, address="127.0.0.1")
    server.start()
    server.add_slave(1).add_block("0", defines.HOLDING_REGISTERS, 0, 20)
    server.get_slave(1).set_values("0", 0, [7] * 20)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    globals()[sys.argv[1].replace("-", "_")](int(sys.argv[2]))
