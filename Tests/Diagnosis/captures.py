"""Capture files: writing them, and the edits that imitate a capture tool's faults.

Records are pairs of a time in nanoseconds since 1970 and the bytes of an IP packet.
"""
import struct

from packets import Packet

ETHERNET, RAW, LINUX_SLL = 1, 101, 113


def link_header(link_type, packet):
    """Returns a header of the link type for a packet that was captured on a TUN device."""
    kind = b"\x08\x00" if packet[0] >> 4 == 4 else b"\x86\xdd"
    # The last byte of an address stands for the host.
    source, target = (packet[15], packet[19]) if packet[0] >> 4 == 4 else (packet[23], packet[39])
    if link_type == ETHERNET:
        return bytes([2, 0, 0, 0, 0, target, 2, 0, 0, 0, 0, source]) + kind
    if link_type == LINUX_SLL:
        return b"\0\0\0\1\0\6" + bytes([2, 0, 0, 0, 0, source, 0, 0]) + kind
    return b""


def write(path, records, link_type=ETHERNET, form="pcap", snap=262144, drops=None):
    """Writes records as `pcap` (nanoseconds), `pcap-us` or `pcapng`, whose statistics count `drops`."""
    with open(path, "wb") as file:
        if form == "pcapng":
            file.write(block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)))
            file.write(block(1, struct.pack("<HHI", link_type, 0, snap) + struct.pack("<HHB3xHH", 9, 1, 9, 0, 0)))
        else:
            magic = 0xA1B23C4D if form == "pcap" else 0xA1B2C3D4
            file.write(struct.pack("<IHHiIII", magic, 2, 4, 0, 0, snap, link_type))
        for time, packet in records:
            data = link_header(link_type, packet) + packet
            kept = data[:snap]
            if form == "pcapng":
                head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(kept), len(data))
                file.write(block(6, head + kept + bytes(-len(kept) % 4)))
            else:
                fraction = time % 1_000_000_000 // (1 if form == "pcap" else 1000)
                file.write(struct.pack("<IIII", time // 1_000_000_000, fraction, len(kept), len(data)) + kept)
        if form == "pcapng" and drops is not None:
            last = records[-1][0]
            # isb_ifrecv and isb_ifdrop
            counters = struct.pack("<HHQHHQ", 4, 8, len(records) + drops, 5, 8, drops)
            file.write(block(5, struct.pack("<III", 0, last >> 32, last & 0xFFFFFFFF) + counters + bytes(4)))


def block(kind, body):
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def parsed(records):
    """Returns the records as (time, packet) pairs, with the packets parsed."""
    return [(time, Packet(raw)) for time, raw in records]


def flow_numbers(records):
    """Maps each flow's key to its number: flows are numbered in the order of their first packets."""
    numbers = {}
    for _, packet in parsed(records):
        if packet.is_tcp:
            numbers.setdefault(packet.flow_key, len(numbers))
    return numbers


def without(records, is_dropped):
    """Returns the records for whose packets `is_dropped(index, packet)` doesn't hold."""
    return [record for index, record in enumerate(records) if not is_dropped(index, Packet(record[1]))]


def twice(records, delay, lower_ttl):
    """Returns every record twice: `delay()` is the time to the copy, which has been routed if `lower_ttl`."""
    copies = []
    for time, raw in records:
        copy = Packet(raw)
        if lower_ttl:
            copy.set_ttl(copy.ttl - 1)
        copies += [(time, raw), (time + int(delay() * 1e9), bytes(copy.raw))]
    return sorted(copies, key=lambda record: record[0])


def shifted(records, is_shifted, seconds):
    """Returns the records with `seconds` added to the times for which `is_shifted(index, packet)` holds."""
    return [(time + int(seconds * 1e9) if is_shifted(index, Packet(raw)) else time, raw)
            for index, (time, raw) in enumerate(records)]


def longest_silence(records):
    """Returns the index of the record that follows the longest silence."""
    return max(range(1, len(records)), key=lambda index: records[index][0] - records[index - 1][0])
