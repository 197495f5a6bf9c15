"""Normalizes the texts of runs, so that random differences between two runs disappear: times, ports, process ids,
temporary folders, the number and order of packets."""
import json
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "EndToEnd", "support"))
import comparison  # noqa: E402: found through the line above

UNITS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000, "min": 60_000_000_000}
DURATION = re.compile(r"(?<![\w.])(\d[\d_,]*(?:\.\d+)?) ?(ns|us|µs|ms|s|min)\b")
PACKET = re.compile(r"^(?P<way>\S+ -> \S+) +(?P<flags>[A-Z.]+) +seq .* len (?P<length>\d+)")
# A line of the console's timeline.
TIMELINE = re.compile(r"^ *(?P<failed>>?) +-?\d+\.\d{3}  (?P<kind>step|packet|event|output|note|FAILED|HERE|ERROR) +(?P<text>.*)")
CASE = re.compile(r"^(passed|failed|FAILED|error|ERROR|inconclusive|INCONCLUSIVE|unsupported|skipped)  +\S")
# The console shows only the end of a long timeline; the position at which the shown part begins depends on the number
# of packets.
LEFT_OUT = "earlier lines are left out"
RULES = [
    (re.compile(r"\b(127(?:\.\d+){3}|localhost|0\.0\.0\.0):\d+\b"), r"\1:PORT"),
    (re.compile(r"(\[::1?\]):\d+"), r"\1:PORT"),
    (re.compile(r"\b(port|pid|process) \d+\b"), r"\1 N"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "DATE"),
    *comparison.EVERYWHERE,
    # The prefixes that servers write before each line of their logs.
    (re.compile(r"\d\d?[/ ][A-Z][a-z]{2}[/ ]\d{4} \d\d:\d\d:\d\d(\.\d+)?"), "DATE"),
    (re.compile(r"\b\d+:(?=[A-Z] DATE|signal-handler)"), "N:"),
    (re.compile(r"(?<=signal-handler \()\d+|(?<=port=)\d+|(?<=pid=)\d+"), "N"),
    # The number of reports that arrived before a step failed depends on chance.
    (re.compile(r'(has reported [a-z]+ \\?".*?(?<!\\)\\?"(?:… \(\d+ bytes in all\))?), .*'), r"\1, …"),
]
# The members of events whose values are times or durations.
NUMBERS = ("time", "duration")


def nanoseconds(number, unit):
    return round(float(number.replace("_", "").replace(",", "")) * UNITS[unit])


def durations(script):
    """Returns the durations in a script and the default durations of steps, which are kept unchanged in the output
    about the script."""
    return {nanoseconds(*found) for found in DURATION.findall(script)} | {5_000_000_000, 0}


def text(value, known=frozenset()):
    """Normalizes one or more lines of output. Durations that also occur in the script are kept."""
    for pattern, replacement in RULES:
        value = pattern.sub(replacement, value)
    return DURATION.sub(lambda found: found[0] if nanoseconds(found[1], found[2]) in known else "TIME", value)


def without_timeline(output):
    return "\n".join(line for line in output.splitlines() if not TIMELINE.match(line))


class Packets:
    """Summarizes packets: for each direction the flags that were seen, and whether bytes were sent. The number, sizes
    and order of packets depend on scheduling."""

    def __init__(self):
        self.ways = {}

    def add(self, line):
        found = PACKET.match(line)
        if found is None:
            return False
        flags, sent = self.ways.setdefault(found["way"], (set(), []))
        flags.update(set(found["flags"]) - set(".P"))
        sent.append(int(found["length"]))
        return True

    def lines(self):
        for way, (flags, sent) in sorted(self.ways.items()):
            yield f"packets {way}: {' '.join(sorted(flags)) or 'no flags'}; {'data' if any(sent) else 'no data'}"


class Timeline:
    """Puts entries into an order that does not depend on chance: steps, then each actor's events and output, then packets."""

    def __init__(self, known, concurrent):
        self.known, self.concurrent = known, concurrent
        self.steps, self.others, self.packets, self.failed = [], {}, Packets(), False

    def add(self, kind, line, actor=""):
        if kind == "packet" and self.packets.add(line):
            return
        line = text(line, self.known)
        if kind in ("step", "step-failed", "FAILED", "ERROR", "HERE"):
            self.failed |= kind not in ("step", "HERE")
            self.steps.append(f"{kind} {line}")
        elif not self.failed:
            # On the console, the actor of an event is part of the event's text.
            actor = actor or line.partition(":")[0]
            # The sizes of the pieces in which bytes are sent and received depend on the kernel.
            line = re.sub(r"\b(sent) \d+$|\b(data) \".*", lambda found: found[1] or found[2], line)
            lines = self.others.setdefault((kind, actor), [])
            if f"{kind} {line}" not in lines[-1:] or not line.endswith(("sent", "data")):
                lines.append(f"{kind} {line}")

    def lines(self):
        yield from sorted(self.steps) if self.concurrent else self.steps
        for (kind, _), lines in sorted(self.others.items()):
            yield from sorted(lines) if kind == "output" else lines
        yield from self.packets.lines()


def is_concurrent(script):
    """Sorts steps of concurrent branches, because they may run in any order."""
    return re.search(r"^\s*(together|whenever|either|retry)\b", script, re.M) is not None


def value(found, known):
    if isinstance(found, dict):
        return {key: "N" if key in NUMBERS and isinstance(inner, int) else value(inner, known) for key, inner in found.items()}
    if isinstance(found, list):
        return [value(inner, known) for inner in found]
    return text(found, known) if isinstance(found, str) else found


def place(at):
    return f"{at['path']}:{at['line']}:{at['column']}-{at['endLine']}:{at['endColumn']}"


def event(found, script=""):
    """Returns the lines of an event: its members in order, one per line, and the findings and the timeline with one
    line for each part."""
    known = durations(script)
    found = dict(found)
    entries = found.pop("timeline", None)
    found.pop("packets", None)
    lines = []
    for key, inner in value(found, known).items():
        if key == "findings":
            for finding in inner:
                lines += [f"finding {name}: {place(part) if name == 'at' else json.dumps(part, ensure_ascii=False)}"
                          for name, part in finding.items()]
        else:
            lines.append(f"{key}: {json.dumps(inner, ensure_ascii=False)}")
    if entries is not None:
        timeline = Timeline(known, is_concurrent(script))
        for entry in entries:
            words = [place(entry["at"])] if "at" in entry else []
            words += [entry["actor"] + ":"] if "actor" in entry else []
            words += [entry.get("stream", ""), entry.get("text", ""), entry["line"]["escaped"] if "line" in entry else ""]
            timeline.add(entry["kind"], " ".join(filter(None, words)), entry.get("actor", ""))
        lines += [f"timeline {line}" for line in timeline.lines()]
    return lines


def console(output, script_of=lambda block: ""):
    """Returns the output of `run` as sections: one for each case, by name, and the lines before and after the cases."""
    blocks = [["(begin)"]]
    for line in output.splitlines():
        if CASE.match(line):
            blocks.append([line])
        elif re.match(r"^(not passed:|\d+ passed, )", line):
            blocks.append(["(end)", line])
        else:
            blocks[-1].append(line)
    sections = {}
    for block in blocks:
        # The duration is removed, and the section is named after the case, whatever the verdict is.
        verdict, _, name = re.sub(r"  \d[\d.]* (ns|µs|us|ms|s|min)$", "", block[0]).partition(" ")
        name = name.strip() or verdict
        script = script_of(block)
        timeline = Timeline(durations(script), is_concurrent(script))
        lines, entries = [verdict], False
        for line in block[1:]:
            found = TIMELINE.match(line)
            if found:
                entries = True
                timeline.add(found["kind"], found["text"])
                continue
            if entries:
                lines += timeline.lines()
                timeline, entries = Timeline(durations(script), is_concurrent(script)), False
            lines.append(text(line, durations(script)))
        lines += timeline.lines()
        if any(LEFT_OUT in line for line in lines):
            lines = [line for line in lines if LEFT_OUT not in line and not re.match(r"(step|event|output|note|packets|FAILED|ERROR|HERE) ", line)]
        sections.setdefault(name, []).extend(sorted(lines) if name == "(end)" else lines)
    return sections
