"""The steps of a generated scenario, with mistakes that can be planted in them."""
import dataclasses

PASSED, FAILED, ERROR, INCONCLUSIVE = "passed", "failed", "error", "inconclusive"
UNSUPPORTED, SKIPPED = "unsupported", "skipped"
# The possible verdicts of a statement about a connection that never existed.
NOT_PASSED = (FAILED, ERROR, INCONCLUSIVE)


@dataclasses.dataclass
class Wrong:
    """A mistake: another text for a step, and the resulting verdicts; an empty text means that the step is removed."""
    kind: str
    text: str
    verdicts: tuple = (FAILED,)
    # Whether the mistake is noticed only with a capture; without a capture, the case is inconclusive.
    is_wire: bool = False
    # The value of the scenario's `each` for the case that the mistake affects; None if it affects all cases.
    label: str | None = None
    # A mistake in a program: the program, and the actions that replace the program's actions in the script.
    program: tuple | None = None


@dataclasses.dataclass
class Step:
    """A step. An empty step, which has no text, is only a place for a mistake."""
    text: str
    wrongs: list = dataclasses.field(default_factory=list)
    # Whether the step is judged only with a capture.
    is_wire: bool = False


def wire(text, *wrongs):
    """Returns a true wire statement, with false statements as its mistakes."""
    false = [Wrong("a false wire statement", f"{wrong} within 200ms", is_wire=True) for wrong in wrongs]
    return Step(text, false, is_wire=True)


def only_wrong(kind, text, **more):
    """Returns an empty step whose mistake is an additional step."""
    return Step("", [Wrong(kind, text, **more)])
