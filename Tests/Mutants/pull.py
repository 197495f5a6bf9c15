#!/usr/bin/env python3
"""The reference in AsyncSocket's model: the user requests reads, and nothing else is delivered.

Reads are answered in order. Up to 64 KiB that no read has consumed yet are kept; further bytes stay in the kernel's
buffer.
"""
import collections

import reference
from reference import OPEN, READ_SIZE, Adapter, Connection, Decoder, Listener, TLSSocket


class PullConnection(Connection):
    """Answers reads with the received bytes, each as soon as possible."""

    def __init__(self, adapter, number, settings):
        super().__init__(adapter, number, settings)
        # The reads that have not been answered yet.
        self.reads = collections.deque()
        self.read_timer = None

    def read(self, request):
        self.require_open()
        self.reads.append(request)
        self.deliver()
        self.update()

    def deliver(self):
        while self.state == OPEN and self.reads:
            count = self.count(self.reads[0])
            if count is None:
                break
            self.reads.popleft()
            self.say("data", data=self.decoder.take(0, count, 0).decode("latin-1"))
            self.cancel_read_timer()
        if self.state == OPEN and self.reads and not self.read_timer:
            self.await_read(self.reads[0])

    def count(self, request):
        """Returns how many bytes of the buffer the read takes, or None if the read can't be answered yet."""
        buffer = self.decoder.buffer
        if "length" in request:
            return request["length"] if len(buffer) >= request["length"] else None
        if "until" in request:
            delimiter = request["until"].encode("latin-1")
            start = buffer.find(delimiter)
            return start + len(delimiter) if start >= 0 else None
        return len(buffer) or None

    def await_read(self, request):
        if "timeout-ms" in request:
            self.read_timer = self.loop.call_later(request["timeout-ms"] / 1000, self.read_timed_out)

    def read_timed_out(self):
        self.stop_event("timeout", "nothing that answers the read")
        self.linger()

    def cancel_read_timer(self):
        if self.read_timer:
            self.read_timer.cancel()
        self.read_timer = None

    def cancel_timers(self):
        super().cancel_timers()
        self.cancel_read_timer()

    def end(self, reason):
        self.cancel_read_timer()
        super().end(reason)

    def wants_read(self):
        enough = self.state == OPEN and not self.reads and len(self.decoder.buffer) >= READ_SIZE
        return super().wants_read() and not enough


class PullAdapter(Adapter):
    can = ["connect", "listen", "send", "send-early", "data", "half-close", "stop", "reset", "reads", "sent", "leftover", "connect-timeout",
           "idle-timeout", "tls", "start-tls"]

    def perform(self, request):
        known = self.known.get(request["conn"])
        if request["op"] == "read" and isinstance(known, PullConnection):
            known.read(request)
            return {}
        return super().perform(request)


def run(name="pull", part=PullConnection):
    """Serves until the end of stdin, using this class for connections."""
    parts = {Decoder: Decoder, TLSSocket: TLSSocket, Connection: part, Listener: Listener}
    reference.asyncio.run(PullAdapter(name, parts).serve())


if __name__ == "__main__":
    run()
