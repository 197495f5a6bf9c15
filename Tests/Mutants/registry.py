"""The names of the broken transports, for the modules that define them."""
import re

# The transports by name: (class, bug, groups, whether the bug is that the program exits).
MUTANTS = {}


def mutant(bug, *groups, dies=False):
    """Registers a class under its name: `StateLost` becomes `state-lost`."""
    def register(part):
        name = re.sub(r"(?<=.)(?=[A-Z])", "-", part.__name__).lower()
        MUTANTS[name] = (part, bug, groups, dies)
        return part
    return register
