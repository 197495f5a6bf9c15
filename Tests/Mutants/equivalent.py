#!/usr/bin/env python3
"""Transports that differ from the reference in details that the contract leaves open: if one of these
transports fails a case of level must, the case is wrong.

    equivalent.py NAME     serves the transport NAME over the adapter protocol
"""
import re
import socket
import sys
import time

import reference
from reference import LINGERING, OPEN, TERMINATORS, Adapter, BadStream, Connection, Decoder, Listener, Refused

# For each name: the class, and how the transport differs from the reference.
EQUIVALENT = {}


def equivalent(difference):
    """Registers a class under its name: `SmallReads` becomes `small-reads`."""
    def register(part):
        EQUIVALENT[re.sub(r"(?<=.)(?=[A-Z])", "-", part.__name__).lower()] = (part, difference)
        return part
    return register


class ReadsOf(Connection):
    """Reads a number of bytes other than 64 KiB at a time."""
    size = 1

    def readable(self):
        usual, reference.READ_SIZE = reference.READ_SIZE, self.size
        try:
            super().readable()
        finally:
            reference.READ_SIZE = usual


@equivalent("reads 300 bytes at a time")
class SmallReads(ReadsOf):
    size = 300


@equivalent("reads one mebibyte at a time")
class LargeReads(ReadsOf):
    size = 1 << 20


@equivalent("passes 1000 bytes at a time to the kernel, and reports each of these writes")
class SmallWrites(Connection):
    def write(self):
        usual, reference.WRITE_SIZE = reference.WRITE_SIZE, 1000
        try:
            super().write()
        finally:
            reference.WRITE_SIZE = usual


@equivalent("reports data as sent only when all of it has been written")
class SentAtTheEnd(Connection):
    untold = 0

    def say(self, event, **fields):
        if event == "sent":
            self.untold += fields["bytes"]
            if self.pending:
                return
            fields["bytes"], self.untold = self.untold, 0
        if event == "lost" and self.untold:
            # Bytes that were passed to the kernel are reported before the loss of the connection.
            super().say("sent", bytes=self.untold)
            self.untold = 0
        super().say(event, **fields)


@equivalent("takes 15 ms for each operation and for each read")
class Slow(Connection):
    def readable(self):
        time.sleep(0.015)
        super().readable()

    def require_open(self):
        time.sleep(0.015)
        super().require_open()


@equivalent("reports every event 20 ms late, in order")
class LateEvents(Adapter):
    def say(self, **message):
        if message["ev"] == "hello":
            super().say(**message)
        else:
            reference.asyncio.get_running_loop().call_later(0.02, lambda: super(LateEvents, self).say(**message))


@equivalent("does not report the start of an accepted connection")
class AcceptIsStart(Connection):
    def say(self, event, **fields):
        if event != "start" or self.number < 1_000_000:
            super().say(event, **fields)


@equivalent("reports leftovers before every stop")
class LeftoverAlways(Connection):
    def stop_event(self, reason, detail=""):
        if self.sock or self.decoder.buffer:
            self.leave()
        super().stop_event(reason, detail)


@equivalent("delivers the data of one more read after stop-reading")
class ReadInHand(Connection):
    def stop_reading(self):
        self.require_open()
        self.hand = not self.paused
        if not self.hand:
            return
        self.loop.call_later(0.03, self.let_go)

    hand = False

    def let_go(self):
        if self.hand and self.sock and self.state == OPEN:
            self.hand, self.paused = False, True
            self.update()

    def received(self, data):
        super().received(data)
        if self.hand:
            self.hand, self.paused = False, True

    def resume_reading(self):
        self.hand = False
        super().resume_reading()


@equivalent("closes at once when a line is too long or the idle timeout expires, which sends an RST if bytes are unread")
class ClosesAtOnce(Connection):
    def linger(self):
        if self.reason == "stopped":
            super().linger()
        else:
            self.state = LINGERING
            self.pending.clear()
            self.over()


@equivalent("refuses a second half-close and a second stop")
class SecondsRefused(Connection):
    def half_close(self):
        self.require_open()
        if self.fin_wanted:
            raise Refused("half-closed")
        super().half_close()

    def stop(self):
        if self.state == LINGERING or self.state == reference.OVER or self.reason == "stopped":
            raise Refused("stopped")
        super().stop()


@equivalent("reports a reset as a broken pipe if a write encounters it")
class BrokenPipe(Connection):
    def write_failed(self, error):
        super().write_failed(OSError(reference.errno.EPIPE, "broken pipe"))


@equivalent("has timeouts that expire 40 ms late")
class LateTimeouts(Connection):
    def __init__(self, adapter, number, settings):
        later = {key: value + 40 for key, value in settings.items() if key in ("connect-timeout-ms", "idle-timeout-ms")}
        super().__init__(adapter, number, {**settings, **later})


@equivalent("ends a connection with the reason protocol if the peer sends a bare CR or LF in CRLF framing")
class StrictLines(Decoder):
    def next_line(self):
        line = super().next_line()
        held = self.buffer[:-1] if self.buffer.endswith(b"\r") else self.buffer
        if self.framing == "crlf" and re.search(rb"\r(?!\n)|(?<!\r)\n", held if line is None else line):
            raise BadStream("protocol")
        return line


@equivalent("also ends a line at a bare LF")
class LenientLines(Decoder):
    def next_line(self):
        if self.framing != "crlf":
            return super().next_line()
        end = self.buffer.find(b"\n")
        content = end if end >= 0 else len(self.buffer) - self.half_terminator()
        cr = end > 0 and self.buffer[end - 1] == 13
        self.check(content - cr)
        return self.take(0, end - cr, 1 + cr) if end >= 0 else None


@equivalent("refuses a varint that is longer than necessary, with the reason protocol")
class ShortestVarints(Decoder):
    def varint(self):
        prefix = super().varint()
        if prefix and prefix[0] > 1 and prefix[1] < 1 << 7 * (prefix[0] - 1):
            raise BadStream("protocol")
        return prefix


@equivalent("lacks most capabilities: limit, timeouts, listening, leftover, sent, half-close and pause")
class Little(Adapter):
    can = ["connect", "send", "lines", "stop"]

    def begin(self, op, number, request):
        return super().begin(op, number, {**request, "max-line": 1 << 40})

    def say(self, **message):
        if message["ev"] not in ("leftover", "sent"):
            super().say(**message)


@equivalent("reports messages as lines")
class MessagesAreLines(Connection):
    def event(self):
        return "data" if self.framing == "none" else "line"


@equivalent("has small socket buffers and Nagle's algorithm")
class SmallBuffers(Connection):
    def opened(self, sock):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8192)
        super().opened(sock)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)


@equivalent("closes when the peer has closed, even if data is waiting to be written")
class EofCloses(Connection):
    def end(self, reason):
        if reason == "eof":
            self.pending.clear()
        super().end(reason)


@equivalent("reports accepted connections 20 ms late")
class AcceptsLater(Listener):
    def accepted(self, sock):
        self.loop.call_later(0.02, super().accepted, sock)


@equivalent("supports only framings that divide the stream into lines")
class LinesOnly(Adapter):
    can = [word for word in Adapter.can if word not in ("messages", "data")]

    def begin(self, op, number, request):
        if request["framing"] not in TERMINATORS:
            raise Refused("unsupported")
        return super().begin(op, number, request)


@equivalent("drops all queued data when a connection is lost, and reports that")
class DropsAllThatWaits(Connection):
    def say_lost(self, reason, detail, dropped):
        super().say_lost(reason, detail, dropped + self.unsent.give_up())


@equivalent("waits a fifth longer than requested before it reconnects")
class Jitter(Connection):
    def wait(self):
        return super().wait() * 1.2


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in EQUIVALENT:
        sys.exit("equivalent.py NAME, where NAME is one of\n  " + "\n  ".join(EQUIVALENT))
    reference.run(sys.argv[1], EQUIVALENT[sys.argv[1]][0])


if __name__ == "__main__":
    main()
