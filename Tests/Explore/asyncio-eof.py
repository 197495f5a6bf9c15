# Bug: eof_received returns None, so asyncio closes the connection when the client half-closes it; a reply that is not ready yet is lost.
# Why tests miss it: clients wait for the reply before they close the connection.
# A reply takes 20 ms.
import asyncio
import sys

FIXED = "--fixed" in sys.argv


class Worker(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.rest, self.pending, self.ended = transport, b"", 0, False

    def data_received(self, data):
        *lines, self.rest = (self.rest + data).split(b"\r\n")
        for line in lines:
            self.pending += 1
            asyncio.get_running_loop().call_later(0.02, self.reply, line)

    def reply(self, line):
        self.pending -= 1
        self.transport.write(b"done " + line + b"\r\n")
        if self.ended and self.pending == 0:
            self.transport.close()

    def eof_received(self):
        self.ended = True
        return FIXED and self.pending > 0


async def main():
    server = await asyncio.get_running_loop().create_server(Worker, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()

asyncio.run(main())
