"""Twisted: `LineReceiver` with its `MAX_LENGTH`, `TimeoutMixin`, `abortConnection`; also listens. Needs the package `twisted`."""
import errno, json, sys

import twisted
from twisted.internet import error, interfaces, reactor, stdio
from twisted.internet.protocol import ClientFactory, ServerFactory
from twisted.protocols.basic import LineReceiver
from twisted.protocols.policies import TimeoutMixin
from zope.interface import implementer

# What a `conn` stands for: a connector that connects, a Line that is connected, or a listening port.
known, over, numbers = {}, set(), iter(range(1_000_000, 10_000_000))


def say(**message):
    console.transport.write(json.dumps(message).encode() + b"\n")


def reason(failure):
    for kind, name in (
        (error.ConnectionDone, "eof"), (error.ConnectionRefusedError, "refused"), (error.TimeoutError, "timeout"),
        (error.UserError, "stopped"), (error.ConnectionAborted, "stopped"),
    ):
        if failure.check(kind):
            return name
    if failure.check(error.ConnectError) and failure.value.osError == errno.ECONNRESET:
        return "reset"  # It was connected and reset before Twisted looked.
    # What Twisted makes of each error that a read or a write meets, without saying which.
    return "reset" if failure.check(error.ConnectionLost) else "other"


def stop(conn, why, detail=""):
    if conn not in over:
        over.add(conn)
        say(ev="stop", conn=conn, reason=why, detail=detail)


@implementer(interfaces.IHalfCloseableProtocol)
class Line(LineReceiver, TimeoutMixin):
    """One connection."""

    def __init__(self, conn, op):
        self.conn, self.why = conn, None
        self.MAX_LENGTH = op.get("max-line", LineReceiver.MAX_LENGTH)
        self.idle = op.get("idle-timeout-ms", 0) / 1000 or None

    def connectionMade(self):
        known[self.conn] = self
        say(ev="start", conn=self.conn)
        self.setTimeout(self.idle)

    def dataReceived(self, data):
        self.resetTimeout()
        return super().dataReceived(data)

    def lineReceived(self, line):
        if not self.why:
            say(ev="line", conn=self.conn, data=line.decode("latin-1"))

    def lineLengthExceeded(self, line):
        self.why = self.why or "too-long"
        return super().lineLengthExceeded(line)  # Closes the connection, when all that was written is out.

    def timeoutConnection(self):
        self.why = self.why or "timeout"
        self.transport.abortConnection()

    # The peer's FIN: what Twisted would do without these two, but the rest is told first.
    def readConnectionLost(self):
        if self._buffer and not self.why:
            say(ev="leftover", conn=self.conn, data=self._buffer.decode("latin-1"))
        self.why = self.why or "eof"
        self.transport.loseConnection()

    def writeConnectionLost(self):
        pass

    def connectionLost(self, failure):
        self.setTimeout(None)
        stop(self.conn, self.why or reason(failure), str(failure.value))

    def send(self, data):
        self.resetTimeout()
        self.sendLine(data)


class Dialer(ClientFactory):
    noisy = False

    def __init__(self, conn, op):
        self.conn, self.op = conn, op

    def buildProtocol(self, address):
        return None if self.conn in over else Line(self.conn, self.op)

    def clientConnectionFailed(self, connector, failure):
        stop(self.conn, reason(failure), str(failure.value))


class Listener(ServerFactory):
    noisy = False

    def __init__(self, conn, op):
        self.conn, self.op = conn, op

    def buildProtocol(self, address):
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=self.conn)
        return Line(conn, self.op)


def do(op, conn, host="", port=0, data="", **more):
    if op in ("connect", "listen"):
        if conn in known:
            return {"error": "already-started"}
        if more["framing"] != "crlf":
            return {"error": "unsupported"}
        if op == "listen":
            known[conn] = reactor.listenTCP(port, Listener(conn, more), interface=host)
            return {"port": known[conn].getHost().port}
        known[conn] = reactor.connectTCP(host, port, Dialer(conn, more), timeout=more.get("connect-timeout-ms", 30000) / 1000)
        return {}
    if conn not in known:
        return {"error": "not-started"}
    if conn in over:
        return {} if op == "stop" else {"error": "stopped"}
    it = known[conn]
    if op == "stop" and isinstance(it, Line):
        it.why = "stopped"
        it.transport.loseConnection()
    elif op == "stop":
        stop(conn, "stopped")
        getattr(it, "stopConnecting", getattr(it, "stopListening", None))()
    elif not isinstance(it, Line):
        return {"error": "not-started"}
    elif op == "send":
        it.send(data.encode("latin-1"))
    elif op == "half-close":
        it.transport.loseWriteConnection()
    elif op == "stop-reading":
        it.pauseProducing()
    elif op == "resume-reading":
        it.resumeProducing()
    else:
        return {"error": "unsupported"}
    return {}


class Harness(LineReceiver):
    delimiter, MAX_LENGTH = b"\n", 1 << 24

    def connectionMade(self):
        say(ev="hello", proto=1, name="twisted", version=twisted.__version__, can=[
            "connect", "listen", "send", "lines", "leftover", "half-close", "stop", "stop-reading", "resume-reading",
            "connect-timeout", "idle-timeout", "max-line"])

    def lineReceived(self, line):
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = do(**request)
        except (OSError, error.CannotListenError) as problem:
            answer = {"error": str(problem)}
        say(ev="done", id=id, **answer)

    def connectionLost(self, failure):
        if reactor.running:
            reactor.stop()


console = Harness()
stdio.StandardIO(console)
reactor.run(installSignalHandlers=False)
