#!/usr/bin/env python3
"""Tests the Vim files: a headless vim opens every scenario, reports its file type, and names the syntax group of the first and the last
character of each comment, string, regex, number, keyword and verb."""
import json
import os
import subprocess
import tempfile

import scnlexer
import scripts

STRING = ("scnString", "scnRawString", "scnEscape", "scnInterpolation")
WANTED = {
    "comment": ("scnComment", "scnTodo"), "string": STRING, "regex": ("scnRegex", "scnRegexEscape", "scnInterpolation"),
    "number": ("scnNumber",), "header": ("scnHeader",), "flow": ("scnFlow",), "actor": ("scnActor",), "subject": ("scnSubject",),
    "verb": ("scnVerb", "scnMember"), "command": ("scnCommand", "scnCommandString", "scnCommandRaw", "scnInterpolation"),
}
# Reads a list of [file, [[line, byte column], …]] and writes the file type and the names of the syntax groups for each
# file.
PROGRAM = r"""
set nocompatible nomodeline synmaxcol=0 encoding=utf-8 nomore
let &runtimepath = $EDITOR_FILES . ',' . $VIMRUNTIME
filetype plugin on
syntax on
let answers = []
for [path, places] in json_decode(join(readfile('questions.json'), ''))
  execute 'edit' fnameescape(path)
  syntax sync fromstart
  call add(answers, [&filetype, map(places, {_, p -> synIDattr(synID(p[0], p[1], 1), 'name')})])
endfor
call writefile([json_encode(answers)], 'answers.json')
qall!
"""


def main():
    everything = scripts.valid()
    with tempfile.TemporaryDirectory() as folder:
        questions, meanings = [], []
        for index, (name, text) in enumerate(everything):
            path = os.path.join(folder, f"{index}.scn")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            lines = text.split("\n")
            places, meaning = [], []
            for number, column, length, what in scnlexer.places(text):
                if what == "command":
                    column += len(lines[number][column:]) - len(lines[number][column:].lstrip())
                    length = 1
                for at in (column, column + length - 1):
                    places.append([number + 1, len(lines[number][:at].encode("utf-8")) + 1])
                    meaning.append((what, f"{name}:{number + 1}:{at + 1}: {lines[number]!r}"))
            questions.append([path, places])
            meanings.append(meaning)
        with open(os.path.join(folder, "questions.json"), "w", encoding="utf-8") as file:
            json.dump(questions, file)
        with open(os.path.join(folder, "program.vim"), "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        environment = dict(os.environ, EDITOR_FILES=os.path.join(scripts.ROOT, "Editors", "vim"), HOME=folder, TERM="dumb")
        subprocess.run(
            ["vim", "-Nu", "NONE", "-i", "NONE", "-n", "-es", "-S", "program.vim"], cwd=folder, env=environment, check=False,
            stdin=subprocess.DEVNULL, timeout=100)
        with open(os.path.join(folder, "answers.json"), encoding="utf-8") as file:
            answers = json.load(file)
    passed, problems = 0, []
    for (name, _), meaning, (filetype, groups) in zip(everything, meanings, answers):
        if filetype != "scn":
            problems.append(f"{name}: vim detected the file type {filetype!r}")
        for (what, place), group in zip(meaning, groups):
            if group in WANTED[what]:
                passed += 1
            else:
                problems.append(f"{place}: {what} is {group!r}")
    if len(answers) != len(everything):
        problems.append("vim did not answer for every scenario")
    scripts.report(passed, len(problems), problems)


if __name__ == "__main__":
    main()
