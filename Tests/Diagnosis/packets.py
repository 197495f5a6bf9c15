"""Parses, edits and builds the IP packets that the generator forwards: TCP, and the ICMP errors that quote it."""
import socket
import struct

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16
TO_SERVER, TO_CLIENT = "to-server", "to-client"


def checksum(data):
    """Returns the Internet checksum of the bytes (RFC 1071)."""
    if len(data) % 2:
        data = bytes(data) + b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Packet:
    """An IP packet without a link header. The fields of TCP are 0 if the packet isn't TCP."""
    __slots__ = ("raw", "direction", "version", "length", "protocol", "offset", "source_port", "target_port", "seq",
                 "ack", "flags", "window", "payload_offset", "payload_length")

    def __init__(self, raw, direction=None):
        self.raw = bytearray(raw)
        self.direction = direction
        self.read()

    def read(self):
        """Reads the fields from the bytes; call it after an edit."""
        raw = self.raw
        self.version = raw[0] >> 4
        self.length = len(raw)
        if self.version == 4:
            self.offset, self.protocol = (raw[0] & 15) * 4, raw[9]
        else:
            self.offset, self.protocol = 40, raw[6]
        self.source_port = self.target_port = self.seq = self.ack = self.flags = self.window = self.payload_length = 0
        self.payload_offset = self.length
        if self.protocol == socket.IPPROTO_TCP and self.length >= self.offset + 20:
            (self.source_port, self.target_port, self.seq, self.ack, size, self.flags,
             self.window) = struct.unpack_from("!HHIIBBH", raw, self.offset)
            self.payload_offset = self.offset + (size >> 4) * 4
            self.payload_length = self.length - self.payload_offset

    @property
    def is_tcp(self):
        return self.protocol == socket.IPPROTO_TCP

    @property
    def payload(self):
        return bytes(self.raw[self.payload_offset:])

    @property
    def end(self):
        """The sequence number after the last one that the segment occupies."""
        return (self.seq + self.payload_length + bool(self.flags & SYN) + bool(self.flags & FIN)) & 0xFFFFFFFF

    @property
    def addresses(self):
        """The source and the target address, as bytes."""
        return ((bytes(self.raw[12:16]), bytes(self.raw[16:20])) if self.version == 4
                else (bytes(self.raw[8:24]), bytes(self.raw[24:40])))

    @property
    def flow_key(self):
        """What identifies the connection, in either direction."""
        source, target = self.addresses
        return tuple(sorted(((source, self.source_port), (target, self.target_port))))

    @property
    def ttl(self):
        return self.raw[8 if self.version == 4 else 7]

    def copy(self):
        return Packet(self.raw, self.direction)

    def set_ttl(self, ttl):
        self.raw[8 if self.version == 4 else 7] = ttl
        self.fix_checksums(tcp=False)

    def set_identification(self, value):
        """Sets the IP ID of an IPv4 packet."""
        if self.version == 4:
            struct.pack_into("!H", self.raw, 4, value)
            self.fix_checksums(tcp=False)

    def set_window(self, value):
        """Sets the window field, before scaling."""
        struct.pack_into("!H", self.raw, self.offset + 14, value)
        self.window = value
        self.fix_checksums()

    def fix_checksums(self, tcp=True):
        if self.version == 4:
            self.raw[10:12] = b"\0\0"
            struct.pack_into("!H", self.raw, 10, checksum(self.raw[:self.offset]))
        if tcp and self.is_tcp:
            struct.pack_into("!H", self.raw, self.offset + 16, 0)
            source, target = self.addresses
            pseudo = source + target + struct.pack("!HH", socket.IPPROTO_TCP, self.length - self.offset)
            struct.pack_into("!H", self.raw, self.offset + 16, checksum(pseudo + self.raw[self.offset:]))

    def options(self):
        """Yields the kind, the offset in `raw` and the length of each option of TCP."""
        place, end = self.offset + 20, self.payload_offset
        while place < end and self.raw[place]:
            size = 1 if self.raw[place] == 1 else self.raw[place + 1] if place + 1 < end else 0
            if size == 0:
                return
            if self.raw[place] != 1:
                yield self.raw[place], place, size
            place += size


def ip_header(source, target, protocol, size, ttl=64, identification=0):
    """Returns an IP header, without options, for a payload of `size` bytes between two addresses in bytes."""
    if len(source) == 4:
        header = bytearray(struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + size, identification, 0x4000, ttl, protocol, 0,
                                       source, target))
        struct.pack_into("!H", header, 10, checksum(header))
        return bytes(header)
    return struct.pack("!IHBB16s16s", 6 << 28, size, protocol, ttl, source, target)


def segment(source, target, seq, ack, flags, window=0, payload=b"", ttl=64, identification=0, options=b""):
    """Builds a TCP segment between two (address in bytes, port) pairs."""
    tcp = struct.pack("!HHIIBBHHH", source[1], target[1], seq & 0xFFFFFFFF, ack & 0xFFFFFFFF,
                      (20 + len(options)) // 4 << 4, flags, window, 0, 0) + options + payload
    packet = Packet(ip_header(source[0], target[0], socket.IPPROTO_TCP, len(tcp), ttl, identification) + tcp)
    packet.fix_checksums()
    return packet


def reply(packet, seq, ack, flags, **more):
    """Builds a segment from the receiver of `packet` to its sender."""
    source, target = packet.addresses
    return segment((target, packet.target_port), (source, packet.source_port), seq, ack, flags, **more)


def unreachable(packet, code, mtu=0):
    """Builds the ICMP error of a router about `packet`: destination unreachable, or too big if `mtu` is given."""
    source, target = packet.addresses
    router = target[:-1] + b"\x01"
    if packet.version == 4:
        body = struct.pack("!BBHHH", 3, 4 if mtu else code, 0, 0, mtu) + bytes(packet.raw[:packet.offset + 8])
        body = body[:2] + struct.pack("!H", checksum(body)) + body[4:]
        return Packet(ip_header(router, source, socket.IPPROTO_ICMP, len(body)) + body)
    kind = (2, 0) if mtu else (1, code)
    body = struct.pack("!BBHI", *kind, 0, mtu) + bytes(packet.raw[:1232])
    pseudo = router + source + struct.pack("!II", len(body), socket.IPPROTO_ICMPV6)
    body = body[:2] + struct.pack("!H", checksum(pseudo + body)) + body[4:]
    return Packet(ip_header(router, source, socket.IPPROTO_ICMPV6, len(body)) + body)
