"""Compares output with what a test or a document shows, and ignores numbers that differ from run to run."""
import difflib
import re

# Replacements that are also applied to the output that `Tests/Recording` compares.
EVERYWHERE = [
    (re.compile(r"[^\s\"'=]*/tcpprobe-(?!out)[A-Za-z0-9]{6}(?![\w.-])"), "FOLDER"),
    (re.compile(r"\d+(\.\d+)?(?= cases/s)"), "N"),
]
RULES = [
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    # Matches the column of milliseconds in a timeline.
    (re.compile(r"^[\s>]*-?\d+\.\d{3}(?=\s)"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? ?(us|ms|s|min)\b"), "TIME"),
    (re.compile(r"\b127(\.\d+){3}:\d+\b"), "HOST:PORT"),
    (re.compile(r"\[::1\]:\d+"), "HOST:PORT"),
    # The networks of links.
    (re.compile(r"\b10\.77\.\d+(?=\.[12]\b)"), "10.77.N"),
    (re.compile(r"(?<=10\.77\.N\.)([12]):\d+\b"), r"\1:PORT"),
    (re.compile(r"\bport \d+"), "port PORT"),
    (re.compile(r"\bpid \d+"), "pid PID"),
    # In the output of `diagnose`, the numbers of packets, the shares of the time budget and its bars, and rates.
    (re.compile(r"^( +evidence +packets?) \d+(, \d+)*( and \d+ more)?(?= )"), r"\1 N"),
    (re.compile(r"(?<=TIME) +\d+ %( +█+)?"), " SHARE"),
    (re.compile(r"\(\d+(\.\d+)? % of it\)"), "(SHARE of it)"),
    (re.compile(r"\b\d+(\.\d+)? [kM]?B/s"), "N B/s"),
    # On a busy machine, a sender may have time for one more retransmission.
    (re.compile(r"\bsent (the same data )?\d+ times\b"), r"sent \1N times"),
    # Window sizes depend on the kernel and the MTU.
    (re.compile(r"\bwin \d+"), "win N"),
    *EVERYWHERE,
    (re.compile(r"[ \t]+"), " "),
]


def normalised(line):
    for pattern, replacement in RULES:
        line = pattern.sub(replacement, line)
    return line.strip()


def _ordered(lines):
    """Returns the lines with timelines sorted: events within a few microseconds may happen in any order."""
    ordered = []
    group = []
    for line in lines + [""]:
        if line.startswith("TIME "):
            group.append(line)
            continue
        ordered += sorted(group) + [line]
        group = []
    return ordered[:-1]


# The lines of a finding in the output of `diagnose`: its sentence, and what follows it.
SENTENCE = re.compile(r"^  [A-Z]|^ {4}(or|next) ")
EVIDENCE = re.compile(r"^ {4}evidence ")


def _unwrapped(lines):
    """Returns the lines with those of each sentence of `diagnose` joined, because the lengths of numbers affect where
    lines are broken."""
    if not any(EVIDENCE.match(line) for line in lines):
        return lines
    joined = []
    is_sentence = False
    for line in lines:
        is_new = not line.startswith("  ") or SENTENCE.match(line) or EVIDENCE.match(line) or line.strip() == "..."
        if is_sentence and not is_new:
            joined[-1] += " " + line.strip()
        else:
            joined.append(line)
            is_sentence = bool(SENTENCE.match(line))
    return joined


def _pattern(line):
    parts = line.split("...")
    return re.compile(".*".join(re.escape(part) for part in parts) + r"\Z", re.S)


def _lines(text):
    lines = [line for line in text.splitlines()]
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def difference(expected, actual):
    """Returns None if `actual` matches `expected`, otherwise a diff of the two."""
    wanted = [normalised(line) for line in _unwrapped(_lines(expected))]
    got = [normalised(line) for line in _unwrapped(_lines(actual))]
    # A `...` line matches any number of lines, so the lines can't be sorted.
    if "..." not in wanted:
        (wanted, got) = (_ordered(wanted), _ordered(got))
    # Contains n if the lines of `wanted` that have been processed so far can match the first n lines of `got`. There
    # are at most a few hundred such numbers, so a set is fast enough.
    reached = {0}
    for line in wanted:
        if line.strip() == "...":
            reached = set(range(min(reached), len(got) + 1)) if reached else set()
            continue
        pattern = _pattern(line)
        reached = {place + 1 for place in reached if place < len(got) and pattern.match(got[place])}
    if len(got) in reached:
        return None
    shown = difflib.unified_diff(wanted, got, "expected", "printed", lineterm="", n=100)
    return "\n".join(shown)
