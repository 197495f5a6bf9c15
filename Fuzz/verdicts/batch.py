"""A batch: scenarios in a folder, run in several ways, and the differences from the required verdicts."""
import collections
import dataclasses
import os
import random
import re
import shutil
import sys

import ways
from explained import explanation
from scenario import Scenario
from steps import ERROR, FAILED, PASSED, UNSUPPORTED

HERE = os.path.dirname(os.path.abspath(__file__))


@dataclasses.dataclass
class Difference:
    """A case with a verdict other than the required one, or a problem of the run itself, which has no case."""
    way: ways.Way
    scenario: Scenario | None
    case: str
    wanted: tuple
    found: str
    summaries: list

    @property
    def signature(self):
        """A value that is equal for differences that seem to have the same cause."""
        first = self.summaries[0] if self.summaries else ""
        for pattern, instead in [(r'"(\\.|[^"\\])*"', '"…"'), (r"\b[A-Z]{1,2}\d+(n\d+)?\b", "X"), (r"\d+", "N")]:
            first = re.sub(pattern, instead, first)
        return (self.scenario.describe() if self.scenario else "", self.wanted, self.found, first[:80])

    def __str__(self):
        about = f"{self.scenario.seed}/{self.scenario.number} ({self.scenario.describe()})" if self.scenario else "the run"
        wanted = f"{' or '.join(self.wanted)} expected, " if self.wanted else ""
        found = "; ".join([f"{wanted}{self.found}", *self.summaries])
        return ": ".join(part for part in (self.way.name, about, self.case, found[:400]) if part)


def wanted(scenario, case, way):
    """Returns the verdicts that the case may have if it is run in the given way."""
    if scenario.asks_reads and way.transport == "bsd":
        return (UNSUPPORTED,)
    verdicts = scenario.verdicts(case) if way.captures else scenario.without_capture(case)
    if way.late is not None and scenario.has_subject:
        return (FAILED, ERROR)
    if way.transport != "bsd" and scenario.has_subject:
        # The case may also be unsupported, because a transport that reads only on request has fewer capabilities.
        return (*verdicts, UNSUPPORTED)
    return verdicts


def told_later(way, scenario, case, result):
    """Returns whether the case had already passed when the late event arrived, and whether the run reports that
    event."""
    return way.late is not None and scenario.has_subject and any(
        trouble.startswith(ways.TROUBLE) and case in trouble for trouble in result.troubles)


def write(scenarios, folder):
    os.makedirs(folder, exist_ok=True)
    shutil.copy(os.path.join(HERE, "peer.py"), folder)
    for scenario in scenarios:
        with open(os.path.join(folder, f"{scenario.name}.scn"), "w", encoding="utf-8") as file:
            file.write(scenario.text)


def run(tool, way, scenarios, folder, left_behind):
    """Runs the scenarios in the folder. Returns the result, the differences, the reasons for those that are explained,
    and the number of cases run."""
    scenarios = [scenario for scenario in scenarios if not (
        way.is_alone and scenario.needs_outside or way.few_ports and not scenario.leaves_ports_free)]
    if not scenarios:
        return ways.Result([], 0), [], collections.Counter(), 0
    by_id = {case: scenario for scenario in scenarios for case in scenario.ids}

    def level_of(case):
        return by_id[case].level if case in by_id else "must"

    result = ways.run(tool, way, folder, [f"{scenario.name}.scn" for scenario in scenarios], level_of, left_behind)
    differences, reasons, count = [], collections.Counter(), 0
    if result.status == 2:
        lines = [line for line in result.said.splitlines() if "error" in line][:3]
        return result, [Difference(way, None, "", (), "the scripts were refused", lines)], reasons, 0
    if not result.cases:
        # The run hung or crashed: its last output is more useful than a list of the missing cases.
        last = result.said.splitlines()[-3:]
        return result, [Difference(way, None, "", (), trouble, last) for trouble in result.troubles], reasons, 0
    for case, scenario in by_id.items():
        right = wanted(scenario, case, way)
        outcomes = result.cases.get(case, [])
        count += len(outcomes)
        if len(outcomes) != way.repeat * (2 if way.both and scenario.has_subject else 1):
            differences.append(Difference(way, scenario, case, right, f"run {len(outcomes)} times", []))
        for verdict, summaries in outcomes:
            if verdict in right or verdict == PASSED and told_later(way, scenario, case, result):
                continue
            reason = explanation(way, right, verdict, summaries)
            if verdict == PASSED and way.late and result.missed:
                result.missed -= 1
                reason = "the machine was so slow that the adapter withheld the event after the end"
            if reason:
                reasons[reason] += 1
            else:
                differences.append(Difference(way, scenario, case, right, verdict, summaries))
    # Late events are expected from an adapter that must report them.
    troubles = [trouble for trouble in result.troubles if way.late is None or not trouble.startswith(ways.TROUBLE)]
    differences += [Difference(way, None, "", (), trouble, []) for trouble in troubles]
    return result, differences, reasons, count


def is_shared(seed):
    """Returns whether the batch's cases use the same addresses in turn, so that only one may run at a time."""
    return random.Random(f"{seed}/shared").random() < 0.4


def make(seed, number, **more):
    return Scenario(seed, number, is_shared(seed), sys.executable, **more)


def ways_of(seed, count, only=""):
    """Returns the ways in which a batch is run: always with plain -j1, and in other ways chosen at random."""
    rng = random.Random(f"{seed}/ways")
    first, *others = [way for way in ways.WAYS if only in way.name and (way.jobs == 1 or not is_shared(seed))] or [None]
    return [first, *rng.sample(others, min(count - 1, len(others)))] if first else []
