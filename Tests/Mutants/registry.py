"""The names of the broken transports, for the modules that define them."""
import re

# For each name: the class, what is wrong, the groups of cases, and whether the program exits because of the bug.
MUTANTS = {}


def mutant(bug, *groups, dies=False):
    """Registers a class under its name: `StateLost` becomes `state-lost`."""
    def register(part):
        name = re.sub(r"(?<=.)(?=[A-Z])", "-", part.__name__).lower()
        MUTANTS[name] = (part, bug, groups, dies)
        return part
    return register
