"""Checks that `inspect --check` judges each `wire` line of a script in the same way as the run that wrote the capture.

The scenarios are generated. Each has one connection on loopback, over a link with a fault, through a proxy, alongside a
crowd, or opened a second time, with statements in the middle and at the end, most of which are true. The project's
scenarios are compared as well.
"""
import json
import os
import re
import subprocess

MESSAGES = ["one", "two\\r\\nhalf", "three", "x" * 40, "a\\0b"]
FAULTS = ["drop data 2", "duplicate data 1", "delay data 2 by 15ms", "swap data 1", "duplicate data 2", "drop ack 2", "break-checksum data 1"]


class Script:
    """A scenario with one conversation, and statements about that conversation."""

    def __init__(self, rng, kind):
        self.rng, self.kind = rng, kind
        self.head, self.steps = ["server S"], []
        # The names of the two ends of each connection to which statements refer.
        self.pairs = [("C", "S")]
        self.sent = {}

    def look(self):
        """Returns statements about the packets so far; one in twelve states a wrong number of segments."""
        rng = self.rng
        for _ in range(rng.randrange(0, 3)):
            here, there = rng.choice(self.pairs)
            if rng.random() < 0.5:
                here, there = there, here
            sent = self.sent.get((here, there), [])
            choices = [
                "wire no rst", "wire no retransmission", "wire handshake complete", f"wire packets >= {rng.choice([1, 3, 3, 3, 3, 400])}",
                f"wire fin from {here} to {there}" if rng.random() < 0.1 else "wire no rst",
            ]
            if sent:
                choices += [
                    f"wire {here} -> {there} segments >= {len(sent)}", f"wire {here} -> {there} retransmissions 0",
                    f"wire {here} -> {there} largest segment <= 1000B",
                ]
                text = f'wire {here} -> {there} bytes "{"".join(sent)}"'
                choices += [text, text, f"wire {here} -> {there} segments {len(sent)}", f'wire {here} -> {there} lacks "QUIT"']
                if self.kind == "link":
                    choices += [f"{text} arrived", f"wire {here} -> {there} segments >= 1 arrived", f"wire {here} -> {there} retransmissions 0 arrived"]
                if rng.random() < 1 / 12:
                    choices = [f"wire {here} -> {there} segments {len(sent) + 1} within 60ms"]
            line = rng.choice(choices)
            if "within" not in line and any(word in line for word in (">= 400", "fin from", "segments", "bytes", "retransmissions", "lines")):
                line += " within 150ms"
            self.steps.append(line)

    def talk(self, left, right, hop=None):
        """Adds a few messages each way, with statements between them."""
        for _ in range(self.rng.randrange(1, 4)):
            here, there = self.rng.choice([(left, right), (right, left)])
            message = self.rng.choice(MESSAGES)
            self.steps += [f'{here} send "{message}"', f'{there} expect "{message}"']
            for pair in ([(here, hop), (hop, there)] if hop else [(here, there)]):
                self.sent.setdefault(pair, []).append(message)
            self.look()

    def build(self, number):
        rng = self.rng
        if self.kind == "proxy":
            self.head += ["proxy X -> S", "client C -> X"]
            self.pairs = [("C", "X"), ("X", "S")]
            self.steps += ["C connect", "X accept", "S accept"]
            self.talk("C", "S", "X")
        elif self.kind == "link":
            self.head += ["client C -> S", "link S <-> C"]
            if rng.random() < 0.8:
                ends = rng.choice(["S -> C", "C -> S"])
                self.steps.append(f"link {ends} {rng.choice(FAULTS)}")
            self.steps += ["C connect", "S accept"]
            self.talk("C", "S")
        elif self.kind == "again":
            self.head += ["client C -> S"]
            self.steps += ["C connect", "S accept as A"]
            self.pairs = [("C", "A")]
            self.talk("C", "A")
            self.steps += ["C close", "A expect eof", "C connect", "S accept as B"]
            self.pairs = [("C", "B")]
            self.talk("C", "B")
        else:
            self.head += ["client C -> S"]
            if self.kind == "crowd":
                self.head += ["server U", "crowd V = 3 clients -> U"]
                self.steps += ["V start { connect }", "V expect connected 3"]
            self.steps += ["C connect", "S accept"]
            self.talk("C", "S")
        self.look()
        end = rng.choice(["close", "reset", ""])
        first = "B" if self.kind == "again" else "S"
        if end:
            self.steps += [f"C {end}", f"{first} expect {'eof' if end == 'close' else 'reset'}"]
            self.look()
        if self.kind == "crowd":
            self.steps.append("V stop")
        return "\n".join([f'scenario "agreement {number}"', "timeout 2s", "framing none", *self.head, *self.steps, ""])


KINDS = ["plain", "link", "proxy", "crowd", "again"]


def write(rng, count, folder, kinds=KINDS):
    """Generates scenarios into a folder."""
    os.makedirs(folder, exist_ok=True)
    paths = []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        paths.append(os.path.join(folder, f"agree{number:03}-{kind}.scn"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(Script(rng, kind).build(number))
    return paths


def compare(tool, arguments, folder):
    """Runs scenarios and judges their wire lines on the captures. Returns the differences, and the number of statements compared."""
    events = os.path.join(folder, "events.json")
    out = os.path.join(folder, "out")
    subprocess.run(
        [tool, "run", "--keep", "all", "--out", out, "--json", events, *arguments], cwd=folder, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    with open(events, encoding="utf-8") as file:
        cases = [event for event in map(json.loads, file) if event["event"] == "case-ended" and event.get("capture")]
    differences, count = [], 0
    for case in cases:
        found, compared = compare_case(tool, case, folder)
        differences += found
        count += compared
    return differences, count


def compare_case(tool, case, folder):
    """Returns the statements of a case that are judged differently, and the number of statements."""
    script = os.path.join(folder, case["path"])
    with open(script, encoding="utf-8") as file:
        lines = {number: line.strip() for number, line in enumerate(file, 1) if re.match(r"\s*wire\s", line)}
    by_line = {}
    for finding in case["findings"]:
        place = finding.get("at")
        if place and os.path.basename(place["path"]) == os.path.basename(script):
            # If the harness stalled, a failure after the stall is inconclusive in the run, but the capture does not
            # show the stall.
            has_stood_still = finding["verdict"] == "inconclusive" and "stood still for" in json.dumps(finding)
            by_line.setdefault(place["line"], "failed" if has_stood_still else finding["verdict"])
    differences, count = [], 0
    for text in sorted(set(lines.values())):
        done = subprocess.run(
            [tool, "inspect", os.path.join(folder, case["capture"]), "--json", "--check", text], cwd=os.path.dirname(script),
            check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        steps = {}
        for line in done.stdout.splitlines():
            outcome = json.loads(line)
            if outcome["type"] == "verdict" and "step" in outcome:
                steps.setdefault(int(outcome["step"].rpartition(":")[2]), []).append(outcome["verdict"])
        for number, verdicts in steps.items():
            count += 1
            judged = next((verdict for verdict in ("failed", "inconclusive") if verdict in verdicts), "passed")
            told = by_line.get(number, "passed")
            if judged != told:
                differences.append(f"{case['id']}:{number} {text}: run {told}, inspect {judged}")
        # If a step after the failure would have bound a name, the capture can't resolve that name.
        is_later = all(number > min(by_line, default=0) for number, line in lines.items() if line == text)
        if done.returncode not in (0, 1, 3) and not (by_line and is_later):
            differences.append(f"{case['id']} {text}: inspect exited with status {done.returncode}: {done.stderr.strip()[:200]}")
    return differences, count
