"""A random scenario, and its required verdict."""
import random
import re

from features import FRAMINGS, FEATURES, framed
from steps import ERROR, FAILED, INCONCLUSIVE, PASSED, Step, only_wrong, wire
from sections import CONVERSATIONS, RESETTING, merged

ORDER = [FAILED, ERROR, INCONCLUSIVE, PASSED]


class Places:
    """The places where the servers of a case listen."""

    PORTS = range(9741, 9745)

    def __init__(self, number, is_shared, has_fixed, only_resets):
        self.only_resets = only_resets
        # Each concurrent case has its own addresses; consecutive cases reuse the same addresses.
        self.addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3", "[::1]"] if is_shared else [
            f"127.0.{1 + number // 250}.{1 + number % 250}", f"127.1.{1 + number // 250}.{1 + number % 250}"]
        self.free = [(address, port) for address in self.addresses for port in self.PORTS] if has_fixed else []

    def server(self, rng):
        """Returns the text after a server's name, and other notations for its address."""
        form = rng.random()
        if form < 0.35 or not self.free:
            return "", []
        if form < 0.5:
            return f" on {rng.choice(['127.0.0.5', '[::1]', 'localhost', '127.200.7.1'])}", []
        address, port = self.free.pop(rng.randrange(len(self.free)))
        if address.startswith("["):
            return f" on {address}:{port}", [f"{address}:{port}"]
        return f" on {address}:{port}", [f"{address}:{port}", f"[::ffff:{address}]:{port}"]

    def outside(self, rng):
        return f"{rng.choice(['127.0.0.1', '127.0.0.1', '[::ffff:127.0.0.1]'])}:{9800 + rng.randrange(5)}"


class Scenario:
    """The case with this number in the batch with this seed. `kept` contains its sections, and `planted` is its
    mistake; by default, sections and mistake are chosen at random."""

    def __init__(self, seed, number, is_shared, python, kept=None, planted=None):
        self.seed, self.number = seed, number
        self.name = f"case{number:03}"
        rng = random.Random(f"{seed}/{number}")
        each = rng.randrange(2, 5) if rng.random() < 0.1 else 0
        # Cases of one script may run at the same time.
        self.only_resets = rng.random() < 0.15
        places = Places(number, is_shared, is_shared or not each, self.only_resets)
        self.framing = places.framing = rng.choice(FRAMINGS) if rng.random() < 0.08 else None
        kinds, weights = zip(*([(framed, 1)] if self.framing else [one for one in CONVERSATIONS if one[0] in RESETTING] if self.only_resets
                               else CONVERSATIONS + FEATURES))
        count = rng.choices([1, 2, 3], [6, 3, 1])[0]
        chosen = rng.choices(kinds, weights, k=count)
        made = [kind(random.Random(f"{seed}/{number}/{index}"), index, places) for index, kind in enumerate(chosen)]
        self.count = count
        self.kinds = [kind.__name__ for kind in chosen]
        self.kept = list(range(count)) if kept is None else kept
        self.sections = [made[index] for index in self.kept]
        self.level = rng.choices(["must", "should", "may"], [8, 1, 1])[0]
        self.each = each
        self.each_wrong = rng.randrange(1, self.each + 1) if self.each else 0
        shuffled, planter = random.Random(rng.random()), random.Random(rng.random())
        self.parts = [(f"{section.index}", section.steps) for section in self.sections]
        self.add_common(planter)
        self.planted = self.plant(planter) if planted is None else planted
        self.text = self.write(shuffled, python)

    def add_common(self, rng):
        """Adds steps about the case as a whole."""
        first, last = [], []
        if self.each:
            first.append(only_wrong("a check of one case", f"check n != {self.each_wrong}", label=f"n={self.each_wrong}"))
        resets = any(section.has_reset or section.is_unsure for section in self.sections)
        for section in self.sections:
            others = [other for other in self.sections if other is not section]
            if section.looks_at_all and not any(other.has_reset or other.is_unsure for other in others):
                section.steps[section.before_end:section.before_end] = section.looks_at_all
        if rng.random() < 0.5 and any(section.actors and not section.actors[0].startswith("process") for section in self.sections):
            if not resets:
                last.append(wire("wire no rst"))
            # A case exchanges fewer than 5,000 packets, so the second statement is false.
            last.append(wire("wire packets <= 5000", "wire packets > 5000"))
        if rng.random() < 0.15:
            last.append(Step("wait 1ms"))
        if rng.random() < 0.1:
            last.append(Step('finally { note "the end" }'))
        if rng.random() < 0.05:
            last.append(only_wrong("a value can't be computed", 'for word in unreadable { check int(word) == 1 }', verdicts=(ERROR,)))
        self.parts += [("first", first), ("last", last)]

    def plant(self, rng):
        """Returns a mistake as (part, step, index of the mistake) for about half of the cases; otherwise returns ()."""
        if rng.random() < 0.45:
            return ()
        found = {}
        for part, steps in self.parts:
            for at, step in enumerate(steps):
                for which, wrong in enumerate(step.wrongs):
                    found.setdefault(wrong.kind, []).append((part, at, which))
        # The kind is chosen first, so that rare kinds are as likely as common ones.
        return rng.choice(found[rng.choice(sorted(found))]) if found else ()

    @property
    def wrong(self):
        """Returns the planted mistake, if the part that contains it still exists."""
        for part, steps in self.parts:
            if self.planted and self.planted[0] == part:
                return steps[self.planted[1]].wrongs[self.planted[2]]
        return None

    def write(self, rng, python):
        wrong = self.wrong
        programs = {name: program for section in self.sections for name, program in section.programs.items()}
        if wrong and wrong.program:
            name, actions = wrong.program
            programs[name] = (programs[name][0], actions)
        written = {}
        for part, steps in self.parts:
            planted = self.planted[1] if wrong and self.planted[0] == part else None
            written[part] = [Step(wrong.text, is_wire=wrong.is_wire) if at == planted and not wrong.program else step
                             for at, step in enumerate(steps)]
            written[part] = [step for step in written[part] if step.text]
        middle = merged(rng, [written[part] for part, _ in self.parts if part not in ("first", "last")])
        steps = written["first"] + middle + written["last"]
        self.is_wire = any(step.is_wire for step in steps)
        header = [f'scenario "{self.seed}/{self.number}: {", ".join(self.kinds[index] for index in self.kept)}"', f"level {self.level}"]
        header += ["timeout 8s", "case-timeout 60s"]
        if self.framing:
            header.append(f"framing {self.framing}")
        if self.each:
            header.append(f"each n = 1..{self.each}")
        if any("unreadable" in step.text for step in steps):
            header.append('table unreadable = "1", "x"')
        header += [actor for section in self.sections for actor in section.actors]
        header += [f"process {name} = {python} -S -E ${{dir}}/peer.py {start} {' '.join(actions)}"
                   for name, (start, actions) in programs.items()]
        return "\n".join([*header, "", *(step.text for step in steps)]) + "\n"

    @property
    def ids(self):
        return [f"{self.name}[n={value}]" for value in range(1, self.each + 1)] if self.each else [self.name]

    @property
    def has_subject(self):
        return any(section.has_subject for section in self.sections)

    @property
    def asks_reads(self):
        """Returns whether the script asks a subject to read."""
        return re.search(r"^T\w+ read ", self.text, re.MULTILINE) is not None

    @property
    def needs_outside(self):
        return "outside" in self.kinds

    @property
    def leaves_ports_free(self):
        """Returns whether the case leaves no port in TIME_WAIT."""
        return self.only_resets and not self.framing and (self.wrong is None or self.wrong.is_wire)

    def verdicts(self, case):
        """Returns the verdicts that the case with this id may have, if there is a capture and the subject has all
        capabilities."""
        wrong = self.wrong
        if wrong and (wrong.label is None or f"[{wrong.label}]" in case):
            return wrong.verdicts
        return (min((section.verdict for section in self.sections), key=ORDER.index),)

    def without_capture(self, case):
        """Returns the verdicts that the case with this id may have in a run without a capture."""
        verdicts = self.verdicts(case)
        wrong = self.wrong
        if wrong and wrong.is_wire or self.is_wire and verdicts == (PASSED,):
            return (INCONCLUSIVE,)
        return verdicts

    def describe(self):
        return self.wrong.kind if self.wrong else "no mistake"
