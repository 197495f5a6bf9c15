"""Reduces a difference: first removes the other cases of the batch, then the other sections of the case."""
import os
import re
import shlex
import shutil
import tempfile
import time

import batch
import ways

# A fault that depends on timing does not occur in every run.
TRIES = 3


class Shrinker:
    """Runs ever smaller parts of a batch, while the case still has a wrong verdict."""

    def __init__(self, tool, difference, scenarios, left_behind, seconds):
        self.tool, self.difference, self.left_behind = tool, difference, left_behind
        self.scenarios = scenarios
        self.end = time.monotonic() + seconds
        # Whether the difference could be reproduced.
        self.is_repeated = False

    @property
    def is_over(self):
        return time.monotonic() > self.end

    def differs(self, scenarios):
        for _ in range(TRIES):
            if self.is_over:
                return False
            folder = tempfile.mkdtemp(prefix="verdicts-shrink-")
            try:
                batch.write(scenarios, folder)
                _, differences, _, _ = batch.run(self.tool, self.difference.way, scenarios, folder, self.left_behind)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            wanted = self.difference
            for found in differences:
                if (found.scenario is None) == (wanted.scenario is None) and found.found == wanted.found and (
                        wanted.scenario is None or found.scenario.number == wanted.scenario.number):
                    self.is_repeated = True
                    return True
        return False

    def shrink(self):
        """Returns the scenarios that are needed to reproduce the difference."""
        keep = self.difference.scenario
        if keep and self.differs([keep]):
            self.scenarios = [keep]
        else:
            self.drop_cases(keep)
        if keep:
            self.drop_sections(keep)
        return self.scenarios

    def drop_cases(self, keep):
        size = max(1, len(self.scenarios) // 2)
        while size >= 1 and not self.is_over:
            at = 0
            while at < len(self.scenarios) and not self.is_over:
                less = [scenario for index, scenario in enumerate(self.scenarios)
                        if not at <= index < at + size or keep and scenario.number == keep.number]
                if less and len(less) < len(self.scenarios) and self.differs(less):
                    self.scenarios = less
                else:
                    at += size
            size //= 2

    def drop_sections(self, scenario):
        for section in list(scenario.kept):
            current = next(one for one in self.scenarios if one.number == scenario.number)
            kept = [index for index in current.kept if index != section]
            if not kept or current.planted and current.planted[0] == str(section):
                continue
            smaller = batch.make(scenario.seed, scenario.number, kept=kept, planted=current.planted)
            changed = [smaller if one.number == scenario.number else one for one in self.scenarios]
            if self.differs(changed):
                self.scenarios = changed


def about(said, case):
    """Returns the run's output about this case, or all of the output if it does not mention the case."""
    found = re.search(rf"^[A-Za-z]+ +{re.escape(case)}(?= ).*?(?=^(?:[A-Za-z]+ +case\d|not passed:))", said, re.M | re.S) if case else None
    return found[0] if found else said[-20000:]


def keep(tool, difference, scenarios, said, folder, is_repeated):
    """Writes a finding: the scripts, and the command that reproduces the difference."""
    batch.write(scenarios, folder)
    way, scenario = difference.way, difference.scenario
    command = ways.command(tool, way, folder, [f"{one.name}.scn" for one in scenarios], "events.json", "out")
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as file:
        print(difference, file=file)
        print("\nreproduced with only the scripts in this folder" if is_repeated else
              "\nnot reproduced with fewer scripts than these: it depends on timing, or on what ran before", file=file)
        print(f"\n    {shlex.join(command)}", file=file)
        if scenario:
            print(f"    make fuzz TARGET=verdicts PAIR={scenario.seed}/{scenario.number}", file=file)
        print(f"\nthe way in which it was run: {way}\n\nthe output:\n\n{about(said, difference.case)}", file=file)
