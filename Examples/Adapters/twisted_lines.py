"""Twisted: `LineReceiver`, `Int…StringReceiver` and `NetstringReceiver` with their `MAX_LENGTH`; `TimeoutMixin`,
`abortConnection` and `registerProducer`. When the framing changes, one protocol replaces another. Also listens. Needs
the package `twisted`."""
import errno, json, sys

import twisted
from twisted.internet import error, interfaces, reactor, stdio
from twisted.internet.protocol import ClientFactory, ServerFactory
from twisted.logger import globalLogPublisher
from twisted.protocols import basic
from twisted.protocols.basic import LineReceiver
from twisted.protocols.policies import TimeoutMixin
from zope.interface import implementer

# The object to which each `conn` refers: a connector that is connecting, a connected Line, or a listening port.
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
        return "reset"  # The connection was established and reset before Twisted checked the socket.
    # Twisted reports every error of a read or write as ConnectionLost, without stating which error occurred.
    return "reset" if failure.check(error.ConnectionLost) else "other"


def machine(problem):
    """Returns the errno's name if the machine, not the peer, caused the error. The errno is in Twisted's error or in
    its cause."""
    below = getattr(problem, "socketError", problem)
    name = errno.errorcode.get(getattr(below, "osError", None) or getattr(below, "errno", None))
    return {"machine": name} if name in ("EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM") else {}


def stop(conn, why, detail="", **trouble):
    if conn not in over:
        over.add(conn)
        say(ev="stop", conn=conn, reason=why, detail=detail, **trouble)


class Peer(TimeoutMixin):
    """The state of a connection, which exists for the connection's lifetime, and its current protocol, which is
    replaced when the framing changes."""

    def __init__(self, conn, op):
        self.conn, self.op, self.why, self.announced = conn, op, None, None
        self.has_ended = self.peer_has_ended = self.full = False
        self.idle = op.get("idle-timeout-ms", 0) / 1000 or None
        self.protocol = PROTOCOLS[op["framing"]](self)

    def begin(self):
        known[self.conn] = self
        say(ev="start", conn=self.conn)
        self.setTimeout(self.idle)
        if "high-water" in self.op:
            self.transport.bufferSize = self.op["high-water"]
            self.transport.registerProducer(Producer(self), True)

    @property
    def transport(self):
        return self.protocol.transport

    def hear(self, message):
        due = self.announced and self.announced["behind"] == 1
        if due:
            change, self.announced = self.announced, None
        elif self.announced:
            self.announced["behind"] -= 1
        if not self.why:
            say(ev=self.protocol.event, conn=self.conn, data=message.decode("latin-1"))
        if due:
            self.change(change)

    def change(self, op):
        """Hands the transport and the unread bytes to a new protocol, as Twisted does for its own protocol upgrades."""
        old, self.op = self.protocol, {**self.op, **op}
        rest = old.take()
        self.protocol = PROTOCOLS[op["framing"]](self)
        old.transport.protocol = self.protocol
        self.protocol.makeConnection(old.transport)
        if rest:
            self.protocol.dataReceived(rest)

    def too_long(self):
        self.why = self.why or "too-long"

    def timeoutConnection(self):
        self.why = self.why or "timeout"
        self.transport.abortConnection()

    # Handles the peer's FIN as Twisted does by default, but reports the leftover bytes first.
    def ended(self):
        rest = self.protocol.rest()
        if rest and not self.why:
            say(ev="leftover", conn=self.conn, data=rest.decode("latin-1"))
        self.peer_has_ended = True
        if self.op.get("allow-half-close") and not self.why and not self.has_ended:
            return say(ev="half-closed", conn=self.conn)
        self.why = self.why or "eof"
        self.lose()

    def written(self):
        if self.peer_has_ended:
            self.why = self.why or "eof"
            self.lose()

    def press(self, full):
        # Twisted pauses the producer with each write, and resumes it even if it was not paused.
        if full != self.full and not self.why:
            self.full = full
            say(ev="full" if full else "drained", conn=self.conn)

    def lose(self):
        if "high-water" in self.op:
            self.transport.unregisterProducer()  # Twisted would wait for a registered producer to finish.
        self.transport.loseConnection()

    def lost(self, failure):
        self.setTimeout(None)
        stop(self.conn, self.why or reason(failure), str(failure.value), **({} if self.why else machine(failure.value)))

    def send(self, data):
        self.resetTimeout()
        self.protocol.say(data)


@implementer(interfaces.IPushProducer)
class Producer:
    def __init__(self, peer):
        self.peer = peer

    def pauseProducing(self):
        self.peer.press(True)

    def resumeProducing(self):
        self.peer.press(False)

    def stopProducing(self):
        pass


@implementer(interfaces.IHalfCloseableProtocol)
class Framed:
    """The behavior that all protocols in this file share, in addition to their framing."""
    event = "message"

    def __init__(self, peer):
        self.peer = peer
        self.MAX_LENGTH = peer.op.get("max-line", self.MAX_LENGTH)

    def connectionMade(self):
        if self.peer.conn not in known or known[self.peer.conn] is not self.peer:
            self.peer.begin()

    def dataReceived(self, data):
        self.peer.resetTimeout()
        return super().dataReceived(data)

    def readConnectionLost(self):
        self.peer.ended()

    def writeConnectionLost(self):
        self.peer.written()

    def connectionLost(self, failure):
        self.peer.lost(failure)

    def stringReceived(self, message):
        self.peer.hear(message)

    def say(self, data):
        self.sendString(data)


class Line(Framed, LineReceiver):
    event = "line"

    def __init__(self, peer):
        super().__init__(peer)
        self.delimiter = TERMINATORS.get(peer.op["framing"]) or peer.op["delimiter"].encode("latin-1")

    def lineReceived(self, line):
        self.peer.hear(line)

    def lineLengthExceeded(self, line):
        self.peer.too_long()
        return super().lineLengthExceeded(line)  # Closes the connection after writing everything that is queued.

    def say(self, data):
        self.sendLine(data)

    def rest(self):
        return self._buffer

    def take(self):
        return self.clearLineBuffer()


class Raw(Framed, LineReceiver):
    event, line_mode = "data", 0

    def rawDataReceived(self, data):
        self.peer.hear(data)

    def say(self, data):
        self.transport.write(data)

    def rest(self):
        return b""

    take = rest


class Ints(Framed):
    def lengthLimitExceeded(self, length):
        self.peer.too_long()
        super().lengthLimitExceeded(length)

    def rest(self):
        return self.recvd

    def take(self):
        rest, self.recvd = self.recvd, b""
        return rest


class Int8(Ints, basic.Int8StringReceiver):
    pass


class Int16(Ints, basic.Int16StringReceiver):
    pass


class Int32(Ints, basic.Int32StringReceiver):
    pass


class Netstring(Framed, basic.NetstringReceiver):
    def _extractLength(self, digits):  # Twisted raises the same error for every problem.
        try:
            return super()._extractLength(digits)
        except basic.NetstringParseError:
            self.peer.too_long()
            raise

    def _handleParseError(self):
        self.peer.why = self.peer.why or "protocol"
        super()._handleParseError()

    def rest(self):
        if self._state == self._PARSING_LENGTH:
            return self._remainingData
        return b"%d:%s" % (self._expectedPayloadSize - 1, self._payload.getvalue())

    def take(self):
        rest, self._remainingData = self.rest() if self._state == self._PARSING_PAYLOAD else self._remainingData, b""
        return rest


TERMINATORS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\0"}
PROTOCOLS = {**dict.fromkeys([*TERMINATORS, "delimiter"], Line), "none": Raw, "u8": Int8, "u16": Int16, "u32": Int32, "netstring": Netstring}


class Dialer(ClientFactory):
    noisy = False

    def __init__(self, conn, op):
        self.conn, self.op = conn, op

    def buildProtocol(self, address):
        return None if self.conn in over else Peer(self.conn, self.op).protocol

    def clientConnectionFailed(self, connector, failure):
        stop(self.conn, reason(failure), str(failure.value), **machine(failure.value))


class Listener(ServerFactory):
    noisy = False

    def __init__(self, conn, op):
        self.conn, self.op = conn, op

    def buildProtocol(self, address):
        conn = next(numbers)
        say(ev="accept", conn=conn, listener=self.conn)
        return Peer(conn, self.op).protocol


def cannot_accept(event):
    """Handles log events, because Twisted only logs the fact that it can't accept a connection, or that it closes a
    connection at once for lack of a descriptor."""
    what = event.get("log_format") or ""
    name = event.get("acceptError") or ("EMFILE" if what.startswith("EMFILE encountered") else None)
    if name not in ("EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"):
        return
    # The event does not identify the listener; all listeners are stopped, because the others would fail with the same
    # error.
    for conn, it in list(known.items()):
        if conn not in over and hasattr(it, "stopListening"):
            stop(conn, "other", what, machine=name)
            it.stopListening()


def do(op, conn, host="", port=0, data="", **more):
    if op in ("connect", "listen"):
        if conn in known:
            return {"error": "already-started"}
        if more["framing"] not in PROTOCOLS:
            return {"error": "unsupported"}
        if op == "listen":
            known[conn] = reactor.listenTCP(port, Listener(conn, more), interface=host)
            return {"port": known[conn].getHost().port}
        known[conn] = reactor.connectTCP(host, port, Dialer(conn, more), timeout=more.get("connect-timeout-ms", 30000) / 1000)
        return {}
    if conn not in known:
        return {"error": "not-started"}
    if conn in over:
        return {} if op in ("stop", "reset") else {"error": "stopped"}
    it = known[conn]
    if isinstance(it, Peer) and it.why == "stopped" and op not in ("stop", "reset"):
        return {"error": "stopped"}
    if op in ("stop", "reset") and isinstance(it, Peer):
        it.why = "stopped"
        it.lose() if op == "stop" else it.transport.abortConnection()
    elif op in ("stop", "reset"):
        stop(conn, "stopped")
        getattr(it, "stopConnecting", getattr(it, "stopListening", None))()
    elif not isinstance(it, Peer):
        return {"error": "not-started"}
    elif op == "send":
        try:
            it.send(data.encode("latin-1"))
        except basic.StringTooLongError:
            return {"error": "invalid"}
    elif op == "framing":
        if more["framing"] not in PROTOCOLS:
            return {"error": "unsupported"}
        it.announced = more if "behind" in more else None
        if not it.announced:
            it.change(more)
    elif op == "half-close":
        it.has_ended = True
        it.transport.loseWriteConnection()
    elif op == "stop-reading":
        it.protocol.pauseProducing()
    elif op == "resume-reading":
        it.protocol.resumeProducing()
    else:
        return {"error": "unsupported"}
    return {}


class Harness(LineReceiver):
    delimiter, MAX_LENGTH = b"\n", 1 << 24

    def connectionMade(self):
        say(ev="hello", proto=1, minor=4, name="twisted", version=twisted.__version__, can=[
            "connect", "listen", "send", "lines", "messages", "data", "framing", *PROTOCOLS, "leftover", "half-close", "half-closed", "stop",
            "reset", "high-water", "stop-reading", "resume-reading", "connect-timeout", "idle-timeout", "max-line"])

    def lineReceived(self, line):
        request = json.loads(line)
        id = request.pop("id")
        try:
            answer = do(**request)
        except (OSError, error.CannotListenError) as problem:
            answer = {"error": str(problem), **machine(problem)}
        say(ev="done", id=id, **answer)

    def connectionLost(self, failure):
        if reactor.running:
            reactor.stop()


globalLogPublisher.addObserver(cannot_accept)
console = Harness()
stdio.StandardIO(console)
reactor.run(installSignalHandlers=False)
