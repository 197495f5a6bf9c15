"""Steps of a generated scenario, with what would make them wrong."""
import dataclasses

PASSED, FAILED, ERROR, INCONCLUSIVE = "passed", "failed", "error", "inconclusive"
UNSUPPORTED, SKIPPED = "unsupported", "skipped"
# What a statement about a connection that never was may come to.
NOT_PASSED = (FAILED, ERROR, INCONCLUSIVE)


@dataclasses.dataclass
class Wrong:
    """Another text for a step, and what the case comes to with it; an empty text leaves the step out."""
    kind: str
    text: str
    verdicts: tuple = (FAILED,)
    # Only with a capture; without one the case is inconclusive.
    is_wire: bool = False
    # Of the case with this value of the scenario's `each`; None is all of them.
    label: str | None = None
    # What a program of the script does instead: (the program, its actions).
    program: tuple | None = None


@dataclasses.dataclass
class Step:
    """One step; without a text it is only there to be made wrong."""
    text: str
    wrongs: list = dataclasses.field(default_factory=list)
    # It is not judged without a capture.
    is_wire: bool = False


def wire(text, *wrongs):
    """A wire statement that holds, and others that do not."""
    false = [Wrong("a false wire statement", f"{wrong} within 200ms", is_wire=True) for wrong in wrongs]
    return Step(text, false, is_wire=True)


def only_wrong(kind, text, **more):
    """Nothing, or a step that should not be there."""
    return Step("", [Wrong(kind, text, **more)])
