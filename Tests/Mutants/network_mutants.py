"""Broken transports with bugs that appear only on a network that loses, delays or discards packets: the reference's
Connection, changed in one place."""
import asyncio
import errno
import socket
import struct

from reference import CONNECTING, OPEN, Connection
from registry import mutant


def repeated(sock):
    """Returns whether the kernel is currently retransmitting (tcpi_retransmits)."""
    return struct.unpack_from("BBBBB", sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 16))[2] > 0


class Watching(Connection):
    """Calls `look` every 20 ms while the connection is open."""

    def opened(self, sock):
        super().opened(sock)
        self.loop.call_later(0.02, self.watch)

    def watch(self):
        if self.state != OPEN or not self.sock:
            return
        self.look()
        if self.state == OPEN:
            self.loop.call_later(0.02, self.watch)

    def look(self):
        pass


# MARK: connecting


@mutant("a connect that takes longer than 600 ms is abandoned, regardless of the requested timeout", "network")
class HiddenConnectTimeout(Connection):
    def limit_connecting(self):
        limit = min(self.settings.get("connect-timeout-ms", 600), 600)
        self.timer = self.loop.call_later(limit / 1000, self.connect_timed_out)


@mutant("a SYN that is not answered within 700 ms is reported as refused", "network")
class LostSynIsRefusal(Connection):
    def limit_connecting(self):
        super().limit_connecting()
        self.loop.call_later(0.7, self.refuse)

    def refuse(self):
        if self.state == CONNECTING:
            self.task.cancel()
            self.over("refused", "no answer")


@mutant("a connect that gets no answer continues forever", "network")
class BlackHoleForEver(Connection):
    def limit_connecting(self):
        pass


@mutant("a connect that gets no answer is reported as the end of the stream", "network")
class BlackHoleIsEof(Connection):
    def connect_timed_out(self):
        self.task.cancel()
        self.over("eof", "the host is unreachable")


@mutant("an unreachable host is retried endlessly and never reported", "network")
class UnreachableForEver(Connection):
    async def attempt(self, address):
        while True:
            try:
                return await super().attempt(address)
            except OSError as error:
                if error.errno not in (errno.EHOSTUNREACH, errno.ENETUNREACH):
                    raise
                await asyncio.sleep(0.1)


@mutant("an unreachable host is reported twice", "network")
class UnreachableTwice(Connection):
    def over(self, reason=None, detail=""):
        was_connecting = self.state == CONNECTING
        super().over(reason, detail)
        if was_connecting and reason == "other":
            self.say("stop", reason=reason, detail=detail)


# MARK: losses


@mutant("the connection ends when the kernel has to retransmit", "network")
class GivesUpAtOneLoss(Watching):
    def look(self):
        if repeated(self.sock):
            self.over("timeout", "a segment was lost")


@mutant("the connection ends when data is not acknowledged for 150 ms (TCP_USER_TIMEOUT)", "network")
class ShortUserTimeout(Connection):
    def opened(self, sock):
        sock.setsockopt(socket.IPPROTO_TCP, 18, 150)
        super().opened(sock)


@mutant("data that is not acknowledged for 150 ms is sent again by the transport", "network")
class SendsAgain(Watching):
    waited = 0

    def queue(self, frame):
        self.last_frame = frame
        super().queue(frame)

    def look(self):
        self.waited = self.waited + 1 if self.kernel_holds() else 0
        if self.waited == 7:
            self.pending += self.last_frame
            self.write()


@mutant("data that is not acknowledged for 200 ms is treated as never sent, and the connection ends", "network")
class UnacknowledgedIsDead(Watching):
    waited = 0

    def look(self):
        self.waited = self.waited + 1 if self.kernel_holds() else 0
        if self.waited > 9:
            self.abort()
            self.over("timeout", "not acknowledged")


# MARK: gaps in time


class Stalling(Watching):
    """Calls `stalled` if a line is incomplete and nothing has arrived for 100 ms."""

    def look(self):
        if self.decoder.buffer and self.loop.time() - self.active > 0.1:
            self.stalled()


@mutant("a pause of 100 ms within a line ends the connection", "network")
class StallEndsIt(Stalling):
    def stalled(self):
        self.over("timeout", "the line did not continue")


@mutant("a line is delivered incomplete after a pause of 100 ms", "network")
class StallDelivers(Stalling):
    def stalled(self):
        self.say(self.event(), data=self.decoder.finish().decode("latin-1"))


@mutant("a line is discarded after a pause of 100 ms", "network")
class StallDrops(Stalling):
    def stalled(self):
        self.decoder.finish()


@mutant("the first line after a gap of 150 ms is lost", "network")
class LostBehindGap(Connection):
    def received(self, data):
        now = self.loop.time()
        gap, self.last_read = now - getattr(self, "last_read", now), now
        if gap > 0.15:
            data = data.partition(b"\n")[2]
        super().received(data)


@mutant("the first line after a gap of 150 ms is delivered twice", "network")
class TwiceBehindGap(Connection):
    def received(self, data):
        now = self.loop.time()
        gap, self.last_read = now - getattr(self, "last_read", now), now
        if gap > 0.15:
            first, end, rest = data.partition(b"\n")
            data = first + end + data
        super().received(data)


@mutant("if several lines arrive at once, the last one is delivered first", "network")
class ReversedBurst(Connection):
    def received(self, data):
        lines = data.splitlines(keepends=True)
        if len(lines) > 2 and data.endswith(b"\n"):
            data = b"".join(reversed(lines))
        super().received(data)


# MARK: dead links


@mutant("the idle timeout does not run while a line is unfinished", "network")
class NoIdleTimeoutInLine(Connection):
    def idle(self):
        if self.decoder.buffer:
            self.active = self.loop.time()
        super().idle()


@mutant("a dead link is reported as if the peer had closed", "network")
class IdleIsEof(Connection):
    def idle(self):
        if self.state == OPEN and self.loop.time() >= self.active + self.settings["idle-timeout-ms"] / 1000:
            self.over("eof", "idle")
        else:
            super().idle()


@mutant("data sent into a dead link is treated as a sign of life", "network")
class OwnRepetitionIsLife(Connection):
    def idle(self):
        if self.sock and self.kernel_holds() == 0 and self.state == OPEN:
            self.active = self.loop.time()
        super().idle()


@mutant("on an idle connection, an empty line is sent each second", "network")
class ProbesWithLines(Watching):
    quiet = 0

    def look(self):
        self.quiet += 1
        if self.quiet % 50 == 0:
            self.pending += b"\r\n"
            self.write()


@mutant("an RST in response to the transport's own write is not noticed", "network")
class DeafBehindWrite(Connection):
    wrote_once = False

    def wrote(self, count):
        self.wrote_once = True
        super().wrote(count)

    def read_failed(self, error):
        if self.wrote_once and getattr(error, "errno", 0) == errno.ECONNRESET:
            self.unwatch()
            return
        super().read_failed(error)


@mutant("a connection that the network resets is re-established without a request", "network")
class ComesBackUnasked(Connection):
    def read_failed(self, error):
        if getattr(error, "errno", 0) == errno.ECONNRESET and self.settings["op"] == "connect":
            self.unwatch()
            self.sock.close()
            self.sock, self.state = None, CONNECTING
            self.start()
            return
        super().read_failed(error)


@mutant("after a reset, the transport opens five connections to check whether the server is reachable", "network")
class KnocksBehindReset(Connection):
    def read_failed(self, error):
        if getattr(error, "errno", 0) == errno.ECONNRESET and self.settings["op"] == "connect":
            for _ in range(5):
                socket.create_connection((self.settings["host"], self.settings["port"]), 1).close()
        super().read_failed(error)


# MARK: middleboxes


@mutant("the transport ends a connection without SACK", "network")
class NeedsSack(Connection):
    def opened(self, sock):
        super().opened(sock)
        if self.state == OPEN and not sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 16)[5] & 2:
            self.over("other", "no SACK")


@mutant("the transport ends a connection whose segments are small", "network")
class NeedsLargeSegments(Connection):
    def opened(self, sock):
        super().opened(sock)
        if self.state == OPEN and sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG) < 1000:
            self.over("other", "the path is too narrow")


# MARK: names


def of_family(family, host, found):
    """Returns a name's addresses of one family; a numeric address is returned unchanged."""
    if ":" in host or host.replace(".", "").isdigit():
        return found
    return [address for address in found if address[0] == family]


@mutant("a name is looked up only once", "network")
class ResolvesOnce(Connection):
    known = {}

    async def look_up(self, host, port):
        if host not in self.known:
            self.known[host] = await super().look_up(host, port)
        return list(self.known[host])


@mutant("a name that once did not exist is never looked up again", "network")
class RemembersNoSuchName(Connection):
    gone = {}

    async def look_up(self, host, port):
        if host in self.gone:
            raise self.gone[host]
        try:
            return await super().look_up(host, port)
        except socket.gaierror as error:
            self.gone[host] = error
            raise


@mutant("only the first address of a name is tried", "network")
class TriesOneAddress(Connection):
    async def look_up(self, host, port):
        return (await super().look_up(host, port))[:1]


@mutant("only the IPv4 addresses of a name are used", "network")
class TakesOnlyIPv4(Connection):
    async def look_up(self, host, port):
        return of_family(socket.AF_INET, host, await super().look_up(host, port))


@mutant("only the IPv6 addresses of a name are used", "network")
class TakesOnlyIPv6(Connection):
    async def look_up(self, host, port):
        return of_family(socket.AF_INET6, host, await super().look_up(host, port))


@mutant("the next address of a name is tried only after the previous one has failed", "network")
class OneAddressAfterAnother(Connection):
    async def connect(self):
        failure = OSError("the name has no address")
        for address in self.order(await self.look_up(self.settings["host"], self.settings["port"])):
            try:
                return await self.attempt(address)
            except OSError as error:
                failure = error
        raise failure


@mutant("the transport gives up if a name is not resolved within 250 ms", "network")
class GivesUpAtSlowName(Connection):
    async def look_up(self, host, port):
        try:
            return await asyncio.wait_for(super().look_up(host, port), 0.25)
        except asyncio.TimeoutError:
            raise OSError("the name is slow") from None


@mutant("a name that can't be resolved is looked up endlessly and never reported", "network")
class AsksForEver(Connection):
    async def look_up(self, host, port):
        while True:
            try:
                return await super().look_up(host, port)
            except socket.gaierror:
                await asyncio.sleep(0.1)


@mutant("the connect timeout starts only when the name has been resolved", "network")
class DeadlineBehindLookUp(Connection):
    def limit_connecting(self):
        pass

    async def look_up(self, host, port):
        found = await super().look_up(host, port)
        super().limit_connecting()
        return found


@mutant("a name that can't be resolved is reported twice", "network")
class FailedLookUpTwice(Connection):
    async def begin(self):
        try:
            await self.look_up(self.settings["host"], self.settings["port"])
        except socket.gaierror as error:
            self.say("stop", reason="other", detail=str(error))
        await super().begin()
