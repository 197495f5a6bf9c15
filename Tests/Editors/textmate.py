#!/usr/bin/env python3
"""Tests the TextMate grammar: every comment, string, regex, number, keyword and verb of every scenario gets its scope, and nothing
in a valid scenario is scoped `invalid`.

Editors evaluate the grammar's regular expressions with Oniguruma, and this test evaluates them with Python's `re`,
so the grammar uses only features that both engines interpret alike (no possessive quantifiers, no `\\G`, no named
groups, fixed-width lookbehind). The test implements the part of a TextMate tokenizer that the grammar needs:
`match`, `begin`/`end` with `patterns`, `captures`, `contentName`, `include` from the repository.
"""
import json
import os
import re
import sys

import scnlexer
import scripts

WANTED = {
    "comment": ["comment.line"], "string": ["string.quoted"], "regex": ["string.regexp"], "number": ["constant.numeric"],
    "header": ["keyword.control.header"], "flow": ["keyword.control.flow"], "actor": ["storage.type.actor"],
    "subject": ["variable.other.actor"], "verb": ["keyword.other.verb"], "command": ["string.unquoted.command"],
}


class Grammar:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.source = json.load(file)
        self.compiled = {}
        self.flat = {}

    def regex(self, pattern):
        if pattern not in self.compiled:
            self.compiled[pattern] = re.compile(pattern)
        return self.compiled[pattern]

    def rules(self, owner):
        """Returns the rules of `patterns`, with their includes resolved."""
        if id(owner) not in self.flat:
            rules = []
            for rule in owner.get("patterns", []):
                if "include" in rule:
                    target = self.source["repository"][rule["include"].removeprefix("#")]
                    rules += [target] if "match" in target or "begin" in target else self.rules(target)
                else:
                    rules.append(rule)
            self.flat[id(owner)] = rules
        return self.flat[id(owner)]

    def scopes(self, text):
        """Returns the scopes of each character for each line, outermost first."""
        result = []
        stack = [(None, [])]
        for line in text.split("\n"):
            scopes = [[] for _ in range(len(line) + 1)]
            self.line(line, stack, scopes)
            result.append(scopes)
        return result

    def line(self, line, stack, scopes):
        position = 0
        steps = 0
        while position <= len(line):
            steps += 1
            if steps > 20000:
                raise RuntimeError("the grammar makes no progress")
            rule, names = stack[-1]
            inner = names + ([rule["contentName"]] if rule and "contentName" in rule else [])
            best = None
            if rule is not None:
                end = self.regex(rule["end"]).search(line, position)
                if end:
                    best = (end.start(), 0, end, None)
            for order, candidate in enumerate(self.rules(rule if rule is not None else self.source), 1):
                found = self.regex(candidate.get("match") or candidate["begin"]).search(line, position)
                if found and (found.end() > found.start() or "begin" in candidate) and (best is None or found.start() < best[0]):
                    best = (found.start(), order, found, candidate)
            stop = best[0] if best else len(line)
            self.paint(scopes, position, stop, inner)
            if best is None:
                break
            _, _, found, candidate = best
            if candidate is None:
                self.paint(scopes, found.start(), found.end(), names)
                self.capture(scopes, found, rule.get("endCaptures", {}))
                stack.pop()
                if found.end() == found.start() == len(line):
                    if stack[-1][0] is None:
                        break
                    position = found.end()
                    continue
                position = found.end()
                continue
            named = inner + ([candidate["name"]] if "name" in candidate else [])
            self.paint(scopes, found.start(), found.end(), named)
            if "match" in candidate:
                self.capture(scopes, found, candidate.get("captures", {}))
            else:
                self.capture(scopes, found, candidate.get("beginCaptures", {}))
                stack.append((candidate, named))
            position = found.end()

    @staticmethod
    def paint(scopes, start, end, names):
        for index in range(start, end):
            scopes[index] = list(names)

    @staticmethod
    def capture(scopes, found, captures):
        for group, value in captures.items():
            if found.group(int(group)) is not None:
                for index in range(*found.span(int(group))):
                    scopes[index].append(value["name"])


def main():
    grammar = Grammar(os.path.join(scripts.ROOT, "Editors", "TextMate", "scn.tmLanguage.json"))
    passed, problems = 0, []
    everything = scripts.valid()
    for name, text in everything:
        lines = text.split("\n")
        scopes = grammar.scopes(text)
        for number, column, length, what in scnlexer.places(text):
            end = column + length
            if what == "command":
                # Leading white space and a following comment are not part of the token.
                column += len(lines[number][column:]) - len(lines[number][column:].lstrip())
                end = column + 1
            bad = [index for index in range(column, end)
                   if not any(scope.startswith(wanted) for wanted in WANTED[what] for scope in scopes[number][index])]
            if bad:
                problems.append(f"{name}:{number + 1}:{bad[0] + 1}: {what} {lines[number][column:end]!r} has the scopes "
                                f"{scopes[number][bad[0]]}")
            else:
                passed += 1
        for number, line in enumerate(scopes):
            for index, here in enumerate(line):
                if any(scope.startswith("invalid") for scope in here):
                    problems.append(f"{name}:{number + 1}:{index + 1}: {lines[number]!r} is scoped {here}")
                    break
    # Text with errors has the scope `invalid`.
    for wrong in ['S send "a\\q"', "wait 20mss", "S send hex(de ax)"]:
        if any(scope.startswith("invalid") for here in grammar.scopes(wrong)[0] for scope in here):
            passed += 1
        else:
            problems.append(f"{wrong!r}: nothing has the scope `invalid`")
    scripts.report(passed, len(problems), problems)


if __name__ == "__main__":
    main()
