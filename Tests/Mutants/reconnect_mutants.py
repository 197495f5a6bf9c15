"""Broken transports with bugs in reconnecting: the reference's Connection or its queue, changed in one place."""
import socket

from reference import AWAY, CONNECTING, Connection
from registry import mutant

# MARK: whether it reconnects


@mutant("a lost connection is never re-established", "heartbeat")
class ReconnectNever(Connection):
    def comes_back(self, reason):
        return False


@mutant("a connection that the peer closed is not re-established", "heartbeat")
class ReconnectNotBehindEof(Connection):
    def comes_back(self, reason):
        return reason != "eof" and super().comes_back(reason)


@mutant("a connection that was reset is not re-established", "heartbeat")
class ReconnectNotBehindReset(Connection):
    def comes_back(self, reason):
        return reason != "reset" and super().comes_back(reason)


@mutant("the transport does not reconnect after a heartbeat timeout", "heartbeat")
class ReconnectNotBehindSilence(Connection):
    def comes_back(self, reason):
        return reason != "heartbeat" and super().comes_back(reason)


@mutant("if the first attempt fails, no further attempt is made", "heartbeat")
class ReconnectNotAtFirst(Connection):
    def comes_back(self, reason):
        return (self.is_started or self.waits > 0) and super().comes_back(reason)


@mutant("a failed attempt is the last one", "heartbeat")
class ReconnectTriedOnce(Connection):
    def comes_back(self, reason):
        return (self.is_started or self.waits == 0) and super().comes_back(reason)


@mutant("the transport reconnects only once", "heartbeat")
class ReconnectOnce(Connection):
    times = 0

    def comes_back(self, reason):
        return self.times < 1 and super().comes_back(reason)

    def hand_over(self, successor):
        successor.times = self.times + 1
        super().hand_over(successor)


@mutant("the transport reconnects after a requested stop", "heartbeat")
class ReconnectBehindStop(Connection):
    def stop_event(self, reason, detail=""):
        super().stop_event(reason, detail)
        if reason == "stopped" and self.wants_to_come_back():
            self.loop.call_later(self.wait(), lambda: socket.create_connection((self.settings["host"], self.settings["port"])).close())


@mutant("a stop without a connection does not cancel the reconnect timer", "heartbeat")
class ReconnectTimerGoesOn(Connection):
    def stop(self):
        if self.state == AWAY:
            self.loop.call_later(self.settings["reconnect-min-ms"] / 1000, lambda: socket.create_connection((self.settings["host"], self.settings["port"])).close())
        super().stop()


@mutant("a stop without a connection waits for the next connection", "heartbeat")
class ReconnectStopsLate(Connection):
    is_to_stop = False

    def stop(self):
        if self.state == AWAY:
            self.is_to_stop = True
        else:
            super().stop()

    def opened(self, sock):
        super().opened(sock)
        if self.is_to_stop:
            self.stop()


@mutant("the peer's FIN in answer to the transport's FIN is treated as a loss", "heartbeat")
class ReconnectBehindHalfClose(Connection):
    def half_close(self):
        super().half_close()
        self.has_half_closed = False


@mutant("the transport reconnects to a peer that has violated the protocol", "heartbeat")
class ReconnectBehindTooLong(Connection):
    def comes_back(self, reason):
        return reason == "too-long" and self.wants_to_come_back() or super().comes_back(reason)


# MARK: when it reconnects


@mutant("the transport reconnects without a delay", "heartbeat")
class ReconnectAtOnce(Connection):
    def wait(self):
        return 0


@mutant("the delay is a quarter of the requested delay", "heartbeat")
class ReconnectTooEarly(Connection):
    def wait(self):
        return super().wait() / 4


@mutant("the delay is interpreted as seconds", "heartbeat")
class ReconnectInSeconds(Connection):
    def wait(self):
        return super().wait() * 1000


@mutant("the delay never grows", "heartbeat")
class ReconnectWithoutBackoff(Connection):
    def wait(self):
        return self.settings["reconnect-min-ms"] / 1000


@mutant("the delay grows without a limit", "heartbeat")
class ReconnectWithoutLimit(Connection):
    def wait(self):
        return self.settings["reconnect-min-ms"] * 2 ** self.waits / 1000


@mutant("the first delay is already the maximum", "heartbeat")
class ReconnectLongestFirst(Connection):
    def wait(self):
        return self.settings["reconnect-max-ms"] / 1000


@mutant("an established connection does not reset the delay", "heartbeat")
class ReconnectKeepsWaits(Connection):
    def waits_so_far(self):
        return self.waits


@mutant("each loss starts two timers, so connections accumulate", "heartbeat")
class ReconnectTwice(Connection):
    spare = None

    def stay_away(self, seconds):
        super().stay_away(seconds)
        self.loop.call_later(seconds + 0.05, self.connect_too)

    def connect_too(self):
        if self.state != AWAY and self.spare is None:
            self.spare = socket.socket()
            self.spare.setblocking(False)
            self.spare.connect_ex((self.settings["host"], self.settings["port"]))


# MARK: what it reports


@mutant("a loss is reported as a stop, but the transport reconnects nevertheless", "heartbeat")
class ReconnectToldAsStop(Connection):
    def say_lost(self, reason, detail, dropped):
        self.say("stop", reason=reason, detail=detail)


@mutant("a loss is reported twice", "heartbeat")
class ReconnectToldTwice(Connection):
    def say_lost(self, reason, detail, dropped):
        super().say_lost(reason, detail, dropped)
        super().say_lost(reason, detail, 0)


@mutant("a loss is not reported", "heartbeat")
class ReconnectUntold(Connection):
    def say_lost(self, reason, detail, dropped):
        pass


@mutant("the new connection is not reported as started", "heartbeat")
class ReconnectStartUntold(Connection):
    is_first = True

    def hand_over(self, successor):
        successor.is_first = not self.is_started and self.is_first
        super().hand_over(successor)

    def say(self, event, **fields):
        if event != "start" or self.is_first:
            super().say(event, **fields)


@mutant("each loss is reported with the reason eof", "heartbeat")
class ReconnectReasonLost(Connection):
    def say_lost(self, reason, detail, dropped):
        super().say_lost("eof", detail, dropped)


@mutant("dropped messages are not reported", "heartbeat")
class ReconnectDropsUntold(Connection):
    def say_lost(self, reason, detail, dropped):
        super().say_lost(reason, detail, 0)


# MARK: what it carries over


@mutant("data that is queued without a connection is dropped", "heartbeat")
class ReconnectDropsQueue(Connection):
    def left_over(self):
        self.unsent.frames.clear()
        return b""


@mutant("a failed attempt drops queued data", "heartbeat")
class ReconnectDropsQueueOfAttempt(Connection):
    def hand_over(self, successor):
        if not self.is_started:
            self.unsent.frames.clear()
        super().hand_over(successor)


@mutant("queued data is sent in the wrong order", "heartbeat")
class ReconnectReversesQueue(Connection):
    def left_over(self):
        self.unsent.frames.reverse()
        return super().left_over()


@mutant("data that was queued without a connection is sent after later data", "heartbeat")
class ReconnectQueueLast(Connection):
    def come_back(self):
        self.state = CONNECTING
        self.start()

    def opened(self, sock):
        waits = b"" if self.is_started else self.left_over()
        super().opened(sock)
        if waits:
            self.loop.call_later(0.05, self.queue, waits)


@mutant("a message that was written is sent again", "heartbeat")
class ReconnectSendsAgain(Connection):
    def say_sent(self, count):
        if count > self.uncounted:
            self.say("sent", bytes=count - self.uncounted)


@mutant("the rest of a partially sent message is sent on the next connection", "heartbeat")
class ReconnectContinuesMessage(Connection):
    def lost(self, reason, detail):
        if self.unsent.passed:
            self.unsent.frames[0] = self.unsent.frames[0][self.unsent.passed:]
            self.unsent.passed = 0
        super().lost(reason, detail)


@mutant("half a line of the old connection is prepended to the first line of the new one", "heartbeat")
class ReconnectKeepsBuffer(Connection):
    def hand_over(self, successor):
        successor.decoder = self.decoder
        super().hand_over(successor)

    def leave(self):
        if not self.comes_back("eof"):
            return super().leave()
        if self.decoder.buffer:
            self.say("leftover", data=self.decoder.buffer.decode("latin-1"))
        return None


@mutant("heartbeats missed without a connection are sent later", "heartbeat")
class ReconnectBeatsPileUp(Connection):
    def opened(self, sock):
        was_started = self.is_started
        super().opened(sock)
        if not was_started and self.waits and "heartbeat-ms" in self.settings:
            for _ in range(int(self.settings["reconnect-min-ms"] / self.settings["heartbeat-ms"])):
                self.beat()


@mutant("a new connection has no heartbeats", "heartbeat")
class ReconnectWithoutBeats(Connection):
    def begin_heartbeat(self):
        if not self.waits:
            super().begin_heartbeat()


@mutant("a changed framing also applies to the next connection", "heartbeat")
class ReconnectKeepsFraming(Connection):
    def hand_over(self, successor):
        successor.set_framing({**self.settings, "framing": self.framing, "delimiter": (self.delimiter or b"").decode("latin-1")})
        super().hand_over(successor)
