#!/usr/bin/env python3
"""The reference: a transport without known bugs that is served over the adapter protocol. Each mutant in mutants.py
changes the reference in one place.

It has one thread, asyncio's loop for readiness, timers and name lookups, and plain non-blocking sockets. The parts are
Decoder and encode (bytes to messages and back), TLSSocket, Connection, WebSocketConnection (on the parts of
websocket.py), Listener and Adapter (the protocol). The reference guarantees that there is one `stop` for each
connection and nothing after it; that sent data is written before the FIN; and that unread data does not cause an RST
instead of the FIN.
"""
import asyncio
import collections
import errno
import fcntl
import json
import math
import os
import socket
import ssl
import struct
import sys
import termios

from websocket import (
    BINARY, CLOSE, CONTROL_SIZE, NORMAL, OPCODES, PING, PONG, TEXT, TOO_LONG, BadHead, ClientOpening, Frames, ServerOpening, Violation, is_code,
    is_utf8)

TERMINATORS = {"crlf": b"\r\n", "lf": b"\n", "cr": b"\r", "nul": b"\0"}
WIDTHS = {"u8": 1, "u16": 2, "u24": 3, "u32": 4, "u64": 8, "u16le": 2, "u32le": 4}
REASONS = {
    errno.ECONNREFUSED: "refused", errno.ECONNRESET: "reset", errno.ETIMEDOUT: "timeout", errno.EPIPE: "broken-pipe"}
# The errors that are caused by the machine rather than by the peer.
SHORTAGES = (errno.EADDRNOTAVAIL, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
READ_SIZE = 64 * 1024
WRITE_SIZE = 256 * 1024
# Times in seconds: the delay between two connection attempts; the time without write progress after which sent data is
# discarded; and the time to wait for the peer's FIN after our FIN.
ATTEMPT_DELAY, FLUSH_TIME, DRAIN_TIME = 0.25, 1.0, 0.25
# Times in seconds for WebSocket: the time to wait for the peer's close frame after ours, and the time to wait for the
# server's FIN after both close frames.
CLOSE_TIME, WAIT_TIME = 1.0, 0.5
CONNECTING, SECURING, OPENING, OPEN, WAITING = "connecting", "securing", "opening", "open", "waiting"
ENDING, LINGERING, OVER, AWAY = "ending", "lingering", "over", "away"
RECORD_SIZE = 16 * 1024


def machine(error):
    """Returns the field `machine` with the name of the error if the machine lacked a resource; an empty dictionary for
    other errors."""
    number = getattr(error, "errno", None)
    return {"machine": errno.errorcode[number]} if number in SHORTAGES else {}


class Refused(Exception):
    """Raised if an op is refused; the text is the protocol's word for the reason."""


class BadStream(Exception):
    """Raised if bytes can't be divided into messages; the text is the reason for the stop."""


class Decoder:
    """Divides a stream into messages. Keeps received bytes that were not delivered yet; a length prefix alone does not
    cause an allocation."""

    def __init__(self, framing, limit, delimiter=None):
        self.framing, self.limit = framing, limit
        self.terminator = TERMINATORS.get(framing, delimiter)
        self.buffer = bytearray()
        # The search continues at this offset, because no terminator begins before it.
        self.scanned = 0
        # The number of bytes that remain of a message that is being omitted, or True if that message is a line; None if
        # no message is being omitted.
        self.skipping = None

    def append(self, data):
        self.buffer += data

    def next(self):
        """Returns the next message, or None while more bytes are needed. Raises BadStream."""
        if self.skipping is not None and not self.skip():
            return None
        if self.framing == "none":
            return self.take(0, len(self.buffer), 0) if self.buffer else None
        if self.framing == "netstring":
            return self.next_netstring()
        return self.next_line() if self.terminator else self.next_counted()

    def leave_out(self):
        """Omits the first message, which is too long, including the part that has not arrived yet."""
        if self.terminator:
            self.skipping = True
        elif self.framing == "netstring":
            colon = self.buffer.index(b":")
            self.skipping = colon + 1 + int(self.buffer[:colon])
        else:
            self.skipping = sum(self.prefix())

    def skip(self):
        """Returns whether the end of the omitted message has arrived."""
        if not (self.skip_line() if self.terminator else self.skip_counted()):
            return False
        self.skipping, self.scanned = None, 0
        return True

    def skip_line(self):
        end = self.buffer.find(self.terminator)
        if end < 0:
            del self.buffer[:len(self.buffer) - self.half_terminator()]
            return False
        del self.buffer[:end + len(self.terminator)]
        return True

    def skip_counted(self):
        count = min(self.skipping, len(self.buffer))
        del self.buffer[:count]
        self.skipping -= count
        if self.skipping or (self.framing == "netstring" and not self.buffer):
            return False
        if self.framing == "netstring":
            self.check_end(0)
            del self.buffer[:1]
        return True

    def next_line(self):
        end = self.buffer.find(self.terminator, self.scanned)
        self.check(end if end >= 0 else len(self.buffer) - self.half_terminator())
        if end >= 0:
            return self.take(0, end, len(self.terminator))
        self.scanned = max(0, len(self.buffer) - len(self.terminator) + 1)
        return None

    def half_terminator(self):
        """Returns the number of bytes at the end of the received data that may be the beginning of a terminator. These
        bytes can't be treated as content yet."""
        return next(length for length in reversed(range(len(self.terminator))) if self.buffer.endswith(self.terminator[:length]))

    def next_netstring(self):
        colon = self.buffer.find(b":", 0, 20)
        digits = bytes(self.buffer[:20] if colon < 0 else self.buffer[:colon])
        if colon == 0 or digits.strip(b"0123456789") or self.needless_zero(digits) or len(digits) == 20:
            raise BadStream("protocol")
        if colon < 0:
            return None
        length = int(digits)
        self.check(length)
        if len(self.buffer) <= colon + 1 + length:
            return None
        self.check_end(colon + 1 + length)
        return self.take(colon + 1, length, 1)

    def needless_zero(self, digits):
        return len(digits) > 1 and digits.startswith(b"0")

    def check_end(self, index):
        if self.buffer[index:index + 1] != b",":
            raise BadStream("protocol")

    def check(self, length):
        if length > self.limit:
            raise BadStream("too-long")

    def next_counted(self):
        prefix = self.prefix()
        if prefix is None:
            return None
        width, length = prefix
        self.check(length)
        return self.take(width, length, 0) if len(self.buffer) - width >= length else None

    def prefix(self):
        """Returns the width of the length, and the length; None while bytes of the length are missing."""
        if self.framing == "varint":
            return self.varint()
        width = WIDTHS[self.framing]
        return (width, int.from_bytes(self.buffer[:width], self.order())) if len(self.buffer) >= width else None

    def order(self):
        return "little" if self.framing.endswith("le") else "big"

    def varint(self):
        length = 0
        for index, byte in enumerate(self.buffer[:10]):
            # Only one bit of a varint's tenth byte fits in 64 bits.
            if index == 9 and byte > 1:
                raise BadStream("protocol")
            length |= (byte & 127) << (7 * index)
            if byte < 128:
                return index + 1, length
        return None

    def take(self, before, length, behind):
        message = bytes(self.buffer[before:before + length])
        del self.buffer[:before + length + behind]
        self.scanned = 0
        return message

    def finish(self):
        """Returns the bytes that belong to no complete message."""
        rest = bytes(self.buffer) if self.skipping is None else b""
        self.buffer.clear()
        self.scanned, self.skipping = 0, None
        return rest


def encode(framing, message, delimiter=None):
    """Returns the message followed by its terminator or preceded by its length."""
    terminator = TERMINATORS.get(framing, delimiter)
    if terminator:
        # The end of the message and the beginning of a delimiter may together form a delimiter.
        if (message + terminator).find(terminator) < len(message):
            raise Refused("invalid")
        return message + terminator
    if framing == "netstring":
        return b"%d:%s," % (len(message), message)
    if framing in WIDTHS:
        if len(message) >= 1 << 8 * WIDTHS[framing]:
            raise Refused("invalid")
        return len(message).to_bytes(WIDTHS[framing], "little" if framing.endswith("le") else "big") + message
    if framing == "varint":
        length, prefix = len(message), bytearray()
        while length > 127:
            prefix.append(length & 127 | 128)
            length >>= 7
        return bytes(prefix) + bytes([length]) + message
    return message


class Truncated(OSError):
    """Raised if the FIN arrives without a preceding close_notify."""


class TLSSocket:
    """TLS as a client over a connected non-blocking socket; methods that this class does not define are forwarded to
    the socket.

    The object is used like the socket: `recv`, `send` and `shutdown` raise BlockingIOError if they would have to wait,
    and `recv` returns no bytes at the end of the stream. ssl.SSLError is an error of TLS; after it, received bytes are
    discarded, and no close_notify is sent.
    """

    def __init__(self, sock, settings):
        self.sock = sock
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = self.context(settings).wrap_bio(self.incoming, self.outgoing, server_hostname=self.name(settings))
        # Records that the kernel has not accepted yet, and the number of message bytes in these records.
        self.unwritten, self.covered = b"", 0
        self.failed = self.peer_notified = self.notified = False
        # Whether the peer's FIN has arrived.
        self.ended = False
        # The condition that `recv` reports after the bytes that it has returned: the end of the stream, or an error.
        self.due = None

    def __getattr__(self, name):
        return getattr(self.sock, name)

    def name(self, settings):
        return settings["name"]

    def context(self, settings):
        context = ssl.create_default_context(cafile=settings["ca"])
        context.minimum_version = ssl.TLSVersion.TLSv1_3 if settings.get("version") == "1.3" else ssl.TLSVersion.TLSv1_2
        if settings.get("version") == "1.2":
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        if "alpn" in settings:
            context.set_alpn_protocols(settings["alpn"])
        return context

    def agreed(self):
        """Returns the fields of the event `secured`."""
        protocol = self.tls.selected_alpn_protocol()
        return {"version": self.tls.version().removeprefix("TLSv"), **({"alpn": protocol} if protocol else {})}

    def handshake(self):
        """Continues the handshake: raises BlockingIOError until it is complete."""
        while True:
            try:
                self.tls.do_handshake()
                return self.flush()
            except ssl.SSLWantReadError:
                self.flush()
            except ssl.SSLError:
                self.give_up()
                raise
            if not self.fill():
                self.failed = self.ended = True
                raise ssl.SSLError("the stream ended in the handshake")

    def fill(self):
        """Reads from the kernel once; returns whether bytes were received."""
        data = self.sock.recv(READ_SIZE)
        self.incoming.write(data)
        return bool(data)

    def recv(self, size):
        """Returns all decrypted bytes of one read from the kernel, because the kernel does not report the socket as
        readable again for them."""
        if self.due is not None:
            return self.told()
        if self.failed or self.peer_notified:
            return self.skip(size)
        data = self.decrypt()
        if not data and self.due is None:
            if not self.fill():
                self.failed = self.ended = True
                raise Truncated("a FIN without a close_notify")
            data = self.decrypt()
        self.flush_quietly()
        if data:
            return data
        if self.due is not None:
            return self.told()
        raise BlockingIOError

    def skip(self, size):
        """Discards bytes after a close_notify or an error, which don't belong to the stream, until the FIN arrives."""
        while self.sock.recv(size):
            pass
        self.ended = True
        return b""

    def decrypt(self):
        data = bytearray()
        while self.due is None:
            try:
                piece = self.tls.read(RECORD_SIZE)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLZeroReturnError:
                piece = b""
            except ssl.SSLError as error:
                self.give_up()
                self.due = error
                break
            data += piece
            if not piece:
                self.peer_notified, self.due = True, b""
        return bytes(data)

    def told(self):
        due, self.due = self.due, None
        if due:
            raise due
        return b""

    def send(self, data):
        """Writes a record; once the kernel has accepted the entire record, returns the number of bytes of `data` in the
        record."""
        self.flush()
        if not self.covered:
            self.covered = self.tls.write(data[:RECORD_SIZE])
            self.flush()
        count, self.covered = self.covered, 0
        return count

    def flush(self):
        self.unwritten += self.outgoing.read()
        while self.unwritten:
            self.unwritten = self.unwritten[self.sock.send(self.unwritten):]

    def flush_quietly(self):
        """Writes the responses that TLS itself generates. The next read or write reports a failure."""
        try:
            self.flush()
        except OSError:
            pass

    def give_up(self):
        """Ends TLS after an error or a fatal alert: sends our alert, without a close_notify after it."""
        self.failed = True
        self.flush_quietly()

    def shutdown(self, how):
        if not self.notified and not self.failed:
            self.notified = True
            self.notify()
        self.flush()
        self.sock.shutdown(how)

    def notify(self):
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            # OpenSSL waits for the peer's close_notify, whose arrival is noticed when reading.
            pass


class Unsent:
    """The frames of a connection that have not been completely passed to the kernel. A frame whose last byte was passed
    may have reached the peer."""

    def __init__(self):
        self.frames, self.passed = collections.deque(), 0

    def append(self, frame):
        self.frames.append(frame)

    def sent(self, count):
        self.passed += count
        while self.frames and self.passed >= len(self.frames[0]):
            self.passed -= len(self.frames.popleft())

    def lost(self):
        """Discards a frame of which the peer may have received a part. Returns the number of bytes of the frame that
        were not passed to the kernel."""
        if not self.passed:
            return 0
        rest, self.passed = len(self.frames.popleft()) - self.passed, 0
        return rest

    def give_up(self):
        rest, self.passed = sum(map(len, self.frames)) - self.passed, 0
        self.frames.clear()
        return rest


class Connection:
    """One connection, from its `connect` or `accept` until its socket is closed.

        connecting -> (securing ->) open -+- EOF, stop -> ending (what was sent is written) -+-> over
                                          +- too long, idle ----> lingering -> over          +-> lingering (from stop) -> over
                                          +- reset -> over
        With `reconnect`, a lost connection has a successor: away (the wait) -> connecting.
        open -> securing: STARTTLS. Bytes received in the clear until then are discarded; data sent before is written in the clear.
    """

    def __init__(self, adapter, number, settings):
        self.adapter, self.number, self.settings = adapter, number, settings
        self.loop = asyncio.get_running_loop()
        self.set_framing(settings)
        # The pending change of framing: [the number of messages that are still delivered before the change, the
        # `framing` op].
        self.announced = None
        self.state = CONNECTING
        self.sock = self.task = self.timer = self.idle_timer = None
        self.pending = bytearray()
        # The settings of the handshake that is about to begin; the messages that wait for the end of the handshake; and
        # whether the handshake is complete.
        self.wanted_tls, self.held, self.is_secured = None, bytearray(), False
        self.is_started = False
        # Whether the peer's FIN or close_notify has arrived.
        self.peer_ended = False
        self.paused = self.fin_wanted = self.fin_sent = self.read_ended = False
        # The reason why a write failed, or why the connection failed after `connect` and before its state was first
        # checked.
        self.failure = None
        # The machine's resource shortage, for the event that reports the end of the connection.
        self.trouble = {}
        # Whether `full` was reported, without a `drained` after it.
        self.full = False
        # The state of a connection that is ending.
        self.reason = None
        self.active = 0.0
        self.unacknowledged = 0
        # The state of the heartbeat: the time at which data was last sent, the time at which data was last received,
        # and the bytes of a heartbeat that `sent` must not count.
        self.last_sent = self.last_heard = 0.0
        self.beat_timer, self.uncounted = None, 0
        # The state of reconnecting: the frames that remain to be sent, the number of waits since the last connection,
        # and whether the script has closed our side.
        self.unsent, self.waits, self.has_half_closed = Unsent(), 0, False

    def say(self, event, **fields):
        trouble = self.trouble if fields.get("reason") == "other" else {}
        self.adapter.say(ev=event, conn=self.number, **fields, **trouble)

    # MARK: Connecting

    def start(self):
        self.task = self.loop.create_task(self.begin())
        self.limit_connecting()

    def limit_connecting(self):
        limit = self.settings.get("connect-timeout-ms")
        if limit is not None:
            self.timer = self.loop.call_later(limit / 1000, self.connect_timed_out)

    async def begin(self):
        try:
            sock = await self.connect()
        # An invalid host name raises a ValueError.
        except (OSError, ValueError) as error:
            self.over(self.reason_of(error), str(error))
        else:
            if "tls" in self.settings:
                self.sock = sock
                self.begin_tls(self.settings["tls"])
            else:
                self.opened(sock)

    async def connect(self):
        """Returns a socket that is connected to the first address that answers. The next address is tried after a failure or 250 ms."""
        if "path" in self.settings:
            return await self.attempt((socket.AF_UNIX, socket.SOCK_STREAM, 0, "", self.settings["path"]))
        host, port = self.settings["host"], self.settings["port"]
        addresses = self.order(await self.look_up(host, port))
        attempts, failure, winner = set(), OSError("the name has no address"), None
        everyone = set()
        try:
            while addresses or attempts:
                if addresses:
                    attempts.add(self.loop.create_task(self.attempt(addresses.pop(0))))
                    everyone |= attempts
                delay = ATTEMPT_DELAY if addresses else None
                done, attempts = await asyncio.wait(attempts, timeout=delay, return_when=asyncio.FIRST_COMPLETED)
                for attempt in done:
                    if not attempt.exception():
                        winner = attempt
                        return attempt.result()
                    failure = attempt.exception()
            raise failure
        finally:
            for attempt in everyone - {winner}:
                # A connection attempt may have succeeded just before it was cancelled, so its connection must be
                # closed.
                if not attempt.cancel() and not attempt.cancelled() and not attempt.exception():
                    attempt.result().close()

    async def look_up(self, host, port):
        return await self.loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)

    def order(self, addresses):
        """Returns the addresses that can be reached from the local address, the preferred family first."""
        if "local" in self.settings:
            family = socket.AF_INET6 if ":" in self.settings["local"] else socket.AF_INET
            addresses = [address for address in addresses if address[0] == family]
        first = {"ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}.get(self.settings.get("prefer"))
        return sorted(addresses, key=lambda address: first is not None and address[0] != first)

    def bind(self, sock):
        if "interface" in self.settings:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.settings["interface"].encode())
        if "local" in self.settings:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((self.settings["local"], self.settings.get("local-port", 0)))

    async def attempt(self, address):
        sock = socket.socket(*address[:3])
        sock.setblocking(False)
        try:
            self.bind(sock)
            await self.loop.sock_connect(sock, address[4])
        except ConnectionResetError as error:
            # The connection was established, and reset before its state was checked. A socket reports its error only
            # once.
            self.failure = error
        except BaseException:
            sock.close()
            raise
        return sock

    # MARK: Reconnecting

    def comes_back(self, reason):
        """Does not reconnect to a peer that violates the rules, because it would violate them again."""
        return self.wants_to_come_back() and reason not in ("too-long", "protocol", "tls-failed", "stopped") and not self.has_half_closed

    def wants_to_come_back(self):
        return "reconnect-min-ms" in self.settings and self.settings["op"] == "connect"

    def lost(self, reason, detail):
        if self.is_started:
            # A new connection begins with the initial framing, so it can't send frames in another framing.
            has_other_framing = self.framing != self.settings["framing"]
            self.say_lost(reason, detail, self.unsent.give_up() if has_other_framing else self.unsent.lost())
        else:
            self.say("attempt-failed", reason=reason, detail=detail)
        self.succeed()

    def say_lost(self, reason, detail, dropped):
        self.say("lost", reason=reason, detail=detail, dropped=dropped)

    def succeed(self):
        """Creates the next connection, which has the same number."""
        successor = self.adapter.known[self.number] = self.adapter.connection(self.number, self.settings)
        self.hand_over(successor)
        successor.stay_away(successor.wait())
        successor.waits += 1

    def hand_over(self, successor):
        successor.unsent, successor.paused = self.unsent, self.paused
        successor.waits = self.waits_so_far()

    def waits_so_far(self):
        return 0 if self.is_started else self.waits

    def wait(self):
        return min(self.settings["reconnect-min-ms"] * 2 ** min(self.waits, 40), self.settings["reconnect-max-ms"]) / 1000

    def stay_away(self, seconds):
        self.state = AWAY
        self.timer = self.loop.call_later(seconds, self.come_back)

    def come_back(self):
        self.state = CONNECTING
        self.pending += self.left_over()
        self.fin_wanted = self.has_half_closed
        self.start()

    def left_over(self):
        return b"".join(self.unsent.frames)

    def connect_timed_out(self):
        if self.task:
            self.task.cancel()
        self.over("timeout", "not connected in time")

    # MARK: TLS

    def start_tls(self, settings):
        self.require_open()
        if self.is_secured or self.state == SECURING:
            raise Refused("already-started")
        if self.fin_wanted or self.peer_ended:
            raise Refused("half-closed")
        self.discard_plaintext()
        self.begin_tls(settings)

    def discard_plaintext(self):
        self.decoder.finish()

    def begin_tls(self, settings):
        """Begins the handshake once data that was sent before is written."""
        if self.state == CONNECTING:
            self.held, self.pending = self.pending, bytearray()
        self.state, self.wanted_tls = SECURING, settings
        self.secure()
        self.update()

    def secure(self):
        if self.pending or self.failure:
            return
        settings, self.wanted_tls = self.wanted_tls, None
        try:
            if self.sock.family != socket.AF_UNIX:
                self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sock = self.adapter.parts[TLSSocket](self.sock, settings)
        except (OSError, ValueError) as error:
            return self.over("tls-failed", str(error))
        self.handshake()

    def handshake(self):
        try:
            self.sock.handshake()
        except BlockingIOError:
            self.update()
        except ssl.SSLError as error:
            self.tls_failed(error)
        except OSError as error:
            self.over(self.reason_of(error), str(error))
        else:
            self.secured()

    def tls_failed(self, error):
        self.pending.clear()
        self.stop_event("tls-failed", str(error))
        self.linger()

    def secured(self):
        self.is_secured = True
        self.say("secured", **self.sock.agreed())
        self.pending += self.held
        self.held.clear()
        self.opened(self.sock)
        if self.pending:
            self.write()
        self.look_again()

    def look_again(self):
        """Reads bytes that arrived together with the end of the handshake: they are already buffered, so the kernel
        does not report them."""
        if self.state == OPEN and not self.paused:
            self.readable()

    # MARK: Connected

    def accepted(self, sock, listener):
        self.adapter.say(ev="accept", conn=self.number, listener=listener.number)
        self.opened(sock)

    def opened(self, sock):
        self.cancel_timers()
        self.sock, self.state = sock, OPEN
        sock.setblocking(False)
        if sock.family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.is_started:
            self.is_started = True
            self.say("start")
        self.active = self.loop.time()
        self.watch_idleness()
        self.begin_heartbeat()
        self.update()

    # MARK: Ops

    def require_open(self):
        if self.state in (LINGERING, OVER) or (self.state == ENDING and self.reason == "stopped"):
            raise Refused("stopped")

    def send(self, data):
        self.require_open()
        if self.fin_wanted and self.state != ENDING:
            raise Refused("half-closed")
        frame = self.frame(data)
        if self.wants_to_come_back():
            self.unsent.append(frame)
        if not self.failure and self.state != AWAY:
            self.queue(frame)

    def frame(self, data):
        return encode(self.framing, data, self.delimiter)

    def queue(self, frame):
        if self.state in (SECURING, OPENING):
            self.held += frame
            return
        if not self.pending:
            self.active = self.loop.time()
        self.last_sent = self.loop.time()
        self.pending += frame
        self.write()

    def half_close(self):
        self.require_open()
        self.has_half_closed = True
        if self.state == AWAY:
            return
        if self.peer_ended and self.state == OPEN:
            self.end("eof")
        self.fin_wanted = True
        self.update()

    def stop_reading(self):
        self.require_open()
        self.paused = True
        self.update()

    def resume_reading(self):
        self.require_open()
        if self.paused:
            self.last_heard = self.loop.time()
        self.paused = False
        self.update()

    def stop(self):
        if self.state == CONNECTING:
            self.task.cancel()
            self.over("stopped")
        elif self.state in (SECURING, AWAY):
            self.over("stopped")
        elif self.state == OPEN or (self.state == ENDING and self.reason == "eof"):
            self.end("stopped")

    def set_framing(self, request):
        self.framing = request["framing"]
        self.delimiter = request["delimiter"].encode("latin-1") if self.framing == "delimiter" else None
        self.decoder = self.adapter.parts[Decoder](self.framing, self.settings.get("max-line", 1024), self.delimiter)

    def framing_op(self, request):
        self.require_open()
        self.announced = None
        if "behind" in request:
            self.announce_framing(request)
        else:
            self.change_framing(request)

    def announce_framing(self, request):
        self.announced = [request["behind"], request]

    def change_framing(self, request):
        """Divides the undelivered bytes into messages again."""
        rest = self.decoder.finish()
        self.set_framing(request)
        self.take_over(rest)

    def take_over(self, rest):
        self.decoder.append(rest)
        self.deliver()

    def delivered(self):
        if self.announced:
            self.announced[0] -= 1
            if self.announced[0] == 0:
                request, self.announced = self.announced[1], None
                self.change_framing(request)

    def reset(self):
        """Sends an RST, even if a stop is still waiting for sent data to be written."""
        if self.state not in (AWAY, CONNECTING, LINGERING, OVER):
            self.abort()
            self.over("stopped")
        else:
            self.stop()

    # MARK: Reading

    def readable(self):
        if self.state == SECURING:
            return self.handshake()
        try:
            data = self.sock.recv(READ_SIZE)
        except BlockingIOError:
            # There is no unread data that could explain why the write failed, and nothing more will arrive.
            return self.over(self.reason_of(self.failure)) if self.failure and self.state == OPEN else None
        except Truncated:
            return self.read_eof("tls-truncated")
        except OSError as error:
            return self.read_failed(error)
        if not data:
            return self.read_failed(self.failure) if self.failure else self.read_eof()
        self.active = self.loop.time()
        self.heard_bytes()
        if self.state in (OPENING, OPEN):
            self.received(data)
        return self.update()

    def received(self, data):
        self.decoder.append(data)
        self.deliver()

    def deliver(self):
        while self.state == OPEN:
            try:
                message = self.decoder.next()
            except BadStream as error:
                if str(error) != "too-long" or not self.settings.get("discard-too-long"):
                    return self.bad_stream(str(error))
                self.discard()
            else:
                if message is None:
                    break
                if self.is_answer(message):
                    self.heard()
                    continue
                self.say(self.event(), data=message.decode("latin-1"))
                self.delivered()

    def discard(self):
        self.decoder.leave_out()
        self.say("discarded")

    def event(self):
        return "data" if self.framing == "none" else "line" if self.decoder.terminator else "message"

    def bad_stream(self, reason):
        self.stop_event(reason)
        self.linger()

    def read_eof(self, reason="eof"):
        # After a close_notify, the FIN may not have arrived yet.
        self.read_ended = getattr(self.sock, "ended", True)
        is_first, self.peer_ended = not self.peer_ended, True
        if self.state == OPEN and is_first:
            self.leave()
            if self.stays_open() and reason == "eof":
                self.half_closed()
            else:
                self.end(reason)
        elif self.state == LINGERING and not self.pending and self.read_ended:
            self.over()
        else:
            self.update()

    def stays_open(self):
        return self.settings.get("allow-half-close") and not self.fin_wanted

    def half_closed(self):
        self.say("half-closed")
        self.update()
        self.loop.call_soon(self.look_for_reset)

    def look_for_reset(self):
        """Checks for a reset after a FIN, which no read would report. A socket reports its error only once."""
        if self.state == OPEN and not self.failure:
            error = self.sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                # The kernel reports a reset after a FIN as EPIPE.
                self.over("reset" if error == errno.EPIPE else REASONS.get(error, "other"))
            else:
                self.loop.call_later(0.02, self.look_for_reset)

    def leave(self):
        rest = self.decoder.finish()
        if rest:
            self.say("leftover", data=rest.decode("latin-1"))

    def read_failed(self, error):
        if isinstance(error, ssl.SSLError) and self.state == OPEN:
            return self.tls_failed(error)
        if isinstance(error, ssl.SSLError) and self.state == LINGERING:
            return self.update()
        self.over(self.reason if self.reason == "stopped" else self.reason_of(error), str(error))

    # MARK: Writing

    def write(self):
        """Passes as many bytes to the kernel as it accepts now."""
        if self.state == SECURING and not self.wanted_tls:
            return self.handshake()
        if isinstance(self.sock, TLSSocket):
            self.sock.flush_quietly()
        while self.sock and self.pending and not self.failure and (self.state != SECURING or self.wanted_tls):
            try:
                count = self.sock.send(self.pending[:WRITE_SIZE])
            except BlockingIOError:
                self.would_block()
                break
            except OSError as error:
                self.write_failed(error)
            else:
                self.wrote(count)
        self.update()

    def would_block(self):
        """Called by the loop when the kernel can accept more bytes."""
        if self.state == OPEN and not self.full and len(self.pending) >= self.high_water():
            self.full = True
            self.say("full")

    def high_water(self):
        return self.settings.get("high-water", math.inf)

    def wrote(self, count):
        del self.pending[:count]
        self.active = self.last_sent = self.loop.time()
        if self.state in (OPEN, SECURING) or (self.state == ENDING and self.reason != "stopped"):
            self.say_sent(count)
        if self.state == SECURING:
            self.secure()
        elif self.state != OPEN:
            self.expect_progress(FLUSH_TIME)
        elif self.full and len(self.pending) <= self.high_water() / 2:
            self.full = False
            self.say("drained")

    def say_sent(self, count):
        beat = min(self.uncounted, count)
        self.uncounted -= beat
        if count > beat:
            self.unsent.sent(count - beat)
            self.say("sent", bytes=count - beat)

    def write_failed(self, error):
        """Continues to read, because the peer's data and the reason why the connection ended must still be reported."""
        self.failure = error
        self.pending.clear()
        if self.peer_ended and self.state == OPEN:
            self.loop.call_soon(self.failed_half_closed)

    def failed_half_closed(self):
        if self.state == OPEN:
            self.over(self.reason_of(self.failure), str(self.failure))

    # MARK: Ending

    def end(self, reason):
        """Queues a FIN after the sent data, and reports `stop` once the data is written."""
        self.state, self.reason, self.fin_wanted = ENDING, reason, True
        self.expect_progress(FLUSH_TIME)
        self.update()

    def ended(self):
        """Called when everything is written and the FIN was sent or can't be sent."""
        if self.failure and self.reason != "stopped":
            self.over(self.reason_of(self.failure))
        elif self.read_ended or self.failure:
            self.over(self.reason)
        else:
            self.stop_event(self.reason)
            self.linger()

    def linger(self):
        """Called when `stop` was reported. Keeps the socket open until the peer has closed its side, too, because
        closing a socket with unread bytes would send an RST."""
        self.state, self.fin_wanted = LINGERING, True
        self.expect_progress(FLUSH_TIME if self.pending else DRAIN_TIME)
        self.update()

    def expect_progress(self, seconds):
        if self.timer:
            self.timer.cancel()
        self.timer = self.loop.call_later(seconds, self.no_progress)

    def no_progress(self):
        waiting = self.kernel_holds()
        if self.pending:
            self.abort()
            self.over("stopped" if self.reason == "stopped" else "timeout", "the peer does not read")
        elif 0 < waiting != self.unacknowledged:
            self.unacknowledged = waiting
            self.expect_progress(DRAIN_TIME)
        else:
            self.over()

    def kernel_holds(self):
        """Returns the number of our bytes that the peer's kernel has not acknowledged."""
        return struct.unpack("i", fcntl.ioctl(self.sock, termios.TIOCOUTQ, b"\0\0\0\0"))[0]

    def abort(self):
        """Sends an RST because sent data can't be written: a FIN would mark the data as complete."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def over(self, reason=None, detail=""):
        """Closes the socket, and reports `stop` if it was not reported yet."""
        said, self.state = self.state in (LINGERING, OVER), OVER
        self.cancel_timers()
        if self.sock:
            self.unwatch()
            self.sock.close()
            self.sock = None
        if not said:
            self.stop_event(reason, detail)

    def stop_event(self, reason, detail=""):
        if self.comes_back(reason):
            self.lost(reason, detail)
        else:
            self.say("stop", reason=reason, detail=detail)

    def reason_of(self, error):
        self.trouble = machine(error)
        if isinstance(error, ssl.SSLError):
            return "tls-failed"
        return REASONS.get(getattr(error, "errno", None), "other")

    # MARK: The idle timeout

    def watch_idleness(self):
        limit = self.settings.get("idle-timeout-ms")
        if limit is not None:
            self.idle_timer = self.loop.call_at(self.active + limit / 1000, self.idle)

    def idle(self):
        """Called when the timer that an earlier byte started has expired. Further bytes may have arrived since."""
        if self.state != OPEN:
            return
        if self.loop.time() < self.active + self.settings["idle-timeout-ms"] / 1000:
            self.watch_idleness()
        elif self.pending:
            self.abort()
            self.over("timeout", "idle, with bytes unwritten")
        else:
            self.stop_event("timeout", "idle")
            self.linger()

    def cancel_timers(self):
        for timer in (self.timer, self.idle_timer, self.beat_timer):
            if timer:
                timer.cancel()
        self.timer = self.idle_timer = self.beat_timer = None

    # MARK: The heartbeat

    def begin_heartbeat(self):
        self.last_sent = self.last_heard = self.loop.time()
        if "heartbeat-ms" in self.settings or "heartbeat-timeout-ms" in self.settings:
            self.watch_heartbeat()

    def watch_heartbeat(self):
        """Schedules the next check for the time at which a heartbeat is due or the peer has been silent for too
        long, but never later than 10 ms from now."""
        due = [time for time in (self.next_beat(), self.end_of_silence()) if time is not None]
        now = self.loop.time()
        self.beat_timer = self.loop.call_at(min(due + [now + 0.01]), self.look_at_heartbeat)

    def next_beat(self):
        """Returns the time at which the next heartbeat is due; None while bytes wait to be written, and after our
        FIN."""
        if "heartbeat-ms" not in self.settings or self.pending or self.fin_wanted or self.failure:
            return None
        return self.last_sent + self.settings["heartbeat-ms"] / 1000

    def end_of_silence(self):
        """Returns the time at which the peer has been silent for too long; None while reading is stopped, and after a
        FIN."""
        if "heartbeat-timeout-ms" not in self.settings or self.paused or self.fin_wanted or self.peer_ended:
            return None
        return self.last_heard + self.settings["heartbeat-timeout-ms"] / 1000

    def look_at_heartbeat(self):
        if self.state != OPEN:
            return
        self.judge_silence()
        if self.state == OPEN:
            beat = self.next_beat()
            if beat is not None and self.loop.time() >= beat:
                self.beat()
            self.watch_heartbeat()

    def judge_silence(self):
        end = self.end_of_silence()
        if end is not None and self.loop.time() >= end:
            # The loop may have been delayed, and unread bytes may be in the kernel's buffer.
            self.readable()
            end = self.end_of_silence()
            if self.state == OPEN and end is not None and self.loop.time() >= end:
                self.silent()

    def silent(self):
        self.abort()
        self.over("heartbeat", "the peer is silent")

    def beat(self):
        frame = self.frame(self.settings["heartbeat"].encode("latin-1"))
        self.uncounted += len(frame)
        self.queue(frame)

    def heard_bytes(self):
        if "heartbeat-answer" not in self.settings:
            self.heard()

    def heard(self):
        self.last_heard = self.loop.time()

    def is_answer(self, message):
        return self.framing != "none" and self.settings.get("heartbeat-answer") == message.decode("latin-1")

    # MARK: Watching the socket

    def update(self):
        """Must be called after every change: performs the actions that waited until the last byte was written, and
        updates the events that the loop watches for."""
        if self.sock and (not self.pending or self.failure) and self.state != SECURING:
            if self.fin_wanted and not self.fin_sent:
                self.fin_sent = True
                self.shut_down_writing()
            if self.state == ENDING and (self.fin_sent or self.failure):
                self.ended()
            elif self.state == LINGERING and self.read_ended:
                self.over()
        if self.sock:
            self.unwatch()
            if self.wants_read():
                self.loop.add_reader(self.sock, self.readable)
            if self.wants_write() and not self.failure:
                self.loop.add_writer(self.sock, self.write)
            if self.wants_read() and getattr(self.sock, "due", None) is not None:
                self.loop.call_soon(self.read_due)

    def read_due(self):
        """Handles an end or error that TLS has found after the bytes that it returned, because the kernel does not
        report it."""
        if self.sock and self.wants_read() and getattr(self.sock, "due", None) is not None:
            self.readable()

    def wants_write(self):
        return self.fin_wanted and not self.fin_sent or bool(getattr(self.sock, "unwritten", b"")) or (
            self.pending and (self.state != SECURING or self.wanted_tls))

    def shut_down_writing(self):
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except BlockingIOError:
            # The kernel does not accept the close_notify yet.
            self.fin_sent = False
        except OSError as error:
            # If the peer has closed its side, it may also have closed its socket. Only our close_notify and FIN are
            # then lost.
            if not (self.is_secured and self.peer_ended and not self.pending):
                self.write_failed(error)

    def wants_read(self):
        return not self.read_ended and not (self.paused and self.state == OPEN) and not self.wanted_tls

    def unwatch(self):
        self.loop.remove_reader(self.sock)
        self.loop.remove_writer(self.sock)


class WebSocketConnection(Connection):
    """A connection whose stream carries WebSocket.

        connecting -> (securing ->) opening (the handshake of WebSocket) -> open
        open -+- our close -> open, until the peer's close, its FIN or CLOSE_TIME
              +- the peer's close -+- from a server -> waiting (for its FIN, WAIT_TIME at most) -> ending
              |                    +- from a client -> ending
              +- a violation -> lingering
              +- EOF, stop, reset as in Connection
        What ends a connection after the peer's close is reported as `closed`. An accepted connection is not reported before its
        handshake is complete.
    """

    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        self.opening = self.listener = None
        # Whether our close frame is queued; whether the peer's close frame has arrived; and the code of the peer's
        # close frame.
        self.close_sent = self.peer_closed = False
        self.code = None

    def is_server(self):
        return self.settings["op"] == "listen"

    def set_framing(self, settings):
        self.framing = settings["framing"]
        self.decoder = self.adapter.parts[Frames](self.is_server(), self.settings.get("max-line", 1024))

    # MARK: The opening handshake

    def accepted(self, sock, listener):
        sock.setblocking(False)
        self.listener = listener
        self.limit_connecting()
        self.opened(sock)

    def opened(self, sock):
        """Called when the stream is established. Data that was sent early waits for the handshake."""
        self.sock, self.state = sock, OPENING
        self.opening = self.adapter.parts[ServerOpening]() if self.is_server() else self.adapter.parts[ClientOpening](self.settings)
        self.held, self.pending = self.pending, bytearray(self.opening.request())
        self.write()

    def received(self, data):
        if self.state == OPEN:
            return super().received(data)
        self.opening.append(data)
        try:
            if self.opening.is_done():
                self.upgrade()
        except BadHead as error:
            self.refuse(str(error))
        return None

    def refuse(self, status):
        self.pending += self.opening.refusal(status)
        self.stop_event("protocol", "no WebSocket was opened")
        self.linger()

    def upgrade(self):
        self.pending += self.opening.answer()
        self.write()
        if self.listener:
            if not self.listener.sock:
                return self.over()
            self.say_accepted()
        super().opened(self.sock)
        self.pending += self.held
        self.held.clear()
        self.write()
        return self.take_over(self.opening.buffer)

    def say_accepted(self):
        self.say("accept", listener=self.listener.number)

    def wrote(self, count):
        if self.state == OPENING:
            del self.pending[:count]
            return
        super().wrote(count)
        if self.state == OPEN and self.close_sent:
            self.expect_progress(CLOSE_TIME)

    def say_sent(self, count):
        """Does not report `sent`, because the bytes include pongs and close frames, which no op requested."""

    # MARK: Ops

    def require_writable(self):
        self.require_open()
        if self.close_sent:
            raise Refused("stopped")

    def require_started(self):
        self.require_writable()
        if self.state in (CONNECTING, SECURING, OPENING):
            raise Refused("not-started")

    def send_message(self, kind, data):
        self.require_writable()
        if kind == "text" and not is_utf8(data):
            raise Refused("invalid")
        self.queue_frame(TEXT if kind == "text" else BINARY, data)

    def ping(self, data):
        self.require_started()
        if len(data) > CONTROL_SIZE:
            raise Refused("invalid")
        self.queue_frame(PING, data)

    def close(self, code, reason):
        self.require_started()
        self.check_close(code, reason)
        self.queue_close(b"" if code is None else code.to_bytes(2, "big") + reason)
        self.expect_progress(CLOSE_TIME)

    def check_close(self, code, reason):
        if code is not None and not is_code(code) or len(reason) > CONTROL_SIZE - 2 or not is_utf8(reason):
            raise Refused("invalid")

    def queue_frame(self, opcode, payload):
        if not self.failure:
            self.queue(self.decoder.encode(opcode, payload))

    def queue_close(self, payload):
        """Queues the close, which is the last frame that is sent."""
        if not self.close_sent:
            self.close_sent = True
            self.queue_frame(CLOSE, payload)

    def half_close(self):
        """Refuses a half-close, because a FIN without a close frame is not a valid end."""
        raise Refused("unsupported")

    def framing_op(self, request):
        raise Refused("unsupported")

    def stop(self):
        if self.state == OPENING:
            return self.over("stopped")
        if self.state == WAITING:
            return self.end("stopped")
        if self.state == OPEN:
            self.queue_close(NORMAL.to_bytes(2, "big"))
        return super().stop()

    # MARK: Reading

    def deliver(self):
        try:
            while self.state == OPEN and (event := self.decoder.next()):
                self.handle(*event)
        except Violation as error:
            self.violated(error.code)

    def handle(self, opcode, payload):
        if opcode == CLOSE:
            self.close_came(payload)
        elif opcode == PING:
            self.ping_came(payload)
        elif opcode == PONG:
            self.say("pong", data=payload.decode("latin-1"))
        else:
            self.say("message", data=payload.decode("latin-1"), kind=OPCODES[opcode])

    def ping_came(self, payload):
        """Answers pings until the peer's close frame has arrived (section 5.5.2), even after our own close frame."""
        self.queue_frame(PONG, payload)
        self.say("ping", data=payload.decode("latin-1"))

    def violated(self, code):
        self.queue_close(code.to_bytes(2, "big"))
        self.bad_stream("too-long" if code == TOO_LONG else "protocol")

    def close_came(self, payload):
        """Answers the close frame with the same code, and ignores the bytes after it. The server ends the stream first
        (section 7.1.1)."""
        self.code = self.decoder.code_of(payload)
        self.peer_closed = True
        self.answer_close(payload)
        if self.is_server():
            self.end("closed")
        else:
            self.await_fin()

    def answer_close(self, payload):
        self.queue_close(payload[:2])

    def await_fin(self):
        self.state, self.reason = WAITING, "closed"
        self.expect_progress(WAIT_TIME)
        self.update()

    def leave(self):
        """Reports no leftover, because an incomplete frame or message does not count as a leftover."""

    def read_eof(self, reason="eof"):
        if self.state == OPENING:
            return self.over(reason)
        if self.state == WAITING:
            self.end("closed")
        return super().read_eof(reason)

    # MARK: Ending

    def no_progress(self):
        if self.state == WAITING:
            self.end("closed")
        elif self.state == OPEN:
            self.close_unanswered()
        else:
            super().no_progress()

    def close_unanswered(self):
        """Restarts the timer while the peer is still reading data that was sent before the close frame."""
        waiting = self.kernel_holds()
        if 0 < waiting != self.unacknowledged:
            self.unacknowledged = waiting
            self.expect_progress(CLOSE_TIME)
        else:
            self.stop_event("timeout", "no answer to the close")
            self.linger()

    def stop_event(self, reason, detail=""):
        if self.peer_closed and reason != "stopped":
            self.say("stop", reason="closed", detail=detail, **({} if self.code is None else {"code": self.code}))
        elif self.is_started or not self.is_server():
            super().stop_event(reason, detail)


class Listener:
    """Accepts connections until it is stopped."""

    def __init__(self, adapter, number, settings):
        self.adapter, self.number, self.settings = adapter, number, settings
        self.loop = asyncio.get_running_loop()
        if "path" in settings:
            self.sock, self.port = self.listen_at(settings["path"]), None
        else:
            self.sock = self.bind(settings["host"], settings["port"])
            self.port = self.sock.getsockname()[1]
        self.loop.add_reader(self.sock, self.waiting)

    def bind(self, host, port):
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(*address[:3])
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if "interface" in self.settings:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.settings["interface"].encode())
            sock.bind(address[4])
            sock.listen(128)
        except OSError:
            sock.close()
            raise
        return sock

    def listen_at(self, path):
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.setblocking(False)
            sock.bind(path)
            sock.listen(128)
        except OSError:
            sock.close()
            raise
        return sock

    def waiting(self):
        try:
            sock = self.sock.accept()[0]
        except OSError as error:
            if error.errno in SHORTAGES:
                # Without a stop, pending connections would remain in the queue and never be accepted.
                self.stop(reason="other", detail=str(error), **machine(error))
            return
        self.accepted(sock)

    def accepted(self, sock):
        self.adapter.new_connection(self.settings).accepted(sock, self)

    def stop(self, reason="stopped", **more):
        if self.sock:
            self.loop.remove_reader(self.sock)
            self.sock.close()
            self.sock = None
            if "path" in self.settings:
                os.unlink(self.settings["path"])
            self.adapter.say(ev="stop", conn=self.number, reason=reason, **more)


class Adapter:
    """The protocol: ops are read from stdin, and events are written to stdout."""

    can = ["connect", "listen", "send", "send-early", "lines", "data", "messages", "framing", "half-close", "half-closed",
           "stop", "reset", "stop-reading", "resume-reading", "high-water", "sent", "leftover", "connect-timeout", "idle-timeout", "heartbeat", "reconnect", "max-line",
           "discarded", "local", "interface", "prefer", "unix", "tls", "start-tls", "websocket"]

    def __init__(self, name, parts):
        self.name = name
        # For each class in BASES, the class that is used in its place.
        self.parts = parts
        self.known = {}
        self.next_accepted = 1_000_000

    def say(self, **message):
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    def connection(self, number, settings):
        base = WebSocketConnection if settings["framing"] == "websocket" else Connection
        return self.parts[base](self, number, settings)

    def new_connection(self, settings):
        self.known[self.next_accepted] = connection = self.connection(self.next_accepted, settings)
        self.next_accepted += 1
        return connection

    def perform(self, request):
        """Performs one op; returns the fields of the event `done` other than the op's number."""
        op, number = request["op"], request["conn"]
        if op in ("connect", "listen"):
            return self.begin(op, number, request)
        known = self.known.get(number)
        if known is None or (isinstance(known, Listener) and op != "stop"):
            raise Refused("not-started")
        if isinstance(known, WebSocketConnection) and op in ("send", "ping", "close"):
            self.perform_websocket(known, request)
        elif op == "send":
            known.send(request["data"].encode("latin-1"))
        elif op == "half-close":
            known.half_close()
        elif op == "stop-reading":
            known.stop_reading()
        elif op == "resume-reading":
            known.resume_reading()
        elif op == "stop":
            known.stop()
        elif op == "reset":
            known.reset()
        elif op == "framing":
            self.require_framing(request)
            known.framing_op(request)
        elif op == "start-tls":
            known.start_tls(request["tls"])
        else:
            raise Refused("unsupported")
        return {}

    def perform_websocket(self, known, request):
        if request["op"] == "close":
            known.close(request.get("code"), request.get("reason", "").encode("latin-1"))
        elif request["op"] == "ping":
            known.ping(request["data"].encode("latin-1"))
        else:
            known.send_message(request["kind"], request["data"].encode("latin-1"))

    def require_framing(self, request):
        if request["framing"] not in (*TERMINATORS, *WIDTHS, "delimiter", "varint", "netstring", "none"):
            raise Refused("unsupported")

    def begin(self, op, number, request):
        if number in self.known:
            raise Refused("already-started")
        if request["framing"] != "websocket" or "websocket" not in self.can:
            self.require_framing(request)
        if op == "listen" and "tls" in request or request["framing"] == "websocket" and "reconnect-min-ms" in request:
            raise Refused("unsupported")
        if op == "listen":
            self.known[number] = listener = self.parts[Listener](self, number, request)
            return {"port": listener.port} if listener.port else {}
        self.known[number] = connection = self.connection(number, request)
        connection.start()
        return {}

    def answer(self, request):
        try:
            return self.perform(request)
        except Refused as error:
            return {"error": str(error)}
        except OSError as error:
            return {"error": error.strerror or "other", **machine(error)}

    async def serve(self):
        stdin = asyncio.StreamReader(limit=1 << 24)
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
        self.say(ev="hello", proto=1, minor=4, name=self.name, can=self.can)
        while line := await stdin.readline():
            request = json.loads(line)
            self.say(ev="done", id=request["id"], **self.answer(request))


# The classes from which a mutant may be derived; the first match determines the base.
BASES = (Decoder, TLSSocket, ClientOpening, ServerOpening, Frames, WebSocketConnection, Connection, Listener, Adapter)


def run(name="reference", part=None):
    """Serves until the end of stdin; `part` replaces the class in BASES from which it is derived."""
    parts = {base: base for base in BASES}
    if part:
        parts[next(base for base in BASES if issubclass(part, base))] = part
    asyncio.run(parts[Adapter](name, parts).serve())


if __name__ == "__main__":
    run()
