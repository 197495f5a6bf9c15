"""Reads and writes PNG files with 8 bits per channel, RGB, without interlacing, as the stored pictures need."""
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def write(path, width, height, pixels):
    """Writes rows from the top, three bytes per pixel."""
    stride = width * 3
    rows, above = bytearray(), bytes(stride)
    for start in range(0, stride * height, stride):
        row = pixels[start:start + stride]
        # Uses the simple filter that results in the smallest numbers.
        candidates = [
            (0, row),
            (1, bytes((value - (row[at - 3] if at >= 3 else 0)) & 255 for at, value in enumerate(row))),
            (2, bytes((value - over) & 255 for value, over in zip(row, above))),
        ]
        kind, best = min(candidates, key=lambda candidate: sum(min(value, 256 - value) for value in candidate[1]))
        rows.append(kind)
        rows += best
        above = row

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    with open(path, "wb") as file:
        file.write(SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)))
        file.write(chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def read(path):
    """Returns the width, the height and the pixels. Raises a ValueError for an invalid file."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != SIGNATURE:
        raise ValueError(f"{path} is not a PNG file")
    header, packed, at = None, b"", 8
    while at + 12 <= len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        if data[at + 8 + length:at + 12 + length] != struct.pack(">I", zlib.crc32(kind + body)):
            raise ValueError(f"{path}: the chunk at byte {at} is damaged")
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    if header is None or header[2:] != (8, 2, 0, 0, 0):
        raise ValueError(f"{path} does not have 8 bits per channel, RGB, without interlacing")
    width, height = header[:2]
    try:
        rows = zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"{path}: {error}") from error
    stride = width * 3
    if len(rows) != (stride + 1) * height:
        raise ValueError(f"{path} is truncated")
    pixels, above = bytearray(), bytearray(stride)
    for start in range(0, len(rows), stride + 1):
        kind, row = rows[start], bytearray(rows[start + 1:start + 1 + stride])
        for at in range(stride):
            left, corner = (row[at - 3], above[at - 3]) if at >= 3 else (0, 0)
            over = above[at]
            if kind == 1:
                row[at] = (row[at] + left) & 255
            elif kind == 2:
                row[at] = (row[at] + over) & 255
            elif kind == 3:
                row[at] = (row[at] + (left + over) // 2) & 255
            elif kind == 4:
                guess = left + over - corner
                row[at] = (row[at] + min((left, over, corner), key=lambda value: abs(guess - value))) & 255
        pixels += row
        above = row
    return width, height, bytes(pixels)
