"""Broken transports with bugs in WebSocket: the reference with a part of websocket.py, or its WebSocketConnection, changed in one place."""
import base64
import binascii
import hashlib
import re

from reference import CLOSE_TIME, OPEN, OPENING, WAITING, Adapter, Refused, WebSocketConnection
from registry import mutant
from websocket import (
    BINARY, CLOSE, CONTINUATION, CONTROL_SIZE, GUID, INVALID, OPCODES, PING, PONG, PROTOCOL, TEXT, TOO_LONG, BadHead, ClientOpening, Frames, ServerOpening,
    Violation, is_code, is_utf8, masked)

# MARK: the request of a client


@mutant("every connection uses the same key", "websocket")
class WsSameKey(ClientOpening):
    def nonce(self):
        return b"the sample nonce"


@mutant("the key has twelve bytes", "websocket")
class WsShortKey(ClientOpening):
    def nonce(self):
        return super().nonce()[:12]


@mutant("Host has no port", "websocket")
class WsHostWithoutPort(ClientOpening):
    def host(self):
        return super().host().rpartition(":")[0]


@mutant("the path is always /", "websocket")
class WsPathIgnored(ClientOpening):
    def path(self):
        return "/"


@mutant("the query after the question mark is not sent", "websocket")
class WsQueryLost(ClientOpening):
    def path(self):
        return super().path().partition("?")[0]


@mutant("the request has version 8, which was used by a draft", "websocket")
class WsDraftVersion(ClientOpening):
    def request(self):
        return super().request().replace(b"Version: 13", b"Version: 8")


@mutant("the request lacks the field Connection", "websocket")
class WsNoConnectionField(ClientOpening):
    def request(self):
        return super().request().replace(b"Connection: Upgrade\r\n", b"")


# MARK: the response of a server


@mutant("Sec-WebSocket-Accept is not checked", "websocket")
class WsAcceptIgnored(ClientOpening):
    def check_accept(self, fields):
        pass


@mutant("Sec-WebSocket-Accept may be missing", "websocket")
class WsAcceptOptional(ClientOpening):
    def check_accept(self, fields):
        if b"sec-websocket-accept" in fields:
            super().check_accept(fields)


@mutant("any value of Sec-WebSocket-Accept is accepted", "websocket")
class WsAcceptPresent(ClientOpening):
    def check_accept(self, fields):
        self.require(b"sec-websocket-accept" in fields)


@mutant("Sec-WebSocket-Accept is compared only up to the length of the correct value", "websocket")
class WsAcceptPrefix(ClientOpening):
    def check_accept(self, fields):
        super().check_accept({name: [value[:28] for value in values] for name, values in fields.items()})


@mutant("only the length of Sec-WebSocket-Accept is compared", "websocket")
class WsAcceptLength(ClientOpening):
    def check_accept(self, fields):
        self.require([len(value) for value in fields.get(b"sec-websocket-accept", [])] == [28])


@mutant("the status is not checked", "websocket")
class WsStatusIgnored(ClientOpening):
    def check_first(self, first):
        self.require(first.startswith(b"HTTP/1.1 "))


@mutant("any status that begins with 10 is accepted", "websocket")
class WsStatusPrefix(ClientOpening):
    def check_first(self, first):
        self.require(first.startswith(b"HTTP/1.1 10"))


@mutant("any status below 300 is accepted", "websocket")
class WsStatusOfSuccess(ClientOpening):
    def check_first(self, first):
        self.require(re.match(rb"HTTP/1\.1 [12]\d\d( |$)", first))


@mutant("an HTTP/1.0 answer is accepted", "websocket")
class WsAnyHttp(ClientOpening):
    def check_first(self, first):
        super().check_first(first.replace(b"HTTP/1.0", b"HTTP/1.1"))


@mutant("an answer is refused unless its reason phrase is Switching Protocols", "websocket")
class WsPhraseCompared(ClientOpening):
    def check_first(self, first):
        self.require(first == b"HTTP/1.1 101 Switching Protocols")


@mutant("Upgrade in the answer is not checked", "websocket")
class WsUpgradeIgnored(ClientOpening):
    def check_upgrade(self, fields):
        pass


@mutant("Upgrade and Connection in the answer are compared case-sensitively", "websocket")
class WsAnswerCaseMatters(ClientOpening):
    def tokens(self, fields, name):
        return [value.replace(b"Upgrade", b"upgrade") for value in fields.get(name, []) if value in (b"Upgrade", b"websocket")]


@mutant("field names are compared case-sensitively", "websocket")
class WsNameCaseMatters(ClientOpening):
    def fields(self, lines):
        return super().fields([line for line in lines if line.startswith((b"Upgrade", b"Connection", b"Sec-WebSocket-"))])


@mutant("a header field without a space after its colon is refused", "websocket")
class WsSpaceExpected(ClientOpening):
    def fields(self, lines):
        return super().fields([line.replace(b":", b": ", 1) if b": " in line else b"x:" for line in lines])


@mutant("Connection in the answer is not checked", "websocket")
class WsConnectionIgnored(ClientOpening):
    def check_connection(self, fields):
        pass


@mutant("Connection in the answer is not parsed as a list", "websocket")
class WsConnectionIsNoList(ClientOpening):
    def check_connection(self, fields):
        self.require([value.lower() for value in fields.get(b"connection", [])] == [b"upgrade"])


@mutant("an extension that was not offered is accepted", "websocket")
class WsExtensionAccepted(ClientOpening):
    def check_extensions(self, fields):
        pass


@mutant("a protocol that was not offered is accepted", "websocket")
class WsProtocolAccepted(ClientOpening):
    def check_protocol(self, fields):
        pass


@mutant("an answer that does not arrive in one read is refused", "websocket")
class WsAnswerInOneRead(ClientOpening):
    def take_head(self):
        head = super().take_head()
        self.require(head is not None)
        return head


@mutant("the end of an answer's header is recognized only at the end of a read", "websocket")
class WsHeadEndsARead(ClientOpening):
    def take_head(self):
        return super().take_head() if self.buffer.endswith(b"\r\n\r\n") else None


@mutant("bytes after the answer in the same segment are lost", "websocket")
class WsBytesBehindAnswerLost(ClientOpening):
    def take_head(self):
        head = super().take_head()
        if head is not None:
            self.buffer.clear()
        return head


@mutant("a frame immediately after the answer is delivered only when more bytes arrive", "websocket")
class WsBytesBehindAnswerWait(WebSocketConnection):
    def take_over(self, rest):
        self.decoder.append(rest)


@mutant("a header of more than 512 bytes can't be parsed", "websocket")
class WsSmallHead(ClientOpening):
    def check_size(self, size):
        self.require(size <= 512)


@mutant("the size of a header has no limit", "websocket")
class WsEndlessHead(ClientOpening):
    def check_size(self, size):
        pass


@mutant("the connect timeout ends with the TCP handshake", "websocket")
class WsOpeningUntimed(WebSocketConnection):
    def opened(self, sock):
        self.cancel_timers()
        super().opened(sock)


@mutant("each piece of the answer restarts the connect timeout", "websocket")
class WsOpeningTimedAnew(WebSocketConnection):
    def received(self, data):
        if self.state == OPENING:
            self.cancel_timers()
            self.limit_connecting()
        super().received(data)


@mutant("the connect timeout continues after the handshake", "websocket")
class WsOpeningTimerStays(WebSocketConnection):
    def upgrade(self):
        super().upgrade()
        self.limit_connecting()


@mutant("the connection is reported as started when the request has been sent", "websocket")
class WsStartTooEarly(WebSocketConnection):
    def opened(self, sock):
        if not self.is_server():
            self.is_started = True
            self.say("start")
        super().opened(sock)


@mutant("messages that were sent early leave before the answer has arrived", "websocket")
class WsEarlyMessagesTooEarly(WebSocketConnection):
    def opened(self, sock):
        early, self.pending = self.pending, bytearray()
        super().opened(sock)
        self.pending += early
        self.write()


@mutant("messages that were sent early are lost", "websocket")
class WsEarlyMessagesLost(WebSocketConnection):
    def upgrade(self):
        self.held.clear()
        super().upgrade()


@mutant("a FIN during the handshake is not noticed", "websocket")
class WsFinInOpeningIgnored(WebSocketConnection):
    def read_eof(self, reason="eof"):
        if self.state == OPENING:
            self.read_ended = True
            self.update()
        else:
            super().read_eof(reason)


@mutant("a FIN is treated as the end of an answer's header", "websocket")
class WsFinCompletesHead(WebSocketConnection):
    def read_eof(self, reason="eof"):
        if self.state == OPENING:
            self.received(b"\r\n")
        super().read_eof(reason)


@mutant("a stop during the handshake is reported only when the answer arrives", "websocket")
class WsStopWaitsForAnswer(WebSocketConnection):
    wants_stop = False

    def stop(self):
        if self.state == OPENING:
            self.wants_stop = True
        else:
            super().stop()

    def upgrade(self):
        super().upgrade()
        if self.wants_stop:
            self.stop()


# MARK: a server's opening handshake


@mutant("any method is accepted", "websocket")
class WsAnyMethod(ServerOpening):
    def check_first(self, first):
        self.require(re.fullmatch(rb"[A-Z]+ [^ ]+ HTTP/1\.1", first))


@mutant("an HTTP/1.0 request is accepted", "websocket")
class WsAnyHttpAsked(ServerOpening):
    def check_first(self, first):
        self.require(re.fullmatch(rb"GET [^ ]+ HTTP/1\.\d", first))


@mutant("Upgrade in the request is not checked", "websocket")
class WsUpgradeNotAsked(ServerOpening):
    def check_upgrade(self, fields):
        pass


@mutant("a request is accepted if its Upgrade field merely begins with websocket", "websocket")
class WsUpgradePrefix(ServerOpening):
    def check_upgrade(self, fields):
        self.require(self.tokens(fields, b"upgrade")[0].startswith(b"websocket"))


@mutant("Upgrade in the request is compared case-sensitively", "websocket")
class WsUpgradeCaseMatters(ServerOpening):
    def check_upgrade(self, fields):
        self.require(fields.get(b"upgrade") == [b"websocket"])


@mutant("Connection in the request is not checked", "websocket")
class WsConnectionNotAsked(ServerOpening):
    def check_connection(self, fields):
        pass


@mutant("Connection in the request is not parsed as a list", "websocket")
class WsConnectionAskedIsNoList(ServerOpening):
    def check_connection(self, fields):
        self.require([value.lower() for value in fields.get(b"connection", [])] == [b"upgrade"])


@mutant("the version is not checked", "websocket")
class WsVersionIgnored(ServerOpening):
    def check_version(self, fields):
        pass


@mutant("a refusal does not state the supported version", "websocket")
class WsVersionUntold(ServerOpening):
    def refusal(self, status):
        return super().refusal(status).replace(b"Sec-WebSocket-Version: 13\r\n", b"")


@mutant("a request that opens no WebSocket is answered with 200", "websocket")
class WsRefusedWithSuccess(ServerOpening):
    def refusal(self, status):
        return super().refusal("200 OK")


@mutant("a request that opens no WebSocket is never answered", "websocket")
class WsRefusedWithSilence(WebSocketConnection):
    def refuse(self, status):
        if not self.is_server():
            super().refuse(status)


@mutant("a request without a key is answered as if the key were empty", "websocket")
class WsKeyOptional(ServerOpening):
    def check_key(self, fields):
        if b"sec-websocket-key" in fields:
            super().check_key(fields)


@mutant("a key may have any length", "websocket")
class WsKeyOfAnyLength(ServerOpening):
    def check_key(self, fields):
        keys = fields.get(b"sec-websocket-key", [])
        self.require(len(keys) == 1)
        self.key = keys[0]


@mutant("a key that is not strictly base64 is accepted", "websocket")
class WsKeyForgiven(ServerOpening):
    def check_key(self, fields):
        self.require(b"sec-websocket-key" in fields)
        self.key = fields[b"sec-websocket-key"][0]
        try:
            base64.b64decode(self.key)
        except binascii.Error:
            raise BadHead("400 Bad Request") from None


@mutant("the answer to the key is in hexadecimal", "websocket")
class WsAcceptInHex(ServerOpening):
    def answer(self):
        digest = hashlib.sha1(self.key + GUID)
        return super().answer().replace(base64.b64encode(digest.digest()), digest.hexdigest().encode())


@mutant("the answer to the key lacks the GUID", "websocket")
class WsAcceptWithoutGuid(ServerOpening):
    def answer(self):
        right = base64.b64encode(hashlib.sha1(self.key + GUID).digest())
        return super().answer().replace(right, base64.b64encode(hashlib.sha1(self.key).digest()))


@mutant("a request that does not arrive in one read is refused", "websocket")
class WsRequestInOneRead(ServerOpening):
    def take_head(self):
        head = super().take_head()
        self.require(head is not None)
        return head


@mutant("bytes after the request in the same segment are lost", "websocket")
class WsBytesBehindRequestLost(ServerOpening):
    def take_head(self):
        head = super().take_head()
        if head is not None:
            self.buffer.clear()
        return head


@mutant("a client is reported as accepted before its request has arrived", "websocket")
class WsAcceptTooEarly(WebSocketConnection):
    def accepted(self, sock, listener):
        self.listener = listener
        super().say_accepted()
        super().accepted(sock, listener)

    def say_accepted(self):
        pass


@mutant("while one client's request is incomplete, no other request is answered", "websocket")
class WsOneRequestAtATime(WebSocketConnection):
    def upgrade(self):
        others = [other for other in self.adapter.known.values() if isinstance(other, WebSocketConnection) and other.is_server()]
        if self.is_server() and any(other.state == OPENING and other.number < self.number for other in others):
            self.loop.call_later(0.05, lambda: self.state == OPENING and self.upgrade())
        else:
            super().upgrade()


@mutant("a client that disconnects during its request ends the listener", "websocket")
class WsHalfRequestEndsListener(WebSocketConnection):
    def read_eof(self, reason="eof"):
        if self.state == OPENING and self.listener:
            self.listener.stop()
        super().read_eof(reason)


# MARK: headers of frames


@mutant("reserved bits are ignored", "websocket")
class WsReservedIgnored(Frames):
    def check_reserved(self, frame):
        pass


@mutant("reserved bits are checked only in the first frame of a message", "websocket")
class WsReservedFirstOnly(Frames):
    def check_reserved(self, frame):
        if frame.opcode in (TEXT, BINARY):
            super().check_reserved(frame)


@mutant("RSV1 is accepted, for a compression that was not requested", "websocket")
class WsReserved1Ignored(Frames):
    def check_reserved(self, frame):
        self.require(not frame.reserved & 0x30)


@mutant("reserved opcodes are ignored, along with their frames", "websocket")
class WsOpcodeIgnored(Frames):
    def check_opcode(self, frame):
        pass

    def check_order(self, frame):
        if frame.opcode in OPCODES:
            super().check_order(frame)


@mutant("reserved opcodes of control frames are ignored, along with their frames", "websocket")
class WsControlOpcodeIgnored(WebSocketConnection):
    def set_framing(self, settings):
        super().set_framing(settings)
        self.decoder.check_opcode = lambda frame: self.decoder.require(frame.opcode in OPCODES or frame.is_control)

    def handle(self, opcode, payload):
        if opcode in OPCODES:
            super().handle(opcode, payload)


@mutant("the mask of a server's frame is removed as if masking were allowed", "websocket")
class WsMaskFromServer(Frames):
    def check_mask(self, frame):
        self.require(frame.is_masked or not self.is_server)


@mutant("unmasked frames from a client are accepted", "websocket")
class WsUnmaskedFromClient(Frames):
    def check_mask(self, frame):
        self.require(not frame.is_masked or self.is_server)


@mutant("a fragmented control frame is accepted", "websocket")
class WsControlFragmented(Frames):
    def check_control(self, frame):
        self.require(frame.length <= CONTROL_SIZE)


@mutant("a control frame of any length is accepted", "websocket")
class WsControlTooLong(Frames):
    def check_control(self, frame):
        self.require(frame.is_final)


@mutant("a control frame of 125 bytes is refused", "websocket")
class WsControlBorder(Frames):
    def check_control(self, frame):
        self.require(frame.is_final and frame.length < CONTROL_SIZE)


@mutant("a continuation without a message is ignored", "websocket")
class WsContinuationOfNothing(Frames):
    def check_order(self, frame):
        if frame.opcode != CONTINUATION:
            super().check_order(frame)

    def add(self, frame):
        if self.opcode is not None:
            super().add(frame)

    def take_message(self):
        return (PONG, b"") if self.opcode is None else super().take_message()


@mutant("a message within a message starts a new message, and the first one is lost", "websocket")
class WsMessageWithinMessage(Frames):
    def check_order(self, frame):
        self.require(frame.opcode != CONTINUATION or self.opcode is not None)

    def start(self, frame):
        if frame.opcode in (TEXT, BINARY):
            self.message.clear()
        super().start(frame)


@mutant("a message within a message is joined to the first one", "websocket")
class WsMessageJoinsMessage(Frames):
    def check_order(self, frame):
        self.require(frame.opcode != CONTINUATION or self.opcode is not None)


@mutant("a 16-bit length is signed", "websocket")
class WsLength16Signed(Frames):
    def check_length(self, length, width):
        super().check_length(length, width)
        self.require(width != 2 or length < 1 << 15)


@mutant("only the lower sixteen bits of a 64-bit length are read", "websocket")
class WsLength64Cut(Frames):
    def check_length(self, length, width):
        super().check_length(length, width)
        if width == 8:
            self.cut = length & 0xFFFF

    def start(self, frame):
        if frame.length > 0xFFFF:
            frame.length = self.cut
        super().start(frame)


@mutant("a length in a longer form than necessary is accepted", "websocket")
class WsLongLengthAccepted(Frames):
    def check_length(self, length, width):
        self.require(length < 1 << 63)


@mutant("a 16-bit length of 126 is refused", "websocket")
class WsLength126Refused(Frames):
    def check_length(self, length, width):
        super().check_length(length, width)
        self.require(length != 126)


@mutant("a length with its top bit set is read as negative, and the frame is treated as empty", "websocket")
class WsLengthNegative(Frames):
    def check_length(self, length, width):
        self.require(126 <= length if width == 2 else length >= 1 << 16)

    def check_limit(self, length):
        if length < 1 << 63:
            super().check_limit(length)

    def start(self, frame):
        if frame.length >= 1 << 63:
            frame.length = 0
        super().start(frame)


@mutant("memory for an announced length is allocated at once, before the limit is checked", "websocket")
class WsLengthReserved(Frames):
    def check_limit(self, length):
        self.reserved = b"\1" * min(length, 1 << 26)
        super().check_limit(length)


@mutant("a header whose second byte is missing is read as if that byte were zero", "websocket")
class WsHalfHeader(Frames):
    def begin(self):
        if len(self.buffer) == 1:
            self.buffer.append(0x80 if self.is_server else 0)
        return super().begin()


@mutant("a length that is cut is read as if the missing bytes were zero", "websocket")
class WsHalfLength(Frames):
    def length_width(self, frame):
        width = super().length_width(frame)
        if len(self.buffer) == 3 and width == 2:
            self.buffer.append(0)
        return width


@mutant("a masking key that is cut is read as if the missing bytes were zero", "websocket")
class WsHalfKey(Frames):
    def check_limit(self, length):
        super().check_limit(length)
        if self.is_server and 2 < len(self.buffer) < 6 and length < 126:
            self.buffer += bytes(6 - len(self.buffer))


@mutant("the masking key restarts with each read", "websocket")
class WsKeyRestarts(Frames):
    def unmask(self, frame, piece):
        return masked(piece, frame.key)


@mutant("only complete groups of four bytes are unmasked", "websocket")
class WsUnmaskedByFours(Frames):
    def unmask(self, frame, piece):
        whole = len(piece) // 4 * 4
        return super().unmask(frame, piece[:whole]) + piece[whole:]


@mutant("the key of a client's first frame is used for all its frames", "websocket")
class WsFirstKeyStays(Frames):
    first_key = None

    def unmask(self, frame, piece):
        self.first_key = self.first_key or frame.key
        return masked(piece, self.first_key, len(frame.payload))


@mutant("only the first frame in a read is delivered; the others wait for more bytes", "websocket")
class WsOneFrameARead(WebSocketConnection):
    def deliver(self):
        try:
            event = self.decoder.next()
            if event:
                self.handle(*event)
        except Violation as error:
            self.violated(error.code)


# MARK: messages


@mutant("each fragment is delivered as a message", "websocket")
class WsFragmentsAreMessages(Frames):
    def add(self, frame):
        super().add(frame)
        self.is_unfinished, frame.is_final = not frame.is_final, True

    def take_message(self):
        text = self.text
        opcode, message = super().take_message()
        if self.is_unfinished:
            self.opcode, self.text = opcode, text
        return opcode, message


@mutant("only the last fragment of a message is delivered", "websocket")
class WsLastFragmentOnly(Frames):
    def add(self, frame):
        self.message.clear()
        super().add(frame)


@mutant("an empty first fragment is ignored, as if no message had begun", "websocket")
class WsEmptyFragmentLost(Frames):
    def add(self, frame):
        super().add(frame)
        if not frame.is_final and not self.message:
            self.opcode = None


@mutant("an empty message is not reported", "websocket")
class WsEmptyMessageLost(WebSocketConnection):
    def handle(self, opcode, payload):
        if payload or opcode not in (TEXT, BINARY):
            super().handle(opcode, payload)


@mutant("every message is reported as text", "websocket")
class WsAlwaysText(WebSocketConnection):
    def handle(self, opcode, payload):
        super().handle(TEXT if opcode == BINARY else opcode, payload)


@mutant("the fragments of a message are prepended to the next message", "websocket")
class WsMessageKept(Frames):
    def take_message(self):
        opcode, message = self.opcode, bytes(self.message)
        self.opcode = self.text = None
        if opcode == TEXT:
            self.message.clear()
        return opcode, message


@mutant("a ping between fragments ends the message", "websocket")
class WsPingEndsMessage(Frames):
    def start(self, frame):
        super().start(frame)
        if frame.opcode == PING:
            self.message.clear()


@mutant("the payload of a ping between fragments becomes part of the message", "websocket")
class WsPingJoinsMessage(Frames):
    def next(self):
        event = super().next()
        if event and event[0] == PING and self.opcode is not None:
            self.message += event[1]
        return event


@mutant("the fragments of an incomplete message are delivered at the FIN", "websocket")
class WsHalfMessageAtEnd(WebSocketConnection):
    def leave(self):
        if self.decoder.opcode is not None:
            self.handle(*self.decoder.take_message())


@mutant("the payload of an incomplete frame is delivered at the FIN", "websocket")
class WsHalfFrameAtEnd(WebSocketConnection):
    def leave(self):
        if self.decoder.frame and not self.decoder.frame.is_control:
            self.decoder.add(self.decoder.frame)
            self.handle(*self.decoder.take_message())


@mutant("the limit applies to a frame, not to the message", "websocket")
class WsLimitOfFrames(Frames):
    def joined(self):
        return 0


@mutant("a message as long as the limit is refused", "websocket")
class WsLimitTooLow(Frames):
    def check_limit(self, length):
        self.require(length < self.limit, TOO_LONG)


@mutant("a message that is one byte longer than the limit is accepted", "websocket")
class WsLimitTooHigh(Frames):
    def check_limit(self, length):
        super().check_limit(length - 1)


@mutant("a message has no limit", "websocket")
class WsUnlimited(Frames):
    def check_limit(self, length):
        pass


@mutant("a message that is too long is detected only at its end", "websocket")
class WsLimitAtEnd(Frames):
    def check_limit(self, length):
        pass

    def take_message(self):
        self.require(len(self.message) <= self.limit, TOO_LONG)
        return super().take_message()


@mutant("a message that is too long is answered with 1002", "websocket")
class WsTooLongIsProtocol(WebSocketConnection):
    def violated(self, code):
        self.queue_close((PROTOCOL if code == TOO_LONG else code).to_bytes(2, "big"))
        super().violated(code)


# MARK: UTF-8


@mutant("UTF-8 in text messages is not checked", "websocket")
class WsTextUnchecked(Frames):
    def check_text(self, frame, piece):
        pass


@mutant("UTF-8 in a text message is checked only at the end of the message", "websocket")
class WsTextCheckedAtEnd(Frames):
    def check_text(self, frame, piece):
        pass

    def take_message(self):
        self.require(self.opcode != TEXT or is_utf8(self.message), INVALID)
        return super().take_message()


@mutant("UTF-8 in a text message is checked only when a frame is complete", "websocket")
class WsTextCheckedByFrame(Frames):
    def check_text(self, frame, piece):
        if frame.is_complete:
            super().check_text(frame, frame.payload)


@mutant("a fragment of a text message that is not valid UTF-8 on its own is refused", "websocket")
class WsTextResetByFragment(Frames):
    def check_text(self, frame, piece):
        if frame.is_complete:
            self.require(is_utf8(frame.payload), INVALID)


@mutant("a read within a text message that is not valid UTF-8 on its own is refused", "websocket")
class WsTextResetByRead(Frames):
    def check_text(self, frame, piece):
        self.require(is_utf8(piece), INVALID)


@mutant("a text message that ends within a character is accepted", "websocket")
class WsTextEndUnchecked(Frames):
    def check_text(self, frame, piece):
        try:
            self.text.decode(piece)
        except UnicodeDecodeError:
            raise Violation(INVALID) from None


@mutant("only the first fragment of a text message is checked", "websocket")
class WsContinuationUnchecked(Frames):
    def check_text(self, frame, piece):
        if frame.opcode == TEXT:
            try:
                self.text.decode(piece)
            except UnicodeDecodeError:
                raise Violation(INVALID) from None


@mutant("binary messages that are not valid UTF-8 are refused", "websocket")
class WsBinaryChecked(Frames):
    def take_message(self):
        self.require(is_utf8(self.message), INVALID)
        return super().take_message()


@mutant("surrogates are accepted as UTF-8", "websocket")
class WsSurrogatesPass(Frames):
    def check_text(self, frame, piece):
        if frame.is_complete:
            try:
                frame.payload.decode(errors="surrogatepass")
            except UnicodeDecodeError:
                super().check_text(frame, frame.payload)


@mutant("text that is not valid UTF-8 is delivered with U+FFFD", "websocket")
class WsTextReplaced(Frames):
    def check_text(self, frame, piece):
        pass

    def take_message(self):
        opcode, message = super().take_message()
        return opcode, message.decode(errors="replace").encode() if opcode == TEXT else message


@mutant("text that is not valid UTF-8 is answered with 1002", "websocket")
class WsInvalidIsProtocol(Frames):
    def check_text(self, frame, piece):
        try:
            super().check_text(frame, piece)
        except Violation:
            raise Violation(PROTOCOL) from None


@mutant("a byte order mark at the start of a text message is removed", "websocket")
class WsByteOrderMarkLost(Frames):
    def take_message(self):
        opcode, message = super().take_message()
        return opcode, message.removeprefix(b"\xef\xbb\xbf") if opcode == TEXT else message


@mutant("text that is not valid UTF-8 is sent", "websocket")
class WsSendsAnything(WebSocketConnection):
    def send_message(self, kind, data):
        self.require_writable()
        self.queue_frame(TEXT if kind == "text" else BINARY, data)


# MARK: pings


@mutant("a ping is not answered", "websocket")
class WsNoPong(WebSocketConnection):
    def ping_came(self, payload):
        self.say("ping", data=payload.decode("latin-1"))


@mutant("each pong is sent without a payload", "websocket")
class WsPongEmpty(WebSocketConnection):
    def queue_frame(self, opcode, payload):
        super().queue_frame(opcode, b"" if opcode == PONG else payload)


@mutant("an empty ping is not answered", "websocket")
class WsEmptyPingUnanswered(WebSocketConnection):
    def ping_came(self, payload):
        if payload:
            super().ping_came(payload)
        else:
            self.say("ping", data="")


@mutant("a ping is answered with a ping", "websocket")
class WsPingForPong(WebSocketConnection):
    def ping_came(self, payload):
        self.queue_frame(PING, payload)
        self.say("ping", data=payload.decode("latin-1"))


@mutant("only the last of the waiting pings is answered", "websocket")
class WsLastPingAnswered(WebSocketConnection):
    latest = None

    def queue_frame(self, opcode, payload):
        if opcode != PONG:
            return super().queue_frame(opcode, payload)
        if self.latest is None:
            self.loop.call_soon(self.pong)
        self.latest = payload
        return None

    def pong(self):
        payload, self.latest = self.latest, None
        if self.state == OPEN and not self.close_sent:
            super().queue_frame(PONG, payload)


@mutant("a ping within a message is answered only when the message is complete", "websocket")
class WsPongWaitsForMessage(WebSocketConnection):
    def handle(self, opcode, payload):
        self.late = getattr(self, "late", [])
        if opcode == PING and self.decoder.opcode is not None:
            self.late.append(payload)
            return
        while self.late:
            super().handle(PING, self.late.pop(0))
        super().handle(opcode, payload)


@mutant("a ping is not answered while messages are waiting to be written", "websocket")
class WsPongDroppedWhenBusy(WebSocketConnection):
    def queue_frame(self, opcode, payload):
        if opcode != PONG or not self.pending:
            super().queue_frame(opcode, payload)


@mutant("a pong overtakes queued data and is written in the middle of a frame", "websocket")
class WsPongJumpsQueue(WebSocketConnection):
    def queue_frame(self, opcode, payload):
        if opcode == PONG and self.pending:
            self.pending[:0] = self.decoder.encode(opcode, payload)
        else:
            super().queue_frame(opcode, payload)


@mutant("an unsolicited pong is treated as a violation", "websocket")
class WsPongUnsolicited(WebSocketConnection):
    def handle(self, opcode, payload):
        if opcode == PONG:
            self.violated(PROTOCOL)
        else:
            super().handle(opcode, payload)


@mutant("a ping is reported as a message", "websocket")
class WsPingIsMessage(WebSocketConnection):
    def ping_came(self, payload):
        super().ping_came(payload)
        self.say("message", data=payload.decode("latin-1"), kind="binary")


@mutant("a ping of more than 125 bytes is sent", "websocket")
class WsLongPingSent(WebSocketConnection):
    def ping(self, data):
        self.require_started()
        self.queue_frame(PING, data)


@mutant("the application's ping is sent without its payload", "websocket")
class WsOwnPingEmpty(WebSocketConnection):
    def ping(self, data):
        super().ping(b"")


# MARK: the closing handshake


@mutant("a close is not answered", "websocket")
class WsCloseUnanswered(WebSocketConnection):
    def answer_close(self, payload):
        pass


@mutant("a close is answered without its code", "websocket")
class WsCloseAnsweredEmpty(WebSocketConnection):
    def answer_close(self, payload):
        super().answer_close(b"")


@mutant("a close frame without a code is answered with 1005", "websocket")
class WsCloseAnswered1005(WebSocketConnection):
    def answer_close(self, payload):
        super().answer_close(payload or b"\x03\xed")


@mutant("every close is answered with 1000", "websocket")
class WsCloseAnswered1000(WebSocketConnection):
    def answer_close(self, payload):
        super().answer_close(b"\x03\xe8")


@mutant("the answer to the transport's close is answered", "websocket")
class WsCloseTwice(WebSocketConnection):
    def answer_close(self, payload):
        self.queue_frame(CLOSE, payload[:2])


@mutant("the code of the peer's close is not reported", "websocket")
class WsCodeLost(WebSocketConnection):
    def answer_close(self, payload):
        self.code = None
        super().answer_close(payload)


@mutant("every close is reported as 1000", "websocket")
class WsCodeAlways1000(WebSocketConnection):
    def answer_close(self, payload):
        self.code = 1000
        super().answer_close(payload)


@mutant("a close is reported as the end of the stream", "websocket")
class WsCloseIsEof(WebSocketConnection):
    def answer_close(self, payload):
        super().answer_close(payload)
        self.peer_closed = False

    def await_fin(self):
        self.end("eof")


@mutant("a FIN without a close is reported as a close", "websocket")
class WsFinIsClose(WebSocketConnection):
    def end(self, reason):
        super().end("closed" if reason == "eof" else reason)


@mutant("an RST without a close is reported as the end of the stream", "websocket")
class WsResetIsEof(WebSocketConnection):
    def stop_event(self, reason, detail=""):
        super().stop_event("eof" if reason == "reset" else reason, detail)


@mutant("the first bytes of a close are treated as a complete close", "websocket")
class WsHalfCloseCounts(WebSocketConnection):
    def leave(self):
        if self.decoder.frame and self.decoder.frame.opcode == CLOSE:
            self.peer_closed = True


@mutant("a close frame with a payload of one byte is accepted", "websocket")
class WsCloseOfOneByte(Frames):
    def code_of(self, payload):
        return None if len(payload) == 1 else super().code_of(payload)


@mutant("a close frame with any code is accepted", "websocket")
class WsAnyCode(Frames):
    def check_code(self, code):
        pass


@mutant("a close frame with the code 1005 or 1006 is accepted", "websocket")
class WsCodesOfNobody(Frames):
    def check_code(self, code):
        self.require(is_code(code) or code in (1005, 1006))


@mutant("a close frame with a code from 1012 to 1014 is refused", "websocket")
class WsNewCodesRefused(Frames):
    def check_code(self, code):
        self.require(is_code(code) and not 1012 <= code <= 1014)


@mutant("a close frame with a code of 3000 or higher is refused", "websocket")
class WsOwnCodesRefused(Frames):
    def check_code(self, code):
        self.require(is_code(code) and code < 3000)


@mutant("the reason of a close is not checked", "websocket")
class WsReasonUnchecked(Frames):
    def check_reason(self, reason):
        pass


@mutant("a close frame with an invalid code is answered with that code", "websocket")
class WsWrongCodeEchoed(WebSocketConnection):
    def close_came(self, payload):
        try:
            super().close_came(payload)
        except Violation as error:
            self.queue_close(payload[:2])
            self.violated(error.code)


@mutant("a close frame with any code is sent", "websocket")
class WsSendsAnyCode(WebSocketConnection):
    def check_close(self, code, reason):
        super().check_close(1000, reason)


@mutant("the reason of an outgoing close is sent whatever its length", "websocket")
class WsSendsLongReason(WebSocketConnection):
    def check_close(self, code, reason):
        super().check_close(code, b"")


@mutant("the reason of an outgoing close is omitted", "websocket")
class WsReasonLost(WebSocketConnection):
    def close(self, code, reason):
        super().close(code, b"")


@mutant("an outgoing close without a code is sent with 1005", "websocket")
class WsSends1005(WebSocketConnection):
    def queue_close(self, payload):
        super().queue_close(payload or b"\x03\xed")


@mutant("a close overtakes queued data", "websocket")
class WsCloseJumpsQueue(WebSocketConnection):
    def close(self, code, reason):
        waiting, self.pending = self.pending, bytearray()
        super().close(code, reason)
        self.pending += waiting


@mutant("the transport's close drops queued data", "websocket")
class WsCloseDropsQueue(WebSocketConnection):
    def close(self, code, reason):
        self.pending.clear()
        super().close(code, reason)


@mutant("messages are sent after the transport's close", "websocket")
class WsSendsBehindClose(WebSocketConnection):
    def require_writable(self):
        self.require_open()


@mutant("nothing is delivered after the transport's close", "websocket")
class WsDeafBehindClose(WebSocketConnection):
    def handle(self, opcode, payload):
        if not self.close_sent or opcode == CLOSE:
            super().handle(opcode, payload)


@mutant("messages are delivered after the peer's close", "websocket")
class WsDataBehindClose(WebSocketConnection):
    def close_came(self, payload):
        while event := self.decoder.next():
            self.handle(*event)
        super().close_came(payload)


@mutant("data before a close in the same read is lost", "websocket")
class WsDataAheadOfCloseLost(WebSocketConnection):
    def deliver(self):
        self.come = []
        super().deliver()
        for event in self.come:
            super().handle(*event)
        self.come = []

    def handle(self, opcode, payload):
        if opcode == CLOSE:
            self.come = []
            super().handle(opcode, payload)
        else:
            self.come.append((opcode, payload))


@mutant("if its close is not answered, the transport waits forever", "websocket")
class WsCloseUntimed(WebSocketConnection):
    def expect_progress(self, seconds):
        if self.state != OPEN or seconds != CLOSE_TIME:
            super().expect_progress(seconds)


@mutant("if its close is answered only with a FIN, the transport waits until a timeout", "websocket")
class WsCloseMissesFin(WebSocketConnection):
    def read_eof(self, reason="eof"):
        if self.state == OPEN and self.close_sent:
            self.read_ended = True
            self.update()
        else:
            super().read_eof(reason)


@mutant("a client ends the stream as soon as both close frames have been sent", "websocket")
class WsClientEndsFirst(WebSocketConnection):
    def await_fin(self):
        self.end("closed")


@mutant("a client waits forever for the server's FIN", "websocket")
class WsFinAwaitedForEver(WebSocketConnection):
    def no_progress(self):
        if self.state != WAITING:
            super().no_progress()


@mutant("a server waits for the client's FIN before it sends its own", "websocket")
class WsServerAwaitsFin(WebSocketConnection):
    def close_came(self, payload):
        self.code, self.peer_closed = self.decoder.code_of(payload), True
        self.answer_close(payload)
        self.await_fin()

    def no_progress(self):
        if self.state != WAITING:
            super().no_progress()


@mutant("a violation ends the connection without a close that states the reason", "websocket")
class WsViolationSilent(WebSocketConnection):
    def violated(self, code):
        self.close_sent = True
        super().violated(code)


@mutant("after a violation, reading continues", "websocket")
class WsViolationForgiven(WebSocketConnection):
    def deliver(self):
        while self.state == OPEN:
            try:
                event = self.decoder.next()
            except Violation as error:
                self.queue_close(error.code.to_bytes(2, "big"))
                del self.decoder.buffer[:2]
            else:
                if not event:
                    break
                self.handle(*event)


# MARK: stop


@mutant("a stop drops queued data", "websocket")
class WsStopDropsQueue(WebSocketConnection):
    def stop(self):
        self.pending.clear()
        super().stop()


@mutant("a stop sends a FIN without a close", "websocket")
class WsStopSaysNothing(WebSocketConnection):
    def stop(self):
        self.close_sent = True
        super().stop()


@mutant("a stop delivers data that arrives after it", "websocket")
class WsStopDelivers(WebSocketConnection):
    def stop(self):
        was_open = self.state == OPEN
        self.queue_close(b"\x03\xe8")
        if was_open:
            self.loop.call_later(0.05, super().stop)


@mutant("the stop of one accepted connection ends all accepted connections", "websocket")
class WsStopOfAll(WebSocketConnection):
    def stop(self):
        for other in list(self.adapter.known.values()):
            if isinstance(other, WebSocketConnection) and other.is_server() and other is not self:
                WebSocketConnection.stop(other)
        super().stop()


# MARK: outgoing frames


@mutant("a client does not mask its frames", "websocket")
class WsMasksNothing(Frames):
    def masks(self, opcode):
        return False


@mutant("a client does not mask control frames", "websocket")
class WsMasksNoControl(Frames):
    def masks(self, opcode):
        return super().masks(opcode) and opcode < CLOSE


@mutant("a client does not mask empty frames", "websocket")
class WsMasksNothingEmpty(Frames):
    def encode(self, opcode, payload):
        return super().encode(opcode, payload) if payload or self.is_server else self.first_byte(opcode) + b"\0"


@mutant("every frame has the same masking key", "websocket")
class WsSameMask(Frames):
    key = None

    def new_key(self):
        self.key = self.key or super().new_key()
        return self.key


@mutant("the masking key is always zero", "websocket")
class WsZeroMask(Frames):
    def new_key(self):
        return bytes(4)


@mutant("a server masks its frames", "websocket")
class WsServerMasks(Frames):
    def masks(self, opcode):
        return True


@mutant("a server masks its pongs and closes", "websocket")
class WsServerMasksControl(Frames):
    def masks(self, opcode):
        return super().masks(opcode) or opcode >= CLOSE


@mutant("a length of 125 is sent in 16 bits", "websocket")
class WsLength125Long(Frames):
    def length_bytes(self, length):
        return b"\x7e\0\x7d" if length == 125 else super().length_bytes(length)


@mutant("a length of 126 is written in 7 bits", "websocket")
class WsLength126Short(Frames):
    def length_bytes(self, length):
        return b"\x7e" if length == 126 else super().length_bytes(length)


@mutant("a length of 65535 is written in 64 bits", "websocket")
class WsLength65535Long(Frames):
    def length_bytes(self, length):
        return b"\x7f" + length.to_bytes(8, "big") if length == 65535 else super().length_bytes(length)


@mutant("a length of 65536 is written in 16 bits", "websocket")
class WsLength65536Short(Frames):
    def length_bytes(self, length):
        return b"\x7e\0\0" if length == 65536 else super().length_bytes(length)


@mutant("a 16-bit length is written in the machine's byte order", "websocket")
class WsLengthLittle(Frames):
    def length_bytes(self, length):
        return b"\x7e" + length.to_bytes(2, "little") if 126 <= length < 1 << 16 else super().length_bytes(length)


@mutant("every message is sent as a text message", "websocket")
class WsSendsText(WebSocketConnection):
    def queue_frame(self, opcode, payload):
        super().queue_frame(TEXT if opcode == BINARY else opcode, payload)


@mutant("an empty message is not sent", "websocket")
class WsEmptyNotSent(WebSocketConnection):
    def queue_frame(self, opcode, payload):
        if payload or opcode not in (TEXT, BINARY):
            super().queue_frame(opcode, payload)


@mutant("an empty message is sent as a frame without the FIN bit", "websocket")
class WsEmptyNotFinal(Frames):
    def encode(self, opcode, payload):
        frame = super().encode(opcode, payload)
        return frame if payload else bytes([frame[0] & 0x7F]) + frame[1:]


# MARK: ops


@mutant("the operations send, ping and close are silently ignored after a close", "websocket")
class WsOpsForgotten(Adapter):
    def perform_websocket(self, known, request):
        try:
            super().perform_websocket(known, request)
        except Refused as error:
            if str(error) != "stopped":
                raise
