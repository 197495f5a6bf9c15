"""The ways in which a conversation can end."""
from steps import Step, Wrong, only_wrong, wire
from values import quoted

NEVER = "within 200ms"
TOO_LATE = "after 4s"


def choose(rng, left, right):
    """Returns a random kind of ending that is possible with these two sides."""
    kinds = {left.kind, right.kind}
    if "program" in kinds:
        return rng.choice(["close", "close", "reset", "half", "theirs"])
    if "subject" in kinds:
        return rng.choice(["none", "stop", "stop", "close", "close", "reset", "half"])
    return rng.choice(["none", "close", "close", "half", "reset"])


def end(conversation):
    """Adds the ending's steps, and the statements about the ending."""
    sides = [conversation.left, conversation.right]
    conversation.rng.shuffle(sides)
    first, second = sides
    kinds = {first.kind, second.kind}
    if "program" in kinds:
        program = first if first.kind == "program" else second
        with_program(conversation, program, conversation.other(program))
    elif "subject" in kinds:
        subject = first if first.kind == "subject" else second
        with_subject(conversation, subject, conversation.other(subject))
    else:
        between_ends(conversation, first, second)


def closing(conversation, first, second):
    """Returns statements about which side closed the connection."""
    to = f"{first.name} to {second.name}"
    conversation.steps += conversation.rng.sample([
        wire(f"wire fin from {to}", f"wire rst from {to}"),
        # A `closed by` statement must not name a side that has had several connections.
        wire("" if first.is_reused else f"wire closed by {first.name} first",
             *([] if second.is_reused else [f"wire closed by {second.name} first"])),
    ], conversation.rng.randrange(0, 3))


def between_ends(conversation, first, second):
    a, b = first.name, second.name
    if conversation.ending == "none":
        conversation.steps.append(only_wrong("more is sent", f'{a} send "more"'))
        conversation.steps.append(only_wrong("the end is expected", f"{a} expect closed {NEVER}"))
        return
    if conversation.ending == "reset":
        conversation.has_reset = True
        conversation.steps += [Step(f"{a} reset", [Wrong("it closes", f"{a} close")]),
                       Step(f"{b} expect reset", [Wrong("the end is another", f"{b} expect eof"),
                                                  Wrong("it arrives too early", f"{b} expect reset {TOO_LATE}")])]
        conversation.steps += conversation.rng.sample([wire(f"wire rst from {a} to {b}", f"wire fin from {a} to {b}")], conversation.rng.randrange(2))
        return
    conversation.steps.append(only_wrong("more is sent", f"{a} send {quoted(conversation.words.line())}"))
    conversation.steps.append(only_wrong("the end is expected", f"{b} expect eof {NEVER}"))
    if conversation.ending == "half":
        conversation.steps += [Step(f"{a} half-close"), expect_eof(b)]
        if conversation.rng.random() < 0.7:
            conversation.say(second)
            conversation.hear(first)
        conversation.steps += [Step(f"{b} close", [Wrong("it resets", f"{b} reset")]), expect_eof(a), Step(f"{a} close")]
    else:
        conversation.steps += [Step(f"{a} close", [Wrong("it resets", f"{a} reset")]), expect_eof(b), Step(f"{b} close")]
    closing(conversation, first, second)


def expect_eof(name):
    return Step(f"{name} expect eof", [
        Wrong("the end is another", f"{name} expect reset"), Wrong("the end arrives too early", f"{name} expect eof {TOO_LATE}"),
        Wrong("a line is expected at the end", f'{name} expect line "nobody says this"'),
        Wrong("silence is expected at the end", f"{name} expect nothing for 2s")])


def expect_stopped(name, reason, reads=False):
    others = [word for word in ("eof", "reset", "refused", "timeout", "stopped") if word != reason]
    unit = 'data "nobody' if reads else 'line "nobody'
    return Step(f"{name} expect stopped {reason}", [
        *(Wrong("the end is another", f"{name} expect stopped {word}") for word in others[:3]),
        Wrong("the end arrives too early", f"{name} expect stopped {reason} {TOO_LATE}"),
        Wrong("a message is expected at the end", f'{name} expect {unit} says this"')])


def with_subject(conversation, subject, peer):
    t, s = subject.name, peer.name
    if conversation.ending == "none":
        if not conversation.reads:
            conversation.steps.append(only_wrong("the subject sends more", f'{t} send line "more"'))
        return
    if conversation.ending == "stop":
        conversation.steps.append(only_wrong("the subject sends more", f'{t} send line "more"'))
        conversation.steps.append(Step(f"{t} stop"))
        if conversation.rng.random() < 0.5:
            conversation.steps.append(expect_stopped(t, "stopped", conversation.reads))
        conversation.steps += [expect_eof(s), Step(f"{s} close")]
        closing(conversation, subject, peer)
        return
    if conversation.ending == "half":
        conversation.steps += [Step(f"{t} half-close"), expect_eof(s)]
        if conversation.rng.random() < 0.7:
            conversation.say(peer)
            conversation.hear(subject)
    elif conversation.ending == "reset":
        conversation.has_reset = True
        conversation.steps += [*read_end(conversation, t), Step(f"{s} reset"), expect_stopped(t, "reset", conversation.reads)]
        return
    if not conversation.reads:
        conversation.steps.append(only_wrong("the peer sends more", f'{s} send line "more"'))
        conversation.steps.append(only_wrong("half a line is left", f'{s} send "more"'))
    conversation.steps += [*read_end(conversation, t), Step(f"{s} close", [Wrong("it resets", f"{s} reset")]), expect_stopped(t, "eof", conversation.reads)]
    if conversation.ending == "close":
        closing(conversation, peer, subject)


def read_end(conversation, name):
    """Returns the read that a transport that reads only on request needs to notice the end of the connection."""
    return [Step(f"{name} read any bytes")] if conversation.reads else []


def with_program(conversation, program, peer):
    p, s, actions = program.name, peer.name, program.actions
    # The line shows the program, before it ends, that its peer has received all of its data.
    content = conversation.words.line()
    line = content + b"\r\n"
    conversation.steps.append(Step(f"{s} send line {quoted(content)}"))
    peer.sent += line
    peer.lines.append(content)
    peer.segments = None
    actions.append(f"recv:{line.hex()}")
    before = list(actions)

    def instead(kind, *ending):
        conversation.steps.append(Step("", [Wrong(kind, "", program=(p, [*before, *ending]))]))

    sends = [at for at, action in enumerate(before) if action.startswith("send:")]
    if sends:
        at = conversation.rng.choice(sends)
        conversation.steps.append(Step("", [
            Wrong("the program closes early", "", program=(p, [*before[:at], "close", "exit:0"])),
            Wrong("the program sends too little", "", program=(p, [*before[:at], *before[at + 1:], "close", "exit:0"]))]))
    if conversation.ending == "theirs":
        actions += ["eof", "close", "exit:0"]
        conversation.steps += [Step(f"{s} close", [Wrong("it resets", f"{s} reset")])]
        closing(conversation, peer, program)
    elif conversation.ending == "reset":
        conversation.has_reset = True
        actions += ["reset", "exit:0"]
        instead("the program closes", "close", "exit:0")
        conversation.steps.append(Step(f"{s} expect reset", [Wrong("the end is another", f"{s} expect eof")]))
    else:
        if conversation.ending == "half":
            actions += ["half", "eof", "close", "exit:0"]
        else:
            actions += ["close", "exit:0"]
        instead("the program sends more", f"send:{b'more'.hex()}", "close", "exit:0")
        instead("the program resets", "reset", "exit:0")
        conversation.steps += [expect_eof(s), Step(f"{s} close")]
        closing(conversation, program, peer)
    conversation.steps.append(Step(f"{p} expect exit 0", [
        Wrong("a different exit status is expected", f"{p} expect exit 3"), Wrong("a different exit status is expected", f"{p} expect exit signal KILL")]))
    instead("the program exits with a different status", *(actions[len(before):-1]), "exit:5")
