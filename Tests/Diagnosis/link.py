"""The path between a client's and a server's TUN device: delays, faults, and the capture.

A packet passes four *places* and three *points*, in this order from client to server, and in reverse from server to
client:

    client's stack, `client`, point client, `west`, point middle, `east`, point server, `server`, server's stack

At a place, rules drop, delay, change or answer packets; at a point, the capture records them. So a rule at `client`
changes what the client sends before any capture sees it, and a packet dropped there on its way to the client is in
every capture.
"""
import heapq
import os
import select
import time

from packets import Packet, TO_CLIENT, TO_SERVER

PLACES = {TO_SERVER: ("client", "west", "east", "server"), TO_CLIENT: ("server", "east", "west", "client")}
POINTS = {TO_SERVER: ("client", "middle", "server"), TO_CLIENT: ("server", "middle", "client")}
DROP = ()
VIRTIO_HEADER = 10


class Hop:
    """One direction of one half of the path. A hop keeps packets in order."""

    def __init__(self, delay=0.0, jitter=None, rate=None, queue=None):
        """`jitter` returns an additional delay; `rate` is in bits per second; `queue` is in bytes (None: endless)."""
        self.delay, self.jitter, self.rate, self.queue = delay, jitter, rate, queue
        self.free_at = self.last_arrival = 0.0

    def arrival(self, now, size):
        """Returns when a packet that enters at `now` arrives, or None if the queue is full."""
        sent = now
        if self.rate:
            waiting = max(0.0, self.free_at - now)
            if self.queue is not None and waiting * self.rate / 8 + size > self.queue:
                return None
            self.free_at = sent = max(now, self.free_at) + size * 8 / self.rate
        at = sent + self.delay + (self.jitter() if self.jitter else 0.0)
        self.last_arrival = max(at, self.last_arrival)
        return self.last_arrival


class Link:
    """Forwards packets between two TUN devices and records them at one point."""

    def __init__(self, client_tun, server_tun, hops, point, offload=False):
        """`hops` maps (direction, half) to a `Hop`, where the half is `west` or `east`."""
        self.tuns = {TO_SERVER: server_tun, TO_CLIENT: client_tun}
        self.hops, self.point, self.offload = hops, point, offload
        self.rules = {place: [] for place in PLACES[TO_SERVER]}
        self.records = []
        self.recording = True
        # The number of routers in each half of the path.
        self.routers = {"west": 1, "east": 1}
        # Packets to and from these ports don't keep the link running.
        self.background_ports = set()
        self.queue, self.serial = [], 0
        self.epoch = time.time_ns() - time.monotonic_ns()
        self.began = self.last_packet = time.monotonic()

    def rule(self, place, function):
        """Adds a rule: `function(packet)` returns None to forward the packet, or a list of (delay, packet) pairs."""
        self.rules[place].append(function)

    def at(self, seconds, function):
        """Calls the function when the time has passed since the start of the link."""
        self.schedule(self.began + seconds, function, ())

    def send(self, packet, direction, place):
        """Sends a packet from a place, as a middlebox does."""
        packet.direction = direction
        self.leave(packet, PLACES[direction].index(place))

    def schedule(self, at, function, arguments):
        self.serial += 1
        heapq.heappush(self.queue, (at, self.serial, function, arguments))

    def arrive(self, packet, stage):
        """Applies the rules of the place that the packet has reached."""
        for delay, result in self.judged(packet, self.rules[PLACES[packet.direction][stage]]):
            if delay > 0:
                self.schedule(time.monotonic() + delay, self.leave, (result, stage))
            else:
                self.leave(result, stage)

    @staticmethod
    def judged(packet, rules):
        results = [(0.0, packet)]
        for rule in rules:
            following = []
            for delay, one in results:
                answer = rule(one)
                following += [(delay, one)] if answer is None else [(delay + more, other) for more, other in answer]
            results = following
        return results

    def leave(self, packet, stage):
        """Forwards the packet from a place to the next one, and records it if it passes the capture's point."""
        if stage == 3:
            self.deliver(packet)
            return
        if stage == 2:
            self.hop(packet, stage)
            return
        if stage == 0:
            self.record(packet, 0)
            self.arrive(packet, 1)
        else:
            self.hop(packet, stage)

    def hop(self, packet, stage):
        half = PLACES[packet.direction][stage]
        at = self.hops[packet.direction, half].arrival(time.monotonic(), packet.length)
        if at is not None:
            self.schedule(at, self.landed, (packet, stage))

    def landed(self, packet, stage):
        packet.set_ttl(max(1, packet.ttl - self.routers[PLACES[packet.direction][stage]]))
        self.record(packet, stage)
        self.arrive(packet, stage + 1)

    def record(self, packet, index):
        if self.recording and POINTS[packet.direction][index] == self.point:
            self.records.append((self.epoch + time.monotonic_ns(), bytes(packet.raw)))

    def deliver(self, packet):
        data = bytes(packet.raw)
        if self.offload:
            data = offload_header(packet) + data
        try:
            os.write(self.tuns[packet.direction], data)
        except OSError:
            pass

    def read(self, tun, direction):
        for _ in range(64):
            try:
                data = os.read(tun, 70000)
            except BlockingIOError:
                return
            if self.offload:
                data = data[VIRTIO_HEADER:]
            packet = Packet(data, direction)
            # Router solicitations and multicast reports of the kernel stay out of the capture.
            if packet.is_tcp:
                if self.offload:
                    packet.fix_checksums()
                if not self.is_background(packet):
                    self.last_packet = time.monotonic()
                self.arrive(packet, 0)

    def is_background(self, packet):
        return packet.source_port in self.background_ports or packet.target_port in self.background_ports

    def is_busy(self):
        """Returns whether anything but background packets is on its way or scheduled."""
        return any(not (arguments and self.is_background(arguments[0])) for _, _, _, arguments in self.queue)

    def run(self, limit, is_done, settle):
        """Forwards packets for `limit` seconds, or until `is_done()` holds and no packet was sent for `settle`."""
        poller = select.epoll()
        poller.register(self.tuns[TO_CLIENT], select.EPOLLIN)
        poller.register(self.tuns[TO_SERVER], select.EPOLLIN)
        directions = {self.tuns[TO_CLIENT]: TO_SERVER, self.tuns[TO_SERVER]: TO_CLIENT}
        end = time.monotonic() + limit
        while True:
            now = time.monotonic()
            if now >= end or (now - self.last_packet > settle and not self.is_busy() and is_done()):
                return
            while self.queue and self.queue[0][0] <= time.monotonic():
                _, _, function, arguments = heapq.heappop(self.queue)
                function(*arguments)
            until = min(end, now + 0.02, self.queue[0][0] if self.queue else end)
            for tun, _ in poller.poll(max(0.0, until - time.monotonic())):
                self.read(tun, directions[tun])


def offload_header(packet):
    """Returns the header with which a TUN device accepts a packet that is longer than the MTU."""
    header = bytearray(VIRTIO_HEADER)
    if packet.length > 1500:
        size = packet.payload_offset
        header[1] = 1 if packet.version == 4 else 4
        header[0] = 1
        header[2:4] = size.to_bytes(2, "little")
        header[4:6] = (1500 - size).to_bytes(2, "little")
        header[6:8] = packet.offset.to_bytes(2, "little")
        header[8:10] = (16).to_bytes(2, "little")
    return bytes(header)
