"""How a conversation ends."""
from steps import Step, Wrong, only_wrong, wire
from values import quoted

NEVER = "within 200ms"
TOO_LATE = "after 4s"


def choose(rng, left, right):
    """An ending that these sides can have."""
    kinds = {left.kind, right.kind}
    if "program" in kinds:
        return rng.choice(["close", "close", "reset", "half", "theirs"])
    if "subject" in kinds:
        return rng.choice(["none", "stop", "stop", "close", "close", "reset", "half"])
    return rng.choice(["none", "close", "close", "half", "reset"])


def end(talk):
    """Adds the ending's steps, and what the wire has of it."""
    sides = [talk.left, talk.right]
    talk.rng.shuffle(sides)
    first, second = sides
    kinds = {first.kind, second.kind}
    if "program" in kinds:
        program = first if first.kind == "program" else second
        with_program(talk, program, talk.other(program))
    elif "subject" in kinds:
        subject = first if first.kind == "subject" else second
        with_subject(talk, subject, talk.other(subject))
    else:
        between_ends(talk, first, second)


def closing(talk, first, second):
    """Statements about who closed."""
    to = f"{first.name} to {second.name}"
    talk.steps += talk.rng.sample([
        wire(f"wire fin from {to}", f"wire rst from {to}"),
        # Where a name has had several connections this has to say the other one's.
        wire("" if first.is_reused else f"wire closed by {first.name} first",
             *([] if second.is_reused else [f"wire closed by {second.name} first"])),
    ], talk.rng.randrange(0, 3))


def between_ends(talk, first, second):
    a, b = first.name, second.name
    if talk.ending == "none":
        talk.steps.append(only_wrong("more is sent", f'{a} send "more"'))
        talk.steps.append(only_wrong("the end is expected", f"{a} expect closed {NEVER}"))
        return
    if talk.ending == "reset":
        talk.has_reset = True
        talk.steps += [Step(f"{a} reset", [Wrong("it closes", f"{a} close")]),
                       Step(f"{b} expect reset", [Wrong("the end is another", f"{b} expect eof"),
                                                  Wrong("it comes too early", f"{b} expect reset {TOO_LATE}")])]
        talk.steps += talk.rng.sample([wire(f"wire rst from {a} to {b}", f"wire fin from {a} to {b}")], talk.rng.randrange(2))
        return
    talk.steps.append(only_wrong("more is sent", f"{a} send {quoted(talk.words.line())}"))
    talk.steps.append(only_wrong("the end is expected", f"{b} expect eof {NEVER}"))
    if talk.ending == "half":
        talk.steps += [Step(f"{a} half-close"), expect_eof(b)]
        if talk.rng.random() < 0.7:
            talk.say(second)
            talk.hear(first)
        talk.steps += [Step(f"{b} close", [Wrong("it resets", f"{b} reset")]), expect_eof(a), Step(f"{a} close")]
    else:
        talk.steps += [Step(f"{a} close", [Wrong("it resets", f"{a} reset")]), expect_eof(b), Step(f"{b} close")]
    closing(talk, first, second)


def expect_eof(name):
    return Step(f"{name} expect eof", [
        Wrong("the end is another", f"{name} expect reset"), Wrong("the end comes too early", f"{name} expect eof {TOO_LATE}"),
        Wrong("a line is expected at the end", f'{name} expect line "nobody says this"'),
        Wrong("silence is expected at the end", f"{name} expect nothing for 2s")])


def expect_stopped(name, reason, reads=False):
    others = [word for word in ("eof", "reset", "refused", "timeout", "stopped") if word != reason]
    unit = 'data "nobody' if reads else 'line "nobody'
    return Step(f"{name} expect stopped {reason}", [
        *(Wrong("the end is another", f"{name} expect stopped {word}") for word in others[:3]),
        Wrong("the end comes too early", f"{name} expect stopped {reason} {TOO_LATE}"),
        Wrong("a message is expected at the end", f'{name} expect {unit} says this"')])


def with_subject(talk, subject, peer):
    t, s = subject.name, peer.name
    if talk.ending == "none":
        if not talk.reads:
            talk.steps.append(only_wrong("the subject says more", f'{t} send line "more"'))
        return
    if talk.ending == "stop":
        talk.steps.append(only_wrong("the subject says more", f'{t} send line "more"'))
        talk.steps.append(Step(f"{t} stop"))
        if talk.rng.random() < 0.5:
            talk.steps.append(expect_stopped(t, "stopped", talk.reads))
        talk.steps += [expect_eof(s), Step(f"{s} close")]
        closing(talk, subject, peer)
        return
    if talk.ending == "half":
        talk.steps += [Step(f"{t} half-close"), expect_eof(s)]
        if talk.rng.random() < 0.7:
            talk.say(peer)
            talk.hear(subject)
    elif talk.ending == "reset":
        talk.has_reset = True
        talk.steps += [*read_end(talk, t), Step(f"{s} reset"), expect_stopped(t, "reset", talk.reads)]
        return
    if not talk.reads:
        talk.steps.append(only_wrong("the peer says more", f'{s} send line "more"'))
        talk.steps.append(only_wrong("half a line is left", f'{s} send "more"'))
    talk.steps += [*read_end(talk, t), Step(f"{s} close", [Wrong("it resets", f"{s} reset")]), expect_stopped(t, "eof", talk.reads)]
    if talk.ending == "close":
        closing(talk, peer, subject)


def read_end(talk, name):
    """Who reads only when asked hears of the end by a read that waits."""
    return [Step(f"{name} read any bytes")] if talk.reads else []


def with_program(talk, program, peer):
    p, s, actions = program.name, peer.name, program.actions
    # All that it sent is taken before it ends, and it knows.
    content = talk.words.line()
    line = content + b"\r\n"
    talk.steps.append(Step(f"{s} send line {quoted(content)}"))
    peer.sent += line
    peer.lines.append(content)
    peer.segments = None
    actions.append(f"recv:{line.hex()}")
    before = list(actions)

    def instead(kind, *ending):
        talk.steps.append(Step("", [Wrong(kind, "", program=(p, [*before, *ending]))]))

    sends = [at for at, action in enumerate(before) if action.startswith("send:")]
    if sends:
        at = talk.rng.choice(sends)
        talk.steps.append(Step("", [
            Wrong("the program closes early", "", program=(p, [*before[:at], "close", "exit:0"])),
            Wrong("the program sends too little", "", program=(p, [*before[:at], *before[at + 1:], "close", "exit:0"]))]))
    if talk.ending == "theirs":
        actions += ["eof", "close", "exit:0"]
        talk.steps += [Step(f"{s} close", [Wrong("it resets", f"{s} reset")])]
        closing(talk, peer, program)
    elif talk.ending == "reset":
        talk.has_reset = True
        actions += ["reset", "exit:0"]
        instead("the program closes", "close", "exit:0")
        talk.steps.append(Step(f"{s} expect reset", [Wrong("the end is another", f"{s} expect eof")]))
    else:
        if talk.ending == "half":
            actions += ["half", "eof", "close", "exit:0"]
        else:
            actions += ["close", "exit:0"]
        instead("the program sends more", f"send:{b'more'.hex()}", "close", "exit:0")
        instead("the program resets", "reset", "exit:0")
        talk.steps += [expect_eof(s), Step(f"{s} close")]
        closing(talk, program, peer)
    talk.steps.append(Step(f"{p} expect exit 0", [
        Wrong("another exit status", f"{p} expect exit 3"), Wrong("another exit status", f"{p} expect exit signal KILL")]))
    instead("the program's status is another", *(actions[len(before):-1]), "exit:5")
