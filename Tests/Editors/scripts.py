"""All scenarios of the repository: the files, and the blocks in the documents."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "Tests", "EndToEnd", "support"))

import documents  # noqa: E402


def valid():
    """Yields (name, text) of each scenario without errors."""
    found = []
    for folder in ("Scenarios", "Benchmarks", "Examples", "Tests/Golden"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if name.endswith(".scn"):
                with open(os.path.join(ROOT, folder, name), encoding="utf-8") as file:
                    found.append((f"{folder}/{name}", file.read()))
    for path in documents.find(ROOT):
        for block in documents.blocks(path):
            if block.words[0] == "scn" and "wrong" not in block.words:
                found.append((f"{os.path.relpath(path, ROOT)}:{block.number}", block.text))
    return found


def report(passed, failed, problems):
    for problem in problems[:40]:
        print(problem)
    print(f"{passed} places are correct, {failed} are wrong")
    sys.exit(1 if failed or not passed else 0)
