"""WebSocket (RFC 6455) independent of the connection: the opening handshake of both sides, and conversion between frames and messages.

Nothing here reads or writes a socket. WebSocketConnection in reference.py performs the I/O, and decides how the
connection ends.
"""
import base64
import binascii
import codecs
import hashlib
import os
import re

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
OPCODES = {CONTINUATION: "continuation", TEXT: "text", BINARY: "binary", CLOSE: "close", PING: "ping", PONG: "pong"}
# The maximum size in bytes of the head of a request or a response, and of the payload of a control frame.
HEAD_SIZE, CONTROL_SIZE = 16 * 1024, 125
# Codes of a close frame.
NORMAL, PROTOCOL, INVALID, TOO_LONG = 1000, 1002, 1007, 1009


class BadHead(Exception):
    """Raised for a request or an answer that does not open a WebSocket; the text is the status with which a request is
    refused."""


class Violation(Exception):
    """Raised for a violation of the RFC; contains the code of the close frame that answers the violation."""

    def __init__(self, code):
        super().__init__(f"close {code}")
        self.code = code


def accept_of(key):
    return base64.b64encode(hashlib.sha1(key + GUID).digest())


def is_utf8(data):
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_code(code):
    """Returns whether a close frame may have this code (section 7.4)."""
    return 1000 <= code <= 1014 and code not in (1004, 1005, 1006) or 3000 <= code <= 4999


def masked(data, key, offset=0):
    """Returns the bytes masked with the key, starting at `offset`; masking them again removes the mask."""
    key = (key[offset % 4:] + key[:offset % 4]) * (len(data) // 4 + 1)
    return (int.from_bytes(data, "big") ^ int.from_bytes(key[:len(data)], "big")).to_bytes(len(data), "big")


class Opening:
    """One side of the opening handshake: collects and checks the peer's head. Bytes that follow the head stay in
    `buffer`."""

    def __init__(self):
        self.buffer = bytearray()

    def append(self, data):
        self.buffer += data

    def is_done(self):
        """Returns whether the peer's head is complete and valid. Raises BadHead."""
        head = self.take_head()
        if head is None:
            return False
        first, *lines = head.split(b"\r\n")
        self.check(first, self.fields(lines))
        return True

    def take_head(self):
        """Returns the head without the empty line that ends it, or None while the head is incomplete."""
        end = self.buffer.find(b"\r\n\r\n")
        self.check_size(len(self.buffer) if end < 0 else end)
        if end < 0:
            return None
        head = bytes(self.buffer[:end])
        del self.buffer[:end + 4]
        return head

    def check_size(self, size):
        if size > HEAD_SIZE:
            raise BadHead("431 Request Header Fields Too Large")

    def fields(self, lines):
        """Returns the values of each field, by the field's name in lower case."""
        fields = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            self.require(colon)
            fields.setdefault(name.lower(), []).append(value.strip(b" \t"))
        return fields

    def require(self, is_right, status="400 Bad Request"):
        if not is_right:
            raise BadHead(status)

    def tokens(self, fields, name):
        """Returns the members of a list field, in lower case."""
        return [token.strip(b" \t").lower() for token in b",".join(fields.get(name, [])).split(b",")]

    def check(self, first, fields):
        self.check_first(first)
        self.check_upgrade(fields)
        self.check_connection(fields)

    def check_upgrade(self, fields):
        self.require(self.tokens(fields, b"upgrade") == [b"websocket"])

    def check_connection(self, fields):
        self.require(b"upgrade" in self.tokens(fields, b"connection"))


class ClientOpening(Opening):
    """Sends the request, and checks the answer."""

    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.key = base64.b64encode(self.nonce())

    def nonce(self):
        return os.urandom(16)

    def request(self):
        fields = [f"GET {self.path()} HTTP/1.1", f"Host: {self.host()}", "Upgrade: websocket", "Connection: Upgrade",
                  f"Sec-WebSocket-Key: {self.key.decode()}", "Sec-WebSocket-Version: 13"]
        return "\r\n".join([*fields, "", ""]).encode("latin-1")

    def path(self):
        return self.settings.get("request-path", "/")

    def host(self):
        host, port = self.settings["host"], self.settings["port"]
        if ":" in host:
            host = f"[{host}]"
        return host if port == (443 if "tls" in self.settings else 80) else f"{host}:{port}"

    def check(self, first, fields):
        super().check(first, fields)
        self.check_accept(fields)
        self.check_extensions(fields)
        self.check_protocol(fields)

    def check_first(self, first):
        self.require(re.fullmatch(rb"HTTP/1\.1 101( .*)?", first, re.DOTALL))

    def check_accept(self, fields):
        self.require(fields.get(b"sec-websocket-accept") == [accept_of(self.key)])

    def check_extensions(self, fields):
        """Rejects extensions, because the request offers none."""
        self.require(b"sec-websocket-extensions" not in fields)

    def check_protocol(self, fields):
        """Rejects a protocol, because the request offers none."""
        self.require(b"sec-websocket-protocol" not in fields)

    def answer(self):
        return b""

    def refusal(self, status):
        return b""


class ServerOpening(Opening):
    """Checks and answers the request. Extensions and protocols that the request offers are ignored."""
    key = b""

    def request(self):
        return b""

    def check(self, first, fields):
        super().check(first, fields)
        self.check_version(fields)
        self.check_key(fields)

    def check_first(self, first):
        self.require(re.fullmatch(rb"GET [^ ]+ HTTP/1\.1", first))

    def check_version(self, fields):
        self.require(fields.get(b"sec-websocket-version") == [b"13"], "426 Upgrade Required")

    def check_key(self, fields):
        keys = fields.get(b"sec-websocket-key", [])
        self.require(len(keys) == 1)
        self.key = keys[0]
        try:
            self.require(len(base64.b64decode(self.key, validate=True)) == 16)
        except binascii.Error:
            raise BadHead("400 Bad Request") from None

    def answer(self):
        return (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: %s\r\n\r\n" % accept_of(self.key))

    def refusal(self, status):
        return (f"HTTP/1.1 {status}\r\nUpgrade: websocket\r\nConnection: close\r\nSec-WebSocket-Version: 13\r\n"
                "Content-Length: 0\r\n\r\n").encode("latin-1")


class Frame:
    """An incoming frame: its first two bytes, its length and key, and the part of its payload that has arrived."""

    def __init__(self, first, second):
        self.is_final, self.reserved, self.opcode = bool(first & 0x80), first & 0x70, first & 0x0F
        self.is_masked, self.length = bool(second & 0x80), second & 0x7F
        self.key = b""
        self.payload = bytearray()

    @property
    def is_control(self):
        return self.opcode >= CLOSE

    @property
    def is_complete(self):
        return len(self.payload) == self.length


class Frames:
    """Converts bytes to messages and control frames, and back. A length in a header alone does not cause an
    allocation."""

    def __init__(self, is_server, limit):
        self.is_server, self.limit = is_server, limit
        self.buffer = bytearray()
        # The frame whose payload has not arrived completely.
        self.frame = None
        # The current message: its opcode, its fragments so far, and the UTF-8 decoder if it is text.
        self.opcode, self.message, self.text = None, bytearray(), None

    # MARK: Reading

    def append(self, data):
        self.buffer += data

    def finish(self):
        """Returns no leftover when the stream has ended, because an incomplete frame does not count as a leftover."""
        self.buffer.clear()
        return b""

    def next(self):
        """Returns the next message or control frame as its opcode and its payload; None while more bytes are needed. Raises Violation."""
        while self.frame or self.begin():
            self.fill()
            if not self.frame.is_complete:
                break
            frame, self.frame = self.frame, None
            if frame.is_control:
                return frame.opcode, bytes(frame.payload)
            self.add(frame)
            if frame.is_final:
                return self.take_message()
        return None

    def begin(self):
        """Reads a header; returns False while the header is incomplete. Each part is checked as soon as it has
        arrived."""
        if len(self.buffer) < 2:
            return False
        frame = Frame(*self.buffer[:2])
        self.check_header(frame)
        end = 2 + self.length_width(frame)
        if len(self.buffer) < end:
            return False
        if end > 2:
            frame.length = int.from_bytes(self.buffer[2:end], "big")
            self.check_length(frame.length, end - 2)
        if not frame.is_control:
            self.check_limit(frame.length + self.joined())
        if frame.is_masked:
            frame.key = bytes(self.buffer[end:end + 4])
            end += 4
            if len(self.buffer) < end:
                return False
        del self.buffer[:end]
        self.start(frame)
        return True

    def check_header(self, frame):
        self.check_reserved(frame)
        self.check_opcode(frame)
        self.check_mask(frame)
        if frame.is_control:
            self.check_control(frame)
        else:
            self.check_order(frame)

    def check_reserved(self, frame):
        """Rejects reserved bits, which have a meaning only with an extension."""
        self.require(not frame.reserved)

    def check_opcode(self, frame):
        self.require(frame.opcode in OPCODES)

    def check_mask(self, frame):
        self.require(frame.is_masked == self.is_server)

    def check_control(self, frame):
        self.require(frame.is_final and frame.length <= CONTROL_SIZE)

    def check_order(self, frame):
        """Checks that a continuation frame continues a message, and that no other data frame appears within a
        message."""
        self.require((frame.opcode == CONTINUATION) == (self.opcode is not None))

    def length_width(self, frame):
        return {126: 2, 127: 8}.get(frame.length, 0)

    def check_length(self, length, width):
        """Checks that a length is in its shortest form, and that its top bit is zero."""
        self.require(126 <= length if width == 2 else 1 << 16 <= length < 1 << 63)

    def check_limit(self, length):
        self.require(length <= self.limit, TOO_LONG)

    def require(self, is_right, code=PROTOCOL):
        if not is_right:
            raise Violation(code)

    def joined(self):
        """Returns the number of bytes in the message's fragments so far."""
        return len(self.message)

    def start(self, frame):
        self.frame = frame
        if not frame.is_control and frame.opcode != CONTINUATION:
            self.opcode = frame.opcode
            self.text = codecs.getincrementaldecoder("utf-8")() if frame.opcode == TEXT else None

    def fill(self):
        """Adds the received part of the payload to the frame."""
        frame = self.frame
        piece = bytes(self.buffer[:frame.length - len(frame.payload)])
        del self.buffer[:len(piece)]
        if frame.is_masked:
            piece = self.unmask(frame, piece)
        frame.payload += piece
        if self.text and not frame.is_control:
            self.check_text(frame, piece)

    def unmask(self, frame, piece):
        return masked(piece, frame.key, len(frame.payload))

    def check_text(self, frame, piece):
        """Rejects invalid UTF-8 at its first wrong byte, or at the end of the message if a character is incomplete."""
        try:
            self.text.decode(piece, frame.is_final and frame.is_complete)
        except UnicodeDecodeError:
            raise Violation(INVALID) from None

    def add(self, frame):
        self.message += frame.payload

    def take_message(self):
        opcode, message = self.opcode, bytes(self.message)
        self.opcode, self.text = None, None
        self.message.clear()
        return opcode, message

    def code_of(self, payload):
        """Returns the code of the peer's close frame, or None if the frame has no code. Raises Violation."""
        if not payload:
            return None
        self.check_close_length(payload)
        code = int.from_bytes(payload[:2], "big")
        self.check_code(code)
        self.check_reason(payload[2:])
        return code

    def check_close_length(self, payload):
        self.require(len(payload) >= 2)

    def check_code(self, code):
        self.require(is_code(code))

    def check_reason(self, reason):
        self.require(is_utf8(reason), INVALID)

    # MARK: Writing

    def encode(self, opcode, payload):
        """Returns one frame, masked if a client sends it."""
        header = self.first_byte(opcode) + self.length_bytes(len(payload))
        if not self.masks(opcode):
            return header + payload
        key = self.new_key()
        return header[:1] + bytes([header[1] | 0x80]) + header[2:] + key + masked(payload, key)

    def first_byte(self, opcode):
        return bytes([0x80 | opcode])

    def length_bytes(self, length):
        """Returns the length in the shortest form."""
        if length < 126:
            return bytes([length])
        return bytes([126]) + length.to_bytes(2, "big") if length < 1 << 16 else bytes([127]) + length.to_bytes(8, "big")

    def masks(self, opcode):
        return not self.is_server

    def new_key(self):
        return os.urandom(4)
