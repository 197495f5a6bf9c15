"""Creates failing scenarios from passing ones by changing or removing one step. The tool's output about them is recorded."""
import hashlib
import os
import re

LITERAL = re.compile(r'"([A-Za-z0-9])')
OTHERS = [
    (re.compile(r"\bexpect eof\b"), "expect reset"), (re.compile(r"\bexpect reset\b"), "expect eof"),
    (re.compile(r"\bstopped eof\b"), "stopped reset"), (re.compile(r"\bstopped reset\b"), "stopped eof"),
    (re.compile(r"\bstopped refused\b"), "stopped timeout"), (re.compile(r"\bexpect started\b"), "expect stopped"),
    (re.compile(r"\bexpect nothing\b"), "expect line \"x\""), (re.compile(r"\bconnect refused\b"), "connect"),
    (re.compile(r"\bexpect sent\b"), "expect nothing for 20ms"), (re.compile(r"\bhalf-close\b"), "close"), (re.compile(r"\bclose$"), "reset"),
    (re.compile(r"\breset$"), "close"), (re.compile(r"\bwire no "), "wire "), (re.compile(r"\bwire (?=rst|fin|zero)"), "wire no "),
    (re.compile(r"(?<=segments >= )(\d+)"), r"\g<1>00"),
    (re.compile(r"^wire (\w+) -> (\w+)"), r"wire \2 -> \1"), (re.compile(r"\bwithin \d+m?s"), "within 1ms"),
]
HEADER = re.compile(r"^\s*(scenario|about|because|require|tag|level|server|client|subject|process|let|each|define|include|limit|#|$)")


def other(letter):
    return "Q" if letter != "Q" else "Z"


def changes(lines):
    """Yields (the change, the changed lines) for each step and each change that applies to it."""
    for number, line in enumerate(lines):
        if HEADER.match(line) or line.strip() in ("}", "{"):
            continue
        changed = LITERAL.sub(lambda found: '"' + other(found[1]), line, count=1)
        if changed != line:
            yield f"{number + 1}-literal", lines[:number] + [changed] + lines[number + 1:]
        for pattern, replacement in OTHERS:
            changed = pattern.sub(replacement, line, count=1)
            if changed != line:
                yield f"{number + 1}-other", lines[:number] + [changed] + lines[number + 1:]
                break
        if not re.search(r"[{}]", line):
            yield f"{number + 1}-without", lines[:number] + lines[number + 1:]


def spoil(scenarios, folder, few):
    """Writes changed copies of the scenarios into the folder: all copies of each example, and `few` copies of each case
    of the suite."""
    for parent, folders, names in os.walk(scenarios):
        folders.sort()
        for name in sorted(names):
            if not name.endswith(".scn"):
                continue
            path = os.path.join(parent, name)
            base = os.path.relpath(path, scenarios).removesuffix(".scn")
            with open(path, encoding="utf-8") as file:
                found = list(changes(file.read().split("\n")))
            if os.sep in base:
                # The changes are the same each time, but differ between the cases.
                found = sorted(found, key=lambda one: hashlib.sha256((base + one[0]).encode()).digest())[:few]
            for what, lines in found:
                target = os.path.join(folder, base, what + ".scn")
                os.makedirs(os.path.dirname(target), exist_ok=True)
                with open(target, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines))
