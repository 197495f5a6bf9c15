"""Verdicts that may differ, and why."""
import re
from collections import namedtuple

from steps import ERROR, FAILED, INCONCLUSIVE, PASSED

Explanation = namedtuple("Explanation", "wanted found pattern reason few_ports", defaults=[False])

EXPLAINED = [
    Explanation(PASSED, INCONCLUSIVE, r"pieces did not leave in separate segments",
                "the kernel has merged pieces of a cut send: the tool can't prevent it, and says so"),
    Explanation(PASSED, INCONCLUSIVE, r"capture (has )?(lost|dropped)|packets were lost",
                "a machine under load has lost packets of the capture"),
    Explanation(FAILED, INCONCLUSIVE, r"capture (has )?(lost|dropped)|packets were lost",
                "a machine under load has lost packets of the capture"),
    *(Explanation(wanted, INCONCLUSIVE, r"may belong to [PQ]\d+ or [PQ]\d+: both could have opened it",
                  "two programs ran, and which of them a connection came from can't be told") for wanted in (PASSED, FAILED)),
    *(Explanation(wanted, INCONCLUSIVE, r" stood still for ",
                  "the harness stood still (SIGSTOP, or a machine under load) across a bound of time: when it came can't be told")
      for wanted in (PASSED, FAILED)),
    *(Explanation(wanted, found, r"Address already in use|Cannot assign requested address",
                  "there were few ports, and none was left", few_ports=True) for wanted in (PASSED, FAILED) for found in (FAILED, ERROR)),
]


def explanation(way, wanted, verdict, summaries):
    """Why a case may have come to this verdict all the same; None where it may not."""
    for entry in EXPLAINED:
        if entry.few_ports and not way.few_ports:
            continue
        if entry.wanted in wanted and entry.found == verdict and any(re.search(entry.pattern, text) for text in summaries):
            return entry.reason
    return None
