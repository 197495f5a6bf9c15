"""Random payloads and their notation in a scenario."""
import base64

ESCAPES = {0x0D: "\\r", 0x0A: "\\n", 0x09: "\\t", 0x00: "\\0", 0x5C: "\\\\", 0x22: '\\"', 0x24: "\\$"}


def quoted(data):
    """Returns a string literal for these bytes."""
    return '"' + "".join(ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\x{byte:02x}") for byte in data) + '"'


def value(rng, data):
    """Returns the same bytes in one of the language's notations."""
    form = rng.random()
    if form < 0.7 or not data:
        return quoted(data)
    if form < 0.8:
        return f"hex({data.hex(' ')})"
    if form < 0.9:
        return f'base64("{base64.b64encode(data).decode()}")'
    at = rng.randrange(len(data) + 1)
    parts = [quoted(part) for part in (data[:at], data[at:]) if part]
    return " + ".join(parts)


# Characters for wrong payloads. No wrong expectation contains them.
SENT_INSTEAD = b"KLMNOPQR"


def regex(data, flags=""):
    """Returns a regex that matches only this line."""
    body = "".join(chr(byte) if chr(byte).isascii() and chr(byte).isalnum() else f"\\x{byte:02x}" for byte in data)
    return f"/^{body}$/{flags}"


def changed(rng, data, instead=b"ABCXYZ019"):
    """Returns the bytes with one of them changed; no CR or LF is added or removed."""
    places = [at for at, byte in enumerate(data) if byte not in b"\r\n"]
    at = rng.choice(places)
    return data[:at] + bytes([rng.choice([byte for byte in instead if byte != data[at]])]) + data[at + 1:]


class Words:
    """Creates payloads that no other payload of the case equals or contains."""

    def __init__(self, rng, prefix):
        self.rng, self.prefix, self.count = rng, prefix, 0

    def line(self):
        """Returns the content of a line, without a terminator."""
        self.count += 1
        filler = {0: lambda: b"", 1: lambda: b" " + bytes(self.rng.choices(b"abc xyz\t$\"\\/{}", k=self.rng.randrange(1, 20))),
                  2: lambda: bytes(self.rng.choices(range(0x80, 0x100), k=self.rng.randrange(1, 6))),
                  3: lambda: b"-" * self.rng.randrange(1, 600)}[self.rng.choices(range(4), [5, 3, 1, 1])[0]]()
        return f"<{self.prefix}{self.count}".encode() + filler + b">"

    def raw(self):
        """Returns bytes that contain no CR LF, but may contain anything else."""
        self.count += 1
        body = bytes(self.rng.choices(range(256), k=self.rng.randrange(0, 40))).replace(b"\r", b".").replace(b"\n", b":")
        return f"({self.prefix}{self.count}".encode() + body + b")"
