"""The conversation on one connection: what each side sends, what the other side expects, how the connection ends, and
what the wire shows.

A side is an endpoint of the harness (`harness`), the transport under test (`subject`) or a program (`program`).
Everything that is sent is expected later, in order, so each step has a known outcome. Each step also has alternative
texts that would make it fail.
"""
from steps import Step, Wrong, only_wrong, wire
from values import SENT_INSTEAD, changed, quoted, regex, value

NEVER = "within 200ms"
# A lower bound that is later than the arrival of all received data, but earlier than any deadline.
TOO_LATE = "after 4s"


class Side:
    """One side of a connection."""

    def __init__(self, name, kind, is_reused=False):
        self.name, self.kind = name, kind
        # Whether this side has several connections, one after the other.
        self.is_reused = is_reused
        # The data that the other side has sent and that no step has consumed: the contents of lines, or bytes.
        self.unread = []
        self.sent = b""
        # The segments that this side has sent, or None if it is not known how the data was divided into segments.
        self.segments = []
        self.has_only_lines = True
        self.lines = []
        # Used only for programs.
        self.actions = []


class Conversation:
    """The steps of an established connection. `words` creates the payloads; `name` makes the names of variables
    unique."""

    def __init__(self, rng, words, name, left, right, reads=False):
        self.rng, self.words, self.name = rng, words, name
        self.left, self.right = left, right
        # Whether the subject must be asked to read each line.
        self.reads = reads
        self.variables = 0
        self.steps = []
        self.ending = None
        self.has_reset = False

    def other(self, side):
        return self.right if side is self.left else self.left

    # Sending data

    def say(self, side):
        """Sends one message, which is usually not expected yet."""
        other = self.other(side)
        content = self.words.line()
        is_line = side.kind == "subject" or other.kind == "subject" or self.rng.random() < 0.7
        data = content + b"\r\n" if is_line else self.words.raw()
        if side.kind == "program":
            side.actions.append(f"send:{data.hex()}")
            side.segments = None
        elif side.kind == "subject":
            self.steps.append(Step(f"{side.name} send line {value(self.rng, content)}", [
                Wrong("a different line is sent", f"{side.name} send line {quoted(changed(self.rng, content, SENT_INSTEAD))}")]))
            side.segments = None
        else:
            self.harness_sends(side, content if is_line else None, data)
        side.sent += data
        if is_line:
            side.lines.append(content)
        else:
            side.has_only_lines = False
        if other.kind == "program":
            other.actions.append(f"recv:{data.hex()}")
        else:
            other.unread.append((content, True) if is_line else (data, False))

    def harness_sends(self, side, content, data):
        """Adds a plain send, or a send that is cut into pieces."""
        word = f"line {value(self.rng, content)}" if content is not None else value(self.rng, data)
        # The bytes that are sent differ from the expected bytes, however the receiver reads them.
        wrongs = [Wrong("different bytes are sent", f"{side.name} send {quoted(changed(self.rng, data, SENT_INSTEAD))}")]
        pace = self.rng.choice(["", "", " every 2ms", " every 15ms"])
        form = self.rng.random()
        length = len(data)
        pieces = [data]
        if form < 0.55 or length < 4:
            text = f"{side.name} send {word}"
        elif form < 0.7:
            at = sorted(self.rng.sample(range(1, length), min(length - 1, self.rng.randrange(1, 4))))
            text = f"{side.name} send {word} cut at {', '.join(map(str, at))}{pace}"
            pieces = [data[a:b] for a, b in zip([0, *at], [*at, length])]
        elif form < 0.8:
            size = self.rng.randrange(max(1, length // 6), length)
            text = f"{side.name} send {word} in pieces of {size}B{pace}"
            pieces = [data[a:a + size] for a in range(0, length, size)]
        else:
            at = self.rng.randrange(1, length)
            pieces = [data[:at], data[at:]]
            text = f"{side.name} send {quoted(data[:at])} | {quoted(data[at:])}{pace}"
        is_cut = len(pieces) > 1
        if is_cut and "every" in pace and side.segments == []:
            least = 1 if "2ms" in pace else 10
            self.gap = (side, least)
        # Two plain sends in a row may share a segment; a send that is cut begins when the kernel has no unsent data.
        if side.segments is not None:
            side.segments = side.segments + pieces if is_cut or not side.segments else None
        self.steps.append(Step(text, wrongs, is_wire=is_cut))

    # Expecting data

    def hear(self, side, at_most=None):
        """Consumes some of the unread data."""
        taken = 0
        while side.unread and (at_most is None or taken < at_most):
            taken += 1
            if side.kind == "subject":
                self.subject_expects(side)
            else:
                self.harness_expects(side)

    def subject_expects(self, side):
        content, _ = side.unread.pop(0)
        name, rng = side.name, self.rng
        if self.reads:
            self.steps.append(Step(f'{name} read until "\\r\\n"'))
            line = content + b"\r\n"
            self.steps.append(Step(f"{name} expect data {value(rng, line)}", [
                Wrong("an expectation is changed", f"{name} expect data {quoted(changed(rng, line))}"),
                Wrong("it arrives too early", f"{name} expect data {quoted(line)} {TOO_LATE}")]))
            return
        wrongs = [Wrong("an expectation is changed", f"{name} expect line {quoted(changed(rng, content))}"),
                  Wrong("an expectation is changed", f"{name} expect line {regex(changed(rng, content))}"),
                  Wrong("it arrives too early", f"{name} expect line {quoted(content)} {TOO_LATE}"),
                  Wrong("the end is expected", f"{name} expect stopped eof {NEVER}")]
        # A subject that is stopped need not report messages that it had not reported before the stop.
        if self.ending not in ("none", "stop", "reset"):
            wrongs.append(Wrong("an expectation is removed", ""))
            wrongs.append(Wrong("silence is expected", f"{name} expect nothing for 2s"))
        form = rng.random()
        if form < 0.6:
            text = f"{name} expect line {value(rng, content)}"
        elif form < 0.8:
            text = f"{name} expect line {regex(content)}"
        elif form < 0.9:
            text = (f"either {{ {name} expect line {quoted(changed(rng, content))} }} "
                    f"or {{ {name} expect line {quoted(content)} }}")
        else:
            self.bind(f"{name} expect line as", content)
            return
        self.steps.append(Step(text, wrongs))

    def bind(self, start, wanted):
        """Adds an expectation that accepts any data, and a check of the received data."""
        self.variables += 1
        variable = f"v{self.name}{self.variables}"
        self.steps.append(Step(f"do {{ {start} {variable}; check {variable} == {quoted(wanted)} }}", [
            Wrong("a check is changed", f"do {{ {start} {variable}; check {variable} == {quoted(changed(self.rng, wanted))} }}"),
            Wrong("a check is changed", f"do {{ {start} {variable}; check {variable} != {quoted(wanted)} }}")]))

    def harness_expects(self, side):
        name, rng = side.name, self.rng
        content, is_line = side.unread.pop(0)
        data = content + b"\r\n" if is_line else content
        wrongs = [Wrong("an expectation is changed", f"{name} expect {quoted(changed(rng, data))}"),
                  Wrong("it arrives too early", f"{name} expect {quoted(data)} {TOO_LATE}"),
                  Wrong("the end is expected", f"{name} expect eof {NEVER}"),
                  Wrong("the end is expected", f"{name} expect reset {NEVER}")]
        if self.ending != "reset":
            wrongs.append(Wrong("silence is expected", f"{name} expect nothing for 2s"))
            # Unexpected data is not noticed if it arrives after this side's close.
            if (self.other(side).kind, self.ending) not in (("subject", "close"), ("program", "theirs")):
                wrongs.append(Wrong("an expectation is removed", ""))
        form = rng.random()
        if is_line and form < 0.15 and side.unread and side.unread[0][1]:
            lines = [content, side.unread.pop(0)[0]]
            rng.shuffle(lines)
            text = f"{name} expect lines in any order {quoted(lines[0])}, {regex(lines[1])}"
            wrongs.append(Wrong("an expectation is changed",
                                f"{name} expect lines in any order {quoted(lines[0])}, {quoted(changed(rng, lines[1]))} {NEVER}"))
        elif is_line and form < 0.5:
            text = f"{name} expect line {value(rng, content)}"
            wrongs.append(Wrong("an expectation is changed", f"{name} expect line {quoted(changed(rng, content))}"))
            if side.unread and side.unread[0][1]:
                wrongs.append(Wrong("the next line is expected", f"{name} expect line {quoted(side.unread[0][0])}"))
        elif is_line and form < 0.65:
            text = f"{name} expect line {regex(content)}"
        elif is_line and form < 0.75:
            text = (f"either {{ {name} expect line {quoted(changed(rng, content))} }} "
                    f"or {{ {name} expect line {quoted(content)} }}")
            wrongs.append(Wrong("no branch matches", f"either {{ {name} expect line {quoted(changed(rng, content))} {NEVER} }} "
                                f"or {{ {name} expect line \"nobody says this\" {NEVER} }}"))
        elif is_line and form < 0.85:
            self.bind(f"{name} expect line as", content)
            return
        elif form < 0.92:
            self.bind(f"{name} expect {len(data)} bytes as", data)
            return
        else:
            text = f"{name} expect {value(rng, data)}"
        self.steps.append(Step(text, wrongs))

    # Interaction between the sides

    def meet(self):
        """One side sends while the other side waits for the data."""
        sides = [side for side in (self.left, self.right) if side.kind == "harness" and self.other(side).kind != "program"]
        if not sides:
            return
        side = self.rng.choice(sides)
        other = self.other(side)
        if other.unread or self.reads:
            return
        content = self.words.line()
        side.sent += content + b"\r\n"
        side.lines.append(content)
        side.segments = None
        bounds = self.rng.choice(["", " after 30ms", " after 20ms within 7s"])
        line = f"{other.name} expect line {quoted(content)}"

        def both(wait, clauses):
            return f"together {{\n    do {{ wait {wait}; {side.name} send line {quoted(content)} }}\n    {line}{clauses}\n}}"

        self.steps.append(Step(both("80ms", bounds), [
            Wrong("it arrives too late", both("500ms", " within 100ms")),
            Wrong("it arrives too early", both("80ms", f" {TOO_LATE}"))]))

    def quiet(self):
        """Expects silence when nothing was sent."""
        side = self.rng.choice([self.left, self.right])
        other = self.other(side)
        # A subject may report the event `sent` at any time.
        is_quiet = not side.unread and (side.kind == "harness" or side.kind == "subject" and not side.sent)
        if is_quiet and other.kind != "program":
            self.steps.append(Step(f"{side.name} expect nothing for {self.rng.choice([1, 10, 30])}ms"))

    def exchange(self):
        """Sends some messages each way, and then expects all of them."""
        for _ in range(self.rng.randrange(1, 5)):
            what = self.rng.random()
            side = self.rng.choice([self.left, self.right])
            if what < 0.55:
                self.say(side)
            elif what < 0.8:
                if side.kind != "program":
                    self.hear(side, 1)
            elif what < 0.9:
                self.meet()
            else:
                self.quiet()
        for side in (self.left, self.right):
            if side.kind != "program":
                self.hear(side)
                kind = "data" if self.reads and side.kind == "subject" else "line"
                if kind == "line":
                    self.steps.append(only_wrong("it is never sent", f'{side.name} expect line "nobody says this" {NEVER}'))
                    if side.kind == "harness":
                        self.steps.append(only_wrong("it is never sent", f"{side.name} expect 1 bytes as none {NEVER}"))

    # Statements about the wire

    def look(self, is_over=False):
        """Returns some statements about what each side has sent so far."""
        for side in (self.left, self.right):
            # A program may already have sent data that later steps of the script expect.
            if self.rng.random() < 0.5 and (is_over or side.kind != "program"):
                self.look_at(side, is_over)

    def look_at(self, side, is_over):
        other, rng = self.other(side), self.rng
        way = f"wire {side.name} -> {other.name}"
        statements = []
        if side.sent:
            sent, size = side.sent, len(side.sent)
            statements += [
                wire(f"{way} bytes {quoted(sent)}", f"{way} bytes {quoted(changed(rng, sent))}",
                     f"{way} bytes {quoted(sent + b'x')}", *([f"{way} bytes {quoted(sent[:-1])}"] if size > 1 else [])),
                wire(f"{way} largest segment <= {size}", f"{way} largest segment > {size}"),
                wire(f"{way} segments >= 1", f"{way} segments 0"),
                wire(f"{way} first byte within 7s"),
                wire(f"{way} lacks {quoted(sent + b'x')}", f"{way} lacks {quoted(sent)}"),
                wire(f"{way} records 0", f"{way} records 1", f"{way} tls", f"{way} tls from the start"),
            ]
            if side.has_only_lines:
                longest, count = max(map(len, side.lines)), len(side.lines)
                statements += [
                    wire(f"{way} lines crlf", f"{way} lines nul"),
                    wire(f"{way} longest line == {longest}", f"{way} longest line < {longest}"),
                    wire(f"{way} messages {count}", f"{way} messages {count + 1}")]
            if side.segments and len(side.segments) <= 8:
                texts = [quoted(piece) for piece in side.segments]
                statements.append(wire(f"{way} segments {', '.join(texts)}", f"{way} segments {', '.join([*texts, texts[-1]])}"))
            if getattr(self, "gap", (None, 0))[0] is side and len(side.segments or []) > 1:
                statements.append(wire(f"{way} gap 1 >= {self.gap[1]}ms", f"{way} gap 1 >= 20s"))
        else:
            statements.append(wire(f"{way} segments 0", f"{way} segments >= 1"))
        statements.append(wire(f"{way} window >= 1KiB", f"{way} zero window"))
        if not is_over:
            statements.append(wire("", f"wire fin from {side.name} to {other.name}", f"wire rst from {side.name} to {other.name}"))
        self.steps += rng.sample(statements, min(len(statements), rng.randrange(1, 3)))
