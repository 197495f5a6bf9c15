"""The sections of a generated scenario: each has its own actors and connections, and its steps in order. The sections
here are conversations; the sections in features.py each use one feature of the language."""
import endings
from conversation import Conversation, Side
from steps import NOT_PASSED, PASSED, Step, Wrong, only_wrong
from values import Words, quoted

NEVER = "within 200ms"
TOO_LATE = "after 4s"


class Section:
    """Actors, connections and steps that belong together."""

    def __init__(self, rng, index, places):
        self.rng, self.index, self.places = rng, index, places
        # Whether every connection is reset. No port of the section then remains in TIME_WAIT.
        self.only_resets = places.only_resets
        self.words = Words(rng, f"s{index}w")
        # The declarations of actors, and the programs by name, each with its actions and the text that precedes them.
        self.actors, self.programs = [], {}
        self.steps = []
        self.title = ""
        # `has_reset`: whether an RST is on the wire. `is_unsure`: whether an RST or a refused handshake may be on the
        # wire.
        self.has_reset = False
        self.is_unsure = False
        self.has_subject = self.asks_reads = False
        self.verdict = PASSED
        # Statements about every connection of the case, each with the step before which it may be placed.
        self.looks_at_all, self.before_end = [], None
        self.targets = {}

    def server(self, name, more=""):
        """Adds a server somewhere on loopback."""
        where, addresses = self.places.server(self.rng)
        self.targets[name] = [name, name, *addresses]
        self.actors.append(f"server {name}{where}{more}")

    def target(self, name):
        """Returns the notation for this server's address in the declaration of a client or subject."""
        return self.rng.choice(self.targets[name])

    def conversation(self, left, right, reads=False):
        conversation = Conversation(self.rng, self.words, f"{self.index}{left.name}", left, right, reads)
        return self.choose_ending(conversation)

    def choose_ending(self, conversation):
        conversation.ending = "reset" if self.only_resets else endings.choose(self.rng, conversation.left, conversation.right)
        return conversation

    def over(self, conversation):
        """Adds the conversation, with wire statements before and after its end."""
        for _ in range(self.rng.randrange(1, 3)):
            conversation.exchange()
            if self.rng.random() < 0.5:
                conversation.look()
        endings.end(conversation)
        if self.rng.random() < 0.7:
            conversation.look(is_over=True)
        self.has_reset |= conversation.has_reset


def accepted(section, s):
    """Adds an accept, and returns the name of the connection."""
    name = section.rng.choice([s, f"A{s}"])
    text = f"{s} accept" if name == s else f"{s} accept as {name}"
    section.steps.append(Step(text, [Wrong("it arrives too early", f"{text} {TOO_LATE}"),
                                   Wrong("no connection is expected", f"do {{ {s} expect no connection for 2s; {text} }}")]))
    return name


def ends(rng, index, places):
    """Adds a client and a server of the harness."""
    section = Section(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    section.server(s)
    section.actors.append(f"client {c} -> {section.target(s)}")
    section.steps.append(Step(f"{c} connect"))
    conversation = section.conversation(Side(c, "harness"), Side(accepted(section, s), "harness"))
    section.over(conversation)
    section.steps += conversation.steps
    return section


def subject(rng, index, places):
    """Adds the transport under test as a client."""
    section = Section(rng, index, places)
    s, t = f"S{index}", f"T{index}"
    section.has_subject = True
    section.asks_reads = rng.random() < 0.15
    section.server(s)
    section.actors.append(f"subject {t} -> {section.target(s)}")
    if rng.random() < 0.15 and not section.asks_reads:
        too_early(section, f'{t} send line "early"', t, "not-started")
    section.steps.append(Step(f"{t} start"))
    # An accepted connection is reported only once it is established.
    peer = accepted(section, s)
    if rng.random() < 0.3:
        section.steps.append(Step(f"{t} expect started within 7s", [
            Wrong("it arrives too early", f"{t} expect started {TOO_LATE}"),
            Wrong("a different event is expected", f'{t} expect line "x" {NEVER}'),
            Wrong("a different event is expected", f"{t} expect stopped eof {NEVER}")]))
    if rng.random() < 0.15:
        too_early(section, f"{t} start", t, "already-started")
    conversation = section.conversation(Side(t, "subject"), Side(peer, "harness"), section.asks_reads)
    section.over(conversation)
    section.steps += conversation.steps
    return section


def too_early(section, operation, name, error):
    """Adds an operation that the subject must refuse."""
    section.steps += [Step(operation), Step(f"{name} expect error {error}", [
        Wrong("an expectation is removed", ""), Wrong("a different error is expected", f"{name} expect error half-closed")])]


def listens(rng, index, places):
    """Adds the transport under test as a server."""
    section = Section(rng, index, places)
    t, c, a = f"T{index}", f"C{index}", f"A{index}"
    section.has_subject = True
    section.actors += [f"subject {t} listens", f"client {c} -> {t}"]
    section.steps += [Step(f"{t} start"), Step(f"{c} connect"), Step(f"{t} expect accept as {a}", [
        Wrong("it arrives too early", f"{t} expect accept as {a} {TOO_LATE}")])]
    conversation = section.conversation(Side(a, "subject"), Side(c, "harness"))
    section.over(conversation)
    section.steps += conversation.steps
    return section


def program(rng, index, places):
    """Adds a program that connects to a server, or a client that connects to a program."""
    section = Section(rng, index, places)
    p = f"P{index}"
    side = Side(p, "program")
    if rng.random() < 0.15:
        side.actions.append("daemon")
    if rng.random() < 0.15:
        side.actions.append(f"knock:{rng.choice([9, 9800])}")
        section.is_unsure = True
    if rng.random() < 0.5:
        s = f"S{index}"
        section.server(s)
        section.programs[p] = (f"connect ${{{s}.address}} ${{{s}.port}}", side.actions)
        section.steps.append(Step(f"{p} start"))
        peer = Side(accepted(section, s), "harness")
    else:
        c = f"C{index}"
        section.actors.append(f"client {c} -> {p}")
        section.programs[p] = (f"listen 127.0.0.1 ${{{p}.port}}", side.actions)
        section.steps += [Step(f"{p} start"), Step(f"{p} expect listening"), Step(f"{c} connect")]
        peer = Side(c, "harness")
    conversation = section.conversation(peer, side)
    section.over(conversation)
    section.steps += conversation.steps
    return section


def several(rng, index, places):
    """Adds several simultaneous connections to one server."""
    section = Section(rng, index, places)
    s = f"S{index}"
    section.server(s)
    conversations = []
    for number in range(rng.randrange(2, 5)):
        is_subject = rng.random() < 0.4
        name, peer = f"{'T' if is_subject else 'C'}{index}n{number}", f"A{index}n{number}"
        section.has_subject |= is_subject
        section.actors.append(f"{'subject' if is_subject else 'client'} {name} -> {section.target(s)}")
        section.steps += [Step(f"{name} {'start' if is_subject else 'connect'}"), Step(f"{s} accept as {peer}")]
        conversation = Conversation(rng, Words(rng, f"s{index}n{number}w"), f"{index}n{number}",
                    Side(name, "subject" if is_subject else "harness"), Side(peer, "harness"))
        conversations.append(section.choose_ending(conversation))
    for conversation in conversations:
        section.over(conversation)
    # A statement about one of the connections must not be true of another connection.
    a, b = rng.sample(conversations, 2)
    if a.left.sent:
        conversations[-1].steps.append(only_wrong(
            "a statement about a different connection", f"wire {a.left.name} -> {b.right.name} bytes {quoted(a.left.sent)} {NEVER}",
            verdicts=NOT_PASSED, is_wire=True))
    if b.left.sent and a.left.sent and a.left.sent != b.left.sent:
        conversations[-1].steps.append(only_wrong(
            "another connection's bytes", f"wire {a.left.name} -> {a.right.name} bytes {quoted(b.left.sent)} {NEVER}", is_wire=True))
    section.steps += merged(rng, [conversation.steps for conversation in conversations])
    if rng.random() < 0.4 and not section.only_resets:
        stray = f"Z{index}"
        section.actors.append(f"client {stray} -> {s}")
        section.steps += [Step(f"{stray} connect"), Step(f"{s} accept as Y{index}", [Wrong("it is never accepted", "")])]
    return section


def merged(rng, lists):
    """Merges lists into one list, in which the elements of each list keep their order."""
    lists = [list(steps) for steps in lists if steps]
    result = []
    while lists:
        chosen = rng.choice(lists)
        result.append(chosen.pop(0))
        if not chosen:
            lists.remove(chosen)
    return result


def again(rng, index, places):
    """Adds a client that connects repeatedly; the server gives each of its connections a different name."""
    section = Section(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    section.server(s)
    section.actors.append(f"client {c} -> {section.target(s)}")
    for number in range(rng.randrange(2, 5)):
        a = f"A{index}n{number}"
        section.steps += [Step(f"{c} connect"), Step(f"{s} accept as {a}")]
        conversation = Conversation(rng, Words(rng, f"s{index}n{number}w"), f"{index}n{number}",
                    Side(c, "harness", is_reused=True), Side(a, "harness"))
        conversation.ending = "reset" if section.only_resets else rng.choice(["close", "reset", "reset", "half"])
        section.over(conversation)
        section.steps += conversation.steps
        if conversation.ending == "reset" and f"{c} reset" not in [step.text for step in conversation.steps]:
            section.steps.append(Step(f"{c} close"))
    return section


# The sections whose connections can all be reset.
RESETTING = [ends, subject, several, again]
CONVERSATIONS = [(ends, 6), (subject, 6), (listens, 2), (program, 1), (several, 4), (again, 2)]
