"""Finds the tokens of a scenario for the tests of the editors' files: a second, small implementation of the lexical rules.

`places(text)` yields (line, column, length, what) for each comment, string, regex and number, for the first word of
each statement (`header`, `actor`, `flow`, or `subject` for the name of an actor) and for the verb after an actor's name
or in a statement of a crowd's member. Lines and columns are counted from 0, columns in characters. The command of a
`process` line is a single `command` token, regardless of its contents.
"""
import re

HEADER = set("scenario about because level tag require timeout case-timeout framing max-line each table define include".split())
ACTOR = set("server client subject process proxy crowd link name".split())
FLOW = set("wait note let check for do together either or retry finally whenever wire".split())
WORD = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_]|-(?=[A-Za-z0-9]))*")
NUMBER = re.compile(r"[0-9][A-Za-z0-9_]*(?:\.[0-9][A-Za-z0-9_]*)*")
ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
HEX = re.compile(r"hex\([^)\n]*\)")
CONTINUES = ("|", "+", ",", "=", "->", "(")


def places(text):
    found = []
    depth = 0
    goes_on = False
    blocks = []  # for each open block, whether it is the script of a crowd's members
    verb = ""
    for number, line in enumerate(text.replace("\ufeff", "").split("\n")):
        line = line.rstrip("\r")
        if not goes_on and not line.lstrip().startswith("|"):
            depth = 0
        verb = verb if goes_on else ""
        words = 0 if not goes_on and not line.lstrip().startswith("|") else 9
        position = 0
        last = ""
        while position < len(line):
            rest = line[position:]
            char = line[position]
            if char.isspace():
                position += 1
                continue
            if char == "#":
                found.append((number, position, len(rest), "comment"))
                break
            last = char
            if char in "\"'":
                end = position + 1
                while line[end] != char:
                    end += 2 if line[end] == "\\" and char == '"' else 1
                found.append((number, position, end + 1 - position, "string"))
                position = end + 1
                words = 9
                continue
            if char == "/" and depth == 0:
                end, in_class = position + 1, False
                while line[end] != "/" or in_class:
                    if line[end] == "\\":
                        end += 1
                    elif line[end] == "[":
                        in_class = True
                    elif line[end] == "]":
                        in_class = False
                    end += 1
                found.append((number, position, end + 1 - position, "regex"))
                position = end + 1
                while position < len(line) and line[position].isalpha():
                    position += 1
                continue
            if HEX.match(rest):
                position += HEX.match(rest).end()
                last, words = ")", 9
                continue
            if char == "[":
                position = line.index("]", position) + 1
                continue
            if WORD.match(rest):
                word = WORD.match(rest)[0]
                if words == 0 and blocks and blocks[-1]:
                    found.append((number, position, len(word), "flow" if word in FLOW else "verb"))
                    words = 8
                elif words == 0:
                    what = "flow" if word in FLOW else "header" if word in HEADER else "actor" if word in ACTOR else "subject"
                    found.append((number, position, len(word), what))
                    if word == "process" and "=" in rest:
                        start = line.index("=", position) + 1
                        found.append((number, start, len(line) - start, "command"))
                        last = ""
                        break
                elif words == 1 and found[-1][3] == "subject":
                    found.append((number, position, len(word), "verb"))
                    verb = word
                words += 1
                position += len(word)
                last = word
                continue
            if ADDRESS.match(rest):
                position += ADDRESS.match(rest).end()
                words = 9
                continue
            if NUMBER.match(rest):
                length = NUMBER.match(rest).end()
                if depth == 0 and re.match(r"/s(?![A-Za-z0-9_])", rest[length:]):
                    length += 2
                found.append((number, position, length, "number"))
                position += length
                words = 9
                continue
            if rest.startswith("->"):
                last = "->"
                position += 2
                words = 9
                continue
            depth += {"(": 1, ")": -1}.get(char, 0)
            words = 0 if char in "{};" else 9
            if char == "{":
                blocks.append(verb == "start" or bool(blocks and blocks[-1]))
            elif char == "}" and blocks:
                blocks.pop()
            if char in "{};":
                verb = ""
            position += 1
        if last:
            goes_on = last in CONTINUES
    return found
