#!/usr/bin/env python3
"""Broken transports: the reference (reference.py, or pull.py for transports whose user requests reads), each with one
bug that once occurred in a real project.

    mutants.py NAME     serves the transport NAME over the adapter protocol

Each class states in one line what its bug is, and in which groups of Scenarios/conformance a case must detect it.
Mutants with bugs in WebSocket are in websocket_mutants.py, in heartbeats in heartbeat_mutants.py, in reconnecting in
reconnect_mutants.py, and mutants whose bugs appear only on a network are in network_mutants.py.
"""
import asyncio
import errno
import html
import re
import select
import signal
import socket
import ssl
import sys
import threading
import time
import unicodedata
import urllib.parse

import pull
import reference
import heartbeat_mutants  # noqa: F401
import network_mutants  # noqa: F401
import reconnect_mutants  # noqa: F401
import websocket_mutants  # noqa: F401
from pull import PullConnection
from reference import (
    CONNECTING, ENDING, LINGERING, OPEN, OVER, READ_SIZE, RECORD_SIZE, SECURING, TERMINATORS, WIDTHS, WRITE_SIZE, Adapter,
    BadStream, Connection, Decoder, Listener, Refused, TLSSocket)
from registry import MUTANTS, mutant

# MARK: framing


@mutant("each read starts with an empty buffer, so bytes from earlier reads are lost", "framing")
class StateLost(Decoder):
    def append(self, data):
        self.finish()
        super().append(data)


@mutant("each read is treated as a line, whatever it contains", "framing")
class ReadIsLine(Decoder):
    def next_line(self):
        if not self.buffer:
            return None
        end = len(self.buffer.removesuffix(self.terminator))
        return self.take(0, end, len(self.terminator))


@mutant("only the first line in a read is delivered; the others wait for the next read", "framing", "close")
class OneLinePerRead(Connection):
    def deliver(self):
        try:
            message = self.decoder.next()
            if message is not None:
                self.say(self.event(), data=message.decode("latin-1"))
        except BadStream as error:
            self.bad_stream(str(error))


@mutant("bytes that follow a line in the same read are discarded", "framing")
class RestOfReadDropped(Decoder):
    def next_line(self):
        line = super().next_line()
        if line is not None:
            self.finish()
        return line


@mutant("a CR at the end of a read ends the line, and the LF after it ends another one", "framing")
class CrAtBoundaryEndsLine(Decoder):
    def next_line(self):
        line = super().next_line()
        if line is None and self.half_terminator():
            return self.take(0, len(self.buffer) - 1, 1)
        if line is None and self.framing == "crlf" and self.buffer.startswith(b"\n"):
            return self.take(0, 0, 1)
        return line


@mutant("a terminator that is split between two reads is missed", "framing")
class TerminatorSplitMissed(Decoder):
    def next_line(self):
        line = super().next_line()
        if line is None:
            self.scanned = len(self.buffer)
        return line


@mutant("a CR at the end of a read that is not part of a terminator is lost", "framing")
class CrAtBoundaryLost(Decoder):
    def append(self, data):
        if self.framing == "crlf" and self.buffer.endswith(b"\r") and not data.startswith(b"\n"):
            del self.buffer[-1:]
        super().append(data)


class OtherEnds(Decoder):
    """Divides the stream into lines at the matches of a regex."""
    ends = rb"\r\n"

    def next_line(self):
        if self.framing != "crlf":
            return super().next_line()
        found = re.search(self.ends, self.buffer)
        if not found or (found.end() == len(self.buffer) and found[0] == b"\r"):
            self.check(len(self.buffer) - self.half_terminator())
            return None
        self.check(found.start())
        return self.take(0, found.start(), len(found[0]))


@mutant("a bare LF or CR also ends a line in CRLF framing (universal newlines)", "framing")
class UniversalNewlines(OtherEnds):
    ends = rb"\r\n|\r|\n"


@mutant("a bare LF also ends a line in CRLF framing (readline)", "framing")
class BareLfEndsLine(OtherEnds):
    ends = rb"\r?\n"


@mutant("VT, FF, NEL and U+2028 also end a line (str.splitlines)", "framing", "encoding")
class Splitlines(OtherEnds):
    ends = rb"\r\n|\v|\f|\x1c|\x1d|\x1e|\xc2\x85|\xe2\x80[\xa8\xa9]"


@mutant("a CR is treated as the terminator, and the byte after it as the LF", "framing")
class CrThenSkip(Decoder):
    def next_line(self):
        end = self.buffer.find(b"\r") if self.framing == "crlf" else -1
        return self.take(0, end, 2) if 0 <= end < len(self.buffer) - 1 else super().next_line()


@mutant("after CR CR, the LF is no longer recognized as the end (the matcher does not restart at the second CR)", "framing")
class FalseStart(Decoder):
    def next_line(self):
        seen_cr = False
        for index, byte in enumerate(self.buffer if self.framing == "crlf" else b""):
            if seen_cr and byte == 10:
                return self.take(0, index - 1, 2)
            seen_cr = byte == 13 and not seen_cr
        return None if self.framing == "crlf" else super().next_line()


@mutant("several CRs before the LF are dropped along with the LF", "framing")
class AllCrsDropped(OtherEnds):
    ends = rb"\r+\n"


@mutant("spaces at both ends of a line are stripped", "framing", "encoding")
class Stripped(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and line.strip(b" \t")


@mutant("spaces at the end of a line are stripped", "framing", "encoding")
class RightStripped(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and line.rstrip()


@mutant("empty lines are not delivered", "framing")
class EmptyLinesDropped(Decoder):
    def next_line(self):
        line = super().next_line()
        while line == b"":
            line = super().next_line()
        return line


@mutant("the terminator is delivered with the line", "framing")
class TerminatorKept(Decoder):
    def next_line(self):
        line = super().next_line()
        return None if line is None else line + self.terminator


@mutant("a line of more than 255 bytes is delivered in pieces (fgets with a small buffer)", "framing", "limits")
class SmallBuffer(Decoder):
    def next_line(self):
        line = super().next_line() if self.buffer.find(self.terminator, 0, 255) >= 0 or len(self.buffer) <= 255 else None
        return self.take(0, 255, 0) if line is None and len(self.buffer) > 255 else line


@mutant("at most 64 lines of a read are delivered", "framing")
class ManyLinesLost(Connection):
    def deliver(self):
        count = 0
        try:
            while self.state == OPEN and (message := self.decoder.next()) is not None:
                count += 1
                if count <= 64:
                    self.say(self.event(), data=message.decode("latin-1"))
        except BadStream as error:
            self.bad_stream(str(error))


@mutant("all connections share one buffer", "framing", "lifecycle", "connect")
class SharedBuffer(Decoder):
    shared = bytearray()

    def __init__(self, framing, limit, delimiter=None):
        super().__init__(framing, limit, delimiter)
        self.buffer = self.shared


@mutant("a CR before the LF is dropped even if lines end with LF only", "framing", "encoding")
class LfFramingDropsCr(Decoder):
    def next_line(self):
        line = super().next_line()
        return line.removesuffix(b"\r") if line is not None and self.framing == "lf" else line


@mutant("without framing, bytes are held back until a line is complete", "framing", "partial-write", "close", "encoding")
class RawWaitsForLine(Decoder):
    def next(self):
        if self.framing == "none":
            end = self.buffer.rfind(b"\n")
            return self.take(0, end + 1, 0) if end >= 0 else None
        return super().next()


@mutant("an LF after the CR is dropped even if lines end with CR only", "framing")
class CrFramingDropsLf(Decoder):
    def next_line(self):
        line = super().next_line()
        return line.removeprefix(b"\n") if line is not None and self.framing == "cr" else line


@mutant("in NUL framing, an LF also ends a line", "framing", "encoding")
class NulFramingEndsAtLf(Decoder):
    def next_line(self):
        if self.framing == "nul" and 0 <= self.buffer.find(b"\n") < self.buffer.find(b"\0") % (1 << 32):
            return self.take(0, self.buffer.find(b"\n"), 1)
        return super().next_line()


@mutant("a read that fills the buffer of 4096 bytes is not delivered before the next read", "framing")
class FullReadWaits(Connection):
    def received(self, data):
        self.decoder.append(data)
        if len(data) % 4096:
            self.deliver()


@mutant("a line that crosses the end of a 16 KiB ring buffer loses the part before that end", "framing", "limits")
class RingWraps16(Decoder):
    size, offset = 1 << 14, 0

    def take(self, before, length, behind):
        start = self.offset % self.size
        self.offset += before + length + behind
        message = super().take(before, length, behind)
        return message if start + before + length <= self.size else message[self.size - start:]


@mutant("a line that crosses the end of a 64 KiB ring buffer loses the part before that end", "framing", "limits")
class RingWraps64(RingWraps16):
    size = 1 << 16


@mutant("lines are delivered by a recursive function: many lines in one read kill the process", "framing", dies=True)
class Recursive(Connection):
    def deliver(self):
        message = self.decoder.next() if self.state == OPEN else None
        if message is not None:
            self.say(self.event(), data=message.decode("latin-1"))
            self.deliver()


@mutant("an unfinished line is delivered if nothing follows for 40 ms", "framing", "close")
class PartialFlushed(Connection):
    flush = None

    def received(self, data):
        super().received(data)
        if self.flush:
            self.flush.cancel()
        if self.decoder.buffer:
            self.flush = self.loop.call_later(0.04, self.give_up)

    def give_up(self):
        if self.state == OPEN and self.decoder.buffer:
            self.say(self.event(), data=self.decoder.finish().decode("latin-1"))


@mutant("a line that equals the previous one is not delivered", "framing", "encoding")
class RepeatedLineDropped(Decoder):
    last = None

    def next_line(self):
        line = super().next_line()
        while line is not None and line == self.last:
            line = super().next_line()
        self.last = line if line is not None else self.last
        return line


@mutant("lines that a scripting language treats as false are not delivered", "framing", "encoding")
class FalsyLinesDropped(Decoder):
    def next_line(self):
        line = super().next_line()
        while line in (b"0", b""):
            line = super().next_line()
        return line


@mutant("lines that consist only of spaces are not delivered", "framing", "encoding")
class BlankLinesDropped(Decoder):
    def next_line(self):
        line = super().next_line()
        while line is not None and line != b"" and not line.strip():
            line = super().next_line()
        return line


@mutant("an empty line whose terminator arrives in two reads is lost", "framing")
class EmptyCutLineLost(Decoder):
    def append(self, data):
        if self.framing == "crlf" and self.buffer == b"\r" and data.startswith(b"\n"):
            self.finish()
            data = data[1:]
        super().append(data)


@mutant("a terminator that arrives alone in a read is ignored", "framing")
class LoneTerminatorDropped(Decoder):
    def append(self, data):
        if data != self.terminator or not self.buffer:
            super().append(data)


@mutant("a short line after a long line is padded with bytes of the long line (the buffer is reused)", "framing")
class StaleBuffer(Decoder):
    last = b""

    def next_line(self):
        line = super().next_line()
        if line is None:
            return None
        stale = self.last[len(line):len(line) + 4] if len(self.last) > 10_000 else b""
        self.last = line
        return line + stale


@mutant("LFs at the start of a line are skipped", "framing")
class LeadingLfSkipped(Decoder):
    def next_line(self):
        line = super().next_line()
        return line.lstrip(b"\n") if line and self.framing == "crlf" else line


@mutant("CRs at the start of a line are skipped", "framing")
class LeadingCrSkipped(Decoder):
    def next_line(self):
        line = super().next_line()
        return line.lstrip(b"\r") if line and self.framing == "crlf" else line


class EmptyDropped(Decoder):
    """Does not deliver empty lines in one of the framings."""
    of = ""

    def next_line(self):
        line = super().next_line()
        while line == b"" and self.framing == self.of:
            line = super().next_line()
        return line


@mutant("if lines end with LF, empty lines are not delivered", "framing")
class EmptyLfLinesDropped(EmptyDropped):
    of = "lf"


@mutant("if lines end with CR, empty lines are not delivered", "framing")
class EmptyCrLinesDropped(EmptyDropped):
    of = "cr"


@mutant("if messages end with NUL, empty messages are not delivered (strtok)", "framing")
class EmptyNulMessagesDropped(EmptyDropped):
    of = "nul"


@mutant("lines are cached by their length and first two bytes, so a line that resembles an earlier one is delivered as the earlier one",
        "framing")
class LinesInterned(Decoder):
    def __init__(self, framing, limit, delimiter=None):
        super().__init__(framing, limit, delimiter)
        self.known = {}

    def next_line(self):
        line = super().next_line()
        return line and self.known.setdefault((len(line), line[:2]), line)


@mutant("without framing, a single byte waits for a second byte", "framing")
class RawByteWaits(Decoder):
    def next(self):
        return None if self.framing == "none" and len(self.buffer) == 1 else super().next()


@mutant("without framing, a read that begins with NUL is treated as empty", "framing", "encoding")
class RawNulDropped(Decoder):
    def append(self, data):
        if self.framing != "none" or not data.startswith(b"\0"):
            super().append(data)


@mutant("if lines end with CR, a line waits for the byte after its CR, in case it is an LF", "framing")
class CrWaitsForNext(Decoder):
    def next_line(self):
        end = self.buffer.find(b"\r") if self.framing == "cr" else -1
        return None if end >= 0 and end == len(self.buffer) - 1 else super().next_line()


@mutant("an unfinished line is discarded if nothing arrives for 70 ms", "framing")
class PartialForgotten(Decoder):
    came = 0.0

    def append(self, data):
        if self.buffer and time.monotonic() > self.came + 0.07:
            self.finish()
        self.came = time.monotonic()
        super().append(data)


@mutant("an accepted connection loses a CR at the end of a read", "framing")
class AcceptedCrLost(Connection):
    def received(self, data):
        super().received(data[:-1] if self.number >= 1_000_000 and data.endswith(b"\r") else data)


@mutant("an empty line at the start of the stream is skipped", "framing")
class FirstEmptyLineSkipped(Decoder):
    begun = False

    def next_line(self):
        line = super().next_line()
        if line == b"" and not self.begun:
            line = super().next_line()
        self.begun = self.begun or line is not None
        return line


@mutant("when the buffer grows beyond 32 KiB for one line, a byte of the line is lost", "framing", "limits")
class GrowthLosesByte(Decoder):
    grown = False

    def next_line(self):
        line = super().next_line()
        if line is None and len(self.buffer) > 32768 and not self.grown:
            self.grown = True
            del self.buffer[100]
        return line


@mutant("a line is delivered only with the next read, unless it arrived in one piece", "framing")
class CutLineWaits(Decoder):
    whole = True

    def append(self, data):
        self.whole = not self.buffer
        super().append(data)

    def next_line(self):
        held, self.whole = not self.whole, True
        return None if held else super().next_line()


# MARK: limits


@mutant("the limit includes the CR", "limits")
class LimitCountsCr(Decoder):
    def check(self, length):
        super().check(length + (self.framing == "crlf"))


@mutant("the limit includes CR and LF", "limits")
class LimitCountsTerminator(Decoder):
    def check(self, length):
        super().check(length + len(self.terminator or b""))


@mutant("a line one byte longer than the limit is accepted", "limits")
class LimitOneMore(Decoder):
    def check(self, length):
        super().check(length - 1)


@mutant("a line as long as the limit is refused", "limits")
class LimitOneLess(Decoder):
    def check(self, length):
        super().check(length + 1)


@mutant("a CR whose LF has not arrived counts as content, so a line as long as the limit is refused if it is cut after the CR", "limits")
class LimitCountsWaitingCr(Decoder):
    def half_terminator(self):
        return 0


@mutant("there is no limit", "limits")
class NoLimit(Decoder):
    def check(self, length):
        pass


@mutant("the limit is always 1024, regardless of the requested limit", "limits")
class LimitFixed(Decoder):
    def __init__(self, framing, limit, delimiter=None):
        super().__init__(framing, 1024, delimiter)


@mutant("the limit is checked only once the terminator has arrived, so a line without a terminator grows without bound", "limits")
class LimitAtTerminator(Decoder):
    def next_line(self):
        return super().next_line() if self.terminator in self.buffer else None


@mutant("the limit is checked only while the terminator is missing, so a complete line may have any length", "limits")
class LimitBeforeTerminator(Decoder):
    def next_line(self):
        end = self.buffer.find(self.terminator)
        return self.take(0, end, len(self.terminator)) if end >= 0 else super().next_line()


@mutant("the limit is compared with the length of each read instead of the line", "limits")
class LimitPerRead(Decoder):
    def append(self, data):
        super().append(data)
        self.last = len(data)

    def check(self, length):
        super().check(min(length, self.last))


@mutant("the limit is compared with the size of the whole buffer, so many short lines at once are refused", "limits", "framing")
class LimitOnBuffer(Decoder):
    def next_line(self):
        self.check(len(self.buffer) - len(self.terminator))
        return super().next_line()


@mutant("a line that is too long is truncated at the limit and delivered, and the rest of the line is dropped", "limits")
class OverLongCut(Decoder):
    def next_line(self):
        try:
            return super().next_line()
        except BadStream:
            end = self.buffer.find(self.terminator)
            if end < 0:
                return None
            return self.take(0, end, len(self.terminator))[:self.limit]


@mutant("a line that is too long is delivered in pieces, each as long as the limit", "limits")
class OverLongInPieces(Decoder):
    def next_line(self):
        try:
            return super().next_line()
        except BadStream:
            return self.take(0, self.limit, 0)


@mutant("a line that is too long is silently dropped", "limits")
class OverLongDropped(Decoder):
    def next_line(self):
        try:
            return super().next_line()
        except BadStream:
            end = self.buffer.find(self.terminator)
            if end < 0:
                return None
            self.take(0, end, len(self.terminator))
            return self.next_line()


@mutant("the reason too-long is reported twice", "limits", "lifecycle")
class TooLongTwice(Connection):
    def bad_stream(self, reason):
        self.stop_event(reason)
        super().bad_stream(reason)


@mutant("too-long is reported, but the line is delivered nevertheless", "limits", "lifecycle")
class TooLongAndDelivered(Connection):
    def bad_stream(self, reason):
        super().bad_stream(reason)
        self.say(self.event(), data=self.decoder.finish().decode("latin-1"))


@mutant("lines before the one that is too long are lost along with it", "limits")
class TooLongLosesEarlier(Connection):
    def deliver(self):
        messages = []
        try:
            while (message := self.decoder.next()) is not None:
                messages.append(message)
        except BadStream as error:
            return self.bad_stream(str(error))
        for message in messages:
            self.say(self.event(), data=message.decode("latin-1"))


@mutant("after too-long, the socket is never closed", "limits", "close")
class TooLongNeverCloses(Connection):
    def bad_stream(self, reason):
        self.stop_event(reason)
        self.state = OVER


@mutant("too-long is reported as an ordinary end of file", "limits")
class TooLongAsEof(Connection):
    def bad_stream(self, reason):
        super().bad_stream("eof" if reason == "too-long" else reason)


@mutant("after too-long, the socket is closed with unread bytes, and the resulting RST destroys data sent before", "limits", "close")
class TooLongResets(Connection):
    def bad_stream(self, reason):
        self.pending.clear()
        self.over(reason)


@mutant("the limit applies only to the first line", "limits")
class LimitOnFirstLine(Decoder):
    first = True

    def next_line(self):
        line = super().next_line()
        self.first = self.first and line is None
        return line

    def check(self, length):
        if self.first:
            super().check(length)


@mutant("the limit is compared with the number of all bytes received on the connection", "limits")
class LimitOnTotal(Decoder):
    total = 0

    def check(self, length):
        super().check(length + self.total)

    def take(self, before, length, behind):
        self.total += length
        return super().take(before, length, behind)


@mutant("the limit counts UTF-8 characters", "limits", "encoding")
class LimitCountsCharacters(Decoder):
    def check(self, length):
        super().check(len(self.buffer[:length].decode("utf-8", "ignore")))


@mutant("accepted connections have no limit", "limits")
class AcceptedUnlimited(Listener):
    def accepted(self, sock):
        self.settings = {**self.settings, "max-line": 1 << 62}
        super().accepted(sock)


@mutant("a line as long as the limit is refused unless its terminator arrives in the same read", "limits")
class LimitNeedsTerminator(Decoder):
    def next_line(self):
        line = super().next_line()
        if line is None and len(self.buffer) - self.half_terminator() >= self.limit > 0:
            raise BadStream("too-long")
        return line


@mutant("the limit also applies to sent lines", "limits", "partial-write")
class LimitOnSend(Connection):
    def frame(self, data):
        if len(data) > self.settings.get("max-line", 1024):
            raise Refused("invalid")
        return super().frame(data)


@mutant("the limit is compared only with the first line in a read", "limits")
class LimitOnFirstOfRead(Decoder):
    first = True

    def append(self, data):
        self.first = True
        super().append(data)

    def check(self, length):
        if self.first:
            super().check(length)

    def take(self, before, length, behind):
        self.first = False
        return super().take(before, length, behind)


@mutant("empty lines count toward the limit, so a run of more empty lines than the limit is refused", "limits")
class LimitCountsEmptyLines(Decoder):
    empty = 0

    def next_line(self):
        line = super().next_line()
        self.empty = 0 if line else self.empty + (line == b"")
        if self.empty > self.limit:
            raise BadStream("too-long")
        return line


class LimitOf(Decoder):
    """Uses a wrong limit in one of the framings."""
    of, more = "", 0

    def check(self, length):
        super().check(length - self.more if self.framing == self.of else length)


@mutant("a message with a varint length may be one byte longer than the limit", "limits", "length-prefix")
class VarintLimitOneMore(LimitOf):
    of, more = "varint", 1


@mutant("messages with a length of one byte have no limit", "limits", "length-prefix")
class U8Unlimited(LimitOf):
    of, more = "u8", 256


@mutant("messages with a length of four bytes have no limit below 64 KiB", "limits", "length-prefix")
class U32Unlimited(LimitOf):
    of, more = "u32", 1 << 16


@mutant("with a length of eight bytes, a message as long as the limit is refused", "limits", "length-prefix")
class U64LimitOneLess(LimitOf):
    of, more = "u64", -1


@mutant("with a length of eight bytes, a message may be one byte longer than the limit", "limits", "length-prefix")
class U64LimitOneMore(LimitOf):
    of, more = "u64", 1


@mutant("if lines end with LF, there is no limit", "limits")
class LfUnlimited(LimitOf):
    of, more = "lf", 1 << 30


@mutant("if lines end with CR, there is no limit", "limits")
class CrUnlimited(LimitOf):
    of, more = "cr", 1 << 30


@mutant("if messages end with NUL, the limit includes the NUL", "limits")
class NulLimitCountsTerminator(LimitOf):
    of, more = "nul", -1


@mutant("unfinished lines of other connections count toward the limit as well", "limits")
class LimitOverConnections(Decoder):
    everyone = []

    def __init__(self, framing, limit, delimiter=None):
        super().__init__(framing, limit, delimiter)
        self.everyone.append(self)

    def check(self, length):
        super().check(length + sum(len(other.buffer) for other in self.everyone if other is not self))

    def finish(self):
        if self in self.everyone:
            self.everyone.remove(self)
        return super().finish()


@mutant("bytes with the high bit set count twice", "limits", "encoding")
class LimitCountsHighTwice(Decoder):
    def check(self, length):
        if self.terminator:
            length += sum(byte > 127 for byte in self.buffer[:length])
        super().check(length)


@mutant("without framing, a read that is longer than the limit ends the connection", "limits", "framing")
class RawLimited(Decoder):
    def append(self, data):
        super().append(data)
        if self.framing == "none" and len(self.buffer) > self.limit:
            raise BadStream("too-long")


@mutant("too-long is reported only when the peer has closed", "limits", "timeouts")
class TooLongToldAtEof(Connection):
    too_long = None

    def bad_stream(self, reason):
        self.too_long = reason
        self.decoder.finish()

    def received(self, data):
        if not self.too_long:
            super().received(data)

    def leave(self):
        if self.too_long:
            self.stop_event(self.too_long)
        super().leave()


# MARK: length prefixes


@mutant("lengths are read little-endian", "length-prefix")
class LittleEndian(Decoder):
    def prefix(self):
        width = WIDTHS.get(self.framing)
        if not width:
            return super().prefix()
        return (width, int.from_bytes(self.buffer[:width], "little")) if len(self.buffer) >= width else None


@mutant("lengths are written little-endian", "length-prefix")
class WrittenLittleEndian(Connection):
    def frame(self, data):
        width = WIDTHS.get(self.framing)
        return len(data).to_bytes(width, "little") + data if width else super().frame(data)


@mutant("the length prefix of a sent message counts UTF-8 characters", "length-prefix", "encoding")
class LengthCountsCharacters(Connection):
    def frame(self, data):
        frame = super().frame(data)
        if self.framing not in WIDTHS:
            return frame
        try:
            return len(data.decode()).to_bytes(WIDTHS[self.framing], "big") + data
        except UnicodeDecodeError:
            return frame


@mutant("lengths are signed, so values in the upper half of the range are negative and ignored", "length-prefix")
class SignedLength(Decoder):
    def prefix(self):
        width = WIDTHS.get(self.framing)
        if not width:
            return super().prefix()
        if len(self.buffer) < width:
            return None
        return width, max(0, int.from_bytes(self.buffer[:width], "big", signed=True))


@mutant("a prefix that is split between two reads is lost", "length-prefix")
class SplitPrefixLost(Decoder):
    def next_counted(self):
        if self.prefix() is None:
            self.finish()
            return None
        return super().next_counted()


@mutant("a message of length 0 is not delivered", "length-prefix")
class ZeroLengthDropped(Decoder):
    def next_counted(self):
        message = super().next_counted()
        while message == b"":
            message = super().next_counted()
        return message


@mutant("a message of length 0 is treated as the end of the stream", "length-prefix")
class ZeroLengthEnds(Connection):
    def deliver(self):
        prefix = self.decoder.prefix() if self.event() == "message" else None
        if prefix and prefix[1] == 0:
            self.read_eof()
        else:
            super().deliver()


@mutant("a message of length 0 waits for the bytes of the next message", "length-prefix")
class ZeroLengthWaits(Decoder):
    def next_counted(self):
        prefix = self.prefix()
        return None if prefix and len(self.buffer) == prefix[0] else super().next_counted()


@mutant("a message whose length exceeds the limit is awaited instead of refused", "length-prefix", "limits")
class HugeLengthWaits(Decoder):
    def next_counted(self):
        prefix = self.prefix()
        if prefix is None or len(self.buffer) - prefix[0] < prefix[1]:
            return None
        return self.take(*prefix, 0)


@mutant("the buffer for a message is allocated before its length is checked, so a huge length kills the process",
        "length-prefix", dies=True)
class HugeLengthAllocates(Decoder):
    def check(self, length):
        if not self.terminator and length >= 1 << 31:
            raise MemoryError
        super().check(length)


@mutant("a message as long as the limit is refused", "length-prefix", "limits")
class MessageLimitOneLess(Decoder):
    def check(self, length):
        super().check(length + (not self.terminator))


@mutant("the length is assumed to include the prefix", "length-prefix")
class LengthCountsPrefix(Decoder):
    def prefix(self):
        prefix = super().prefix()
        return prefix and (prefix[0], max(0, prefix[1] - prefix[0]))


@mutant("only the low 8 bits of a length are used", "length-prefix")
class LengthTruncated(Decoder):
    def prefix(self):
        prefix = super().prefix()
        return prefix and (prefix[0], prefix[1] & 0xff)


@mutant("an incomplete message is delivered (a short read is not continued)", "length-prefix")
class ShortRead(Decoder):
    def next_counted(self):
        prefix = self.prefix()
        if prefix is None or (prefix[1] and len(self.buffer) == prefix[0]):
            return None
        self.check(prefix[1])
        return self.take(*prefix, 0)


@mutant("the second message in one read is lost", "length-prefix")
class SecondMessageLost(Decoder):
    def next_counted(self):
        message = super().next_counted()
        if message is not None:
            self.finish()
        return message


@mutant("a length that does not fit its prefix wraps around", "length-prefix")
class LengthWraps(Connection):
    def frame(self, data):
        width = WIDTHS.get(self.framing)
        return (len(data) % (1 << 8 * width)).to_bytes(width, "big") + data if width else super().frame(data)


@mutant("a received length is in network byte order, regardless of the framing", "length-prefix")
class LittleEndianIsBig(Decoder):
    def order(self):
        return "big"


@mutant("a sent length is in network byte order, regardless of the framing", "length-prefix")
class LittleEndianWrittenBig(Connection):
    def frame(self, data):
        width = WIDTHS.get(self.framing)
        return len(data).to_bytes(width, "big") + data if width and self.framing.endswith("le") else super().frame(data)


@mutant("only two bytes of a three-byte length are read", "length-prefix")
class ThreeBytesAreTwo(Decoder):
    def prefix(self):
        prefix = super().prefix()
        return (3, prefix[1] & 0xffff) if prefix and self.framing == "u24" else prefix


@mutant("a netstring's length may begin with zeros", "length-prefix")
class NetstringZeros(Decoder):
    def needless_zero(self, digits):
        return False


@mutant("the byte after a netstring is skipped even if it is not a comma", "length-prefix")
class NetstringAnyEnd(Decoder):
    def check_end(self, index):
        pass


@mutant("a netstring's comma is not awaited, and becomes part of the next netstring", "length-prefix")
class NetstringWithoutEnd(Decoder):
    def next_netstring(self):
        colon = self.buffer.find(b":")
        if colon < 0 or len(self.buffer) <= colon + int(self.buffer[:colon].lstrip(b",") or b"0"):
            return None
        return self.take(colon + 1, int(self.buffer[:colon].lstrip(b",") or b"0"), 0)


@mutant("the digits of a netstring's length that arrived in one read are lost at the next read", "length-prefix")
class NetstringDigitsLost(Decoder):
    def next_netstring(self):
        message = super().next_netstring()
        if message is None and self.buffer.isdigit():
            self.finish()
        return message


@mutant("the number of digits of a netstring's length has no limit", "length-prefix")
class NetstringEndless(Decoder):
    def next_netstring(self):
        return None if len(self.buffer) >= 2 and self.buffer.isdigit() else super().next_netstring()


@mutant("a netstring is sent without its comma", "length-prefix")
class NetstringWrittenOpen(Connection):
    def frame(self, data):
        return super().frame(data)[:-1] if self.framing == "netstring" else super().frame(data)


@mutant("a delimiter of several bytes is searched for in each read separately", "framing")
class DelimiterInOneRead(Decoder):
    def append(self, data):
        super().append(data)
        if self.framing == "delimiter":
            self.scanned = max(self.scanned, len(self.buffer) - len(data))


@mutant("after a partial match, the search for a delimiter continues after the mismatch instead of after the first byte of the match",
        "framing")
class DelimiterSkips(Decoder):
    def next_line(self):
        if self.framing != "delimiter":
            return super().next_line()
        matched = 0
        for index, byte in enumerate(self.buffer):
            if byte == self.terminator[matched]:
                matched += 1
                if matched == len(self.terminator):
                    return self.take(0, index + 1 - matched, matched)
            else:
                matched = 1 if byte == self.terminator[0] else 0
        self.check(len(self.buffer) - len(self.terminator))
        return None


@mutant("the first byte of a delimiter ends a line", "framing")
class DelimiterFirstByte(Decoder):
    def next_line(self):
        end = self.buffer.find(self.terminator[:1])
        if self.framing != "delimiter" or end < 0 or len(self.buffer) < end + len(self.terminator):
            return super().next_line()
        return self.take(0, end, len(self.terminator))


@mutant("a message that contains the delimiter is sent unchanged", "framing", "encoding")
class DelimiterInjected(Connection):
    def frame(self, data):
        return data + self.delimiter if self.framing == "delimiter" else super().frame(data)


@mutant("a varint is read as if it had one byte", "length-prefix")
class VarintOneByte(Decoder):
    def varint(self):
        return (1, self.buffer[0]) if self.buffer else None


@mutant("a varint is always written as one byte", "length-prefix")
class VarintWrittenShort(Connection):
    def frame(self, data):
        return bytes([len(data) & 255]) + data if self.framing == "varint" else super().frame(data)


@mutant("a varint is read highest group first", "length-prefix")
class VarintBackwards(Decoder):
    def varint(self):
        length = 0
        for index, byte in enumerate(self.buffer[:10]):
            length = length << 7 | byte & 127
            if byte < 128:
                return index + 1, length
        return None


@mutant("a varint of more than 10 bytes is awaited or accepted", "length-prefix")
class VarintEndless(Decoder):
    def varint(self):
        length = 0
        for index, byte in enumerate(self.buffer):
            length = length | (byte & 127) << 7 * index & 0xffff_ffff_ffff_ffff
            if byte < 128:
                return index + 1, length
        return None


@mutant("a varint is truncated to 32 bits, so 2^32 + 1 is read as 1", "length-prefix")
class VarintWraps(Decoder):
    def varint(self):
        prefix = super().varint()
        return prefix and (prefix[0], prefix[1] & 0xffff_ffff)


@mutant("the first bytes of a varint that is split between two reads are lost", "length-prefix")
class VarintSplitLost(Decoder):
    def varint(self):
        prefix = super().varint()
        if prefix is None:
            self.finish()
        return prefix


@mutant("the low byte of a length is sign-extended", "length-prefix")
class SignExtended(Decoder):
    def prefix(self):
        prefix = super().prefix()
        if not prefix or self.framing not in ("u16", "u32", "u64") or not prefix[1] & 0x80:
            return prefix
        return prefix[0], max(0, prefix[1] | ~0xff)


@mutant("only the low 16 bits of a length are used", "length-prefix")
class LengthTruncated16(Decoder):
    def prefix(self):
        prefix = super().prefix()
        return prefix and (prefix[0], prefix[1] & 0xffff)


@mutant("the largest value of an 8-bit length is treated as an error", "length-prefix")
class LargestLengthRefused(Decoder):
    def prefix(self):
        prefix = super().prefix()
        if prefix and self.framing == "u8" and prefix[1] == 255:
            raise BadStream("protocol")
        return prefix


@mutant("a varint is assumed to have at most two bytes", "length-prefix")
class VarintTwoBytes(Decoder):
    def varint(self):
        prefix = super().varint()
        return prefix and (min(prefix[0], 2), prefix[1] & 0x3fff)


@mutant("a varint is written with at most two bytes", "length-prefix")
class VarintWrittenTwo(Connection):
    def frame(self, data):
        length = len(data)
        if self.framing != "varint" or length < 1 << 14:
            return super().frame(data)
        return bytes([length & 127 | 128, length >> 7 & 127]) + data


@mutant("at the end of the stream, an incomplete message is delivered", "length-prefix", "close")
class UnfinishedDelivered(Connection):
    def leave(self):
        prefix = self.decoder.prefix() if self.event() == "message" else None
        if prefix:
            self.say("message", data=self.decoder.finish()[prefix[0]:].decode("latin-1"))
        super().leave()


@mutant("at the end of the stream, an incomplete prefix is silently dropped", "length-prefix", "close")
class UnfinishedPrefixLost(Connection):
    def leave(self):
        if self.event() != "message" or self.decoder.prefix():
            super().leave()


@mutant("an empty message is not sent", "length-prefix", "partial-write")
class EmptyMessageNotSent(Connection):
    def frame(self, data):
        return super().frame(data) if data or self.event() != "message" else b""


@mutant("a message that is too long for its length prefix is sent as several messages", "length-prefix")
class LongMessageSplit(Connection):
    def frame(self, data):
        most = (1 << 8 * WIDTHS[self.framing]) - 1 if self.framing in WIDTHS else len(data)
        pieces = [data[start:start + most] for start in range(0, len(data), most)] if data else [data]
        return b"".join(super(LongMessageSplit, self).frame(piece) for piece in pieces)


@mutant("a CRLF is written after messages with a length prefix", "length-prefix")
class TerminatorBehindLength(Connection):
    def frame(self, data):
        frame = super().frame(data)
        return frame + b"\r\n" if self.event() == "message" else frame


@mutant("after an empty message, the rest of the read waits for the next read", "length-prefix")
class EmptyMessageEndsRead(Decoder):
    waits = False

    def append(self, data):
        self.waits = False
        super().append(data)

    def next_counted(self):
        if self.waits:
            return None
        message = super().next_counted()
        self.waits = message == b""
        return message


@mutant("a one-byte length of 0 is skipped", "length-prefix")
class ZeroU8Skipped(Decoder):
    def next_counted(self):
        while self.framing == "u8" and self.buffer.startswith(b"\0"):
            del self.buffer[:1]
        return super().next_counted()


@mutant("an eight-byte length of 0 waits for another byte", "length-prefix")
class ZeroU64Waits(Decoder):
    def next_counted(self):
        return None if self.framing == "u64" and len(self.buffer) == 8 else super().next_counted()


@mutant("a line ending at the end of a message is stripped", "length-prefix", "encoding")
class MessageChomped(Decoder):
    def next_counted(self):
        message = super().next_counted()
        return message and message.rstrip(b"\r\n")


@mutant("a message that consists only of NULs is treated as empty", "length-prefix", "encoding")
class NulMessageEmpty(Decoder):
    def next_counted(self):
        message = super().next_counted()
        return b"" if message and not message.strip(b"\0") else message


@mutant("the high byte of a two-byte length is multiplied by 255 instead of 256", "length-prefix")
class HighByteCounts255(Decoder):
    def prefix(self):
        if self.framing != "u16" or len(self.buffer) < 2:
            return super().prefix()
        return 2, self.buffer[0] * 255 + self.buffer[1]


@mutant("a four-byte length is read as soon as three bytes have arrived", "length-prefix")
class ThreeBytesOfFour(Decoder):
    def prefix(self):
        if self.framing == "u32" and len(self.buffer) == 3:
            return 3, int.from_bytes(self.buffer, "big") << 8
        return super().prefix()


@mutant("the width of a connection's first varint is used for all others", "length-prefix")
class VarintWidthKept(Decoder):
    width = None

    def varint(self):
        prefix = super().varint()
        if prefix is None:
            return None
        self.width = self.width or prefix[0]
        return self.width, prefix[1]


@mutant("after a reset, an incomplete message is delivered", "length-prefix", "reset")
class ResetDeliversMessage(Connection):
    def read_failed(self, error):
        if self.state == OPEN and self.event() == "message":
            prefix = self.decoder.prefix()
            if prefix and len(self.decoder.buffer) > prefix[0]:
                self.say("message", data=self.decoder.finish()[prefix[0]:].decode("latin-1"))
        super().read_failed(error)


@mutant("sending discards an incomplete incoming message", "length-prefix", "framing")
class SendForgetsInput(Connection):
    def queue(self, frame):
        self.decoder.finish()
        super().queue(frame)


@mutant("a message is sent with the length of the previous one", "length-prefix")
class LengthOfLast(Connection):
    last = None

    def frame(self, data):
        frame = super().frame(data)
        width = WIDTHS.get(self.framing, 0)
        prefix, self.last = self.last or frame[:width], frame[:width]
        return prefix + frame[width:]


@mutant("accepted connections do not send length prefixes", "length-prefix")
class AcceptedNoLength(Connection):
    def frame(self, data):
        return data if self.number >= 1_000_000 and self.event() == "message" else super().frame(data)


@mutant("the length and the message are written separately", "length-prefix")
class LengthInOwnWrite(Connection):
    def queue(self, frame):
        width = WIDTHS.get(self.framing, 0)
        if width:
            super().queue(frame[:width])
            frame = frame[width:]
        super().queue(frame)


@mutant("an empty leftover is reported if the stream ends after a message", "length-prefix", "close")
class EmptyMessageLeftover(Connection):
    def leave(self):
        if not self.decoder.buffer and self.event() == "message":
            self.say("leftover", data="")
        super().leave()


@mutant("an incomplete message at the end of the stream is silently dropped, and the capability leftover is not declared",
        "length-prefix", "close")
class MessageTailUntold(Adapter):
    can = [word for word in Adapter.can if word != "leftover"]

    def say(self, **message):
        if message["ev"] != "leftover":
            super().say(**message)


# MARK: encoding


class Translated(Connection):
    """Translates the bytes of each read before they are divided into messages."""

    def received(self, data):
        super().received(self.translate(data))

    def translate(self, data):
        return data


@mutant("each read is decoded as UTF-8, and invalid bytes are ignored", "encoding")
class Utf8Ignored(Translated):
    def translate(self, data):
        return data.decode("utf-8", "ignore").encode()


@mutant("each read is decoded as UTF-8, and invalid bytes are replaced, so a character that is split between two reads is garbled",
        "encoding")
class Utf8Replaced(Translated):
    def translate(self, data):
        return data.decode("utf-8", "replace").encode()


@mutant("each line is decoded as UTF-8, and invalid bytes are replaced", "encoding")
class Utf8LineReplaced(Decoder):
    def take(self, before, length, behind):
        return super().take(before, length, behind).decode("utf-8", "replace").encode()


@mutant("invalid UTF-8 kills the process", "encoding", dies=True)
class Utf8Strict(Translated):
    def translate(self, data):
        try:
            return data.decode("utf-8").encode()
        except UnicodeDecodeError:
            sys.exit("UnicodeDecodeError")


@mutant("invalid UTF-8 ends the connection", "encoding")
class Utf8Ends(Translated):
    def translate(self, data):
        try:
            return data.decode("utf-8").encode()
        except UnicodeDecodeError as error:
            self.over("protocol", str(error))
            return b""


@mutant("the highest bit of each byte is lost", "encoding")
class SevenBits(Translated):
    def translate(self, data):
        return bytes(byte & 127 for byte in data)


@mutant("bytes above 0x7F are decoded as Latin-1 and delivered as UTF-8", "encoding")
class Mojibake(Translated):
    def translate(self, data):
        return data.decode("latin-1").encode()


@mutant("a line ends at its first NUL (C strings)", "encoding")
class NulCutsLine(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and line.split(b"\0")[0]


@mutant("NULs are dropped", "encoding")
class NulDropped(Translated):
    def translate(self, data):
        return data if self.framing == "nul" else data.replace(b"\0", b"")


@mutant("a byte order mark at the start of the stream is dropped", "encoding")
class BomDropped(Decoder):
    def next(self):
        message = super().next()
        return message and message.removeprefix(b"\xef\xbb\xbf")


@mutant("0xFF is treated as a telnet command, and dropped along with the bytes after it", "encoding")
class TelnetEaten(Translated):
    def translate(self, data):
        return re.sub(rb"\xff..?", b"", data, flags=re.DOTALL)


@mutant("the byte 0x1A is treated as the end of the stream (text mode)", "encoding")
class ControlZEnds(Translated):
    def translate(self, data):
        return data.split(b"\x1a")[0]


@mutant("control characters are dropped", "encoding")
class ControlsDropped(Translated):
    def translate(self, data):
        return re.sub(rb"[\x01-\x08\x0b\x0e-\x1f\x7f]", b"", data)


@mutant("a dot at the start of a line is removed (SMTP's transparency)", "encoding", "framing")
class DotRemoved(Decoder):
    def next_line(self):
        line = super().next_line()
        return line[1:] if line and line.startswith(b".") else line


@mutant("a dot at the start of a line is sent twice (SMTP's transparency)", "encoding", "framing", "partial-write")
class DotDoubled(Connection):
    def frame(self, data):
        return super().frame(b"." + data if data.startswith(b".") else data)


@mutant("sent data is used as a printf format, so %% becomes %", "encoding", "partial-write")
class SentThroughPrintf(Connection):
    def frame(self, data):
        return super().frame(data.replace(b"%%", b"%"))


@mutant("letter case is not preserved", "encoding")
class LowerCase(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and line.lower()


@mutant("a tab is delivered as spaces", "encoding")
class TabsExpanded(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and line.replace(b"\t", b"        ")


@mutant("runs of spaces are delivered as one", "encoding")
class BlanksCollapsed(Decoder):
    def next_line(self):
        line = super().next_line()
        return line and re.sub(rb" +", b" ", line)


@mutant("UTF-8 is normalized, so overlong or differently composed characters are changed", "encoding")
class Normalised(Decoder):
    def next_line(self):
        line = super().next_line()
        try:
            return line and unicodedata.normalize("NFC", line.decode()).encode()
        except UnicodeDecodeError:
            return line


@mutant("the byte 0xFF is treated as the end of the stream (a char that is compared with EOF)", "encoding")
class FfIsEof(Translated):
    def translate(self, data):
        return data.split(b"\xff")[0]


@mutant("sent data is encoded as UTF-8 once more, so each byte above 0x7F becomes two", "encoding")
class SentAsUtf8(Connection):
    def frame(self, data):
        return super().frame(data.decode("latin-1").encode())


@mutant("sent data is converted to ASCII, with question marks for other characters", "encoding")
class SentAsAscii(Connection):
    def frame(self, data):
        return super().frame(data.decode("latin-1").encode("ascii", "replace"))


@mutant("sent data is truncated at its first NUL", "encoding")
class SentToNul(Connection):
    def frame(self, data):
        return super().frame(data.split(b"\0")[0])


@mutant("spaces at both ends of sent data are stripped", "encoding", "framing", "partial-write")
class SentStripped(Connection):
    def frame(self, data):
        return super().frame(data.strip(b" \t"))


@mutant("a message that contains its terminator is sent as two messages", "encoding", "framing")
class Injection(Connection):
    def frame(self, data):
        return data + TERMINATORS[self.framing] if self.framing in TERMINATORS else super().frame(data)


@mutant("a message that contains its terminator is silently truncated before the terminator", "encoding", "framing")
class InjectionCut(Connection):
    def frame(self, data):
        return super().frame(data.split(TERMINATORS.get(self.framing, data + b"."))[0])


class LineChanged(Decoder):
    """Changes each line before delivering it."""

    def next_line(self):
        line = super().next_line()
        return line and self.change(line)

    def change(self, line):
        return line


@mutant("percent-encoded bytes of a line are decoded", "encoding")
class PercentDecoded(LineChanged):
    def change(self, line):
        return urllib.parse.unquote_to_bytes(line)


@mutant("two percent signs in a line become one (the line was used as a format)", "encoding")
class PercentFormatted(LineChanged):
    def change(self, line):
        return line.replace(b"%%", b"%")


@mutant("sent data is used as a format, so %n disappears", "encoding")
class SentAsFormat(Connection):
    def frame(self, data):
        return super().frame(data.replace(b"%n", b""))


@mutant("escape sequences in a line are replaced", "encoding")
class EscapesResolved(LineChanged):
    def change(self, line):
        return line.replace(b"\\n", b"\n")


@mutant("backslashes are doubled in sent data", "encoding")
class BackslashesDoubled(Connection):
    def frame(self, data):
        return super().frame(data.replace(b"\\", b"\\\\"))


@mutant("quotes in a line are removed", "encoding")
class QuotesRemoved(LineChanged):
    def change(self, line):
        return line.replace(b'"', b"").replace(b"'", b"")


@mutant("entities in a line are decoded", "encoding")
class EntitiesDecoded(LineChanged):
    def change(self, line):
        return html.unescape(line.decode("latin-1")).encode("latin-1", "replace")


@mutant("a plus sign becomes a space", "encoding")
class PlusBecomesSpace(LineChanged):
    def change(self, line):
        return line.replace(b"+", b" ")


@mutant("an equals sign at the end of a line joins the line to the next one", "encoding")
class SoftBreakJoined(Decoder):
    def next_line(self):
        line = super().next_line()
        if line and line.endswith(b"="):
            more = super().next_line()
            return line[:-1] + more if more else line[:-1]
        return line


@mutant("a backslash at the end of a line joins the line to the next one", "encoding")
class BackslashJoins(Decoder):
    def next_line(self):
        line = super().next_line()
        if line and line.endswith(b"\\"):
            more = super().next_line()
            return line[:-1] + more if more else line[:-1]
        return line


@mutant("environment variables in a line are expanded", "encoding")
class VariablesExpanded(LineChanged):
    def change(self, line):
        return line.replace(b"$HOME", b"/root")


@mutant("the UTF-16 byte order mark is dropped", "encoding")
class Utf16BomDropped(LineChanged):
    def change(self, line):
        return line.removeprefix(b"\xfe\xff").removeprefix(b"\xff\xfe")


@mutant("an overlong slash becomes a slash", "encoding")
class OverlongDecoded(LineChanged):
    def change(self, line):
        return line.replace(b"\xc0\xaf", b"/")


@mutant("surrogates in UTF-8 are combined into the character that they represent", "encoding")
class SurrogatesJoined(LineChanged):
    def change(self, line):
        return line.replace(b"\xed\xa0\x80\xed\xb0\x80", "\U00010000".encode())


@mutant("lines are delivered in lower case", "encoding")
class LowerCased(LineChanged):
    def change(self, line):
        return line.lower()


@mutant("sent data is converted to upper case", "encoding")
class SentInUpperCase(Connection):
    def frame(self, data):
        return super().frame(data.upper())


@mutant("each KiB of a line is decoded as UTF-8 separately", "encoding")
class Utf8ByKibibyte(LineChanged):
    def change(self, line):
        pieces = (line[start:start + 1024] for start in range(0, len(line), 1024))
        return b"".join(piece.decode("utf-8", "replace").encode() if len(line) > 1024 else piece for piece in pieces)


# MARK: writing


@mutant("lines are sent without a terminator", "partial-write", "framing")
class NoTerminator(Connection):
    def frame(self, data):
        return data if self.framing in TERMINATORS else super().frame(data)


@mutant("lines are sent with LF instead of CRLF", "partial-write", "framing")
class LfTerminator(Connection):
    def frame(self, data):
        return data + b"\n" if self.framing == "crlf" else super().frame(data)


@mutant("lines are sent with CRLF regardless of the framing", "partial-write", "framing")
class AlwaysCrlf(Connection):
    def frame(self, data):
        return data + b"\r\n" if self.framing in TERMINATORS else super().frame(data)


@mutant("lines are sent with two terminators", "partial-write", "framing")
class DoubleTerminator(Connection):
    def frame(self, data):
        return super().frame(data) + TERMINATORS.get(self.framing, b"")


@mutant("an empty line is not sent", "partial-write", "framing")
class EmptyNotSent(Connection):
    def frame(self, data):
        return super().frame(data) if data else b""


@mutant("a message of more than 510 bytes is silently truncated (IRC)", "partial-write", "encoding", "limits")
class SentCut(Connection):
    def frame(self, data):
        return super().frame(data[:510] if self.framing in TERMINATORS else data)


@mutant("after a partial write, the whole message is written again", "partial-write", "back-pressure")
class PartialWriteRepeated(Connection):
    written = b""

    def wrote(self, count):
        self.written += self.pending[:count]
        super().wrote(count)

    def would_block(self):
        self.pending[:0], self.written = self.written, b""

    def queue(self, frame):
        if not self.pending:
            self.written = b""
        super().queue(frame)


@mutant("a message overtakes the rest of an earlier one that the kernel accepted only partially", "partial-write", "back-pressure")
class Overtakes(Connection):
    def queue(self, frame):
        waiting, self.pending = self.pending, bytearray()
        super().queue(frame)
        self.pending += waiting
        self.write()


@mutant("waiting messages are written last in, first out", "partial-write", "back-pressure", "lifecycle", "connect")
class LastInFirstOut(Connection):
    def queue(self, frame):
        self.pending[:0] = frame
        self.write()


@mutant("data that the kernel does not accept at once is dropped (EAGAIN)", "partial-write", "back-pressure")
class WouldBlockDropped(Connection):
    def would_block(self):
        self.pending.clear()


@mutant("EAGAIN from a write is treated as an error", "partial-write", "back-pressure")
class WouldBlockFatal(Connection):
    def would_block(self):
        self.over("other", "EAGAIN")


@mutant("data that the kernel did not accept waits for the next send", "partial-write", "back-pressure")
class WritesOnlyOnSend(Connection):
    def update(self):
        super().update()
        if self.sock and self.state == OPEN:
            self.loop.remove_writer(self.sock)


@mutant("at most 256 KiB are queued for writing, and the rest is silently dropped", "partial-write", "back-pressure")
class QueueFull(Connection):
    def queue(self, frame):
        if len(self.pending) < 256 * 1024:
            super().queue(frame)


@mutant("writing blocks everything else until the kernel accepts the data", "back-pressure", "partial-write")
class BlockingWrites(Connection):
    def queue(self, frame):
        if not self.sock:
            return super().queue(frame)
        self.sock.setblocking(True)
        try:
            self.sock.sendall(frame)
            self.say("sent", bytes=len(frame))
        except OSError as error:
            self.write_failed(error)
        self.sock.setblocking(False)
        return self.update()


class WritesFirst(Connection):
    """Attempts a pending write before each read, so that the write consumes the error of an RST."""

    def readable(self):
        if self.state == OPEN and self.pending:
            self.write()
        return super().readable() if self.sock else None


@mutant("writing to a connection that was reset kills the process (SIGPIPE)", "reset", "partial-write", dies=True)
class Sigpipe(WritesFirst):
    def write_failed(self, error):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        self.sock.send(b"x")


@mutant("a write after an unread RST kills the process (SIGPIPE)", "reset", dies=True)
class SigpipeUnread(Connection):
    def write_failed(self, error):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        self.sock.send(b"x")


@mutant("a failed write is ignored, and the reads after it are treated as the end of the stream", "reset", "partial-write")
class WriteFailureForgotten(WritesFirst):
    def write_failed(self, error):
        self.pending.clear()


@mutant("a failed write ends the connection before the peer's earlier data has been read", "reset", "partial-write")
class WriteFailureLosesLines(WritesFirst):
    def write_failed(self, error):
        super().write_failed(error)
        self.over(self.reason_of(error))


@mutant("the event sent does not count the terminator of a message", "partial-write")
class SentCountsPayload(Connection):
    def queue(self, frame):
        self.owed = getattr(self, "owed", 0) + len(TERMINATORS.get(self.framing, b""))
        super().queue(frame)

    def say(self, event, **fields):
        if event == "sent":
            less = min(self.owed, fields["bytes"])
            self.owed -= less
            fields["bytes"] -= less
        super().say(event, **fields)


@mutant("the event sent is reported when a message is queued", "partial-write", "back-pressure")
class SentWhenQueued(Connection):
    def queue(self, frame):
        Connection.say(self, "sent", bytes=len(frame))
        super().queue(frame)

    def say(self, event, **fields):
        if event != "sent":
            super().say(event, **fields)


@mutant("the event sent reports the total so far instead of the bytes since the last report", "partial-write", "back-pressure")
class SentIsTotal(Connection):
    total = 0

    def say(self, event, **fields):
        if event == "sent":
            self.total += fields["bytes"]
            fields["bytes"] = self.total
        super().say(event, **fields)


@mutant("the event sent is reported only for the first write of a message", "partial-write", "back-pressure")
class SentOnce(Connection):
    said = False

    def queue(self, frame):
        self.said = False
        super().queue(frame)

    def say(self, event, **fields):
        if event != "sent" or not self.said:
            super().say(event, **fields)
            self.said = event == "sent"


@mutant("a message is written only with the next message, or when the connection ends (no flush)", "partial-write", "framing")
class NeverFlushed(Connection):
    held = b""

    def queue(self, frame):
        frame, self.held = self.held, frame
        super().queue(frame)

    def half_close(self):
        self.require_open()
        self.queue(b"")
        super().half_close()

    def end(self, reason):
        self.pending += self.held
        self.held = b""
        super().end(reason)


@mutant("all connections share one write queue", "partial-write", "back-pressure", "connect")
class SharedQueue(Connection):
    shared = bytearray()

    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        self.pending = self.shared


@mutant("data sent while the kernel accepts nothing is dropped", "partial-write", "back-pressure")
class SentWhileBlockedDropped(Connection):
    def queue(self, frame):
        if not self.pending:
            super().queue(frame)


@mutant("at most 64 KiB of a message are written", "partial-write", "back-pressure")
class LongMessageCut(Connection):
    def queue(self, frame):
        super().queue(frame[:1 << 16])


@mutant("after every 256 KiB of queued data, one byte is written twice", "partial-write", "back-pressure")
class ChunksOverlap(Connection):
    def wrote(self, count):
        super().wrote(count - (count == WRITE_SIZE))


@mutant("data that waited until the window opened is not reported as sent", "partial-write", "back-pressure")
class SentNotSaidLater(Connection):
    queueing = False

    def queue(self, frame):
        self.queueing = True
        super().queue(frame)
        self.queueing = False

    def say(self, event, **fields):
        if event != "sent" or self.queueing or self.framing != "crlf":
            super().say(event, **fields)


@mutant("a message of more than 1024 bytes is sent as several messages", "partial-write", "limits", "framing")
class LongLineSplit(Connection):
    def frame(self, data):
        if self.framing not in TERMINATORS or len(data) <= 1024:
            return super().frame(data)
        pieces = [data[start:start + 1024] for start in range(0, len(data), 1024)]
        return b"".join(super(LongLineSplit, self).frame(piece) for piece in pieces)


@mutant("the terminator is written separately", "partial-write")
class TerminatorInOwnWrite(Connection):
    def queue(self, frame):
        terminator = TERMINATORS.get(self.framing, b"")
        if len(frame) > len(terminator) > 0:
            super().queue(frame[:-len(terminator)])
            frame = terminator
        super().queue(frame)


@mutant("a message that equals the previous one is not sent", "partial-write", "framing")
class RepeatedMessageDropped(Connection):
    last = None

    def queue(self, frame):
        if frame != self.last:
            super().queue(frame)
        self.last = frame


@mutant("after 50 ms without activity, the last message is sent again with the next message", "partial-write")
class LastSentAgain(Connection):
    last, at = b"", 0.0

    def queue(self, frame):
        again = self.last if self.last and time.monotonic() > self.at + 0.05 else b""
        self.last, self.at = frame, time.monotonic()
        super().queue(again + frame)


@mutant("if two messages are waiting, the shorter one is sent first", "partial-write", "back-pressure")
class ShortestFirst(Connection):
    later = b""

    def queue(self, frame):
        if self.pending and len(frame) > 100_000:
            self.later += frame
            return
        super().queue(frame)

    def wrote(self, count):
        super().wrote(count)
        if not self.pending and self.later:
            self.pending += self.later
            self.later = b""


# MARK: close


@mutant("at the end of the stream, an unfinished line is delivered as a line", "close", "framing")
class RestAsLine(Connection):
    def leave(self):
        rest = self.decoder.finish()
        if rest:
            self.say(self.event(), data=rest.decode("latin-1"))


@mutant("at the end of the stream, an unfinished line is silently dropped", "close", "length-prefix")
class LeftoverLost(Connection):
    def leave(self):
        pass


@mutant("the leftover is reported after the stop", "close", "lifecycle")
class LeftoverAfterStop(Connection):
    def leave(self):
        pass

    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "eof":
            super().leave()


@mutant("a CR at the end of the stream is treated as the end of the last line", "close", "framing")
class CrEndsLastLine(Connection):
    def leave(self):
        if self.framing == "crlf" and self.decoder.buffer.endswith(b"\r"):
            self.say("line", data=self.decoder.finish()[:-1].decode("latin-1"))
        super().leave()


@mutant("a CR at the end of the stream is missing from the leftover", "close")
class LeftoverWithoutCr(Connection):
    def leave(self):
        if self.decoder.buffer.endswith(b"\r"):
            del self.decoder.buffer[-1:]
        super().leave()


@mutant("bytes that arrive with the FIN are dropped (the hang-up is checked first)", "close")
class HangUpFirst(Connection):
    def readable(self):
        time.sleep(0.01)
        if self.state == OPEN and self.peer_has_closed():
            self.sock.recv(READ_SIZE)
            return self.read_eof()
        return super().readable()

    def peer_has_closed(self):
        state = self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
        return state == 8  # CLOSE_WAIT


@mutant("the end of the stream is reported as a reset", "close", "reset")
class EofAsReset(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("reset" if reason == "eof" else reason, detail)


@mutant("the end of the stream is not noticed", "close")
class EofUnnoticed(Connection):
    def read_eof(self):
        if self.state != OPEN:
            return super().read_eof()
        return self.loop.remove_reader(self.sock)


@mutant("the end of the stream is reported twice", "close", "lifecycle")
class EofTwice(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "eof":
            super().stop_event(reason, detail)


@mutant("after the peer's FIN, the socket is never closed", "close", "lifecycle")
class EofNeverCloses(Connection):
    kept = []

    def end(self, reason):
        if reason == "eof":
            self.kept.append(self.sock)
            self.unwatch()
            self.state, self.sock = OVER, None
            self.cancel_timers()
            self.stop_event(reason)
        else:
            super().end(reason)


@mutant("the peer's FIN ends the transport's side at once, so queued data is lost", "close", "partial-write")
class PeerFinDropsWrites(Connection):
    def end(self, reason):
        if reason == "eof":
            self.pending.clear()
        super().end(reason)


@mutant("half-close closes both directions", "close")
class HalfCloseClosesBoth(Connection):
    def shut_down_writing(self):
        if self.state == OPEN:
            self.loop.call_soon(self.over, "eof")
        super().shut_down_writing()


@mutant("half-close also stops reading, so the reply is lost", "close")
class HalfCloseStopsReading(Connection):
    def wants_read(self):
        return super().wants_read() and not (self.fin_wanted and self.state == OPEN)


@mutant("half-close is accepted but has no effect", "close")
class HalfCloseIgnored(Connection):
    def half_close(self):
        self.require_open()


@mutant("half-close sends its FIN at once, so queued data is lost", "close", "partial-write")
class HalfCloseDropsWrites(Connection):
    def half_close(self):
        self.pending.clear()
        super().half_close()


@mutant("stop does not wait until queued data has been written", "close", "partial-write")
class StopDropsWrites(Connection):
    def end(self, reason):
        if reason == "stopped":
            self.pending.clear()
        super().end(reason)


@mutant("stop sends an RST (SO_LINGER 0)", "close", "lifecycle")
class StopResets(Connection):
    def end(self, reason):
        if reason == "stopped" and self.sock:
            self.abort()
            self.over(reason)
        else:
            super().end(reason)


@mutant("stop closes the socket with unread bytes, and the resulting RST destroys the last message", "close")
class StopOverUnread(Connection):
    def linger(self):
        self.state = LINGERING
        self.over()


@mutant("stop sends no FIN", "close", "lifecycle")
class StopWithoutFin(Connection):
    kept = []

    def end(self, reason):
        if reason == "stopped" and self.sock:
            self.kept.append(self.sock)
            self.unwatch()
            self.sock = None
            self.over(reason)
        else:
            super().end(reason)


@mutant("stop is reported only when the peer has closed as well", "close", "lifecycle")
class StopWaitsForPeer(Connection):
    def ended(self):
        if self.reason == "stopped" and not self.read_ended and not self.failure:
            return
        super().ended()

    def no_progress(self):
        if self.state != ENDING or self.pending:
            super().no_progress()


@mutant("after the transport's half-close, the peer's FIN is not reported", "close", "lifecycle")
class EofAfterHalfCloseUnnoticed(Connection):
    def read_eof(self):
        if self.state == OPEN and self.fin_wanted:
            self.loop.remove_reader(self.sock)
        else:
            super().read_eof()


@mutant("after the transport's half-close, the peer's FIN is reported as a requested stop", "close", "lifecycle")
class EofAfterHalfCloseAsStopped(Connection):
    def read_eof(self):
        if self.state == OPEN and self.fin_wanted:
            self.read_ended = True
            self.end("stopped")
        else:
            super().read_eof()


@mutant("a stop after a half-close is not reported", "close", "lifecycle")
class StopAfterHalfCloseUnreported(Connection):
    def stop_event(self, reason, detail=""):
        if reason != "stopped" or self.half_closed_at is None:
            super().stop_event(reason, detail)

    half_closed_at = None

    def half_close(self):
        self.half_closed_at = self.loop.time()
        super().half_close()


@mutant("the leftover at the end contains the last line again", "close", "framing")
class LeftoverHasLastLine(Connection):
    last = b""

    def deliver(self):
        before = bytes(self.decoder.buffer)
        super().deliver()
        self.last = before[:len(before) - len(self.decoder.buffer)]

    def leave(self):
        if self.decoder.buffer and self.last:
            self.decoder.buffer[:0] = self.last
        super().leave()


@mutant("at the end of the stream, an empty line is delivered if there is no leftover", "close", "framing")
class EmptyLineAtEof(Connection):
    def leave(self):
        if not self.decoder.buffer and self.event() == "line":
            self.say("line", data="")
        super().leave()


@mutant("the line before the FIN is delivered twice", "close", "framing")
class LastLineTwice(Connection):
    last = None

    def say(self, event, **fields):
        if event == "line":
            self.last = fields["data"]
        super().say(event, **fields)

    def leave(self):
        if self.last is not None and not self.decoder.buffer:
            super().say("line", data=self.last)
        super().leave()


@mutant("stop delivers the leftover as a line", "close", "lifecycle")
class StopDeliversRest(Connection):
    def end(self, reason):
        if reason == "stopped" and self.decoder.buffer:
            self.say(self.event(), data=self.decoder.finish().decode("latin-1"))
        super().end(reason)


@mutant("the peer's FIN is answered with an RST", "close")
class EofAnsweredByReset(Connection):
    def over(self, reason=None, detail=""):
        if reason == "eof" and self.sock:
            self.abort()
        super().over(reason, detail)

    def end(self, reason):
        if reason == "eof":
            self.fin_sent = True
        super().end(reason)


@mutant("the sockets of accepted connections are not closed when the connections end", "close", "lifecycle")
class AcceptedNeverClose(Connection):
    kept = []

    def end(self, reason):
        if self.number >= 1_000_000 and self.sock:
            self.kept.append(self.sock.dup())
            self.fin_sent = True
        super().end(reason)


@mutant("at the end of the stream, an empty read is delivered as data", "close", "framing")
class EmptyDataAtEof(Connection):
    def leave(self):
        if self.framing == "none":
            self.say("data", data="")
        super().leave()


@mutant("data that is written after a stop is reported as sent after the stop", "close", "lifecycle", "partial-write")
class SentAfterStop(Connection):
    def end(self, reason):
        if reason == "stopped" and self.pending:
            self.stop_event("stopped")
            self.told = True
        super().end(reason)

    told = False

    def stop_event(self, reason, detail=""):
        if not self.told:
            super().stop_event(reason, detail)

    def wrote(self, count):
        super().wrote(count)
        if self.told:
            self.say("sent", bytes=count)


@mutant("half-close of an accepted connection has no effect", "close")
class AcceptedHalfCloseIgnored(Connection):
    def half_close(self):
        if self.number < 1_000_000:
            super().half_close()


@mutant("an accepted connection stops before queued data has been written", "close", "partial-write")
class AcceptedStopDropsWrites(Connection):
    def end(self, reason):
        if reason == "stopped" and self.number >= 1_000_000:
            self.pending.clear()
        super().end(reason)


@mutant("an accepted connection loses its leftover", "close", "length-prefix")
class AcceptedLeftoverLost(Connection):
    def leave(self):
        if self.number < 1_000_000:
            super().leave()


@mutant("the leftover is reported in two pieces", "close")
class LeftoverInPieces(Connection):
    def leave(self):
        rest = self.decoder.finish()
        half = (len(rest) + 1) // 2
        for piece in (rest[:half], rest[half:]):
            if piece:
                self.say("leftover", data=piece.decode("latin-1"))


@mutant("the leftover of one connection is reported again on the next connection that ends", "close")
class LeftoverShared(Connection):
    kept = bytearray()

    def leave(self):
        rest = self.decoder.finish()
        if rest:
            self.kept += rest
            self.say("leftover", data=bytes(self.kept).decode("latin-1"))


@mutant("an unfinished line at the end of the stream is silently dropped, and the capability leftover is not declared", "close")
class TailUntold(Adapter):
    can = [word for word in Adapter.can if word != "leftover"]

    def say(self, **message):
        if message["ev"] != "leftover":
            super().say(**message)


@mutant("the peer's FIN is answered with an RST", "close", "reset")
class FinAnsweredByReset(Connection):
    def shut_down_writing(self):
        if self.read_ended:
            self.abort()
        else:
            super().shut_down_writing()


@mutant("half-close discards an incomplete incoming line", "close")
class HalfCloseForgetsInput(Connection):
    def half_close(self):
        super().half_close()
        self.decoder.finish()


@mutant("after half-close, the data of only one read is delivered", "close")
class HalfCloseReadsOnce(Connection):
    reads = 0

    def received(self, data):
        self.reads += self.fin_wanted
        if self.reads <= 1:
            super().received(data)


@mutant("half-close sends no FIN if nothing was sent", "close")
class HalfCloseNeedsBytes(Connection):
    has_sent = False

    def queue(self, frame):
        self.has_sent = True
        super().queue(frame)

    def half_close(self):
        if self.has_sent:
            super().half_close()
        else:
            self.require_open()


@mutant("after the transport's half-close, the peer's FIN is not reported", "close")
class FinBehindHalfCloseUntold(Connection):
    def read_eof(self):
        if self.state == OPEN and self.fin_sent:
            self.read_ended = self.paused = True
            self.update()
        else:
            super().read_eof()


@mutant("the stop of an accepted connection is not reported if its listener was stopped before", "close", "lifecycle")
class AcceptedStopUntold(Connection):
    def stop_event(self, reason, detail=""):
        listeners = [known for known in self.adapter.known.values() if isinstance(known, Listener)]
        if self.number < 1_000_000 or not listeners or any(listener.sock for listener in listeners):
            super().stop_event(reason, detail)


# MARK: lifecycle


@mutant("the event stop is never reported", "lifecycle", "close")
class StopUnreported(Connection):
    def stop_event(self, reason, detail=""):
        if reason != "stopped":
            super().stop_event(reason, detail)


@mutant("the event stop is reported once for each request to stop", "lifecycle", "close")
class StopTwice(Connection):
    def stop(self):
        if self.state in (LINGERING, OVER):
            self.stop_event("stopped")
        super().stop()


@mutant("the event stop is reported when a stop is requested, and again when the socket is closed", "lifecycle", "close")
class StopAndClosed(Connection):
    def linger(self):
        super().linger()
        if self.reason == "stopped":
            self.stop_event("stopped")


@mutant("lines that arrive after a stop are still delivered", "lifecycle", "close")
class LineAfterStop(Connection):
    def readable(self):
        if self.state == LINGERING and self.reason == "stopped":
            try:
                data = self.sock.recv(READ_SIZE, socket.MSG_PEEK)
            except OSError:
                data = b""
            self.decoder.append(data)
            while (message := self.decoder.next()) is not None:
                self.say(self.event(), data=message.decode("latin-1"))
        super().readable()


@mutant("after stop, the peer's FIN is reported as another stop", "lifecycle", "close")
class EofAfterStop(Connection):
    def read_eof(self):
        if self.state == LINGERING and self.reason == "stopped":
            self.stop_event("eof")
        super().read_eof()


@mutant("a stop while connecting is not reported", "lifecycle", "connect")
class StopWhileConnectingSilent(Connection):
    def stop(self):
        if self.state == CONNECTING:
            self.task.cancel()
            self.cancel_timers()
            self.state = OVER
        else:
            super().stop()


@mutant("a stop while connecting does not end the attempt, and start is reported nevertheless", "lifecycle", "connect")
class StopWhileConnectingIgnored(Connection):
    def stop(self):
        if self.state == CONNECTING:
            self.stop_event("stopped")
        else:
            super().stop()


@mutant("a second start opens a second connection", "lifecycle")
class DoubleStart(Adapter):
    def begin(self, op, number, request):
        self.known.pop(number, None)
        return super().begin(op, number, request)


@mutant("a second start is silently ignored", "lifecycle")
class DoubleStartSilent(Adapter):
    def begin(self, op, number, request):
        return {} if number in self.known else super().begin(op, number, request)


@mutant("a second start stops the connection", "lifecycle")
class DoubleStartStops(Adapter):
    def begin(self, op, number, request):
        if number in self.known:
            self.known[number].over("other", "started twice")
        return super().begin(op, number, request)


@mutant("after its stop, a connection can be started again", "lifecycle")
class Restarts(Adapter):
    def begin(self, op, number, request):
        known = self.known.get(number)
        if isinstance(known, Connection) and known.state in (LINGERING, OVER):
            del self.known[number]
        return super().begin(op, number, request)


@mutant("operations before the start are silently ignored", "lifecycle")
class EarlyOpsSilent(Adapter):
    def perform(self, request):
        if request["op"] not in ("connect", "listen") and request["conn"] not in self.known:
            return {}
        return super().perform(request)


@mutant("an operation before the start kills the process", "lifecycle", dies=True)
class EarlyOpsDie(Adapter):
    def perform(self, request):
        if request["op"] not in ("connect", "listen"):
            self.known[request["conn"]]
        return super().perform(request)


@mutant("a send after the stop is silently ignored", "lifecycle")
class LateSendSilent(Connection):
    def send(self, data):
        if self.state not in (LINGERING, OVER):
            super().send(data)


@mutant("a send after the stop kills the process", "lifecycle", dies=True)
class LateSendDies(Connection):
    def send(self, data):
        assert self.state not in (LINGERING, OVER)
        super().send(data)


@mutant("a second half-close kills the process", "lifecycle", "close", dies=True)
class SecondHalfCloseDies(Connection):
    def half_close(self):
        assert not self.fin_wanted
        super().half_close()


@mutant("a refused message ends the connection", "lifecycle", "encoding", "framing")
class RefusalStops(Connection):
    def send(self, data):
        try:
            super().send(data)
        except Refused as error:
            if str(error) == "invalid":
                self.over("other", "a bad message")
            raise


class ToldAgain(Connection):
    """If an operation is requested on a connection that has ended, reports the end again."""
    ended_by, reason_was = "", None

    def stop_event(self, reason, detail=""):
        self.reason_was = reason
        super().stop_event(reason, detail)

    def tell_again(self):
        if self.reason_was == self.ended_by:
            super().stop_event("stopped")


@mutant("a stop after a reset is reported as a second end", "lifecycle", "reset")
class StopBehindResetTold(ToldAgain):
    ended_by = "reset"

    def stop(self):
        self.tell_again()
        super().stop()


@mutant("a stop after a line that was too long is reported as a second end", "lifecycle", "limits")
class StopBehindTooLongTold(ToldAgain):
    ended_by = "too-long"

    def stop(self):
        self.tell_again()
        super().stop()


@mutant("a send after a reset is reported as a second end", "lifecycle", "reset")
class SendBehindResetTold(ToldAgain):
    ended_by = "reset"

    def send(self, data):
        self.tell_again()
        super().send(data)


@mutant("half-close after a reset is reported as a second end", "lifecycle", "reset")
class HalfCloseBehindResetTold(ToldAgain):
    ended_by = "reset"

    def half_close(self):
        self.tell_again()
        super().half_close()


@mutant("half-close after the end of the stream is silently ignored", "lifecycle")
class HalfCloseBehindEofSilent(Connection):
    def half_close(self):
        if self.state not in (LINGERING, OVER):
            super().half_close()


@mutant("stop-reading after the end of the stream is silently ignored", "lifecycle")
class PauseBehindEofSilent(Connection):
    def stop_reading(self):
        if self.state not in (LINGERING, OVER):
            super().stop_reading()


@mutant("resume-reading before the start is silently ignored", "lifecycle")
class EarlyResumeSilent(Adapter):
    def perform(self, request):
        if request["op"] == "resume-reading" and request["conn"] not in self.known:
            return {}
        return super().perform(request)


@mutant("a send after a line that was too long is silently ignored", "lifecycle", "limits")
class SendBehindTooLongSilent(Connection):
    was_too_long = False

    def bad_stream(self, reason):
        self.was_too_long = True
        super().bad_stream(reason)

    def send(self, data):
        if not self.was_too_long:
            super().send(data)


@mutant("after a refusal, a connection can be started again", "lifecycle", "connect")
class RestartsAfterRefusal(Adapter):
    def begin(self, op, number, request):
        known = self.known.get(number)
        if isinstance(known, Connection) and known.state == OVER and not known.active:
            del self.known[number]
        return super().begin(op, number, request)


@mutant("if a listener is stopped a second time, its stop is reported again", "lifecycle")
class ListenerStopToldTwice(Listener):
    def stop(self):
        if not self.sock:
            self.adapter.say(ev="stop", conn=self.number, reason="stopped")
        super().stop()


@mutant("a process can have only one listener in its lifetime", "lifecycle", "connect")
class OneListenerEver(Adapter):
    def begin(self, op, number, request):
        if op == "listen" and any(isinstance(known, Listener) and not known.sock for known in self.known.values()):
            raise Refused("other")
        return super().begin(op, number, request)


# MARK: reset


@mutant("a reset is reported as the end of the stream", "reset")
class ResetAsEof(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" else reason, detail)


@mutant("a reset is reported as a different error", "reset")
class ResetAsOther(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("other" if reason == "reset" else reason, detail)


@mutant("a reset is not reported", "reset")
class ResetUnreported(Connection):
    def stop_event(self, reason, detail=""):
        if reason != "reset":
            super().stop_event(reason, detail)


@mutant("a reset is reported twice, as an error and as the end", "reset", "lifecycle")
class ResetTwice(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "reset":
            super().stop_event("eof", detail)


@mutant("a reset kills the process", "reset", dies=True)
class ResetDies(Connection):
    def read_failed(self, error):
        if getattr(error, "errno", None) == errno.ECONNRESET:
            sys.exit("ECONNRESET")
        super().read_failed(error)


@mutant("a reset discards the lines received before it", "reset")
class ResetLosesLines(Connection):
    def readable(self):
        time.sleep(0.01)
        if self.state == OPEN and self.sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == 7:  # CLOSE
            return self.over("reset")
        return super().readable()


@mutant("a reset in the middle of a line is reported as the end of the stream", "reset")
class ResetMidLineAsEof(Connection):
    def read_failed(self, error):
        if self.decoder.buffer and self.state == OPEN:
            self.leave()
            self.over("eof")
        else:
            super().read_failed(error)


@mutant("a reset right after the connection is established is reported as refused", "reset", "connect")
class InstantResetRefused(Connection):
    heard = False

    def received(self, data):
        self.heard = True
        super().received(data)

    def stop_event(self, reason, detail=""):
        super().stop_event("refused" if reason == "reset" and not self.heard and not self.fin_wanted else reason, detail)


@mutant("at a reset, the unfinished line is delivered as a line", "reset")
class ResetRestAsLine(Connection):
    def read_failed(self, error):
        if self.decoder.buffer and self.state == OPEN:
            self.say(self.event(), data=self.decoder.finish().decode("latin-1"))
        super().read_failed(error)


@mutant("a reset of an accepted connection is reported as the end of the stream", "reset")
class AcceptedResetAsEof(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" and self.number >= 1_000_000 else reason, detail)


@mutant("a reset after the transport's half-close is reported as the end of the stream", "reset", "close")
class ResetAfterHalfCloseAsEof(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" and self.fin_sent else reason, detail)


@mutant("a reset while reading is stopped is reported as the end of the stream", "reset", "back-pressure")
class ResetWhilePausedAsEof(Connection):
    was_paused = False

    def stop_reading(self):
        self.was_paused = True
        super().stop_reading()

    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" and self.was_paused else reason, detail)


@mutant("a reset of one connection ends all connections", "reset", "lifecycle")
class ResetEndsAll(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "reset":
            for other in list(self.adapter.known.values()):
                if isinstance(other, Connection) and other.state == OPEN:
                    other.over("other", "another one was reset")


# MARK: data sent before the connection is established


class WhileConnecting(Connection):
    """Calls `early` with each frame that is queued before the connection is established."""

    def queue(self, frame):
        if self.state == CONNECTING:
            self.early(frame)
        else:
            super().queue(frame)

    def early(self, frame):
        super().queue(frame)


@mutant("data sent while connecting is lost", "early")
class EarlyLost(WhileConnecting):
    def early(self, frame):
        pass


@mutant("data sent while connecting is refused with not-started", "early")
class EarlyRefused(WhileConnecting):
    def early(self, frame):
        raise Refused("not-started")


@mutant("only the last message sent while connecting is kept", "early")
class EarlyLastStays(WhileConnecting):
    def early(self, frame):
        self.pending[:] = frame


@mutant("messages sent while connecting are written in reverse order", "early")
class EarlyReversed(WhileConnecting):
    def early(self, frame):
        self.pending[:0] = frame


@mutant("data sent while connecting is written after data that was sent later", "early")
class EarlyBehindLater(WhileConnecting):
    held = b""

    def early(self, frame):
        self.held += frame

    def queue(self, frame):
        super().queue(frame)
        if self.state == OPEN and self.held:
            held, self.held = self.held, b""
            super().queue(held)


@mutant("data sent while connecting is written twice", "early")
class EarlyTwice(WhileConnecting):
    def opened(self, sock):
        self.pending += self.pending
        super().opened(sock)


@mutant("data sent while connecting is written only together with the next message", "early")
class EarlyWaitsForNext(WhileConnecting):
    held = b""

    def early(self, frame):
        self.held += frame

    def queue(self, frame):
        held, self.held = self.held if self.state == OPEN else b"", b"" if self.state == OPEN else self.held
        super().queue(held + frame)


@mutant("data sent while connecting is reported as sent before the connection is established", "early")
class EarlySentTooSoon(WhileConnecting):
    def early(self, frame):
        super().early(frame)
        self.say("sent", bytes=len(frame))

    def wrote(self, count):
        del self.pending[:count]


@mutant("data sent while connecting is stored for the whole process and sent on the next connection", "early")
class EarlyOnNextConnection(WhileConnecting):
    left = []

    def over(self, reason=None, detail=""):
        if self.state == CONNECTING and self.pending:
            EarlyOnNextConnection.left.append(bytes(self.pending))
        super().over(reason, detail)

    def opened(self, sock):
        if self.left:
            self.pending[:0] = self.left.pop()
        super().opened(sock)


@mutant("a stop while connecting waits for the connection in order to write queued data", "early")
class EarlyHoldsOffStop(WhileConnecting):
    stop_wanted = False

    def stop(self):
        if self.state == CONNECTING and self.pending:
            self.stop_wanted = True
        else:
            super().stop()

    def opened(self, sock):
        super().opened(sock)
        if self.stop_wanted:
            super().stop()


# MARK: our own RST


@mutant("a requested reset sends a FIN", "reset")
class OwnResetIsFin(Connection):
    def reset(self):
        if self.state in (OPEN, ENDING):
            self.over("stopped")
        else:
            self.stop()


@mutant("a requested reset sends a FIN before the RST", "reset")
class OwnResetBehindFin(Connection):
    def reset(self):
        if self.state in (OPEN, ENDING) and not self.fin_sent:
            self.sock.shutdown(socket.SHUT_WR)
        super().reset()


@mutant("a requested reset first writes the queued data", "reset")
class OwnResetWritesFirst(Connection):
    reset_wanted = False

    def reset(self):
        self.reset_wanted = bool(self.pending)
        if not self.reset_wanted:
            super().reset()

    def wrote(self, count):
        super().wrote(count)
        if self.reset_wanted and not self.pending:
            super().reset()


@mutant("a requested reset is reported twice", "reset")
class OwnResetStopsTwice(Connection):
    def reset(self):
        super().reset()
        self.stop_event("stopped")


@mutant("a requested reset is reported as a reset by the peer", "reset")
class OwnResetReasonReset(Connection):
    def reset(self):
        if self.state in (OPEN, ENDING):
            self.abort()
            self.over("reset")
        else:
            self.stop()


@mutant("a requested reset is not reported", "reset")
class OwnResetSilent(Connection):
    resetting = False

    def reset(self):
        self.resetting = True
        super().reset()

    def stop_event(self, reason, detail=""):
        if not self.resetting:
            super().stop_event(reason, detail)


@mutant("a requested reset first delivers all buffered data and all unread data in the kernel", "reset")
class OwnResetDelivers(Connection):
    def reset(self):
        if self.state == OPEN:
            try:
                self.received(self.sock.recv(READ_SIZE))
            except OSError:
                pass
        super().reset()


@mutant("a requested reset has no effect while a stop waits for queued data to be written", "reset")
class OwnResetBehindStop(Connection):
    def reset(self):
        if self.state != ENDING:
            super().reset()


@mutant("a requested reset while connecting is ignored", "reset")
class OwnResetWhileConnectingForgotten(Connection):
    def reset(self):
        if self.state != CONNECTING:
            super().reset()


@mutant("a requested reset ends every connection", "reset")
class OwnResetEndsAll(Connection):
    def reset(self):
        for other in self.adapter.known.values():
            if isinstance(other, Connection) and other.state in (OPEN, ENDING):
                other.abort()
                other.over("stopped")
        self.stop()


# MARK: half-closed


@mutant("with allow-half-close, the peer's FIN still ends the connection", "half-closed")
class HalfClosedIsEof(Connection):
    def stays_open(self):
        return False


@mutant("without allow-half-close, the peer's FIN leaves the connection open", "half-closed", "close")
class HalfClosedUnasked(Connection):
    def stays_open(self):
        return not self.fin_wanted


@mutant("the peer's FIN is not reported if it leaves the connection open", "half-closed")
class HalfClosedUntold(Connection):
    def half_closed(self):
        self.update()


@mutant("the event half-closed is reported twice", "half-closed")
class HalfClosedTwice(Connection):
    def half_closed(self):
        self.say("half-closed")
        super().half_closed()


@mutant("after half-closed, nothing is written any more", "half-closed")
class HalfClosedMute(Connection):
    def queue(self, frame):
        if not self.read_ended:
            super().queue(frame)


@mutant("after half-closed, sending is refused", "half-closed")
class HalfClosedRefusesSends(Connection):
    def send(self, data):
        if self.read_ended and self.state == OPEN:
            raise Refused("half-closed")
        super().send(data)


@mutant("after half-closed, the connection ends on its own after half a second", "half-closed")
class HalfClosedGivesUp(Connection):
    def half_closed(self):
        super().half_closed()
        self.loop.call_later(0.5, lambda: self.state == OPEN and self.end("eof"))


@mutant("an unfinished line is lost if the peer's FIN leaves the connection open", "half-closed")
class HalfClosedLosesLeftover(Connection):
    def leave(self):
        if not self.stays_open():
            super().leave()


@mutant("an unfinished line is reported after half-closed", "half-closed")
class HalfClosedBeforeLeftover(Connection):
    def leave(self):
        if not self.stays_open():
            super().leave()

    def half_closed(self):
        super().half_closed()
        super().leave()


@mutant("the connection does not stop when both sides have closed", "half-closed")
class HalfClosedNeverStops(Connection):
    def half_close(self):
        self.require_open()
        self.fin_wanted = True
        self.update()


@mutant("after the transport's own FIN, the peer's FIN is reported as half-closed, and no stop follows", "half-closed")
class HalfClosedBehindOurFin(Connection):
    def stays_open(self):
        return self.settings.get("allow-half-close")


@mutant("the transport's half-close after the peer's FIN drops queued data", "half-closed")
class HalfClosedDropsAtEnd(Connection):
    def half_close(self):
        if self.read_ended and self.state == OPEN:
            self.pending.clear()
        super().half_close()


@mutant("a reset after the peer's FIN is not noticed", "half-closed")
class HalfClosedResetUnnoticed(Connection):
    def look_for_reset(self):
        pass


# MARK: back-pressure on sent data


@mutant("the event full is not reported", "high-water")
class FullUntold(Connection):
    def high_water(self):
        return float("inf")


@mutant("the event drained is not reported", "high-water")
class DrainedUntold(Connection):
    def say(self, event, **fields):
        if event != "drained":
            super().say(event, **fields)


@mutant("full is reported whenever the kernel accepts no more data, regardless of the mark", "high-water")
class FullBelowMark(Connection):
    def high_water(self):
        return 1 if "high-water" in self.settings else super().high_water()


@mutant("accepted connections ignore the mark set for their listener", "high-water")
class FullUntoldByAccepted(Listener):
    def __init__(self, adapter, number, settings):
        settings = dict(settings)
        settings.pop("high-water", None)
        super().__init__(adapter, number, settings)


@mutant("full is reported with each message above the mark", "high-water")
class FullAgain(Connection):
    def would_block(self):
        self.full = False
        super().would_block()


@mutant("drained is reported immediately after full", "high-water")
class DrainedAtOnce(Connection):
    def would_block(self):
        before = self.full
        super().would_block()
        if self.full and not before:
            self.say("drained")

    def say(self, event, **fields):
        if event != "drained" or self.full:
            super().say(event, **fields)


@mutant("full and drained are reported only once per connection", "high-water")
class FullOnce(Connection):
    told = False

    def high_water(self):
        return float("inf") if self.told and not self.full else super().high_water()

    def say(self, event, **fields):
        if event == "drained":
            self.told = True
        super().say(event, **fields)


@mutant("data that is sent between full and drained is lost", "high-water")
class FullLoses(Connection):
    def queue(self, frame):
        if not self.full:
            super().queue(frame)


@mutant("data that is sent between full and drained is refused", "high-water")
class FullRefuses(Connection):
    def queue(self, frame):
        if self.full:
            raise Refused("full")
        super().queue(frame)


@mutant("nothing is read between full and drained", "high-water")
class FullStopsReading(Connection):
    def wants_read(self):
        return super().wants_read() and not (self.full and self.state == OPEN)

    def would_block(self):
        super().would_block()


@mutant("drained is reported after a stop", "high-water")
class DrainedBehindStop(Connection):
    def wrote(self, count):
        super().wrote(count)
        if self.state == ENDING and self.full and not self.pending:
            self.full = False
            self.say("drained")


@mutant("full and drained are reported without being requested", "high-water", "back-pressure")
class FullUnasked(Connection):
    def high_water(self):
        return self.settings.get("high-water", 65536)


@mutant("if two resets arrive within 100 ms, only the first is reported", "reset")
class SecondResetUntold(Connection):
    last = [0.0]

    def stop_event(self, reason, detail=""):
        now = time.monotonic()
        if reason != "reset" or now > self.last[0] + 0.1:
            super().stop_event(reason, detail)
        if reason == "reset":
            self.last[0] = now


@mutant("an unfinished line of a connection that was reset becomes the start of the next connection's first line", "reset", "connect")
class ResetRestInherited(Connection):
    rest = bytearray()

    def read_failed(self, error):
        self.rest += self.decoder.finish()
        super().read_failed(error)

    def opened(self, sock):
        self.decoder.append(bytes(self.rest))
        self.rest.clear()
        super().opened(sock)


@mutant("the resources of a connection that was reset are kept, so after eight resets no connection can be made", "reset")
class ResetsLeak(Adapter):
    resets = 0

    def begin(self, op, number, request):
        if self.resets >= 8:
            raise Refused("too-many-open-files")
        return super().begin(op, number, request)

    def say(self, **message):
        if message["ev"] == "stop" and message["reason"] == "reset":
            self.resets += 1
        super().say(**message)


@mutant("without framing, a reset is reported as the end of the stream", "reset")
class RawResetAsEof(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" and self.framing == "none" else reason, detail)


@mutant("over IPv6, a reset is reported as a different error", "reset", "connect")
class Ipv6ResetAsOther(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("other" if reason == "reset" and ":" in self.settings.get("host", "") else reason, detail)


@mutant("over IPv6, nothing is written", "connect", "partial-write")
class Ipv6WritesNothing(Connection):
    def queue(self, frame):
        if ":" not in self.settings.get("host", ""):
            super().queue(frame)
# MARK: changing the framing in mid-stream


@mutant("changing the framing drops data that was received but not delivered", "switch")
class SwitchDropsRest(Connection):
    def take_over(self, rest):
        pass


@mutant("after the framing has changed, data received before the change is divided by the old framing", "switch")
class SwitchDividesByOld(Connection):
    def change_framing(self, request):
        before = self.decoder
        held = bytes(before.buffer)
        super().change_framing(request)
        if held:
            self.decoder.finish()
            before.append(held)
            self.decoder = before


@mutant("after the framing has changed, received data is examined only when more arrives", "switch")
class SwitchWaitsForMore(Connection):
    def take_over(self, rest):
        self.decoder.append(rest)


@mutant("a change of the framing applies to received data only", "switch")
class SwitchReceivesOnly(Connection):
    first = None

    def change_framing(self, request):
        self.first = self.first or (self.framing, self.delimiter)
        super().change_framing(request)

    def frame(self, data):
        now = self.framing, self.delimiter
        self.framing, self.delimiter = self.first or now
        try:
            return super().frame(data)
        finally:
            self.framing, self.delimiter = now


@mutant("a change of the framing applies to sent data only", "switch")
class SwitchSendsOnly(Connection):
    def change_framing(self, request):
        decoder = self.decoder
        super().set_framing(request)
        self.decoder = decoder


@mutant("a change of the framing delivers the buffered data as one message", "switch")
class SwitchDeliversRest(Connection):
    def take_over(self, rest):
        if rest:
            self.say(self.event(), data=rest.decode("latin-1"))


@mutant("a change of the framing applies to every connection", "switch")
class SwitchForAll(Connection):
    def change_framing(self, request):
        for other in self.adapter.known.values():
            if isinstance(other, Connection) and other.state == OPEN:
                Connection.change_framing(other, request)


@mutant("a second change of the framing is ignored", "switch")
class SwitchOnce(Connection):
    switched = False

    def change_framing(self, request):
        if not self.switched:
            self.switched = True
            super().change_framing(request)


@mutant("an announced change takes effect only after the current read, the rest of which is divided by the old framing", "switch")
class SwitchBehindTheRead(Connection):
    due = None

    def announce_framing(self, request):
        super().announce_framing({**request, "behind": 1 << 30})
        self.due = request["behind"]

    def deliver(self):
        count = self.counted = 0
        super().deliver()
        count, self.counted = self.counted, count
        if self.due and count >= self.due:
            self.due = None
            self.change_framing(self.announced[1])

    def delivered(self):
        self.counted += 1


@mutant("an announced change takes effect at once", "switch")
class SwitchTooEarly(Connection):
    def announce_framing(self, request):
        self.change_framing(request)


@mutant("an announced change takes effect one message late", "switch")
class SwitchOneLate(Connection):
    def announce_framing(self, request):
        super().announce_framing({**request, "behind": request["behind"] + 1})


@mutant("an announced change takes effect after the first message, regardless of the announced number", "switch")
class SwitchBehindTheFirst(Connection):
    def announce_framing(self, request):
        super().announce_framing({**request, "behind": 1})


@mutant("an announced change takes effect at once for sent data", "switch")
class SwitchSendsEarly(Connection):
    def announce_framing(self, request):
        super().announce_framing(request)
        decoder = self.decoder
        self.set_framing(request)
        self.decoder = decoder


@mutant("changing the framing removes the limit", "switch")
class SwitchForgetsLimit(Connection):
    def change_framing(self, request):
        self.settings = {**self.settings, "max-line": 1 << 30}
        super().change_framing(request)


@mutant("the limit includes data received before the change", "switch")
class SwitchKeepsCount(Connection):
    def set_framing(self, request):
        delivered = getattr(self, "bytes_delivered", 0)
        super().set_framing(request)
        self.decoder.limit -= delivered

    def say(self, event, **fields):
        self.bytes_delivered = getattr(self, "bytes_delivered", 0) + len(fields.get("data", ""))
        super().say(event, **fields)


@mutant("a change of the framing while reading is stopped resumes reading", "switch")
class SwitchResumes(Connection):
    def change_framing(self, request):
        self.paused = False
        super().change_framing(request)
        self.update()


@mutant("a change of the framing is refused after the transport's half-close", "switch")
class SwitchHalfClosed(Connection):
    def framing_op(self, request):
        if self.fin_wanted:
            raise Refused("half-closed")
        super().framing_op(request)


@mutant("accepted connections keep their framing", "switch")
class SwitchAcceptedNever(Connection):
    def change_framing(self, request):
        if self.number < 1_000_000:
            super().change_framing(request)


@mutant("after a change to a delimiter, only its first byte is used", "switch")
class SwitchDelimiterFirstByte(Connection):
    def set_framing(self, request):
        super().set_framing({**request, "delimiter": request["delimiter"][:1]} if request.get("op") == "framing" and "delimiter" in request else request)


@mutant("data that is queued when the framing changes is framed by the new framing", "switch")
class SwitchReframesQueue(Connection):
    """Stores messages, and adds their framing only when they are written."""
    kept = None

    def send(self, data):
        self.kept = self.kept or []
        self.kept.append(data)
        self.require_open()
        self.loop.call_later(0.01, self.flush)

    def flush(self):
        kept, self.kept = self.kept or [], []
        for data in kept:
            Connection.send(self, data)

    def half_close(self):
        self.flush()
        super().half_close()

    def stop(self):
        self.flush()
        super().stop()


@mutant("after a change to little-endian lengths, they are read high byte first", "switch")
class SwitchLittleAsBig(Connection):
    def set_framing(self, request):
        super().set_framing({**request, "framing": request["framing"].removesuffix("le")} if request.get("op") == "framing" else request)


# MARK: messages that are too long are omitted


@mutant("the received part of a line that is too long is discarded, and the rest is delivered as a line", "discarded")
class DiscardTailIsLine(Connection):
    def discard(self):
        self.decoder.finish()
        self.say("discarded")


@mutant("the rest of the read is discarded along with a line that is too long", "discarded")
class DiscardWholeRead(Connection):
    def discard(self):
        super().discard()
        done = self.decoder.skip()
        self.decoder.buffer.clear()
        self.decoder.skipping = None if done else self.decoder.skipping


@mutant("a line that is too long is reported again for each of its reads", "discarded")
class DiscardToldByRead(Connection):
    def received(self, data):
        if self.decoder.skipping is not None:
            self.say("discarded")
        super().received(data)


@mutant("a line that is too long is silently discarded", "discarded")
class DiscardUntold(Connection):
    def discard(self):
        self.decoder.leave_out()


@mutant("if several lines are too long, only the first is reported", "discarded")
class DiscardToldOnce(Connection):
    told = False

    def discard(self):
        self.decoder.leave_out()
        if not self.told:
            self.told = True
            self.say("discarded")


@mutant("a line that is too long ends the connection, even if discarding was requested", "discarded")
class DiscardStops(Connection):
    def discard(self):
        self.bad_stream("too-long")


@mutant("a line that is too long is truncated at the limit and delivered", "discarded")
class DiscardDelivers(Connection):
    def discard(self):
        start = bytes(self.decoder.buffer[:self.decoder.limit])
        super().discard()
        self.say(self.event(), data=start.decode("latin-1"))


@mutant("a line that is too long is reported only after the next line", "discarded")
class DiscardToldLate(Connection):
    late = 0

    def discard(self):
        self.decoder.leave_out()
        self.late += 1

    def delivered(self):
        super().delivered()
        for _ in range(self.late):
            self.say("discarded")
        self.late = 0


@mutant("the received part of a discarded line is reported as leftover", "discarded")
class DiscardLeftover(Connection):
    def leave(self):
        if self.decoder.skipping is not None:
            self.say("leftover", data="")
        super().leave()


@mutant("the length prefix of a counted message that is too long is not discarded with the message", "discarded")
class DiscardForgetsPrefix(Connection):
    def discard(self):
        super().discard()
        if self.decoder.skipping is not True:
            self.decoder.skipping -= 1


@mutant("a counted message that is too long is discarded only up to the end of the received data", "discarded")
class DiscardCountedByRead(Connection):
    def discard(self):
        super().discard()
        if self.decoder.skipping is not True:
            self.decoder.skipping = min(self.decoder.skipping, len(self.decoder.buffer))


@mutant("a CR ends a discarded line", "discarded")
class DiscardEndsAtCr(Connection):
    class Cr(Decoder):
        def skip_line(self):
            if self.framing != "crlf":
                return super().skip_line()
            end = self.buffer.find(b"\r")
            del self.buffer[:end + 1 if end >= 0 else len(self.buffer)]
            return end >= 0

    def set_framing(self, request):
        super().set_framing(request)
        self.decoder.__class__ = self.Cr


@mutant("a CR that arrives separately from its LF does not end a discarded line", "discarded")
class DiscardForgetsCr(Connection):
    class Forgetful(Decoder):
        def half_terminator(self):
            return super().half_terminator() if self.skipping is None else 0

    def set_framing(self, request):
        super().set_framing(request)
        self.decoder.__class__ = self.Forgetful


@mutant("bytes of a discarded line do not restart the idle timeout", "discarded")
class DiscardIsIdle(Connection):
    def received(self, data):
        before = self.quiet if self.decoder.skipping is not None else self.loop.time()
        self.quiet = self.active = before
        super().received(data)

    quiet = 0.0


@mutant("accepted connections stop at a line that is too long", "discarded")
class DiscardAcceptedStops(Connection):
    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        if number >= 1_000_000:
            self.settings = {**settings, "discard-too-long": False}


@mutant("lines that are too long are discarded without being requested", "discarded")
class DiscardUnasked(Connection):
    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, {**settings, "discard-too-long": True})


@mutant("no data is written while a line is being discarded", "discarded")
class DiscardBlocksWriting(Connection):
    def send(self, data):
        if self.decoder.skipping is None:
            super().send(data)
        else:
            self.loop.call_later(0.05, self.send, data)


@mutant("after a discarded line, a different limit applies", "discarded")
class DiscardChangesLimit(Connection):
    def discard(self):
        super().discard()
        self.decoder.limit += 1


# MARK: timeouts


@mutant("the connect timeout never expires", "timeouts", "connect")
class ConnectTimeoutNever(Connection):
    def connect_timed_out(self):
        pass


@mutant("the connect timeout expires after half its time", "timeouts", "connect")
class ConnectTimeoutEarly(Connection):
    def start(self):
        if "connect-timeout-ms" in self.settings:
            self.settings["connect-timeout-ms"] /= 2
        super().start()


@mutant("the connect timeout is interpreted as seconds", "timeouts", "connect")
class ConnectTimeoutInSeconds(Connection):
    def start(self):
        if "connect-timeout-ms" in self.settings:
            self.settings["connect-timeout-ms"] *= 1000
        super().start()


@mutant("the connect timeout is reported twice", "timeouts", "connect", "lifecycle")
class ConnectTimeoutTwice(Connection):
    def connect_timed_out(self):
        super().connect_timed_out()
        self.stop_event("timeout")


@mutant("the connect timeout is reported as refused", "timeouts", "connect")
class ConnectTimeoutAsRefused(Connection):
    def connect_timed_out(self):
        self.task.cancel()
        self.over("refused")


@mutant("the attempt continues after the connect timeout, so start follows the stop", "timeouts", "connect")
class ConnectLate(Connection):
    def connect_timed_out(self):
        self.stop_event("timeout")


@mutant("the connect timeout ends an established connection", "timeouts", "connect")
class ConnectTimeoutNotCancelled(Connection):
    def opened(self, sock):
        self.timer = None
        super().opened(sock)

    def connect_timed_out(self):
        if self.state == OPEN:
            self.over("timeout")
        elif self.state == CONNECTING:
            super().connect_timed_out()


@mutant("the idle timeout expires despite traffic", "timeouts")
class IdleInSpiteOfTraffic(Connection):
    def watch_idleness(self):
        if "idle-timeout-ms" in self.settings:
            self.idle_timer = self.loop.call_later(self.settings["idle-timeout-ms"] / 1000, self.idle)

    def idle(self):
        if self.state == OPEN:
            self.stop_event("timeout")
            self.linger()


@mutant("only complete lines restart the idle timeout", "timeouts")
class IdleInSpiteOfBytes(Connection):
    def readable(self):
        before, self.lines = self.active, 0
        super().readable()
        if not self.lines:
            self.active = before

    def say(self, event, **fields):
        self.lines = 1
        super().say(event, **fields)


@mutant("sent data does not restart the idle timeout", "timeouts")
class IdleInSpiteOfWrites(Connection):
    def write(self):
        before = self.active
        super().write()
        self.active = before

    def queue(self, frame):
        self.pending += frame
        self.write()


@mutant("received data does not restart the idle timeout", "timeouts")
class IdleInSpiteOfReads(Connection):
    def readable(self):
        before = self.active
        super().readable()
        self.active = before


@mutant("the idle timeout never expires", "timeouts")
class IdleNever(Connection):
    def watch_idleness(self):
        pass


@mutant("the idle timeout expires after half its time", "timeouts")
class IdleEarly(Connection):
    def watch_idleness(self):
        if "idle-timeout-ms" in self.settings and not hasattr(self, "halved"):
            self.halved = True
            self.settings = {**self.settings, "idle-timeout-ms": self.settings["idle-timeout-ms"] / 2}
        super().watch_idleness()


@mutant("the idle timer continues after the stop", "timeouts", "lifecycle", "close")
class IdleAfterStop(Connection):
    def cancel_timers(self):
        if self.timer:
            self.timer.cancel()
        self.timer = None

    def idle(self):
        if self.state in (LINGERING, OVER):
            self.stop_event("timeout")
        else:
            super().idle()


@mutant("the idle timeout is reported as the end of the stream", "timeouts")
class IdleAsEof(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "timeout" and self.state == OPEN else reason, detail)


@mutant("the idle timeout is reported, but the socket stays open", "timeouts")
class IdleNeverCloses(Connection):
    def idle(self):
        if self.loop.time() < self.active + self.settings["idle-timeout-ms"] / 1000:
            self.watch_idleness()
        elif self.state == OPEN:
            self.stop_event("timeout")
            self.state = OVER
            self.unwatch()


@mutant("accepted connections have no idle timeout", "timeouts")
class AcceptedNeverIdle(Listener):
    def accepted(self, sock):
        self.settings = {key: value for key, value in self.settings.items() if key != "idle-timeout-ms"}
        super().accepted(sock)


@mutant("the idle timeout of accepted connections starts when the listener starts", "timeouts")
class AcceptedIdleWithListener(Listener):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.began = self.loop.time()

    def accepted(self, sock):
        super().accepted(sock)
        connection = self.adapter.known[self.adapter.next_accepted - 1]
        connection.cancel_timers()
        connection.active = self.began
        connection.watch_idleness()


@mutant("the idle timeout starts only once, with the first received byte", "timeouts")
class IdleNeedsTraffic(Connection):
    def watch_idleness(self):
        if self.heard:
            super().watch_idleness()

    heard = False

    def received(self, data):
        super().received(data)
        if not self.heard and self.state == OPEN:
            self.heard = True
            self.watch_idleness()


@mutant("the idle timeout of one connection ends all connections", "timeouts", "lifecycle")
class IdleEndsAll(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "timeout":
            for other in list(self.adapter.known.values()):
                if isinstance(other, Connection) and other.state == OPEN:
                    other.over("timeout")


@mutant("the connect timeout resets a connection that was established in time but has not received anything yet", "timeouts", "connect")
class ConnectTimeoutNeedsBytes(Connection):
    heard = False

    def cancel_timers(self):
        if self.state != CONNECTING:
            super().cancel_timers()

    def received(self, data):
        self.heard = True
        super().received(data)

    def connect_timed_out(self):
        if self.state == OPEN and not self.heard:
            self.over("timeout")
        elif self.state == CONNECTING:
            self.task.cancel()
            self.over("timeout")


@mutant("the idle timeout drops queued data, and is reported as the end of the stream", "timeouts", "back-pressure")
class IdleWithQueueAsEof(Connection):
    def over(self, reason=None, detail=""):
        super().over("eof" if reason == "timeout" and self.state == OPEN else reason, detail)


@mutant("the idle timeout is suspended while reading is stopped", "timeouts", "back-pressure")
class IdleRestsWhilePaused(Connection):
    def idle(self):
        if self.paused and not self.pending:
            self.active = self.loop.time()
        super().idle()


@mutant("half-close stops the idle timer", "timeouts", "close")
class HalfCloseEndsIdleTimer(Connection):
    def half_close(self):
        super().half_close()
        if self.idle_timer:
            self.idle_timer.cancel()


@mutant("the idle timeout of a process's first connection applies to all connections", "timeouts")
class IdleTimeInherited(Connection):
    first = {}

    def __init__(self, adapter, number, settings):
        if "idle-timeout-ms" in settings:
            self.first.setdefault("limit", settings["idle-timeout-ms"])
            settings = {**settings, "idle-timeout-ms": self.first["limit"]}
        super().__init__(adapter, number, settings)


@mutant("with an idle timeout, the end of the stream is reported only when the timeout expires", "timeouts", "close")
class EofWaitsForIdle(Connection):
    def read_eof(self):
        if self.state == OPEN and "idle-timeout-ms" in self.settings:
            self.read_ended = self.paused = True
            self.update()
        else:
            super().read_eof()


@mutant("with an idle timeout, a reset is reported as a timeout", "timeouts", "reset")
class ResetAsIdle(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event("timeout" if reason == "reset" and "idle-timeout-ms" in self.settings else reason, detail)


# MARK: back-pressure


@mutant("stop-reading is accepted but has no effect", "back-pressure")
class StopReadingIgnored(Connection):
    def stop_reading(self):
        self.require_open()


@mutant("while reading is stopped, bytes are read into memory, so the window never closes", "back-pressure")
class StopReadingBuffers(Connection):
    def wants_read(self):
        return not self.read_ended

    def deliver(self):
        if not self.paused:
            super().deliver()

    def read_eof(self):
        if self.paused:
            self.read_ended = True
            return self.update()
        return super().read_eof()

    def resume_reading(self):
        super().resume_reading()
        self.deliver()
        if self.read_ended and self.state == OPEN:
            super().read_eof()


@mutant("while reading is stopped, arriving data is discarded", "back-pressure")
class StopReadingDiscards(Connection):
    def wants_read(self):
        return not self.read_ended

    def received(self, data):
        if not self.paused:
            super().received(data)


@mutant("reading never resumes", "back-pressure")
class ResumeIgnored(Connection):
    def resume_reading(self):
        self.require_open()


@mutant("after resume-reading, the last line before the stop is delivered again", "back-pressure")
class ResumeRepeats(Connection):
    last = None

    def say(self, event, **fields):
        if event in ("line", "message", "data"):
            self.last = (event, fields)
        super().say(event, **fields)

    def resume_reading(self):
        if self.last and self.paused:
            super().say(self.last[0], **self.last[1])
        super().resume_reading()


@mutant("after resume-reading, an unfinished line from before the stop is lost", "back-pressure")
class ResumeLosesPartial(Connection):
    def resume_reading(self):
        self.decoder.finish()
        super().resume_reading()


@mutant("after stop-reading and resume-reading, data that arrived in between waits for the next bytes", "back-pressure")
class ResumeWaits(StopReadingBuffers):
    def resume_reading(self):
        Connection.resume_reading(self)
        if self.read_ended and self.state == OPEN:
            Connection.read_eof(self)


@mutant("a FIN that arrives while reading is stopped is lost", "back-pressure", "close")
class EofWhilePausedLost(StopReadingBuffers):
    def resume_reading(self):
        Connection.resume_reading(self)
        self.deliver()


@mutant("while reading is stopped, nothing is written", "back-pressure")
class PausedBlocksWriting(Connection):
    def write(self):
        if not self.paused:
            super().write()

    def update(self):
        super().update()
        if self.sock and self.paused:
            self.loop.remove_writer(self.sock)


@mutant("stop-reading stops reading on all connections", "back-pressure")
class StopReadingStopsAll(Connection):
    def stop_reading(self):
        super().stop_reading()
        for other in self.adapter.known.values():
            if isinstance(other, Connection) and other.state == OPEN:
                other.paused = True
                other.update()

    def resume_reading(self):
        super().resume_reading()
        for other in self.adapter.known.values():
            if isinstance(other, Connection) and other.state == OPEN:
                other.paused = False
                other.update()


@mutant("nothing is read while data is waiting to be written, so two peers that both write wait forever", "back-pressure")
class NoReadWhileWriting(Connection):
    def wants_read(self):
        return super().wants_read() and not self.pending


@mutant("resume-reading without a stop-reading stops reading (a toggle)", "back-pressure")
class PauseToggles(Connection):
    def resume_reading(self):
        if self.paused:
            super().resume_reading()
        else:
            super().stop_reading()


@mutant("a second stop-reading resumes reading (a toggle)", "back-pressure")
class SecondPauseResumes(Connection):
    def stop_reading(self):
        if self.paused:
            super().resume_reading()
        else:
            super().stop_reading()


@mutant("a stop while reading is stopped is never reported", "back-pressure", "lifecycle", "close")
class StopWhilePausedHangs(Connection):
    def stop_event(self, reason, detail=""):
        if reason != "stopped" or not self.paused:
            super().stop_event(reason, detail)


@mutant("while reading is stopped, no half-close is sent", "back-pressure", "close")
class HalfCloseWaitsForResume(Connection):
    def shut_down_writing(self):
        if self.paused and self.state == OPEN:
            self.fin_sent = False
        else:
            super().shut_down_writing()


@mutant("stop-reading works only once", "back-pressure")
class PausesOnce(Connection):
    used = False

    def stop_reading(self):
        if not self.used:
            super().stop_reading()
        self.used = True


@mutant("after resume-reading, the data of at most one read is delivered", "back-pressure")
class ResumesForOneRead(Connection):
    resumed = False

    def resume_reading(self):
        self.resumed = True
        super().resume_reading()

    def received(self, data):
        super().received(data)
        if self.resumed:
            self.resumed, self.paused = False, True


@mutant("accepted connections can't stop reading", "back-pressure")
class AcceptedPauseIgnored(Connection):
    def stop_reading(self):
        if self.number < 1_000_000:
            super().stop_reading()


@mutant("the second of two connections receives nothing until the first has ended", "connect",
        "back-pressure", "framing")
class SecondWaitsForFirst(Connection):
    def readable(self):
        for other in self.adapter.known.values():
            if isinstance(other, Connection) and other.number < self.number and other.state == OPEN and other.sock:
                self.unwatch()
                self.loop.call_later(0.01, lambda: self.sock and self.update())
                return None
        return super().readable()


@mutant("if reading is stopped before any data arrives, it never resumes", "back-pressure")
class EarlyPauseNeverResumes(Connection):
    came = early = False

    def received(self, data):
        self.came = True
        super().received(data)

    def stop_reading(self):
        self.early = not self.came
        super().stop_reading()

    def resume_reading(self):
        if self.early:
            self.require_open()
        else:
            super().resume_reading()


@mutant("without framing, data that arrives while reading is stopped is discarded", "back-pressure")
class RawPausedLost(Connection):
    def resume_reading(self):
        if self.framing == "none" and self.paused and self.sock:
            try:
                self.sock.recv(READ_SIZE)
            except BlockingIOError:
                pass
        super().resume_reading()


@mutant("stop-reading drops a CR whose LF has not arrived", "back-pressure")
class PauseLosesCr(Connection):
    def stop_reading(self):
        super().stop_reading()
        if self.decoder.buffer.endswith(b"\r"):
            del self.decoder.buffer[-1:]


@mutant("resume-reading applies to the connection that was stopped first", "back-pressure")
class ResumeForAnother(Connection):
    stopped = []

    def stop_reading(self):
        super().stop_reading()
        self.stopped.append(self)

    def resume_reading(self):
        self.require_open()
        other = self.stopped.pop(0) if self.stopped else self
        super(ResumeForAnother, other).resume_reading()


@mutant("lines that waited while reading was stopped are delivered in reverse order", "back-pressure", "length-prefix")
class ResumedBackwards(Connection):
    resumed = False

    def resume_reading(self):
        self.resumed = True
        super().resume_reading()

    def deliver(self):
        if not self.resumed:
            return super().deliver()
        self.resumed, messages = False, []
        while (message := self.decoder.next()) is not None:
            messages.append(message)
        for message in reversed(messages):
            self.say(self.event(), data=message.decode("latin-1"))


@mutant("after a half-close while reading is stopped, reading never resumes", "back-pressure", "close")
class HalfCloseEndsPausedReading(Connection):
    ended_reading = False

    def half_close(self):
        super().half_close()
        self.ended_reading = self.paused

    def resume_reading(self):
        if self.ended_reading:
            self.require_open()
        else:
            super().resume_reading()


# MARK: connect


@mutant("the event start is reported before the connection is established", "connect", "timeouts", "lifecycle")
class StartTooEarly(Connection):
    early = False

    def start(self):
        self.say("start")
        self.early = True
        super().start()

    def say(self, event, **fields):
        if event != "start" or not self.early:
            super().say(event, **fields)


@mutant("the event start is reported twice", "connect", "lifecycle")
class StartTwice(Connection):
    def say(self, event, **fields):
        super().say(event, **fields)
        if event == "start":
            super().say(event, **fields)


@mutant("the event start is not reported", "connect", "lifecycle")
class StartMissing(Connection):
    def say(self, event, **fields):
        if event != "start":
            super().say(event, **fields)


@mutant("lines that arrive with the connection are reported before the event start", "connect", "lifecycle")
class LineBeforeStart(Connection):
    held = False

    def say(self, event, **fields):
        if event == "start":
            self.held = True
            self.loop.call_later(0.05, self.release)
        else:
            super().say(event, **fields)

    def release(self):
        if self.held:
            super().say("start")
            self.held = False

    def stop_event(self, reason, detail=""):
        self.release()
        super().stop_event(reason, detail)


@mutant("bytes that have arrived when the connection is established are lost", "connect", "framing")
class FirstBytesLost(Connection):
    def opened(self, sock):
        super().opened(sock)
        time.sleep(0.02)
        try:
            sock.recv(READ_SIZE)
        except OSError:
            pass


@mutant("a refusal is reported as a timeout", "connect")
class RefusedAsTimeout(Connection):
    def reason_of(self, error):
        reason = super().reason_of(error)
        return "timeout" if reason == "refused" else reason


@mutant("a refusal is reported as a different error", "connect")
class RefusedAsOther(Connection):
    def reason_of(self, error):
        reason = super().reason_of(error)
        return "other" if reason == "refused" else reason


@mutant("a refusal is not reported", "connect")
class RefusedUnreported(Connection):
    def stop_event(self, reason, detail=""):
        if reason != "refused":
            super().stop_event(reason, detail)


@mutant("a refusal is reported twice", "connect", "lifecycle")
class RefusedTwice(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "refused":
            super().stop_event(reason, detail)


@mutant("a refused connection is reported as started and ended", "connect")
class RefusedAsStarted(Connection):
    def over(self, reason=None, detail=""):
        if reason == "refused":
            self.say("start")
            reason = "eof"
        super().over(reason, detail)


@mutant("IPv6 addresses are not supported", "connect")
class NoIpv6(Connection):
    async def connect(self):
        if ":" in self.settings["host"]:
            raise OSError(errno.EAFNOSUPPORT, "no IPv6")
        return await super().connect()


@mutant("names are not supported", "connect")
class NoNames(Connection):
    async def connect(self):
        if re.search("[g-z]", self.settings["host"]):
            raise OSError(errno.EINVAL, "no address")
        return await super().connect()


@mutant("localhost resolves only to ::1", "connect")
class LocalhostIsIpv6(Connection):
    async def connect(self):
        if self.settings["host"] == "localhost":
            self.settings = {**self.settings, "host": "::1"}
        return await super().connect()


@mutant("while one connection is being established, all others wait", "connect", "timeouts", "back-pressure")
class BlockingConnect(Connection):
    async def attempt(self, address):
        sock = socket.socket(*address[:3])
        sock.settimeout(self.settings.get("connect-timeout-ms", 10_000) / 1000)
        sock.connect(address[4])
        return sock


@mutant("a second connection is refused with an error", "connect", "lifecycle", "framing", "back-pressure")
class SecondConnectionRefused(Adapter):
    def begin(self, op, number, request):
        if any(isinstance(known, Connection) and known.state == OPEN for known in self.known.values()):
            raise Refused("already-started")
        return super().begin(op, number, request)


@mutant("a second connection replaces the first", "connect", "lifecycle", "framing", "back-pressure")
class SecondConnectionTakesOver(Adapter):
    def begin(self, op, number, request):
        for known in self.known.values():
            if isinstance(known, Connection) and known.state == OPEN:
                known.unwatch()
        return super().begin(op, number, request)


@mutant("when one connection ends, all connections end", "connect", "lifecycle", "reset")
class AllEndTogether(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        for other in list(self.adapter.known.values()):
            if isinstance(other, Connection) and other is not self and other.state == OPEN:
                other.over("other", "another one has ended")


@mutant("at most four connections can be open", "connect", "lifecycle")
class FourConnections(Adapter):
    def begin(self, op, number, request):
        if sum(isinstance(known, Connection) and known.state == OPEN for known in self.known.values()) >= 4:
            return {"error": "other"}
        return super().begin(op, number, request)


@mutant("a failed connection prevents the next one", "connect", "lifecycle")
class FailureSticks(Connection):
    failures = []

    def start(self):
        if self.failures:
            self.say("stop", reason=self.failures[0])
            self.state = OVER
        else:
            super().start()

    def stop_event(self, reason, detail=""):
        if reason in ("refused", "timeout") and not self.sock and self.fin_wanted is False:
            self.failures.append(reason)
        super().stop_event(reason, detail)


@mutant("a process can open only four connections in its lifetime", "connect", "lifecycle")
class FourConnectionsEver(Adapter):
    begun = 0

    def begin(self, op, number, request):
        if op == "connect" and number not in self.known:
            self.begun += 1
            if self.begun > 4:
                raise Refused("too-many-connections")
        return super().begin(op, number, request)


@mutant("for a second after a refusal, further connections to the address are reported as refused without an attempt", "connect")
class RefusalRemembered(Connection):
    refused = {}

    async def connect(self):
        address = self.settings["host"], self.settings["port"]
        if self.refused.get(address, 0) > time.monotonic():
            raise ConnectionRefusedError(errno.ECONNREFUSED, "refused before")
        try:
            return await super().connect()
        except ConnectionRefusedError:
            self.refused[address] = time.monotonic() + 1
            raise


# MARK: listening


@mutant("only the first of several clients is served", "connect", "lifecycle")
class FirstClientOnly(Listener):
    def accepted(self, sock):
        super().accepted(sock)
        self.loop.remove_reader(self.sock)


@mutant("a client is served only after the previous one has disconnected", "connect", "lifecycle")
class OneClientAtATime(Listener):
    serving = None

    def waiting(self):
        if self.serving and self.serving.state == OPEN:
            self.loop.remove_reader(self.sock)
            self.loop.call_later(0.01, lambda: self.sock and self.loop.add_reader(self.sock, self.waiting))
        else:
            super().waiting()
            self.serving = self.adapter.known.get(self.adapter.next_accepted - 1)


@mutant("a client that resets its connection ends the listener", "connect", "reset", "lifecycle")
class ResetEndsListener(Connection):
    def over(self, reason=None, detail=""):
        super().over(reason, detail)
        if reason == "reset":
            for known in list(self.adapter.known.values()):
                if isinstance(known, Listener) and known.sock:
                    self.loop.remove_reader(known.sock)
                    known.sock.close()
                    known.sock = None


@mutant("data that a client sends at once is lost, because reading starts too late", "connect", "framing", "lifecycle")
class AcceptedBytesLost(Listener):
    def accepted(self, sock):
        time.sleep(0.02)
        sock.setblocking(False)
        try:
            sock.recv(READ_SIZE)
        except OSError:
            pass
        super().accepted(sock)


@mutant("data from a second client is reported as data from the first", "connect", "lifecycle")
class ClientsMixedUp(Listener):
    first = None

    def accepted(self, sock):
        super().accepted(sock)
        connection = self.adapter.known[self.adapter.next_accepted - 1]
        if self.first is None:
            self.first = connection.number
        else:
            connection.loop.call_soon(setattr, connection, "number", self.first)


@mutant("stopping the listener ends its accepted connections", "lifecycle", "connect", "close")
class ListenerStopEndsAll(Listener):
    def stop(self):
        super().stop()
        for known in list(self.adapter.known.values()):
            if isinstance(known, Connection) and known.number >= 1_000_000 and known.state == OPEN:
                known.over("stopped")


@mutant("stopping the listener leaves it listening", "lifecycle", "connect", "close")
class ListenerNeverCloses(Listener):
    kept = []

    def stop(self):
        if self.sock:
            self.kept.append(self.sock.dup())
        super().stop()


@mutant("a client that disconnected before it was accepted is not reported", "connect", "lifecycle", "close")
class GoneClientUnreported(Listener):
    def accepted(self, sock):
        time.sleep(0.02)
        sock.setblocking(False)
        try:
            if sock.recv(1, socket.MSG_PEEK) == b"":
                return sock.close()
        except OSError:
            pass
        return super().accepted(sock)


@mutant("a second listener is refused with an error", "connect", "lifecycle")
class OneListener(Adapter):
    def begin(self, op, number, request):
        if op == "listen" and any(isinstance(known, Listener) and known.sock for known in self.known.values()):
            return {"error": "other"}
        return super().begin(op, number, request)


@mutant("if several clients are waiting, only one is accepted for each new arrival (edge triggering)", "connect", "lifecycle")
class AcceptsOnePerEdge(Listener):
    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        self.edges = select.epoll()
        self.edges.register(self.sock, select.EPOLLIN | select.EPOLLET)
        self.loop.remove_reader(self.sock)
        self.loop.add_reader(self.edges, self.waiting)

    def waiting(self):
        time.sleep(0.02)
        self.edges.poll(0)
        super().waiting()

    def stop(self):
        self.loop.remove_reader(self.edges)
        super().stop()


@mutant("the stop of a listener is not reported", "lifecycle", "connect", "close")
class ListenerStopUnreported(Listener):
    def stop(self):
        if self.sock:
            self.loop.remove_reader(self.sock)
            self.sock.close()
            self.sock = None


@mutant("an accepted connection is reported twice", "connect", "lifecycle")
class AcceptedTwice(Listener):
    def accepted(self, sock):
        super().accepted(sock)
        self.adapter.say(ev="accept", conn=self.adapter.next_accepted, listener=self.number)
        self.adapter.next_accepted += 1


@mutant("data sent to one client goes to all clients", "connect", "lifecycle", "framing", "partial-write")
class Broadcasts(Connection):
    def queue(self, frame):
        super().queue(frame)
        for other in list(self.adapter.known.values()):
            if isinstance(other, Connection) and other is not self and other.number >= 1_000_000 and other.state == OPEN:
                other.pending += frame
                other.write()


@mutant("half-close, stop-reading and resume-reading after the stop are silently ignored", "lifecycle")
class LateOpsSilent(Connection):
    def half_close(self):
        if self.state not in (LINGERING, OVER):
            super().half_close()

    def stop_reading(self):
        if self.state not in (LINGERING, OVER):
            super().stop_reading()

    def resume_reading(self):
        if self.state not in (LINGERING, OVER):
            super().resume_reading()


@mutant("accepted connections use CRLF regardless of the framing", "length-prefix", "framing")
class AcceptedAlwaysCrlf(Listener):
    def accepted(self, sock):
        settings = self.settings
        self.settings = {**settings, "framing": "crlf"}
        super().accepted(sock)
        self.settings = settings


@mutant("data sent on an accepted connection has no terminator", "partial-write", "framing", "connect")
class AcceptedNoTerminator(Connection):
    def frame(self, data):
        frame = super().frame(data)
        return data if self.number >= 1_000_000 and self.event() == "line" else frame


@mutant("a client that was queued when the listener was stopped is reported after its stop", "lifecycle", "connect", "close")
class AcceptAfterListenerStop(Listener):
    def stop(self):
        super().stop()
        connection = self.adapter.new_connection(self.settings)
        self.adapter.say(ev="accept", conn=connection.number, listener=self.number)


@mutant("waiting clients are reported in reverse order", "connect")
class AcceptsBackwards(Listener):
    def waiting(self):
        time.sleep(0.03)
        socks = []
        while True:
            try:
                socks.append(self.sock.accept()[0])
            except OSError:
                break
        for sock in reversed(socks):
            self.accepted(sock)


@mutant("an accepted connection that receives nothing for 50 ms is closed", "connect", "timeouts")
class SilentClientClosed(Connection):
    heard = False

    def opened(self, sock):
        super().opened(sock)
        if self.number >= 1_000_000:
            self.loop.call_later(0.05, lambda: self.heard or self.state != OPEN or self.end("eof"))

    def received(self, data):
        self.heard = True
        super().received(data)


# MARK: reads on demand


@mutant("a read up to a delimiter leaves the last byte of the delimiter for the next read", "partial-write", "framing")
class DelimiterLeftBehind(PullConnection):
    def deliver(self):
        request = self.reads[0] if self.reads else {}
        before = bytes(self.decoder.buffer)
        super().deliver()
        if "until" in request and len(self.decoder.buffer) < len(before):
            self.decoder.buffer[:0] = request["until"].encode("latin-1")[-1:]


@mutant("a read up to a delimiter is answered without the delimiter", "partial-write", "framing")
class DelimiterMissing(PullConnection):
    def say(self, event, **fields):
        if event == "data" and fields["data"].endswith("\r\n"):
            fields["data"] = fields["data"][:-2]
        super().say(event, **fields)


@mutant("bytes after an answered read are lost", "partial-write", "framing")
class PrebufferLost(PullConnection):
    def deliver(self):
        before = len(self.decoder.buffer)
        super().deliver()
        if len(self.decoder.buffer) < before:
            self.decoder.finish()


@mutant("bytes received before a read is requested are lost", "partial-write", "framing")
class UnrequestedLost(PullConnection):
    def received(self, data):
        if self.reads:
            super().received(data)


@mutant("a read of a given length is answered with the incomplete data", "partial-write", "framing")
class ReadTooShort(PullConnection):
    def count(self, request):
        return min(request["length"], len(self.decoder.buffer)) or None if "length" in request else super().count(request)


@mutant("a read of a given length is answered with all received bytes", "partial-write", "framing")
class ReadTooLong(PullConnection):
    def count(self, request):
        count = super().count(request)
        return len(self.decoder.buffer) if count is not None and "length" in request else count


@mutant("a second read replaces the first pending one", "partial-write", "framing")
class OneReadOnly(PullConnection):
    def read(self, request):
        self.reads.clear()
        super().read(request)


@mutant("pending reads are answered last in, first out", "partial-write", "framing")
class ReadsLastInFirstOut(PullConnection):
    def read(self, request):
        self.reads.rotate(1)
        super().read(request)
        self.reads.rotate(1)


@mutant("a read that could be answered at once waits for new bytes", "partial-write", "framing")
class ReadsWaitForBytes(PullConnection):
    def read(self, request):
        self.require_open()
        self.reads.append(request)
        self.update()


@mutant("a read of any available bytes waits for 16 bytes", "partial-write", "framing")
class AnyWaits(PullConnection):
    def count(self, request):
        count = super().count(request)
        return None if "any" in request and len(self.decoder.buffer) < 16 else count


@mutant("each burst answers only one read", "partial-write", "framing")
class OneAnswerPerBurst(PullConnection):
    def deliver(self):
        rest = list(self.reads)[1:]
        while len(self.reads) > 1:
            self.reads.pop()
        super().deliver()
        self.reads.extend(rest)


@mutant("a delimiter is missed if its beginning occurs twice, or if it is split between reads", "partial-write", "framing")
class DelimiterFalseStart(PullConnection):
    def count(self, request):
        if "until" not in request:
            return super().count(request)
        delimiter, matched = request["until"].encode("latin-1"), 0
        for index, byte in enumerate(self.decoder.buffer):
            matched = matched + 1 if byte == delimiter[matched] else 0
            if matched == len(delimiter):
                return index + 1
        return None


@mutant("the timeout of a read never expires", "timeouts", "partial-write")
class ReadTimeoutNever(PullConnection):
    def await_read(self, request):
        pass


@mutant("the timeout of a read expires although the read was answered", "timeouts", "partial-write")
class ReadTimeoutNotCancelled(PullConnection):
    def cancel_read_timer(self):
        self.read_timer = None


@mutant("the timeout of a read is reported as the end of the stream", "timeouts", "partial-write")
class ReadTimeoutAsEof(PullConnection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "timeout" else reason, detail)


@mutant("the timeout of a read expires after half its time", "timeouts", "partial-write")
class ReadTimeoutEarly(PullConnection):
    def await_read(self, request):
        if "timeout-ms" in request:
            request["timeout-ms"] /= 2
        super().await_read(request)


@mutant("at the end of the stream, a pending read is answered with the bytes received so far", "close", "partial-write")
class ReadAnsweredAtEof(PullConnection):
    def leave(self):
        if self.reads and self.decoder.buffer:
            self.say("data", data=self.decoder.finish().decode("latin-1"))
        super().leave()


@mutant("at the end of the stream, bytes that were not read are silently dropped", "close", "partial-write")
class UnreadLost(PullConnection):
    def leave(self):
        pass


@mutant("the end of the stream is not noticed while a read is pending", "close", "partial-write")
class EofWhileReadingUnnoticed(PullConnection):
    def read_eof(self):
        if self.state == OPEN and self.reads:
            self.loop.remove_reader(self.sock)
        else:
            super().read_eof()


@mutant("received bytes are delivered without a read", "partial-write", "framing", "close")
class DeliversUnrequested(PullConnection):
    def received(self, data):
        super().received(data)
        if not self.reads and self.decoder.buffer:
            self.say("data", data=self.decoder.finish().decode("latin-1"))


@mutant("only one read of any available bytes is answered per connection", "partial-write")
class AnyOnce(PullConnection):
    answered = False

    def count(self, request):
        count = super().count(request)
        if "any" not in request or count is None:
            return count
        if self.answered:
            return None
        self.answered = True
        return count


@mutant("a read of one byte consumes two if they are available", "partial-write")
class OneByteIsTwo(PullConnection):
    def count(self, request):
        count = super().count(request)
        return min(2, len(self.decoder.buffer)) if count == 1 and "length" in request else count


@mutant("a delimiter at the start of the buffered data is skipped", "partial-write")
class EmptyUntilSkipped(PullConnection):
    def count(self, request):
        delimiter = request.get("until", "").encode("latin-1")
        if delimiter and self.decoder.buffer.startswith(delimiter) and len(self.decoder.buffer) > len(delimiter):
            del self.decoder.buffer[:len(delimiter)]
        return super().count(request)


@mutant("a delimiter of more than two bytes is missed if it is split between reads", "partial-write")
class LongDelimiterCutMissed(PullConnection):
    cuts = ()

    def received(self, data):
        self.cuts = (*self.cuts, len(self.decoder.buffer)) if self.decoder.buffer else ()
        super().received(data)

    def count(self, request):
        count = super().count(request)
        width = len(request.get("until", ""))
        if count and width > 2 and any(count - width < cut < count for cut in self.cuts):
            return None
        return count


@mutant("a delimiter of one byte is searched for backwards from the end of the data", "partial-write")
class OneByteUntilGreedy(PullConnection):
    def count(self, request):
        if len(request.get("until", "")) != 1:
            return super().count(request)
        return self.decoder.buffer.rfind(request["until"].encode("latin-1")) + 1 or None


@mutant("the delimiter of the first read is used for all reads", "partial-write")
class FirstDelimiterKept(PullConnection):
    delimiter = None

    def read(self, request):
        if "until" in request:
            self.delimiter = self.delimiter or request["until"]
            request["until"] = self.delimiter
        super().read(request)


@mutant("bytes that were searched for one delimiter are not searched for the next delimiter", "partial-write")
class SearchedOnce(PullConnection):
    searched = 0

    def received(self, data):
        super().received(data)
        self.searched = len(self.decoder.buffer)

    def count(self, request):
        if "until" not in request:
            return super().count(request)
        delimiter = request["until"].encode("latin-1")
        start = self.decoder.buffer.find(delimiter, max(0, self.searched - len(delimiter)))
        if start < 0:
            return None
        self.searched = 0
        return start + len(delimiter)


@mutant("a read of more than 256 KiB is answered with 256 KiB", "partial-write")
class LargeReadCut(PullConnection):
    def count(self, request):
        if request.get("length", 0) <= 1 << 18:
            return super().count(request)
        return 1 << 18 if len(self.decoder.buffer) >= 1 << 18 else None


@mutant("while a read is pending, nothing is written", "partial-write")
class ReadHoldsWrites(PullConnection):
    held = b""

    def queue(self, frame):
        if self.reads:
            self.held += frame
        else:
            super().queue(frame)

    def deliver(self):
        super().deliver()
        if not self.reads and self.held:
            frame, self.held = self.held, b""
            super().queue(frame)


@mutant("the reads of all connections share one queue", "partial-write")
class ReadsShared(PullConnection):
    everyones = []

    def read(self, request):
        self.everyones.append(self)
        super().read(request)

    def deliver(self):
        if self.everyones and self.everyones[0] is self:
            before = len(self.reads)
            super().deliver()
            del self.everyones[:before - len(self.reads)]


@mutant("reads of accepted connections are never answered", "partial-write")
class AcceptedReadsUnanswered(PullConnection):
    def deliver(self):
        if self.number < 1_000_000:
            super().deliver()


@mutant("two equal pending reads are treated as one", "partial-write")
class EqualReadsMerged(PullConnection):
    def read(self, request):
        asked = {name: value for name, value in request.items() if name != "id"}
        if not any(asked == {name: value for name, value in other.items() if name != "id"} for other in self.reads):
            super().read(request)


@mutant("at a reset, a pending read is answered with the bytes received so far", "reset", "partial-write")
class ResetAnswersRead(PullConnection):
    def read_failed(self, error):
        if self.state == OPEN and self.reads and self.decoder.buffer:
            self.say("data", data=self.decoder.finish().decode("latin-1"))
        super().read_failed(error)


@mutant("at a requested stop, a pending read is answered with the bytes received so far", "close", "partial-write")
class StopAnswersRead(PullConnection):
    def stop(self):
        if self.state == OPEN and self.reads and self.decoder.buffer:
            self.say("data", data=self.decoder.finish().decode("latin-1"))
        super().stop()


# MARK: resources


class Leaky(Connection):
    """Leaves the socket open after an end for which `forgets` returns true."""

    left_open = []
    told = None

    def stop_event(self, reason, detail=""):
        self.told = reason
        super().stop_event(reason, detail)

    def over(self, reason=None, detail=""):
        if self.sock and self.forgets(reason or self.told):
            self.left_open.append(self.sock.dup())
        super().over(reason, detail)

    def forgets(self, reason):
        return False


@mutant("the socket of a refused connect stays open", "resources/leak-*")
class RefusedSocketKept(Connection):
    kept = []

    async def attempt(self, address):
        try:
            return await super().attempt(address)
        except ConnectionRefusedError:
            self.kept.append(socket.socket(*address[:3]))
            raise


class ConnectKept(Connection):
    """Continues a connect attempt that has been abandoned."""

    kept = []
    forgotten = False

    async def attempt(self, address):
        sock = socket.socket(*address[:3])
        sock.setblocking(False)
        try:
            await self.loop.sock_connect(sock, address[4])
        except BaseException:
            if self.forgotten:
                self.kept.append(sock)
            else:
                sock.close()
            raise
        return sock


@mutant("the socket of a connect that timed out stays open", "resources/leak-*")
class TimedOutSocketKept(ConnectKept):
    def connect_timed_out(self):
        self.forgotten = True
        super().connect_timed_out()


@mutant("the socket of a connect that was stopped stays open", "resources/leak-*")
class StoppedConnectKept(ConnectKept):
    def stop(self):
        self.forgotten = True
        super().stop()


@mutant("the socket stays open when the peer has reset the connection", "resources/leak-*")
class ResetSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "reset"


@mutant("the socket stays open when the peer has ended the stream", "resources/leak-*")
class EndedSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "eof"


@mutant("the socket stays open when the stream ends within a line", "resources/leak-*")
class CutLineSocketKept(Leaky):
    has_rest = False

    def leave(self):
        self.has_rest = bool(self.decoder.buffer)
        super().leave()

    def forgets(self, reason):
        return self.has_rest


@mutant("the socket stays open after a requested stop", "resources/leak-*")
class StoppedSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "stopped"


@mutant("the socket stays open after a stop with unread bytes", "resources/leak-*")
class UnreadSocketKept(Leaky):
    def forgets(self, reason):
        return self.paused


@mutant("the socket stays open when the peer closes after the transport's half-close", "resources/leak-*")
class HalfClosedSocketKept(Leaky):
    ours_first = False

    def half_close(self):
        self.ours_first = not self.read_ended
        super().half_close()

    def forgets(self, reason):
        return self.ours_first


@mutant("the socket stays open after a stop of a half-closed connection", "resources/leak-*")
class HalfOpenSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "stopped" and self.settings.get("allow-half-close")


@mutant("each requested reset leaves open the pipe that wakes the connection", "resources/leak-*")
class WakePipeKept(Connection):
    kept = []

    def abort(self):
        self.kept.append(socket.socketpair())
        super().abort()


@mutant("the socket stays open when a line is too long", "resources/leak-*")
class TooLongSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "too-long"


@mutant("the socket stays open after a framing error", "resources/leak-*")
class BrokenFramingSocketKept(Leaky):
    def forgets(self, reason):
        return reason in ("protocol", "too-long") and not self.decoder.terminator


@mutant("the socket stays open when the idle timeout expires", "resources/leak-*")
class IdleSocketKept(Leaky):
    def forgets(self, reason):
        return reason == "timeout"


@mutant("the socket of an accepted connection stays open when the client has closed the connection", "resources/listens-leak-*")
class AcceptedEndedKept(Leaky):
    def forgets(self, reason):
        return self.number >= 1_000_000 and reason == "eof"


@mutant("the socket of an accepted connection stays open when the client has reset the connection", "resources/listens-leak-*")
class AcceptedResetKept(Leaky):
    def forgets(self, reason):
        return self.number >= 1_000_000 and reason == "reset"


@mutant("the socket of an accepted connection stays open after a requested stop", "resources/listens-leak-*")
class AcceptedStoppedKept(Leaky):
    def forgets(self, reason):
        return self.number >= 1_000_000 and reason == "stopped"


@mutant("a stopped listener's socket is only shut down", "resources/listens-leak-*")
class ListenerKept(Listener):
    kept = []

    def stop(self):
        if self.sock:
            self.sock.shutdown(socket.SHUT_RDWR)
            self.kept.append(self.sock.dup())
        super().stop()


@mutant("each connection has a thread that waits forever for its next job", "resources/leak-threads")
class ThreadKept(Connection):
    def opened(self, sock):
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        super().opened(sock)


class Spinner(Connection):
    """Never lets the event loop wait while `spins` returns true."""

    spinning = False

    def update(self):
        super().update()
        if not self.spinning:
            self.spin()

    def spin(self):
        self.spinning = self.spins()
        if self.spinning:
            self.loop.call_soon(self.spin)


@mutant("the event loop polls with a timeout of zero", "resources/busy-*")
class IdleSpins(Spinner):
    def spins(self):
        return self.state == OPEN


@mutant("after the peer's FIN, the transport keeps waiting for readability and spins", "resources/busy-*")
class HalfOpenSpins(Connection):
    def wants_read(self):
        return super().wants_read() or self.state == OPEN and self.read_ended

    def readable(self):
        if not self.read_ended:
            super().readable()


@mutant("after a half-close, the transport keeps waiting for writability and spins", "resources/busy-*")
class HalfClosedSpins(Spinner):
    def spins(self):
        return self.state == OPEN and self.fin_sent and not self.paused


@mutant("while reading is stopped, the transport keeps waiting for readability and spins", "resources/busy-*")
class PausedSpins(Connection):
    def wants_read(self):
        return not self.read_ended

    def readable(self):
        if not (self.paused and self.state == OPEN):
            super().readable()


class HangUpSpins(Spinner):
    """Lets an end of the stream wake the event loop repeatedly while reading is stopped."""

    events = 0

    def stop_reading(self):
        super().stop_reading()
        self.look()

    def look(self):
        if self.paused and self.state == OPEN:
            self.update()
            self.loop.call_later(0.02, self.look)

    def spins(self):
        if not self.paused or self.state != OPEN or not self.sock:
            return False
        poller = select.poll()
        poller.register(self.sock, self.events)
        return any(told & (self.events | select.POLLHUP) for _, told in poller.poll(0))


@mutant("while reading is stopped, the peer's FIN wakes the transport repeatedly", "resources/busy-*")
class PausedEndSpins(HangUpSpins):
    events = select.POLLRDHUP


@mutant("while reading is stopped, a hang-up wakes the transport repeatedly", "resources/busy-*")
class PausedHangUpSpins(HangUpSpins):
    pass


@mutant("a write that the kernel did not accept is retried at once", "resources/busy-*")
class BlockedWriteSpins(Connection):
    def would_block(self):
        super().would_block()
        self.loop.call_soon(self.write)


@mutant("the transport polls repeatedly until it is connected", "resources/busy-*")
class ConnectingSpins(Connection):
    def start(self):
        super().start()
        self.ask()

    def ask(self):
        if self.state == CONNECTING:
            self.loop.call_soon(self.ask)


class EndSpins(Connection):
    """Never lets the event loop wait again after an end with the reason `ends`."""

    ends = ""

    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == self.ends:
            self.spin()

    def spin(self):
        self.loop.call_soon(self.spin)


@mutant("after a refused connect, the event loop never waits again", "resources/busy-*")
class RefusalSpins(EndSpins):
    ends = "refused"


@mutant("after a reset, the event loop never waits again", "resources/busy-*")
class ResetSpins(EndSpins):
    ends = "reset"


@mutant("after the end of the peer's stream, the event loop never waits again", "resources/busy-*")
class EndOfStreamSpins(EndSpins):
    ends = "eof"


@mutant("after a requested stop, the event loop never waits again", "resources/busy-*")
class StopSpins(EndSpins):
    ends = "stopped"


@mutant("a listener polls repeatedly for waiting clients", "resources/busy-*")
class ListenerSpins(Listener):
    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        self.ask()

    def ask(self):
        if self.sock:
            self.waiting()
            self.loop.call_soon(self.ask)


@mutant("each read copies all bytes of the line received so far", "resources/long-line")
class LineCopied(Decoder):
    def append(self, data):
        self.buffer = bytearray(bytes(self.buffer) + data)


@mutant("with each read, the terminator is searched for from the beginning of the line", "resources/long-line")
class LineScannedAnew(Decoder):
    def next_line(self):
        self.scanned = 0
        return super().next_line()


@mutant("while reading is stopped, the transport continues to read into memory", "resources/memory-*")
class PausedIntoMemory(Connection):
    held = None

    def wants_read(self):
        return not self.read_ended

    def received(self, data):
        if self.paused:
            self.held = self.held or bytearray()
            self.held += data
        else:
            super().received(data)

    def resume_reading(self):
        super().resume_reading()
        held, self.held = self.held, None
        if held:
            self.received(held)


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in MUTANTS:
        sys.exit("mutants.py NAME, where NAME is one of\n  " + "\n  ".join(MUTANTS))
    part = MUTANTS[sys.argv[1]][0]
    (pull if issubclass(part, PullConnection) else reference).run(sys.argv[1], part)


# MARK: addresses
#
# A mutant with `needs_both_families` is detected only if localhost has addresses of both families.


class BindsDifferently(Connection):
    """A transport that starts with settings other than the requested ones."""

    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, self.changed(dict(settings)))


@mutant("the local address is ignored", "addresses")
class LocalIgnored(BindsDifferently):
    def changed(self, settings):
        settings.pop("local", None)
        return settings


@mutant("the local port is ignored", "addresses")
class LocalPortIgnored(BindsDifferently):
    def changed(self, settings):
        settings.pop("local-port", None)
        return settings


@mutant("if a local address can't be bound, another address is used", "addresses")
class BindFailureIgnored(Connection):
    def bind(self, sock):
        try:
            super().bind(sock)
        except OSError:
            pass


@mutant("only the local port is bound, and any local address is used", "addresses")
class LocalHostIgnored(BindsDifferently):
    def changed(self, settings):
        if "local" in settings:
            settings["local"] = "::" if ":" in settings["local"] else "0.0.0.0"
        return settings


@mutant("from a local IPv4 address, only an IPv6 address is tried", "addresses")
class LocalFamilyIgnored(Connection):
    needs_both_families = True

    def order(self, addresses):
        local = self.settings.pop("local", None)
        ordered = super().order(addresses)
        if local:
            self.settings["local"] = local
            ordered = sorted(ordered, key=lambda address: address[0] != socket.AF_INET6)[:1]
        return ordered


@mutant("the interface is ignored", "addresses")
class InterfaceIgnored(BindsDifferently):
    def changed(self, settings):
        settings.pop("interface", None)
        return settings


@mutant("with an interface, the local address is ignored", "addresses")
class InterfaceBeatsLocal(BindsDifferently):
    def changed(self, settings):
        if "interface" in settings:
            settings.pop("local", None)
        return settings


@mutant("the preferred address family is ignored", "addresses")
class PreferenceIgnored(BindsDifferently):
    needs_both_families = True

    def changed(self, settings):
        settings.pop("prefer", None)
        return settings


@mutant("the preferred address family is tried last", "addresses")
class PreferenceReversed(BindsDifferently):
    needs_both_families = True

    def changed(self, settings):
        if "prefer" in settings:
            settings["prefer"] = {"ipv4": "ipv6", "ipv6": "ipv4"}[settings["prefer"]]
        return settings


@mutant("only addresses of the preferred address family are tried", "addresses")
class PreferenceDemanded(Connection):
    needs_both_families = True

    def order(self, addresses):
        ordered = super().order(addresses)
        return [address for address in ordered if address[0] == ordered[0][0]] if "prefer" in self.settings else ordered


@mutant("a listener listens on all addresses, regardless of the requested address", "addresses")
class ListensEverywhere(Listener):
    def bind(self, host, port):
        return super().bind("::" if ":" in host else "0.0.0.0", port)


@mutant("a listener listens on 127.0.0.1, regardless of the requested address", "addresses")
class ListensOnLoopbackOnly(Listener):
    def bind(self, host, port):
        return super().bind("127.0.0.1", port)


# MARK: Unix sockets


@mutant("if a Unix socket's buffer is full, data that does not fit into it is dropped", "unix")
class UnixOverflowDropped(Connection):
    def write(self):
        super().write()
        if "path" in self.settings:
            self.pending.clear()


@mutant("a TCP option is set on a Unix socket, and the failure ends the connection", "unix")
class UnixNoDelay(Connection):
    def opened(self, sock):
        if sock.family == socket.AF_UNIX:
            sock.close()
            return self.over("other", "Operation not supported")
        return super().opened(sock)


@mutant("a refused Unix socket is retried forever", "unix")
class UnixRetriesForEver(Connection):
    async def connect(self):
        while True:
            try:
                return await super().connect()
            except OSError:
                if "path" not in self.settings:
                    raise
                await asyncio.sleep(0.05)


@mutant("each read from a Unix socket is treated as a line", "unix")
class UnixDatagrams(Connection):
    def received(self, data):
        if "path" in self.settings and self.framing == "crlf":
            return self.say("line", data=data.decode("latin-1").rstrip("\r\n"))
        return super().received(data)


@mutant("a half-close of a Unix socket closes the socket", "unix")
class UnixHalfCloseCloses(Connection):
    def half_close(self):
        super().half_close()
        if "path" in self.settings:
            self.over("stopped")


@mutant("after a listener at a path has stopped, it continues to accept connections", "unix")
class UnixListenerLeft(Listener):
    left = []

    def stop(self):
        if self.sock and "path" in self.settings:
            # The listener's descriptor remains open, and the listener's socket file still exists.
            self.left.append(self.sock.dup())
            self.loop.remove_reader(self.sock)
            self.sock.close()
            self.sock = None
            return self.adapter.say(ev="stop", conn=self.number, reason="stopped")
        return super().stop()


@mutant("a second client of a Unix socket is mistaken for the first, because neither has a name", "unix")
class UnixClientsMixedUp(Listener):
    first = None

    def accepted(self, sock):
        super().accepted(sock)
        connection = self.adapter.known[self.adapter.next_accepted - 1]
        if "path" in self.settings:
            if self.first is None:
                self.first = connection.number
            else:
                connection.loop.call_soon(setattr, connection, "number", self.first)


@mutant("the idle timeout of a Unix socket never expires", "unix")
class UnixNeverIdle(Connection):
    def __init__(self, adapter, number, settings):
        settings = dict(settings)
        if "path" in settings:
            settings.pop("idle-timeout-ms", None)
        super().__init__(adapter, number, settings)


@mutant("the line limit is not enforced on a Unix socket", "unix")
class UnixUnlimited(Connection):
    def __init__(self, adapter, number, settings):
        settings = dict(settings)
        if "path" in settings:
            settings["max-line"] = 1 << 30
        super().__init__(adapter, number, settings)


@mutant("a stop drops data that is queued on a Unix socket", "unix")
class UnixStopDrops(Connection):
    def stop(self):
        if "path" in self.settings:
            return self.over("stopped")
        return super().stop()


@mutant("stop-reading has no effect on a Unix socket", "unix")
class UnixNeverPauses(Connection):
    def stop_reading(self):
        if "path" not in self.settings:
            super().stop_reading()


@mutant("an unfinished line at the end of a Unix socket's stream is lost", "unix")
class UnixTailLost(Connection):
    def say(self, event, **fields):
        if event != "leftover" or "path" not in self.settings:
            super().say(event, **fields)


# MARK: TLS: the identity of the peer


@mutant("any certificate is accepted", "tls", "starttls")
class TlsAcceptsAnything(TLSSocket):
    def context(self, settings):
        context = super().context(settings)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context


@mutant("the certificate's name is not checked", "tls", "starttls")
class TlsNameIgnored(TLSSocket):
    def context(self, settings):
        context = super().context(settings)
        context.check_hostname = False
        return context


@mutant("the certificate's name is compared with the address of the connection", "tls")
class TlsNameOfTheAddress(TLSSocket):
    def name(self, settings):
        return self.sock.getpeername()[0]


@mutant("the validity period of a certificate is not checked", "tls", "starttls")
class TlsTimesIgnored(TLSSocket):
    def context(self, settings):
        context = super().context(settings)
        # X509_V_FLAG_NO_CHECK_TIME
        context.verify_flags |= 0x200000
        return context


class OwnComparison(TlsNameIgnored):
    """Compares the names itself, instead of the TLS library, when the handshake is complete."""

    def __init__(self, sock, settings):
        super().__init__(sock, settings)
        self.asked = settings["name"]

    def handshake(self):
        super().handshake()
        said = self.tls.getpeercert()
        if not self.accepts(said):
            self.give_up()
            raise ssl.SSLError("the certificate is for another name")

    def accepts(self, said):
        names = [value for _, value in said["subjectAltName"]]
        return any(self.fits(name, self.asked) for name in names)

    def fits(self, name, asked):
        name, asked = name.lower(), asked.lower()
        if ":" in asked:
            return ":" in name
        return name == asked or (name.startswith("*.") and asked.partition(".")[2] == name[2:])


@mutant("a certificate that is not yet valid is accepted", "tls")
class TlsNotYetValidAccepted(OwnComparison):
    def context(self, settings):
        context = super().context(settings)
        context.verify_flags |= 0x200000
        return context

    def accepts(self, said):
        return super().accepts(said) and ssl.cert_time_to_seconds(said["notAfter"]) > time.time()


@mutant("a name that begins like the correct one is accepted", "tls")
class TlsNamePrefix(OwnComparison):
    def fits(self, name, asked):
        return super().fits(name, asked) or name.startswith(asked)


@mutant("a name that ends like the correct one is accepted", "tls")
class TlsNameSuffix(OwnComparison):
    def fits(self, name, asked):
        return super().fits(name, asked) or name.endswith(asked)


@mutant("a wildcard matches any number of labels", "tls")
class TlsWildcardTooWide(OwnComparison):
    def fits(self, name, asked):
        return super().fits(name, asked) or (name.startswith("*.") and f".{asked}".endswith(name[1:]))


@mutant("a wildcard is compared as a literal name", "tls")
class TlsNoWildcards(OwnComparison):
    def fits(self, name, asked):
        return not name.startswith("*") and super().fits(name, asked)


@mutant("names are compared case-sensitively", "tls")
class TlsNameCase(OwnComparison):
    def fits(self, name, asked):
        return name.lower() == name and asked.lower() == asked and super().fits(name, asked)


@mutant("if an address was requested, the certificate's names are not checked", "tls")
class TlsAddressNotCompared(OwnComparison):
    def fits(self, name, asked):
        return super().fits(name, asked) or asked.replace(".", "").isdigit()


@mutant("an address is treated as a host name, sent as SNI and compared with names", "tls")
class TlsAddressAsName(TLSSocket):
    def name(self, settings):
        name = settings["name"]
        return f"{name}." if name.replace(".", "").isdigit() else name


@mutant("an IPv6 address is compared as text", "tls")
class TlsAddressAsText(OwnComparison):
    def fits(self, name, asked):
        return name == asked if ":" in asked else super().fits(name, asked)


@mutant("the name is verified but not sent", "tls", "starttls")
class TlsNoSni(OwnComparison):
    def name(self, settings):
        return None


@mutant("lines are delivered while the certificate is still being verified", "tls")
class TlsVerdictTooLate(Connection):
    def __init__(self, adapter, number, settings):
        adapter.parts[TLSSocket] = TlsNameIgnored
        super().__init__(adapter, number, settings)

    def secured(self):
        super().secured()
        self.loop.call_later(0.03, self.judge)

    def judge(self):
        names = [value for _, value in self.sock.tls.getpeercert()["subjectAltName"]] if self.state == OPEN else []
        if names and self.settings["tls"]["name"] not in names:
            self.tls_failed("another name")


@mutant("data sent early is written before the certificate has been verified", "tls")
class TlsSendsBeforeVerdict(Connection):
    def __init__(self, adapter, number, settings):
        adapter.parts[TLSSocket] = TlsNameIgnored
        super().__init__(adapter, number, settings)

    def secured(self):
        names = [value for _, value in self.sock.tls.getpeercert()["subjectAltName"]]
        if self.settings.get("tls", {"name": names[0]})["name"] in names:
            return super().secured()
        if self.held:
            self.sock.send(bytes(self.held))
        return self.tls_failed("another name")


@mutant("a certificate is verified only once for each name", "tls")
class TlsVerdictRemembered(TLSSocket):
    known = set()

    def context(self, settings):
        context = super().context(settings)
        if settings["name"] in self.known:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context

    def handshake(self):
        super().handshake()
        self.known.add(self.tls.server_hostname)


@mutant("after one TLS failure, every further handshake fails", "tls", "starttls")
class TlsFailureSticks(TLSSocket):
    has_failed = []

    def handshake(self):
        if self.has_failed:
            raise ssl.SSLError("failed before")
        super().handshake()

    def give_up(self):
        self.has_failed.append(True)
        super().give_up()


@mutant("the requested protocols are not offered", "tls", "starttls")
class TlsNoAlpn(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, {key: value for key, value in settings.items() if key != "alpn"})


@mutant("only the first protocol is offered", "tls", "starttls")
class TlsFirstAlpn(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, {**settings, "alpn": settings["alpn"][:1]} if "alpn" in settings else settings)


@mutant("a protocol is offered although none was requested", "tls")
class TlsOwnAlpn(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, {"alpn": ["http/1.1"], **settings})


@mutant("TLS 1.3 is reported for each handshake, regardless of the negotiated version", "tls", "starttls")
class TlsSaysNewVersion(TLSSocket):
    def agreed(self):
        return {**super().agreed(), "version": "1.3"}


@mutant("the first offered protocol is reported instead of the negotiated one", "tls", "starttls")
class TlsSaysOfferedAlpn(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, settings)
        self.offered = settings.get("alpn", [])[:1]

    def agreed(self):
        told = super().agreed()
        return {**told, "alpn": self.offered[0]} if self.offered else told


@mutant("the transport supports only TLS 1.2", "tls")
class TlsOldOnly(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, {"version": "1.2", **settings})


@mutant("the transport supports only TLS 1.3", "tls")
class TlsNewOnly(TLSSocket):
    def __init__(self, sock, settings):
        super().__init__(sock, {"version": "1.3", **settings})


@mutant("a failed handshake is retried with an older version", "tls")
class TlsDowngrades(Connection):
    def tls_failed(self, error):
        if self.settings.get("tls", {}).get("version") == "1.3":
            self.settings["tls"]["version"] = "1.2"
            self.over_quietly()
            return self.start()
        return super().tls_failed(error)

    def over_quietly(self):
        self.unwatch()
        self.sock.close()
        self.sock, self.state = None, CONNECTING


# MARK: TLS: the handshake


@mutant("the event start is reported as soon as the socket is connected", "tls", "starttls")
class TlsStartedTooEarly(Connection):
    is_told = False

    def begin_tls(self, settings):
        self.is_told = self.is_started = True
        self.say("secured", version="1.3")
        if not self.is_secured and "tls" in self.settings:
            self.say("start")
        super().begin_tls(settings)

    def say(self, event, **fields):
        if event != "secured" or self.state == CONNECTING or not self.is_told or self.state == OPEN:
            super().say(event, **fields)


@mutant("data sent early is written in the clear, before the handshake", "tls")
class TlsEarlyInTheClear(Connection):
    def begin_tls(self, settings):
        if self.state == CONNECTING:
            self.state, self.wanted_tls = SECURING, settings
            self.write()
            return self.secure()
        return super().begin_tls(settings)


@mutant("data sent during a handshake is written in the clear", "starttls", "tls")
class TlsSendsPastTheHandshake(Connection):
    def queue(self, frame):
        if self.state == SECURING and self.sock:
            self.sock.sock.send(frame)
        else:
            super().queue(frame)


@mutant("data sent early is lost during the handshake", "tls", "starttls")
class TlsEarlyLost(Connection):
    def secured(self):
        self.held.clear()
        super().secured()


@mutant("the end of the stream during the handshake is reported as eof", "tls", "starttls")
class TlsHandshakeEof(Connection):
    def tls_failed(self, error):
        if "ended" in str(error):
            self.stop_event("eof")
            return self.linger()
        return super().tls_failed(error)


@mutant("a failed handshake is reported as a reset", "tls", "starttls")
class TlsFailureAsReset(Connection):
    def tls_failed(self, error):
        self.stop_event("reset", str(error))
        self.linger()


@mutant("after the end of the stream during the handshake, the transport continues to wait", "tls", "starttls")
class TlsHandshakeEofHangs(Connection):
    def tls_failed(self, error):
        if "ended" in str(error):
            return self.unwatch()
        return super().tls_failed(error)


@mutant("a reset during the handshake is reported twice", "tls")
class TlsHandshakeResetTwice(Connection):
    def over(self, reason=None, detail=""):
        if self.state == SECURING and reason == "reset":
            self.stop_event("reset")
        super().over(reason, detail)


@mutant("the connect timeout no longer applies once the socket is connected", "tls")
class TlsNoDeadline(Connection):
    def begin_tls(self, settings):
        self.cancel_timers()
        super().begin_tls(settings)


@mutant("each read of the handshake restarts the connect timeout", "tls")
class TlsDeadlineAnew(Connection):
    def handshake(self):
        if self.timer:
            self.timer.cancel()
            self.timer = self.loop.call_later(self.settings["connect-timeout-ms"] / 1000, self.connect_timed_out)
        super().handshake()


@mutant("the timer of the handshake is not canceled when the handshake is complete", "tls")
class TlsTimerRunsOn(Connection):
    def opened(self, sock):
        if self.is_secured:
            self.timer = None
        super().opened(sock)


@mutant("a stop waits for the end of the handshake", "tls", "starttls")
class TlsStopWaits(Connection):
    def stop(self):
        if self.state != SECURING:
            super().stop()


@mutant("a handshake succeeds only if the server's flight arrives in one read", "tls", "starttls")
class TlsHandshakeInOneRead(TLSSocket):
    reads = 0

    def fill(self):
        if self.tls.version() in (None, "TLSv1.2", "TLSv1.3") and not self.is_done():
            self.reads += 1
            if self.reads > 6:
                raise ssl.SSLError("too many reads")
        return super().fill()

    def is_done(self):
        return self.tls.cipher() is not None and self.tls.getpeercert(True) is not None


@mutant("a handshake fails if the first read returns fewer bytes than a record header", "tls", "starttls")
class TlsHeaderInOneRead(TLSSocket):
    has_begun = False

    def fill(self):
        data = self.sock.recv(READ_SIZE)
        if not self.has_begun and 0 < len(data) < 5:
            raise ssl.SSLError("no TLS")
        self.has_begun = True
        self.incoming.write(data)
        return bool(data)


@mutant("the handshake blocks the thread", "tls")
class TlsBlocks(TLSSocket):
    def handshake(self):
        self.sock.settimeout(3)
        try:
            super().handshake()
        except TimeoutError:
            raise BlockingIOError from None
        finally:
            self.sock.setblocking(False)


@mutant("the handshake polls repeatedly for bytes", "tls")
class TlsHandshakeSpins(Connection):
    def handshake(self):
        super().handshake()
        if self.state == SECURING and self.sock:
            self.loop.call_soon(lambda: self.state == SECURING and self.sock and self.handshake())


@mutant("if the peer does not use TLS, the transport continues in the clear", "tls", "starttls")
class TlsFallsBack(Connection):
    def tls_failed(self, error):
        if "WRONG_VERSION" not in str(error):
            return super().tls_failed(error)
        self.sock = self.sock.sock
        self.is_secured = True
        self.say("secured", version="1.3")
        self.pending += self.held
        self.opened(self.sock)
        return self.write()


@mutant("a failed handshake is followed by a connection in the clear", "tls")
class TlsSecondTryInTheClear(Connection):
    def tls_failed(self, error):
        if "tls" not in self.settings:
            return super().tls_failed(error)
        again = socket.create_connection((self.settings["host"], self.settings["port"]))
        again.send(bytes(self.held))
        again.close()
        return super().tls_failed(error)


@mutant("an alert during the handshake is reported as eof", "tls")
class TlsHandshakeAlertIsEof(Connection):
    def tls_failed(self, error):
        if "ALERT" in str(error):
            self.stop_event("eof")
            return self.linger()
        return super().tls_failed(error)


class Listening(TLSSocket):
    """Is notified of each handshake message that arrives, even after the handshake."""

    def __init__(self, sock, settings):
        super().__init__(sock, settings)
        self.counts, self.objection = {}, None

    def context(self, settings):
        context = super().context(settings)

        def hear(connection, direction, version, content, message, data):
            if direction == "read" and content.name == "HANDSHAKE":
                self.counts[message.name] = self.counts.get(message.name, 0) + 1
                self.heard(message.name, data)
        context._msg_callback = hear
        return context

    def heard(self, message, data):
        pass

    def check(self):
        if self.objection:
            self.give_up()
            raise ssl.SSLError(self.objection)

    def handshake(self):
        super().handshake()
        self.check()

    def decrypt(self):
        data = super().decrypt()
        self.check()
        return data


@mutant("a server that requests a client certificate is refused", "tls")
class TlsNoCertificateToGive(Listening):
    def heard(self, message, data):
        if message == "CERTIFICATE_REQUEST":
            self.objection = "no certificate to give"


@mutant("a handshake message that spans records is refused", "tls")
class TlsMessageIsARecord(Listening):
    def heard(self, message, data):
        # All received bytes have been consumed, so `size` is larger than a record only if the certificate is larger
        # than a record.
        if message == "CERTIFICATE" and self.size > RECORD_SIZE:
            self.objection = "decode error"

    size = 0

    def fill(self):
        before = self.incoming.pending
        done = super().fill()
        self.size += self.incoming.pending - before
        return done


@mutant("more than four session tickets kill the process", "tls")
class TlsTooManyTickets(Listening):
    def heard(self, message, data):
        if self.counts.get("NEWSESSION_TICKET", 0) > 4:
            self.objection = "too many tickets"


@mutant("data that arrives in the same read as a ticket is lost", "tls")
class TlsTicketTakesData(Listening):
    def decrypt(self):
        before = self.counts.get("NEWSESSION_TICKET", 0)
        data = super().decrypt()
        return data if self.counts.get("NEWSESSION_TICKET", 0) == before else b""


@mutant("a KeyUpdate is treated as an error", "tls")
class TlsKeyUpdateRefused(Listening):
    def heard(self, message, data):
        if message == "KEY_UPDATE":
            self.objection = "unexpected message"


@mutant("a KeyUpdate that requests an answer is treated as an error", "tls")
class TlsKeyUpdateUnanswered(Listening):
    def heard(self, message, data):
        if message == "KEY_UPDATE" and data[-1]:
            self.objection = "unexpected message"


@mutant("a KeyUpdate while a record is waiting to be written is treated as an error", "tls")
class TlsKeyUpdateWhileWriting(Listening):
    def heard(self, message, data):
        if message == "KEY_UPDATE" and self.unwritten:
            self.objection = "bad write retry"


@mutant("a HelloRequest is treated as an error", "tls")
class TlsHelloRequestRefused(Listening):
    def heard(self, message, data):
        if message == "HELLO_REQUEST":
            self.objection = "unexpected message"


@mutant("a ticket that the server does not accept is treated as an error", "tls")
class TlsTicketMustFit(TLSSocket):
    contexts, sessions = {}, {}

    def __init__(self, sock, settings):
        super().__init__(sock, settings)
        self.key = settings["ca"], settings["name"], settings.get("version")
        context = self.contexts.setdefault(self.key, self.tls.context)
        self.offered = self.sessions.get(self.key)
        self.tls = context.wrap_bio(
            self.incoming, self.outgoing, server_hostname=settings["name"], session=self.offered)

    def handshake(self):
        super().handshake()
        if self.offered and not self.tls.session_reused:
            self.give_up()
            raise ssl.SSLError("the ticket was rejected")

    def decrypt(self):
        data = super().decrypt()
        if self.tls.session and self.tls.session.has_ticket:
            self.sessions[self.key] = self.tls.session
        return data


# MARK: TLS: records


@mutant("only the first record in a read is delivered; the others wait for the next read", "tls")
class TlsOneRecordPerRead(TLSSocket):
    def decrypt(self):
        if self.due is None:
            try:
                data = self.tls.read(RECORD_SIZE)
            except ssl.SSLError:
                return super().decrypt()
            if data:
                return data
        return super().decrypt()


@mutant("only 4 KiB of a record are delivered, and the rest waits in the library for the next event", "tls")
class TlsPendingForgotten(TLSSocket):
    def decrypt(self):
        if self.due is None and not self.tls.pending():
            try:
                data = self.tls.read(4096)
            except ssl.SSLError:
                return super().decrypt()
            if data:
                return data
        return super().decrypt()


class Records(TLSSocket):
    """Is passed the records that arrive after the handshake."""
    held = b""
    is_up = False

    def handshake(self):
        super().handshake()
        self.is_up = True

    def fill(self):
        data = self.sock.recv(READ_SIZE)
        if self.is_up and data:
            self.incoming.write(self.changed(data))
        else:
            self.incoming.write(data)
        return bool(data)

    def changed(self, data):
        whole, self.held = self.whole(self.held + data)
        return whole

    def whole(self, data):
        """Returns all complete records, and the bytes after them."""
        end = 0
        while len(data) - end >= 5 and len(data) - end >= 5 + self.length(data, end):
            end += 5 + self.length(data, end)
        return data[:end], data[end:]

    def length(self, data, start):
        return int.from_bytes(data[start + 3:start + 5], "big")


@mutant("the beginning of a record that is split between two reads is lost", "tls")
class TlsPartialRecordLost(Records):
    def changed(self, data):
        return self.whole(data)[0]


@mutant("if a record header is cut, the bytes before the cut are lost", "tls")
class TlsPartialHeaderLost(Records):
    def changed(self, data):
        whole = super().changed(data)
        if len(self.held) < 5:
            self.held = b""
        return whole


@mutant("nothing is decrypted while a record is incomplete", "tls")
class TlsWaitsForWhole(Records):
    def changed(self, data):
        data = self.held + data
        whole, rest = self.whole(data)
        self.held = data if rest else b""
        return b"" if rest else whole


@mutant("a record is read into a buffer of 8 KiB, and the rest of the record is lost", "tls")
class TlsSmallBuffer(TLSSocket):
    def decrypt(self):
        data = bytearray()
        while self.due is None:
            try:
                data += self.tls.read(8192)
            except ssl.SSLError:
                return bytes(data) + super().decrypt()
            if self.tls.pending():
                self.tls.read(self.tls.pending())
        return bytes(data)


@mutant("a record is treated as a line", "tls")
class TlsRecordIsLine(Connection):
    def received(self, data):
        super().received(data if data.endswith(b"\r\n") or not self.is_secured else data + b"\r\n")


@mutant("records are handled recursively", "tls", dies=True)
class TlsRecursion(TLSSocket):
    def decrypt(self):
        if self.due is not None:
            return b""
        try:
            piece = self.tls.read(RECORD_SIZE)
        except ssl.SSLWantReadError:
            return b""
        except ssl.SSLZeroReturnError:
            return super().decrypt()
        except ssl.SSLError as error:
            self.give_up()
            self.due = error
            return b""
        return piece + self.decrypt() if piece else super().decrypt()


@mutant("a read that returns no data is treated as the end of the stream", "tls")
class TlsNoDataIsTheEnd(TLSSocket):
    def recv(self, size):
        try:
            return super().recv(size)
        except BlockingIOError:
            if self.tls.cipher() and self.incoming.pending == 0 and self.reads:
                self.peer_notified = True
                return b""
            raise

    reads = 0

    def fill(self):
        self.reads = 0
        done = super().fill()
        self.reads = 1
        return done


@mutant("a record without data is treated as the end of the stream", "tls")
class TlsEmptyRecordIsTheEnd(Records):
    wholes = 0

    def recv(self, size):
        self.wholes = 0
        try:
            return super().recv(size)
        except BlockingIOError:
            if self.wholes:
                self.peer_notified = True
                return b""
            raise

    def changed(self, data):
        whole = super().changed(data)
        self.wholes += len(whole) > 0
        return whole


@mutant("a record without data is delivered as an empty line", "tls")
class TlsEmptyRecordIsLine(Connection):
    def readable(self):
        was_open = self.state == OPEN and self.is_secured
        if was_open and self.sock.incoming.pending == 0:
            try:
                waits = self.sock.sock.recv(READ_SIZE, socket.MSG_PEEK)
            except OSError:
                waits = b""
            if 20 < len(waits) <= 22 and waits[0] == 23:
                self.say("line", data="")
        super().readable()


@mutant("the transport requests the rest of an incomplete record repeatedly", "tls")
class TlsHalfRecordSpins(Connection):
    def readable(self):
        super().readable()
        if self.is_secured and self.state == OPEN:
            self.loop.call_later(0, lambda: self.state == OPEN and self.sock and self.readable())


@mutant("a record that can't be decrypted is skipped", "tls")
class TlsBadRecordIgnored(TLSSocket):
    def decrypt(self):
        data = super().decrypt()
        if isinstance(self.due, ssl.SSLError):
            self.due = None
            self.failed = False
        return data


@mutant("a TLS error is treated as the end of the stream", "tls", "starttls")
class TlsErrorAsEof(TLSSocket):
    def told(self):
        if isinstance(self.due, ssl.SSLError):
            self.due = b""
        return super().told()


@mutant("a fatal alert is treated as the end of the stream", "tls")
class TlsAlertAsEof(TLSSocket):
    def told(self):
        if isinstance(self.due, ssl.SSLError) and "ALERT" in str(self.due):
            self.due = b""
        return super().told()


@mutant("a fatal alert is ignored, so the connection ends only with the FIN", "tls")
class TlsAlertIgnored(TLSSocket):
    def told(self):
        if isinstance(self.due, ssl.SSLError) and "ALERT" in str(self.due):
            self.due = None
            raise BlockingIOError
        return super().told()


@mutant("the peer receives no alert that states the reason for a failure", "tls")
class TlsNoAlert(TLSSocket):
    def give_up(self):
        self.failed = True
        self.outgoing.read()


@mutant("a TLS error causes the complete records before it to be dropped", "tls")
class TlsErrorDropsData(TLSSocket):
    def decrypt(self):
        data = super().decrypt()
        return b"" if isinstance(self.due, ssl.SSLError) else data


@mutant("bytes that are not a record are delivered unchanged", "tls", "starttls")
class TlsPlainTextTaken(Records):
    plain = b""

    def changed(self, data):
        if data[0] not in (20, 21, 22, 23):
            self.plain += data
            return b""
        return data

    def decrypt(self):
        plain, self.plain = self.plain, b""
        return super().decrypt() + plain


@mutant("a record that is too short for an authentication tag is delivered unchanged", "tls")
class TlsUnencryptedTaken(TlsPlainTextTaken):
    def changed(self, data):
        if data[0] == 23 and len(data) == 5 + self.length(data, 0) < 22:
            self.plain += data[5:]
            return b""
        return data


@mutant("bytes that are not a record are skipped", "tls", "starttls")
class TlsPlainTextSkipped(Records):
    def changed(self, data):
        return data if data[0] in (20, 21, 22, 23) else b""


@mutant("a record that is too large is skipped", "tls")
class TlsTooLargeSkipped(Records):
    def changed(self, data):
        whole = super().changed(data)
        if len(whole) >= 5 and self.length(whole, 0) > 18432:
            return whole[5 + self.length(whole, 0):]
        return whole


@mutant("decrypted data is treated as UTF-8", "tls")
class TlsDecodes(Connection):
    def received(self, data):
        super().received(data.decode("utf-8", "replace").encode() if self.is_secured else data)


@mutant("bytes are delivered only when sixteen have arrived", "tls")
class TlsWaitsForMore(Connection):
    kept = b""

    def received(self, data):
        data = self.kept + data
        self.kept = data if self.is_secured and len(data) < 16 else b""
        if not self.kept:
            super().received(data)


@mutant("two connections share the buffer for an incomplete record", "tls")
class TlsOneBuffer(Records):
    def changed(self, data):
        whole, TlsOneBuffer.held = self.whole(TlsOneBuffer.held + data)
        return whole


@mutant("an error on one connection is reported on the next connection that reads", "tls")
class TlsErrorQueue(TLSSocket):
    errors = []

    def recv(self, size):
        data = super().recv(size)
        if self.errors:
            self.errors.clear()
            self.give_up()
            raise ssl.SSLError("an error of before")
        return data

    def give_up(self):
        self.errors.append(self)
        super().give_up()



# MARK: TLS: the end of the stream


@mutant("a FIN without close_notify is treated as the end of the stream", "tls", "starttls")
class TlsTruncationIsEof(Connection):
    def read_eof(self, reason="eof"):
        super().read_eof()


@mutant("in TLS 1.2, a FIN without close_notify is treated as the end of the stream", "tls")
class TlsOldTruncationIsEof(Connection):
    def read_eof(self, reason="eof"):
        super().read_eof("eof" if self.is_secured and self.sock.tls.version() == "TLSv1.2" else reason)


@mutant("after start-tls, a FIN without close_notify is treated as the end of the stream", "starttls")
class StartTlsTruncationIsEof(Connection):
    def read_eof(self, reason="eof"):
        super().read_eof(reason if "tls" in self.settings else "eof")


@mutant("a FIN without close_notify is reported as a reset", "tls")
class TlsTruncationIsReset(Connection):
    def read_eof(self, reason="eof"):
        if reason == "tls-truncated":
            return self.over("reset")
        return super().read_eof(reason)


@mutant("a FIN without close_notify does not end the connection", "tls")
class TlsWaitsForNotify(Connection):
    def read_eof(self, reason="eof"):
        if reason == "tls-truncated":
            self.read_ended = True
            return self.update()
        return super().read_eof(reason)


@mutant("the last data of a truncated stream is discarded", "tls")
class TlsTruncationDropsData(TLSSocket):
    def recv(self, size):
        data = super().recv(size)
        if data and not self.peer_notified:
            try:
                while self.fill():
                    data += self.decrypt()
                if not self.peer_notified:
                    self.failed = self.ended = True
                    raise reference.Truncated("a FIN without a close_notify")
            except BlockingIOError:
                pass
        return data


@mutant("the socket of a truncated stream is never closed", "tls")
class TlsTruncatedKept(Connection):
    kept = []

    def read_eof(self, reason="eof"):
        if reason == "tls-truncated":
            self.kept.append(self.sock.sock.dup())
        super().read_eof(reason)


@mutant("an RST is reported as a truncated stream", "tls")
class TlsResetIsTruncation(TLSSocket):
    def fill(self):
        try:
            return super().fill()
        except ConnectionResetError:
            return False


@mutant("the end is reported only when the FIN arrives after close_notify", "tls")
class TlsWaitsForFin(TLSSocket):
    def recv(self, size):
        data = super().recv(size)
        if not data and not self.ended:
            return self.skip(size)
        return data


@mutant("a close_notify is treated as an error", "tls", "starttls")
class TlsNotifyIsError(TLSSocket):
    def told(self):
        if self.due == b"":
            self.due = ssl.SSLError("close notify")
        return super().told()


@mutant("in TLS 1.2, a close_notify is treated as an error", "tls")
class TlsOldNotifyIsError(TLSSocket):
    def told(self):
        if self.due == b"" and self.tls.version() == "TLSv1.2":
            self.due = ssl.SSLError("close notify")
        return super().told()


@mutant("data that arrives in the same read as close_notify is lost", "tls")
class TlsNotifyDropsData(TLSSocket):
    def decrypt(self):
        data = super().decrypt()
        return b"" if self.due == b"" else data


@mutant("the leftover at close_notify is not reported", "tls")
class TlsLeftoverLost(Connection):
    def leave(self):
        if not self.is_secured:
            super().leave()


@mutant("data after close_notify is treated as an error", "tls")
class TlsBehindNotifyIsError(TLSSocket):
    def decrypt(self):
        data = super().decrypt()
        if self.due == b"":
            try:
                self.fill()
            except OSError:
                pass
            if self.incoming.pending:
                self.due = ssl.SSLError("data after close_notify")
        return data

    def skip(self, size):
        if self.peer_notified and self.sock.recv(size):
            raise ssl.SSLError("data after close_notify")
        self.ended = True
        return b""


@mutant("the peer's close_notify causes queued data to be dropped", "tls")
class TlsNotifyDropsWriting(Connection):
    def read_eof(self, reason="eof"):
        if self.is_secured:
            self.pending.clear()
        super().read_eof(reason)


@mutant("after the peer's close_notify, nothing can be written", "tls")
class TlsNotifyEndsBoth(Connection):
    def half_closed(self):
        if self.is_secured:
            self.say("half-closed")
            self.fin_wanted = True
            return self.update()
        return super().half_closed()


@mutant("the transport closes without a close_notify", "tls", "starttls")
class TlsNoNotify(TLSSocket):
    def notify(self):
        pass


@mutant("in TLS 1.2, the transport closes without a close_notify", "tls")
class TlsOldNoNotify(TLSSocket):
    def notify(self):
        if self.tls.version() != "TLSv1.2":
            super().notify()


@mutant("the peer's close_notify is answered only with a FIN", "tls")
class TlsNotifyUnanswered(TLSSocket):
    def notify(self):
        if not self.peer_notified:
            super().notify()


@mutant("close_notify is sent at once, before queued data", "tls")
class TlsNotifyFirst(Connection):
    def stop(self):
        if self.is_secured and self.state == OPEN and not self.sock.notified:
            self.sock.notified = True
            self.sock.notify()
            self.sock.flush_quietly()
        super().stop()

    def write(self):
        try:
            super().write()
        except ssl.SSLError:
            self.pending.clear()
            self.update()


@mutant("close_notify is sent without a FIN after it", "tls")
class TlsNotifyOnly(TLSSocket):
    kept = []

    def shutdown(self, how):
        if not self.notified and not self.failed:
            self.notified = True
            self.notify()
        self.flush()
        # The socket stays open, because closing it would send the FIN.
        self.kept.append(self.sock.dup())


@mutant("a half-close also ends reading", "tls")
class TlsHalfCloseEndsReading(TLSSocket):
    def shutdown(self, how):
        super().shutdown(how)
        self.peer_notified = True


@mutant("a stop closes the socket while bytes are unread", "tls")
class TlsStopCloses(Connection):
    def linger(self):
        if self.is_secured and self.reason == "stopped":
            self.state = LINGERING
            return self.over()
        return super().linger()


@mutant("over TLS, lines are delivered after a stop", "tls")
class TlsStopDelivers(Connection):
    def readable(self):
        if self.is_secured and self.state == LINGERING and not self.read_ended:
            try:
                data = self.sock.recv(READ_SIZE)
            except OSError:
                return None
            if data:
                return self.say("line", data=data.decode("latin-1").rstrip("\r\n"))
            return self.read_eof()
        return super().readable()


@mutant("the peer's close_notify after the transport's own is reported as another end", "tls")
class TlsSecondEnd(Connection):
    def read_eof(self, reason="eof"):
        if self.is_secured and self.state == LINGERING:
            self.stop_event(reason)
        super().read_eof(reason)


@mutant("an RST after close_notify is reported as another end", "tls")
class TlsResetToldToo(Connection):
    def read_failed(self, error):
        if self.is_secured and self.state == LINGERING:
            self.stop_event("reset")
        super().read_failed(error)

    def no_progress(self):
        self.expect_progress(1)


# MARK: TLS: writing, pausing, time


@mutant("the rest of a record that the kernel did not accept is lost", "tls")
class TlsShortWriteLost(TLSSocket):
    def flush(self):
        self.unwritten += self.outgoing.read()
        if self.unwritten:
            self.sock.send(self.unwritten)
            self.unwritten = b""


@mutant("the rest of a message that could not be written completely is encrypted again", "tls")
class TlsEncryptsTwice(TLSSocket):
    def send(self, data):
        try:
            return super().send(data)
        except BlockingIOError:
            self.covered = 0
            raise


@mutant("while a record is waiting to be written, a message is refused and lost", "tls")
class TlsBadWriteRetry(Connection):
    def queue(self, frame):
        if self.is_secured and self.state == OPEN and self.sock.unwritten and len(frame) < 1000:
            return
        super().queue(frame)


@mutant("while a record is waiting to be written, nothing is read", "tls")
class TlsWritesFirst(Connection):
    def wants_read(self):
        return super().wants_read() and not (self.is_secured and self.pending)


@mutant("an answer that the TLS library creates is lost if there is nothing else to write", "tls")
class TlsAnswerLost(TLSSocket):
    def flush_quietly(self):
        if not self.failed:
            self.outgoing.read()
        super().flush_quietly()


@mutant("the event sent counts the bytes of records", "tls")
class TlsCountsRecords(Connection):
    def say(self, event, **fields):
        if event == "sent" and self.is_secured:
            fields["bytes"] += 22
        super().say(event, **fields)


@mutant("stop-reading has no effect with TLS", "tls")
class TlsPauseIgnored(Connection):
    def stop_reading(self):
        self.require_open()
        if not self.is_secured:
            super().stop_reading()


@mutant("while reading is stopped, records are read into memory, and stay there until the peer sends more", "tls")
class TlsPauseReads(Connection):
    def wants_read(self):
        return super().wants_read() or (self.is_secured and self.paused and not self.read_ended)

    def readable(self):
        if not self.paused or self.state != OPEN or not self.is_secured:
            return super().readable()
        try:
            self.sock.fill()
        except OSError:
            pass
        return None


@mutant("the line limit also counts the bytes that TLS adds", "tls")
class TlsLimitTooSmall(Connection):
    def set_framing(self, request):
        super().set_framing(request)
        if "tls" in self.settings:
            self.decoder.limit -= 22


@mutant("with TLS, the length of a line has no limit", "tls")
class TlsUnlimited(Connection):
    def set_framing(self, request):
        super().set_framing(request)
        if "tls" in self.settings:
            self.decoder.limit = 1 << 30


@mutant("with TLS, there is no idle timeout", "tls")
class TlsNeverIdle(Connection):
    def watch_idleness(self):
        if not self.is_secured:
            super().watch_idleness()


@mutant("with TLS, the idle timeout starts with the handshake", "tls")
class TlsIdleFromTheHandshake(Connection):
    def idle(self):
        if self.is_secured and self.state == OPEN:
            self.stop_event("timeout", "idle")
            return self.linger()
        return super().idle()


@mutant("a connection whose certificate was refused is never closed", "tls")
class TlsRefusedKept(Connection):
    kept = []

    def tls_failed(self, error):
        self.kept.append(self.sock.sock.dup())
        super().tls_failed(error)


@mutant("a connection whose handshake timed out is never closed", "tls")
class TlsTimedOutKept(Connection):
    def connect_timed_out(self):
        if self.state != SECURING:
            return super().connect_timed_out()
        self.unwatch()
        TlsRefusedKept.kept.append(self.sock)
        self.state = OVER
        return self.stop_event("timeout")


@mutant("after the peer's close_notify, the socket is polled repeatedly", "tls")
class TlsSpinsBehindNotify(Connection):
    def half_closed(self):
        super().half_closed()
        if self.is_secured:
            self.spin()

    def spin(self):
        if self.state == OPEN and self.sock:
            self.loop.call_soon(self.spin)


@mutant("a read checks only the socket for bytes, not the buffer of decrypted data", "tls")
class TlsReadAsksSocket(PullConnection):
    def read(self, request):
        if not self.is_secured:
            return super().read(request)
        self.require_open()
        self.reads.append(request)
        return self.update()


@mutant("only one pending read is answered for each event on the socket", "tls")
class TlsOneReadPerEvent(PullConnection):
    def deliver(self):
        waiting = list(self.reads)
        if self.is_secured and len(waiting) > 1:
            self.reads.clear()
            self.reads.append(waiting[0])
            super().deliver()
            self.reads.extend(waiting[1:])
        else:
            super().deliver()


# MARK: STARTTLS


@mutant("data received in the clear is kept across start-tls", "starttls")
class StartTlsKeepsPlainText(Connection):
    def discard_plaintext(self):
        pass


@mutant("data received in the clear is kept across start-tls and answers the next read", "starttls")
class StartTlsKeepsForRead(PullConnection):
    def discard_plaintext(self):
        pass


@mutant("data received in the clear is discarded, but counts toward the line limit", "starttls")
class StartTlsKeepsCount(Connection):
    def discard_plaintext(self):
        self.decoder.limit -= len(self.decoder.buffer)
        super().discard_plaintext()


@mutant("data received in the clear is discarded, except for a CR at its end", "starttls")
class StartTlsKeepsCr(Connection):
    def discard_plaintext(self):
        if self.decoder.finish().endswith(b"\r"):
            self.decoder.append(b"\r")


@mutant("data received in the clear is reported as left over at the end of the secured stream", "starttls")
class StartTlsLeftover(Connection):
    def discard_plaintext(self):
        self.plain = self.decoder.finish()

    def leave(self):
        if self.is_secured and getattr(self, "plain", b""):
            return self.say("leftover", data=self.plain.decode("latin-1"))
        return super().leave()


@mutant("start-tls does not verify the certificate", "starttls")
class StartTlsUnverified(Connection):
    def start_tls(self, settings):
        self.adapter.parts[TLSSocket] = TlsAcceptsAnything
        super().start_tls(settings)


@mutant("the name is not passed to start-tls", "starttls")
class StartTlsNameForgotten(Connection):
    def start_tls(self, settings):
        self.adapter.parts[TLSSocket] = TlsNameIgnored
        super().start_tls(settings)


@mutant("start-tls uses a different name and no protocols", "starttls")
class StartTlsOwnOptions(Connection):
    def start_tls(self, settings):
        super().start_tls({"ca": settings["ca"], "name": "localhost"})


@mutant("the ClientHello does not wait for data that was sent before it", "starttls")
class StartTlsOvertakes(Connection):
    def begin_tls(self, settings):
        self.held, self.pending = self.pending, bytearray()
        super().begin_tls(settings)


@mutant("start-tls drops queued data", "starttls")
class StartTlsDropsQueue(Connection):
    def begin_tls(self, settings):
        if self.state != CONNECTING:
            self.pending.clear()
        super().begin_tls(settings)


@mutant("the first bytes received after start-tls are passed to the plaintext reader, and are lost", "starttls")
class StartTlsReaderSteals(Connection):
    def begin_tls(self, settings):
        self.thief = "tls" not in self.settings
        super().begin_tls(settings)

    def readable(self):
        if self.state == SECURING and self.thief:
            self.thief = False
            self.sock.sock.recv(3)
        super().readable()


@mutant("start-tls waits for a line before its ClientHello", "starttls")
class StartTlsWaitsForAnswer(Connection):
    heard = 0

    def begin_tls(self, settings):
        if self.state == CONNECTING or self.heard:
            return super().begin_tls(settings)
        self.waiting = settings
        return None

    def say(self, event, **fields):
        super().say(event, **fields)
        self.heard += event in ("line", "message", "data")


@mutant("start-tls on a secured connection begins another handshake", "starttls")
class StartTlsTwice(Connection):
    def start_tls(self, settings):
        if self.is_secured:
            self.wanted_tls = settings
            self.state = SECURING
            return self.secure()
        return super().start_tls(settings)


@mutant("start-tls before the connection is established is silently ignored", "starttls")
class StartTlsOfNothing(Adapter):
    def perform(self, request):
        if request["op"] == "start-tls" and request["conn"] not in self.known:
            return {}
        return super().perform(request)


@mutant("start-tls after the end of a connection is silently ignored", "starttls")
class StartTlsAfterTheEnd(Connection):
    def start_tls(self, settings):
        if self.state not in (LINGERING, OVER):
            super().start_tls(settings)


@mutant("start-tls after a FIN is attempted, and ends the connection", "starttls")
class StartTlsBehindFin(Connection):
    def start_tls(self, settings):
        if self.state == OPEN and (self.fin_wanted or self.peer_ended):
            self.over("broken-pipe")
        else:
            super().start_tls(settings)


@mutant("start-tls secures all connections", "starttls")
class StartTlsOfAll(Connection):
    def begin_tls(self, settings):
        for other in self.adapter.known.values():
            if other is not self and isinstance(other, Connection) and other.state == OPEN and not other.is_secured:
                Connection.begin_tls(other, settings)
        super().begin_tls(settings)


@mutant("after a start-tls, the next connection begins with TLS", "starttls")
class StartTlsSticks(Connection):
    last = {}

    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, {**self.last, **settings})

    def start_tls(self, settings):
        super().start_tls(settings)
        self.last["tls"] = settings


@mutant("start-tls resets the framing to the initial one", "starttls")
class StartTlsResetsFraming(Connection):
    def begin_tls(self, settings):
        self.set_framing(self.settings)
        super().begin_tls(settings)


@mutant("data that arrives in the same segment as the end of the handshake waits for the next event on the socket", "starttls", "tls")
class TlsOverRead(Connection):
    def look_again(self):
        pass


if __name__ == "__main__":
    main()
