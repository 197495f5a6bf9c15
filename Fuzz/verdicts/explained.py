"""Verdicts that may differ, with the reasons."""
import re
from collections import namedtuple

from steps import ERROR, FAILED, INCONCLUSIVE, PASSED

Explanation = namedtuple("Explanation", "wanted found pattern reason few_ports", defaults=[False])

EXPLAINED = [
    Explanation(PASSED, INCONCLUSIVE, r"pieces were not sent in separate segments",
                "the kernel has merged pieces of a cut send: the tool can't prevent it, and reports it"),
    Explanation(PASSED, INCONCLUSIVE, r"capture (has )?(lost|dropped)|packets were lost",
                "a machine under load has lost captured packets"),
    Explanation(FAILED, INCONCLUSIVE, r"capture (has )?(lost|dropped)|packets were lost",
                "a machine under load has lost captured packets"),
    *(Explanation(wanted, INCONCLUSIVE, r"may belong to [PQ]\d+ or [PQ]\d+: each of these actors could have opened the connection",
                  "two programs ran, and it is unknown which of them opened a connection") for wanted in (PASSED, FAILED)),
    *(Explanation(wanted, INCONCLUSIVE, r" stood still for ",
                  "the harness stood still (SIGSTOP, or a machine under load) across a time limit: it is unknown when the event arrived")
      for wanted in (PASSED, FAILED)),
    *(Explanation(wanted, found, r"Address already in use|Cannot assign requested address",
                  "there were few ports, and none was free", few_ports=True) for wanted in (PASSED, FAILED) for found in (FAILED, ERROR)),
]


def explanation(way, wanted, verdict, summaries):
    """Returns the reason why a case may have this verdict although another one is required; None if there is no
    reason."""
    for entry in EXPLAINED:
        if entry.few_ports and not way.few_ports:
            continue
        if entry.wanted in wanted and entry.found == verdict and any(re.search(entry.pattern, text) for text in summaries):
            return entry.reason
    return None
