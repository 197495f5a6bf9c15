"""Broken transports with bugs in heartbeats: the reference's Connection, changed in one place."""
from reference import OPEN, Connection
from registry import mutant

# MARK: when a heartbeat is sent


@mutant("no heartbeat is ever sent", "heartbeat")
class BeatNever(Connection):
    def next_beat(self):
        return None


@mutant("the timer is set only once, so only one heartbeat is sent", "heartbeat")
class BeatOnce(Connection):
    has_beaten = False

    def next_beat(self):
        return None if self.has_beaten else super().next_beat()

    def beat(self):
        self.has_beaten = True
        super().beat()


@mutant("the interval is half of the requested interval", "heartbeat")
class BeatTooOften(Connection):
    def next_beat(self):
        time = super().next_beat()
        return None if time is None else time - self.settings["heartbeat-ms"] / 2000


@mutant("the interval is one and a half times the requested interval", "heartbeat")
class BeatTooSeldom(Connection):
    def next_beat(self):
        time = super().next_beat()
        return None if time is None else time + self.settings["heartbeat-ms"] / 2000


@mutant("the interval is interpreted as seconds", "heartbeat")
class BeatInSeconds(Connection):
    def next_beat(self):
        time = super().next_beat()
        return None if time is None else time + self.settings["heartbeat-ms"]


@mutant("a heartbeat is sent at each interval, even if other data was sent", "heartbeat")
class BeatWhileBusy(Connection):
    last_beat = 0.0

    def begin_heartbeat(self):
        self.last_beat = self.loop.time()
        super().begin_heartbeat()

    def next_beat(self):
        return None if super().next_beat() is None else self.last_beat + self.settings["heartbeat-ms"] / 1000

    def beat(self):
        self.last_beat = self.loop.time()
        super().beat()


@mutant("heartbeats pile up behind queued data", "heartbeat")
class BeatsPileUp(Connection):
    def next_beat(self):
        if "heartbeat-ms" not in self.settings or self.fin_wanted or self.failure:
            return None
        return self.last_sent + self.settings["heartbeat-ms"] / 1000


@mutant("received data also postpones the heartbeat", "heartbeat")
class BeatAfterHearing(Connection):
    def next_beat(self):
        time = super().next_beat()
        return None if time is None else max(time, self.last_heard + self.settings["heartbeat-ms"] / 1000)


@mutant("accepted connections send no heartbeats", "heartbeat")
class BeatOfClientsOnly(Connection):
    def next_beat(self):
        return None if self.number >= 1_000_000 else super().next_beat()


# MARK: what a heartbeat consists of


@mutant("a heartbeat has neither a terminator nor a length prefix", "heartbeat")
class BeatUnframed(Connection):
    def beat(self):
        frame = self.settings["heartbeat"].encode("latin-1")
        self.uncounted += len(frame)
        self.queue(frame)


@mutant("an empty heartbeat is not sent", "heartbeat")
class BeatNotEmpty(Connection):
    def next_beat(self):
        return super().next_beat() if self.settings.get("heartbeat") else None


@mutant("heartbeats are reported as sent", "heartbeat")
class BeatTold(Connection):
    def say_sent(self, count):
        self.say("sent", bytes=count)


# MARK: silence


@mutant("a silent peer is never noticed", "heartbeat")
class SilenceNever(Connection):
    def end_of_silence(self):
        return None


@mutant("a silent peer is noticed only if data can't be written", "heartbeat")
class SilenceNeedsBytes(Connection):
    def end_of_silence(self):
        return super().end_of_silence() if self.pending else None


@mutant("a silent peer is not noticed while data is waiting to be written", "heartbeat")
class SilenceWaitsForBytes(Connection):
    def end_of_silence(self):
        return None if self.pending else super().end_of_silence()


@mutant("a silent peer is noticed only if heartbeats are sent", "heartbeat")
class SilenceNeedsBeats(Connection):
    def end_of_silence(self):
        return super().end_of_silence() if "heartbeat-ms" in self.settings else None


@mutant("the transport's own heartbeats are treated as signs of life from the peer", "heartbeat")
class SilenceBrokenByBeats(Connection):
    def beat(self):
        super().beat()
        self.heard()


@mutant("the peer is treated as silent after half of the timeout", "heartbeat")
class SilenceTooShort(Connection):
    def end_of_silence(self):
        time = super().end_of_silence()
        return None if time is None else time - self.settings["heartbeat-timeout-ms"] / 2000


@mutant("a heartbeat timeout is reported as eof", "heartbeat")
class SilenceIsEof(Connection):
    def silent(self):
        self.abort()
        self.over("eof", "the peer is silent")


@mutant("a heartbeat timeout is reported twice", "heartbeat")
class SilenceToldTwice(Connection):
    def silent(self):
        super().silent()
        self.say("stop", reason="heartbeat")


@mutant("a heartbeat timeout is reported, but the connection stays open", "heartbeat")
class SilenceKeepsSocket(Connection):
    def silent(self):
        self.say("stop", reason="heartbeat")


@mutant("the heartbeat timeout also applies while reading is stopped", "heartbeat")
class SilenceWhilePaused(Connection):
    def end_of_silence(self):
        if "heartbeat-timeout-ms" not in self.settings or self.fin_wanted or self.peer_ended:
            return None
        return self.last_heard + self.settings["heartbeat-timeout-ms"] / 1000


@mutant("the heartbeat timeout also applies after the transport's FIN", "heartbeat")
class SilenceBehindFin(Connection):
    def end_of_silence(self):
        if "heartbeat-timeout-ms" not in self.settings or self.paused or self.peer_ended:
            return None
        return self.last_heard + self.settings["heartbeat-timeout-ms"] / 1000


# MARK: signs of life


@mutant("only complete messages are treated as signs of life", "heartbeat")
class LifeIsMessages(Connection):
    def heard_bytes(self):
        pass

    def say(self, event, **fields):
        if event in ("line", "message") and "heartbeat-answer" not in self.settings:
            self.heard()
        super().say(event, **fields)


@mutant("every byte is treated as a sign of life, even if an answer is required", "heartbeat")
class LifeIsBytes(Connection):
    def heard_bytes(self):
        self.heard()


@mutant("answers to heartbeats are delivered", "heartbeat")
class AnswersDelivered(Connection):
    def is_answer(self, message):
        if super().is_answer(message):
            self.heard()
        return False


@mutant("a message that begins like the answer is treated as the answer", "heartbeat")
class AnswerIsPrefix(Connection):
    def is_answer(self, message):
        answer = self.settings.get("heartbeat-answer")
        return self.framing != "none" and answer is not None and message.decode("latin-1").startswith(answer)


@mutant("the answer is compared case-insensitively", "heartbeat")
class AnswerInAnyCase(Connection):
    def is_answer(self, message):
        answer = self.settings.get("heartbeat-answer")
        return self.framing != "none" and answer is not None and message.decode("latin-1").lower() == answer.lower()


@mutant("surrounding spaces are ignored when the answer is compared", "heartbeat")
class AnswerTrimmed(Connection):
    def is_answer(self, message):
        return super().is_answer(message.strip())


@mutant("an answer is dropped and not treated as a sign of life", "heartbeat")
class AnswerIsNoLife(Connection):
    def heard(self):
        if "heartbeat-answer" not in self.settings or self.state != OPEN:
            super().heard()
