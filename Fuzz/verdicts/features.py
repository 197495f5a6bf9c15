"""Sections of scenarios, each of which uses one feature of the language."""
import endings
from conversation import Conversation, Side
from sections import NEVER, TOO_LATE, Section, merged
from steps import INCONCLUSIVE, Step, Wrong, only_wrong, wire
from values import Words, changed, quoted, regex, value


def converse(section, pairs):
    """Adds a conversation for each client and its accepted connection, concurrently."""
    rng, index = section.rng, section.index
    conversations = [Conversation(rng, Words(rng, f"s{index}n{number}w"), f"{index}n{number}",
                  Side(x, "harness", is_reused=True), Side(y, "harness"))
             for number, (x, y) in enumerate(pairs)]
    for conversation in conversations:
        conversation.ending = endings.choose(rng, conversation.left, conversation.right)
        section.over(conversation)
    section.steps += merged(rng, [conversation.steps for conversation in conversations])


def looped(rng, index, places):
    """Adds a loop that opens connections."""
    section = Section(rng, index, places)
    s, c, n = f"S{index}", f"C{index}", rng.randrange(2, 6)
    section.server(s)
    section.actors.append(f"client {c} -> {section.target(s)}")
    section.has_reset = rng.random() < 0.5
    finish = f"{c} reset\n    {s} expect reset" if section.has_reset else f"{c} close\n    {s} expect eof\n    {s} close"

    def loop(said, heard, more=""):
        return (f"for i{index} in 1..{n} {{\n    {c} connect\n    {s} accept\n    {c} send line \"n ${{{said}}}\"\n"
                f"    {s} expect line \"n ${{{heard}}}\"\n{more}    {finish}\n}}")

    i = f"i{index}"
    section.steps.append(Step(loop(i, i), [
        Wrong("a check is changed", loop(i, i, f"    check {i} != {rng.randrange(1, n + 1)}\n")),
        Wrong("an expectation is changed", loop(i, i).replace('expect line "n ', 'expect line "m '))]))
    return section


def away(rng, index, places):
    """Adds a server that stops listening for a while."""
    section = Section(rng, index, places)
    s, c, d = f"S{index}", f"C{index}", f"D{index}"
    section.server(s)
    section.is_unsure = True
    section.actors += [f"client {c} -> {section.target(s)}", f"client {d} -> {s}"]
    section.steps += [
        Step(f"{c} connect"), Step(f"{s} accept as A{index}"),
        Step(f"{s} expect no connection for 5ms"), Step(f"{s} stop listening"),
        Step(f"{d} connect refused", [Wrong("it is expected to connect", f"do {{ {d} connect; {d} close }}")]),
    ]
    if rng.random() < 0.5:
        section.steps += [Step(f"{s} listen"), Step(f"{d} connect", [
            Wrong("it is expected to be refused", f"do {{ {d} connect refused; {d} connect }}")])]
    else:
        # Connection attempts are refused until the server listens.
        section.steps.append(Step(f"together {{\n    do {{ wait {rng.choice([5, 30, 60])}ms; {s} listen }}\n"
                                f"    retry every 10ms within 7s {{ {d} connect }}\n}}"))
    section.steps.append(Step(f"{s} accept as B{index}"))
    converse(section, [(c, f"A{index}"), (d, f"B{index}")])
    return section


def retried(rng, index, places):
    """Adds connection attempts, the first of which is discarded, until the second server listens."""
    section = Section(rng, index, places)
    section.is_unsure = True
    s, r, c, d = f"S{index}", f"R{index}", f"C{index}", f"D{index}"
    section.server(s)
    section.server(r)
    section.actors += [f"client {c} -> {s}", f"client {d} -> {r}"]
    section.steps += [
        Step(f"{r} stop listening"),
        Step(f"together {{\n    do {{ wait {rng.choice([5, 25, 70])}ms; {r} listen }}\n"
             f"    retry every {rng.choice([1, 10, 20])}ms within 7s {{ {c} connect; {d} connect }}\n}}"),
        Step(f"{r} accept as B{index}"), Step(f"{s} accept as A{index}")]
    converse(section, [(c, f"A{index}"), (d, f"B{index}")])
    return section


def answered(rng, index, places):
    """Adds lines that a `whenever` answers."""
    section = Section(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    section.server(s)
    section.actors.append(f"client {c} -> {section.target(s)}")
    count = rng.randrange(0, 4)
    section.steps += [Step(f"{c} connect"), Step(f"{s} accept"),
                    Step(f'whenever {c} gets line /^ping (?<n{index}>\\d+)$/ {{ {c} send line "pong ${{n{index}}}" }}')]
    for number in range(count):
        content = section.words.line()
        section.steps.append(Step(f'{s} send lines("ping {number}", {quoted(content)})'))
        both = [Step(f'{s} expect line "pong {number}"', [
                    Wrong("an expectation is changed", f'{s} expect line "pong {number + 10}"'), Wrong("an expectation is removed", "")]),
                Step(f"{c} expect line {quoted(content)}", [
                    Wrong("an expectation is changed", f"{c} expect line {quoted(changed(rng, content))}"),
                    Wrong("the answered line is expected", f'{c} expect line "ping {number}" {NEVER}')])]
        section.steps += both if rng.random() < 0.5 else both[::-1]
    if count == 0:
        # A `whenever` block that never ran makes the case inconclusive, whatever the wire shows.
        section.verdict = INCONCLUSIVE
        section.steps += [Step(f'{s} send line "pang"'), Step(f'{c} expect line "pang"')]
    return section


def words_of_a_program(rng, index, places):
    """Adds a program without a socket: its output, input and exit."""
    section = Section(rng, index, places)
    p, word, status = f"Q{index}", f"w{rng.randrange(1000)}", rng.randrange(0, 4)
    section.actors.append(f"process {p} = sh -c 'echo ready; while read x; do echo \"got $x\"; [ \"$x\" = end ] && exit {status}; done'")
    section.steps += [
        Step(f"{p} start"),
        Step(f"{p} expect output /^ready$/", [Wrong("different output is expected", f"{p} expect output /^steady$/ {NEVER}")]),
        only_wrong("output is there", f"{p} expect no output /read/"),
        Step(f'{p} send "{word}\\n"'),
        Step(f"{p} expect output /^got {word}$/", [Wrong("different output is expected", f"{p} expect output /^got {word}x$/ {NEVER}")]),
        Step(f"{p} expect no output /wrong/", [Wrong("output is there", f"{p} expect no output /got {word}/")])]
    if rng.random() < 0.3:
        section.steps += [Step(f"{p} signal KILL"), Step(f"{p} expect exit signal KILL", [
            Wrong("a different end is expected", f"{p} expect exit 0"), Wrong("a different end is expected", f"{p} expect exit signal TERM")])]
    elif rng.random() < 0.5:
        section.steps += [Step(f'{p} send "end\\n"'), Step(f"{p} expect exit {status}", [
            Wrong("a different end is expected", f"{p} expect exit {status + 1}"),
            Wrong("a different end is expected", f"{p} expect exit signal KILL"),
            Wrong("its end is not expected", f"do {{ {p} expect output /^got end$/; wait 2s }}")])]
    else:
        section.steps.append(Step(f"{p} stop"))
    return section


def shut(rng, index, places):
    """Adds a peer that does not read for a while."""
    section = Section(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    section.server(s, " with receive-buffer 4KiB")
    section.actors.append(f"client {c} -> {s} with send-buffer 4KiB")
    section.steps += [
        Step(f"{c} connect"), Step(f"{s} accept"), Step(f"{s} stop reading"),
        Step(f'{c} start sending "x" * 64KiB', is_wire=True),
        Step(f"{c} expect stalled for 50ms", [Wrong("it is expected to be sent", f"{c} expect sent {NEVER}")]),
        wire(f"wire {s} -> {c} zero window"), Step(f"{s} resume reading"),
        Step(f'{s} expect "x" * 64KiB', [Wrong("an expectation is changed", f'{s} expect "x" * 64000 + "y"')]),
        Step(f"{c} expect sent"),
        Step(f"{c} close"), endings.expect_eof(s), Step(f"{s} close")]
    return section


def outside(rng, index, places):
    """Adds a server outside the case, which keeps running after the case ends."""
    section = Section(rng, index, places)
    is_subject = rng.random() < 0.6
    name = f"{'T' if is_subject else 'C'}{index}"
    section.has_subject = is_subject
    section.is_unsure = True
    section.actors.append(f"{'subject' if is_subject else 'client'} {name} -> {places.outside(rng)}")
    section.steps += [Step(f"{name} {'start' if is_subject else 'connect'}"),
                    Step(f'{name} expect line "hello"', [Wrong("an expectation is changed", f'{name} expect line "hallo"')])]
    for _ in range(rng.randrange(0, 4)):
        content = section.words.line()
        # Lines are echoed unchanged.
        section.steps += [Step(f"{name} send line {value(rng, content)}"), Step(f"{name} expect line {value(rng, content)}", [
            Wrong("an expectation is changed", f"{name} expect line {regex(changed(rng, content))}"),
            Wrong("the end is expected", f"{name} expect {'stopped ' if is_subject else ''}eof {NEVER}")])]
    looks = [wire("wire no rst", f"wire rst from {name}"), wire("wire handshake complete", f"wire fin from {name}"),
             wire("wire packets <= 100", "wire packets > 100")]
    section.looks_at_all = rng.sample(looks, rng.randrange(len(looks)))
    section.before_end = len(section.steps)
    if is_subject:
        if rng.random() < 0.7:
            section.steps += [Step(f"{name} stop"), endings.expect_stopped(name, "stopped")]
    else:
        section.steps.append(Step(f"{name} close"))
    return section


def connected(rng, index, places, more=""):
    """Returns a section with an established connection, and the names of its ends."""
    section = Section(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    section.server(s, more)
    section.actors.append(f"client {c} -> {section.target(s)}")
    section.steps += [Step(f"{c} connect"), Step(f"{s} accept")]
    return section, s, c


def closed(section, s, c):
    """Adds an orderly end of the connection."""
    section.steps += [Step(f"{c} close"), endings.expect_eof(s), Step(f"{s} close")]
    return section


def urgent(rng, index, places):
    """Adds an urgent byte."""
    section, s, c = connected(rng, index, places)
    content = section.words.line()
    section.steps += [
        Step(f'{c} send urgent "!"'), Step(f'{s} expect urgent "!"', [Wrong("an expectation is changed", f'{s} expect urgent "?"')]),
        Step(f"{c} send line {quoted(content)}"), Step(f"{s} expect line {quoted(content)}"),
        wire(f"wire {c} -> {s} urgent", f"wire {s} -> {c} urgent")]
    return closed(section, s, c)


def numbers(rng, index, places):
    """Adds integers, and messages with a length prefix."""
    section, s, c = connected(rng, index, places)
    for number in range(rng.randrange(1, 4)):
        kind, largest = rng.choice([("u8", 255), ("u16", 65535), ("u32", 1 << 31), ("u16le", 65535), ("varint", 1 << 40)])
        n, x = rng.randrange(largest), f"n{index}x{number}"
        section.steps += [Step(f"{c} send {kind}({n})"), Step(f"do {{ {s} expect {kind} as {x}; check {x} == {n} }}", [
            Wrong("a check is changed", f"do {{ {s} expect {kind} as {x}; check {x} == {n + 1} }}"),
            Wrong("a check is changed", f"do {{ {s} expect {kind} as {x}; check {x} < {n} }}")])]
    framing, extra = rng.choice([("u8", 1), ("u16", 2), ("u32", 4), ("u64", 8), ("nul", 1), ("lf", 1)])
    section.steps += [Step(f"{c} framing {framing}"), Step(f"{s} framing {framing}")]
    for _ in range(rng.randrange(1, 4)):
        content = section.words.line()[:200].replace(b"\0", b"")
        size, cut = rng.choice([(1000, ""), (1, " cut at 1"), (50, " in pieces of 50B every 1ms")])
        section.steps += [Step(f"{c} send line {quoted(content)}{cut}", is_wire=len(content) + extra > size),
                        Step(f"{s} expect message {quoted(content)}", [
                            Wrong("an expectation is changed", f"{s} expect message {quoted(changed(rng, content))}"),
                            Wrong("an expectation is removed", "")])]
    return closed(section, s, c)


def crossing(rng, index, places):
    """Adds a conversation in which both sides send at the same time."""
    section, s, c = connected(rng, index, places)
    lines, expected = [], []
    for a, b in ((c, s), (s, c)):
        contents = [section.words.line() for _ in range(rng.randrange(1, 5))]
        pace = rng.choice(["", " every 1ms", " every 10ms"])
        lines.append(f"{a} send {' | '.join(quoted(content + rest) for content in contents for rest in [bytes([13, 10])])}{pace}")
        expected.append([f"{b} expect line {quoted(content)}" for content in contents])
    wrong = [list(one) for one in expected]
    side = rng.randrange(2)
    wrong[side][rng.randrange(len(wrong[side]))] = f'{(s, c)[side]} expect line "nobody says this" {NEVER}'
    missing = [list(one) for one in expected]
    missing[side].append(f'{(s, c)[side]} expect line "nobody says this" {NEVER}')

    def block(parts):
        return "together {\n    " + "\n    ".join([*lines, *(f"do {{ {'; '.join(part)} }}" for part in parts)]) + "\n}"

    section.steps.append(Step(block(expected), [Wrong("one of the concurrent expectations is changed", block(wrong)),
                                              Wrong("one of the concurrent branches expects more", block(missing))],
                            is_wire=any(" | " in line for line in lines)))
    return closed(section, s, c)


def much(rng, index, places):
    """Adds data sent in the background, often more than one read returns, and sometimes a slow reader."""
    section, s, c = connected(rng, index, places)
    size = rng.choice([100, 70_000, 300_000])
    section.steps += [Step(f'{c} start sending "x" * {size}'), Step(f'{s} expect "x" * {size}', [
        Wrong("an expectation is changed", f'{s} expect "x" * {size - 1} + "y"'),
        Wrong("more is expected", f'{s} expect "x" * {size + 1} {NEVER}')]), Step(f"{c} expect sent")]
    if rng.random() < 0.5:
        content = section.words.line()
        section.steps += [Step(f"{s} read 40B every 1ms"), Step(f"{c} send line {quoted(content)}"),
                        Step(f"{s} expect line {quoted(content)}", [
                            Wrong("an expectation is changed", f"{s} expect line {quoted(changed(rng, content))}")]),
                        Step(f"{s} resume reading")]
    return closed(section, s, c)


def ignored(rng, index, places):
    """Adds bytes that are ignored."""
    section, s, c = connected(rng, index, places)
    section.steps += [Step(f"{s} send {quoted(section.words.raw())}"),
                    Step(f"{c} ignore rest", [Wrong("it is not ignored", "")]),
                    Step(f"{s} close"), Step(f"{c} expect eof"), Step(f"{c} close")]
    return section


def nobody(rng, index, places):
    """Adds a subject whose peer is missing or silent."""
    section = Section(rng, index, places)
    t = f"T{index}"
    section.has_subject = section.is_unsure = True
    if rng.random() < 0.5:
        section.actors.append(f"subject {t} -> 127.0.0.1:9")
        section.steps += [Step(f"{t} start"), endings.expect_stopped(t, "refused")]
        return section
    s = f"S{index}"
    section.server(s)
    section.actors.append(f"subject {t} -> {section.target(s)} with idle-timeout 100ms")
    section.steps += [Step(f"{t} start"), Step(f"{s} accept"), Step(f"{t} expect stopped timeout", [
        Wrong("the end is another", f"{t} expect stopped eof"), Wrong("the end is another", f"{t} expect stopped stopped"),
        Wrong("a line is expected at the end", f'{t} expect line "nobody says this"')])]
    return section


def framed(rng, index, places):
    """Adds a subject with a framing other than lines: its messages, its peer's messages, and leftover bytes at the
    end."""
    section = Section(rng, index, places)
    section.has_subject = True
    s, t, framing = f"S{index}", f"T{index}", places.framing
    section.server(s)
    section.actors.append(f"subject {t} -> {section.target(s)}")
    section.steps += [Step(f"{t} start"), Step(f"{s} accept")]
    counts = {s: 0, t: 0}
    for _ in range(rng.randrange(1, 6)):
        content = section.words.line()[:120].replace(b"\0", b"")
        other = quoted(changed(rng, content))
        a, b = (s, t) if rng.random() < 0.5 else (t, s)
        counts[a] += 1
        if framing == "none":
            text = quoted(content)
            heard = f"{b} expect {text}"
            wrongs = [Wrong("an expectation is changed", f"{b} expect {other}")]
        else:
            text = f"line {quoted(content)}"
            heard = f"{b} expect message {quoted(content)}"
            wrongs = [Wrong("an expectation is changed", f"{b} expect message {other}")]
        if b == t:
            # Unexpected data from the subject is not noticed if it arrives after the server's close.
            wrongs += [Wrong("an expectation is removed", ""), Wrong("it arrives too early", f"{heard} {TOO_LATE}")]
        cut = rng.choice(["", " cut at 1", " cut at 1, 2, 3 every 1ms"]) if a == s else ""
        section.steps += [Step(f"{a} send {text}{cut}", is_wire=bool(cut)), Step(heard, wrongs)]
        if rng.random() < 0.3 and framing != "none":
            peer = t if a == s else s
            section.steps.append(wire(f"wire {a} -> {peer} messages {counts[a]}", f"wire {a} -> {peer} messages {counts[a] + 1}"))
    if framing in ("lf", "nul") and rng.random() < 0.5:
        section.steps += [Step(f'{s} send "half"'), Step(f"{s} close"), Step(f'{t} expect leftover "half"', [
            Wrong("an expectation is removed", ""), Wrong("an expectation is changed", f'{t} expect leftover "halb"')])]
    else:
        section.steps.append(Step(f"{s} close"))
    section.steps.append(endings.expect_stopped(t, "eof"))
    return section


FEATURES = [(looped, 1), (away, 1), (retried, 1), (answered, 1), (words_of_a_program, 1), (shut, 0.3), (outside, 3), (urgent, 0.5),
          (numbers, 1), (crossing, 1), (much, 0.5), (ignored, 0.4), (nobody, 0.5)]
FRAMINGS = ["lf", "nul", "u8", "u16", "u32", "u64", "varint", "none"]
