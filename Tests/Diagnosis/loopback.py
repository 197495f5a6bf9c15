"""A host that talks to itself: client and server in one namespace, captured on the device `lo`."""
import os
import select
import signal
import socket
import struct
import time

from namespaces import Namespace
from variant import Net

ETH_P_ALL, SO_TIMESTAMPNS, SO_RCVBUFFORCE = 3, 35, 33
PACKET_OUTGOING, ETHERNET_HEADER = 4, 14


class Loopback(Net):
    """As `Net`, without a link: there are no rules and no companion, and the capture is at both ends."""

    def __init__(self, variant, family=None, port=None, congestion="cubic", backlog=128, server_options=()):
        self.variant, self.rtt = variant, 0.0002
        variant.parameters.pop("rtt", None)
        self.point = variant.note("point", "loopback")
        self.family = family or variant.choose("family", 4, 4, 6)
        self.congestion, self.offload = congestion, False
        self.client_address = "127.0.0.1" if self.family == 4 else "::1"
        self.server_addresses = [self.client_address]
        self.port = port or variant.choose("port", 80, 5432, 6379, 8080, 9000)
        self.client_host = self.server_host = Namespace([])
        self.backlog, self.server_options = backlog, server_options
        self.capture = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        self.capture.bind(("lo", ETH_P_ALL))
        self.capture.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.capture.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.capture.setblocking(False)
        self.listeners = [self.listen(self.client_address, self.port)]
        self.children, self.main_children = [], set()

    def companion(self):
        """Does nothing: on loopback, the scenarios end with a close."""

    def run(self, limit=10.0, settle=None):
        """Captures for `limit` seconds, or until all programs have ended and nothing was sent for a moment."""
        records, end = [], time.monotonic() + limit
        try:
            while time.monotonic() < end:
                if not select.select([self.capture], [], [], 0.05)[0] and self.have_ended():
                    break
                self.read(records)
        finally:
            for process in self.children:
                os.kill(process, signal.SIGKILL)
            for process in self.children:
                os.waitpid(process, 0)
        for one in (self.capture, *self.listeners):
            one.close()
        os.close(self.client_host.file)
        self.variant.records += records
        return records

    def read(self, records):
        while True:
            try:
                data, control, _, address = self.capture.recvmsg(70000, 64)
            except BlockingIOError:
                return
            # The kernel shows each packet twice: when it is sent and when it is received.
            if address[2] == PACKET_OUTGOING or data[12:14] not in (b"\x08\x00", b"\x86\xdd"):
                continue
            packet = data[ETHERNET_HEADER:]
            if packet[9 if packet[0] >> 4 == 4 else 6] != socket.IPPROTO_TCP:
                continue
            seconds, nanoseconds = struct.unpack("qq", control[0][2])
            records.append((seconds * 1_000_000_000 + nanoseconds, packet))
