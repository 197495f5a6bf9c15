"""The list of scenarios. A module adds its scenarios with the decorator `scenario`."""
import dataclasses

from typing import Callable


@dataclasses.dataclass
class Scenario:
    """How the captures for one finding are made; the function takes a `Variant` and returns its label."""
    identifier: str
    function: Callable
    # The expected seconds of one variant: long ones start first.
    seconds: Callable
    # Whether the captures show no fault.
    is_healthy: bool = False


SCENARIOS = {}


def scenario(identifier, seconds=2.0, is_healthy=False):
    """Adds the decorated function; `seconds` may be a function of the variant's number."""
    def add(function):
        SCENARIOS[identifier] = Scenario(identifier, function, seconds if callable(seconds) else lambda _: seconds,
                                         is_healthy)
        return function
    return add
