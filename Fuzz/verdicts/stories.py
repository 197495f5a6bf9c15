"""The stories that a generated scenario is made of: each has actors and connections of its own, and its steps in order. Those
here are conversations; scenes.py has those that show one thing."""
import endings
from steps import NOT_PASSED, PASSED, Step, Wrong, only_wrong
from talk import Side, Talk
from values import Words, quoted

NEVER = "within 200ms"
TOO_LATE = "after 4s"


class Story:
    """What a story adds to a scenario."""

    def __init__(self, rng, index, places):
        self.rng, self.index, self.places = rng, index, places
        # Every connection is reset: none of its ports waits for the rest of it afterwards.
        self.only_resets = places.only_resets
        self.words = Words(rng, f"s{index}w")
        # Declarations, and the lines of programs: name, what stands before the actions, the actions.
        self.actors, self.programs = [], {}
        self.steps = []
        self.title = ""
        # An RST is on the wire; may be, or a handshake that was refused.
        self.has_reset = False
        self.is_unsure = False
        self.has_subject = self.asks_reads = False
        self.verdict = PASSED
        # Statements about every connection of the case, and before which step they may stand.
        self.looks_at_all, self.before_end = [], None
        self.targets = {}

    def server(self, name, more=""):
        """A server somewhere on loopback."""
        where, addresses = self.places.server(self.rng)
        self.targets[name] = [name, name, *addresses]
        self.actors.append(f"server {name}{where}{more}")

    def target(self, name):
        """How a client or subject of this server may say where it is."""
        return self.rng.choice(self.targets[name])

    def talk(self, left, right, reads=False):
        talk = Talk(self.rng, self.words, f"{self.index}{left.name}", left, right, reads)
        return self.choose_ending(talk)

    def choose_ending(self, talk):
        talk.ending = "reset" if self.only_resets else endings.choose(self.rng, talk.left, talk.right)
        return talk

    def over(self, talk):
        """The conversation, with a look at the wire before its end and behind it."""
        for _ in range(self.rng.randrange(1, 3)):
            talk.exchange()
            if self.rng.random() < 0.5:
                talk.look()
        endings.end(talk)
        if self.rng.random() < 0.7:
            talk.look(is_over=True)
        self.has_reset |= talk.has_reset


def accepted(story, s):
    """An accept, and the name of the connection."""
    name = story.rng.choice([s, f"A{s}"])
    text = f"{s} accept" if name == s else f"{s} accept as {name}"
    story.steps.append(Step(text, [Wrong("it comes too early", f"{text} {TOO_LATE}"),
                                   Wrong("nobody may connect", f"do {{ {s} expect no connection for 2s; {text} }}")]))
    return name


def ends(rng, index, places):
    """A client and a server of the harness."""
    story = Story(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    story.server(s)
    story.actors.append(f"client {c} -> {story.target(s)}")
    story.steps.append(Step(f"{c} connect"))
    talk = story.talk(Side(c, "harness"), Side(accepted(story, s), "harness"))
    story.over(talk)
    story.steps += talk.steps
    return story


def subject(rng, index, places):
    """The transport under test connects."""
    story = Story(rng, index, places)
    s, t = f"S{index}", f"T{index}"
    story.has_subject = True
    story.asks_reads = rng.random() < 0.15
    story.server(s)
    story.actors.append(f"subject {t} -> {story.target(s)}")
    if rng.random() < 0.15 and not story.asks_reads:
        too_early(story, f'{t} send line "early"', t, "not-started")
    story.steps.append(Step(f"{t} start"))
    # The one that accepts is told only once it is up.
    peer = accepted(story, s)
    if rng.random() < 0.3:
        story.steps.append(Step(f"{t} expect started within 7s", [
            Wrong("it comes too early", f"{t} expect started {TOO_LATE}"),
            Wrong("another event is expected", f'{t} expect line "x" {NEVER}'),
            Wrong("another event is expected", f"{t} expect stopped eof {NEVER}")]))
    if rng.random() < 0.15:
        too_early(story, f"{t} start", t, "already-started")
    talk = story.talk(Side(t, "subject"), Side(peer, "harness"), story.asks_reads)
    story.over(talk)
    story.steps += talk.steps
    return story


def too_early(story, operation, name, error):
    """An operation that the subject must refuse."""
    story.steps += [Step(operation), Step(f"{name} expect error {error}", [
        Wrong("an expectation is left out", ""), Wrong("the error is another", f"{name} expect error half-closed")])]


def listens(rng, index, places):
    """The transport under test accepts."""
    story = Story(rng, index, places)
    t, c, a = f"T{index}", f"C{index}", f"A{index}"
    story.has_subject = True
    story.actors += [f"subject {t} listens", f"client {c} -> {t}"]
    story.steps += [Step(f"{t} start"), Step(f"{c} connect"), Step(f"{t} expect accept as {a}", [
        Wrong("it comes too early", f"{t} expect accept as {a} {TOO_LATE}")])]
    talk = story.talk(Side(a, "subject"), Side(c, "harness"))
    story.over(talk)
    story.steps += talk.steps
    return story


def program(rng, index, places):
    """A program connects to a server, or the other way round."""
    story = Story(rng, index, places)
    p = f"P{index}"
    side = Side(p, "program")
    if rng.random() < 0.15:
        side.actions.append("daemon")
    if rng.random() < 0.15:
        side.actions.append(f"knock:{rng.choice([9, 9800])}")
        story.is_unsure = True
    if rng.random() < 0.5:
        s = f"S{index}"
        story.server(s)
        story.programs[p] = (f"connect ${{{s}.address}} ${{{s}.port}}", side.actions)
        story.steps.append(Step(f"{p} start"))
        peer = Side(accepted(story, s), "harness")
    else:
        c = f"C{index}"
        story.actors.append(f"client {c} -> {p}")
        story.programs[p] = (f"listen 127.0.0.1 ${{{p}.port}}", side.actions)
        story.steps += [Step(f"{p} start"), Step(f"{p} expect listening"), Step(f"{c} connect")]
        peer = Side(c, "harness")
    talk = story.talk(peer, side)
    story.over(talk)
    story.steps += talk.steps
    return story


def several(rng, index, places):
    """Several connections at one server, at the same time."""
    story = Story(rng, index, places)
    s = f"S{index}"
    story.server(s)
    talks = []
    for number in range(rng.randrange(2, 5)):
        is_subject = rng.random() < 0.4
        name, peer = f"{'T' if is_subject else 'C'}{index}n{number}", f"A{index}n{number}"
        story.has_subject |= is_subject
        story.actors.append(f"{'subject' if is_subject else 'client'} {name} -> {story.target(s)}")
        story.steps += [Step(f"{name} {'start' if is_subject else 'connect'}"), Step(f"{s} accept as {peer}")]
        talk = Talk(rng, Words(rng, f"s{index}n{number}w"), f"{index}n{number}",
                    Side(name, "subject" if is_subject else "harness"), Side(peer, "harness"))
        talks.append(story.choose_ending(talk))
    for talk in talks:
        story.over(talk)
    # Not the other one's connection, whatever it says.
    a, b = rng.sample(talks, 2)
    if a.left.sent:
        talks[-1].steps.append(only_wrong(
            "the wire of another connection", f"wire {a.left.name} -> {b.right.name} bytes {quoted(a.left.sent)} {NEVER}",
            verdicts=NOT_PASSED, is_wire=True))
    if b.left.sent and a.left.sent and a.left.sent != b.left.sent:
        talks[-1].steps.append(only_wrong(
            "another connection's bytes", f"wire {a.left.name} -> {a.right.name} bytes {quoted(b.left.sent)} {NEVER}", is_wire=True))
    story.steps += merged(rng, [talk.steps for talk in talks])
    if rng.random() < 0.4 and not story.only_resets:
        stray = f"Z{index}"
        story.actors.append(f"client {stray} -> {s}")
        story.steps += [Step(f"{stray} connect"), Step(f"{s} accept as Y{index}", [Wrong("nobody accepts it", "")])]
    return story


def merged(rng, lists):
    """One list of all, each in its own order."""
    lists = [list(steps) for steps in lists if steps]
    result = []
    while lists:
        chosen = rng.choice(lists)
        result.append(chosen.pop(0))
        if not chosen:
            lists.remove(chosen)
    return result


def again(rng, index, places):
    """A client that connects again and again; what each of its connections said is told apart by the server's names."""
    story = Story(rng, index, places)
    s, c = f"S{index}", f"C{index}"
    story.server(s)
    story.actors.append(f"client {c} -> {story.target(s)}")
    for number in range(rng.randrange(2, 5)):
        a = f"A{index}n{number}"
        story.steps += [Step(f"{c} connect"), Step(f"{s} accept as {a}")]
        talk = Talk(rng, Words(rng, f"s{index}n{number}w"), f"{index}n{number}",
                    Side(c, "harness", is_reused=True), Side(a, "harness"))
        talk.ending = "reset" if story.only_resets else rng.choice(["close", "reset", "reset", "half"])
        story.over(talk)
        story.steps += talk.steps
        if talk.ending == "reset" and f"{c} reset" not in [step.text for step in talk.steps]:
            story.steps.append(Step(f"{c} close"))
    return story


# Those whose connections can all be reset.
RESETTING = [ends, subject, several, again]
CONVERSATIONS = [(ends, 6), (subject, 6), (listens, 2), (program, 1), (several, 4), (again, 2)]
