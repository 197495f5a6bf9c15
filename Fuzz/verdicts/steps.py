"""The steps of a generated scenario, with mistakes that can be planted in them."""
import dataclasses

PASSED, FAILED, ERROR, INCONCLUSIVE = "passed", "failed", "error", "inconclusive"
UNSUPPORTED, SKIPPED = "unsupported", "skipped"
# The possible verdicts of a statement about a connection that never existed.
NOT_PASSED = (FAILED, ERROR, INCONCLUSIVE)


@dataclasses.dataclass
class Wrong:
    """A mistake: another text for a step, and the resulting verdicts; an empty text removes the step."""
    kind: str
    text: str
    verdicts: tuple = (FAILED,)
    # Whether it needs a capture; without one the case is inconclusive.
    is_wire: bool = False
    # The value of the scenario's `each` for the case that it affects; None for all cases.
    label: str | None = None
    # The different actions of a program in the script: (the program, its actions).
    program: tuple | None = None


@dataclasses.dataclass
class Step:
    """A step; without a text, it only serves to plant a mistake."""
    text: str
    wrongs: list = dataclasses.field(default_factory=list)
    # Whether it is judged only with a capture.
    is_wire: bool = False


def wire(text, *wrongs):
    """Returns a true wire statement, with false ones as mistakes."""
    false = [Wrong("a false wire statement", f"{wrong} within 200ms", is_wire=True) for wrong in wrongs]
    return Step(text, false, is_wire=True)


def only_wrong(kind, text, **more):
    """Returns an empty step whose mistake is a step that should not be there."""
    return Step("", [Wrong(kind, text, **more)])
