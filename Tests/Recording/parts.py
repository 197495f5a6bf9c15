"""The parts of a recording. Each part runs the tool in the work folder and writes files of sections."""
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import normal
from spoil import spoil

MARK = re.compile("[\U0001F51F0-9]\ufe0f?\u20e3|\U0001F51F")
# Cases spend most of their time waiting. Many cases are run at a time to save time, but not so many that they interfere
# with each other.
WAITING = 20
# The arguments of `inspect` that show one connection of a capture or select several.
SHOWN = [
    [], ["--json"], ["--width", "80"], ["--flow", "0"], ["--flow", "1"], ["--flow", "0", "--json"], ["--follow", "0"], ["--follow", "0", "--json"],
    ["--flow", "0", "--framing", "crlf"], ["--flow", "0", "--framing", "u16", "--json"], ["--port", "80"], ["--port", "25", "--json"],
    ["--host", "10.0.0.1"], ["--check", "wire client -> server lines crlf", "--check", "wire no rst", "--check", "wire closed by client first"],
    ["--check", "wire server -> client segments >= 1", "--check", "wire no retransmissions", "--json"],
    ["--check", "wire client -> server messages 2", "--framing", "crlf"], ["--check", "wire what"],
]
COMMANDS = ["run", "check", "fmt", "list", "explain", "inspect", "watch", "adapter", "bench"]
# Mistakes that a user may make, and options with which `run` runs no case.
USES = [
    "", "what", "run", "run nowhere", "run Scenarios --what", "run Scenarios -j 0", "run Scenarios -j x", "run Scenarios --transport what",
    "run Scenarios --filter nothing-fits", "run Scenarios --tag none", "run Scenarios/crlf.scn --set x=1", "run Scenarios/crlf.scn --keep some",
    "run Scenarios --dry-run", "run Scenarios --dry-run --filter 'cut*'", "run Scenarios/crlf.scn --time-scale 0", "run Scenarios/crlf.scn --repeat 0",
    "run Scenarios/crlf.scn --seed x", "run Scenarios/crlf.scn --expect nowhere.txt", "run Scenarios/crlf.scn --matrix x.what",
    "run Scenarios/crlf.scn --transport bsd --adapter false", "run Scenarios/crlf.scn --adapter nowhere", "run Scenarios/crlf.scn --adapter true",
    "run Scenarios/process.scn --no-process", "run Scenarios/crlf.scn --repeat 3", "check", "check nowhere", "check Scenarios", "check Scenarios --json",
    "list Scenarios", "list Scenarios --json", "list Scenarios --tag framing", "list Scenarios --filter '*cut*'", "fmt", "fmt --check Scenarios",
    "fmt --diff Scenarios", "explain what", "inspect", "inspect nowhere", "inspect Scenarios/crlf.scn", "watch --port x", "adapter", "adapter what",
    "--version",
]


def shown(status, out, err):
    """Returns the lines of an output; a very long output is shortened to its beginning and a hash."""
    lines = [f"exit {status}"] + out.splitlines() + [f"stderr: {line}" for line in err.splitlines()]
    return [line if len(line) < 2000 else f"{line[:500]}… {len(line)} characters, SHA-256 {hashlib.sha256(line.encode()).hexdigest()}" for line in lines]


class Recorder:
    def __init__(self, tool, tree, work, folder, corpus):
        self.tool, self.tree, self.work, self.folder, self.corpus = tool, tree, work, folder, corpus
        self.scripts = {}

    def start(self, *words, wait=600, data=b""):
        """Runs the tool in the work folder. Returns its exit code, standard output and standard error."""
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "120", "TMPDIR": os.path.join(self.work, "tmp"), "LC_ALL": "C.UTF-8"}
        environment.pop("CI", None)
        environment.pop("GITHUB_ACTIONS", None)
        done = subprocess.run([self.tool, *words], cwd=self.work, env=environment, input=data, capture_output=True, timeout=wait, check=False)
        return done.returncode, done.stdout.decode("utf-8", "backslashreplace"), done.stderr.decode("utf-8", "backslashreplace")

    def write(self, name, sections):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            for title, lines in sections.items():
                lines = lines if isinstance(lines, list) else lines.splitlines()
                file.write(f"=== {title}\n")
                file.writelines((" " if line.startswith("=== ") else "") + line + "\n" for line in lines)

    def answer(self, *words):
        """Returns the output and exit status of a command, as lines."""
        status, out, err = self.start(*words)
        if words[:1] == ("run",) and "--dry-run" not in words and status != 2:
            # The output of a run of cases contains a timeline.
            out, err = normal.without_timeline(normal.text(out)), normal.text(err)
        return [f"exit {status}"] + [f"stdout: {line}" for line in out.splitlines()] + [f"stderr: {line}" for line in err.splitlines()]

    def script(self, path):
        if path not in self.scripts:
            try:
                with open(os.path.join(self.work, path), encoding="utf-8") as file:
                    self.scripts[path] = file.read()
            except (OSError, UnicodeDecodeError):
                self.scripts[path] = ""
        return self.scripts[path]

    # Parts that need no socket

    def help(self):
        sections = {"tcpprobe --help": self.answer("--help")}
        for command in COMMANDS:
            sections[f"tcpprobe {command} --help"] = self.answer(command, "--help")
        self.write("help.txt", sections)

    def explain(self):
        status, out, _ = self.start("explain")
        sections = {"explain": [f"exit {status}"] + out.splitlines()}
        for word in re.findall(r"^ *([a-z][a-z0-9-]+)(?= |$)", out, re.M):
            sections[f"explain {word}"] = self.answer("explain", word)
        self.write("explain.txt", sections)

    def wrong(self):
        """Records the diagnostics of `check`, `run` and other commands for the wrong scripts in the golden file."""
        sections = {}
        with open(os.path.join(self.tree, "Tests", "Golden", "wrong-scripts.txt"), encoding="utf-8") as file:
            for one in re.split(r"^=== ", file.read(), flags=re.M)[1:]:
                name, _, rest = one.partition("\n")
                script = MARK.sub("", rest.partition("--- expected\n")[0])
                with open(os.path.join(self.work, "wrong.scn"), "w", encoding="utf-8") as target:
                    target.write(script)
                for words in (["check"], ["check", "--json"], ["run", "--out", "o", "--keep", "none"], ["fmt", "--diff"], ["list"]):
                    title = f"{name}: {' '.join(words)}"
                    while title in sections:
                        title += "'"
                    sections[title] = self.answer(*words, "wrong.scn")
        self.write("wrong-scripts.txt", sections)

    def fmt(self):
        """Records the formatted text of all scenarios, both as they are and with their layout removed, and of the whole
        language; the part `wrong` records the formatted text of wrong scripts."""
        sections = {}
        shutil.copytree(os.path.join(self.work, "Scenarios"), os.path.join(self.work, "laid"))
        shutil.copy(os.path.join(self.tree, "Tests", "Golden", "whole-language.scn"), os.path.join(self.work, "laid"))
        for parent, folders, names in os.walk(os.path.join(self.work, "laid")):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(parent, name)
                if not name.endswith(".scn"):
                    continue
                with open(path, encoding="utf-8") as file:
                    text = file.read()
                with open(path, "w", encoding="utf-8") as file:
                    file.write(re.sub(r"^[ \t]+", "", text, flags=re.M).replace("->", "   ->"))
                relative = os.path.relpath(path, self.work)
                answer = self.answer("fmt", relative)
                with open(path, encoding="utf-8") as file:
                    sections[relative] = answer + file.read().splitlines()
        self.write("fmt.txt", sections)

    def uses(self):
        self.write("uses.txt", {f"tcpprobe {use}": self.answer(*shlex.split(use)) for use in USES})

    def examples(self):
        return [os.path.join("Scenarios", name) for name in sorted(os.listdir(os.path.join(self.work, "Scenarios"))) if name.endswith(".scn")]

    def inspect(self):
        if not os.path.isdir(self.corpus):
            return print(f"inspect: skipped, because {self.corpus} does not exist")
        os.symlink(os.path.abspath(self.corpus), os.path.join(self.work, "corpus"))
        for name in sorted(os.listdir(self.corpus)):
            if not name.endswith((".pcap", ".pcapng")):
                continue
            path = os.path.join("corpus", name)
            sections = {}
            for words in SHOWN:
                status, out, err = self.start("inspect", path, *words)
                sections[" ".join(["inspect", name, *words])] = shown(status, out, err)
            status, out, err = self.start("inspect", path, "--extract", "streams")
            streams = os.path.join(self.work, "streams")
            lines = shown(status, out, err)
            for stream in sorted(os.listdir(streams)) if os.path.isdir(streams) else []:
                with open(os.path.join(streams, stream), "rb") as file:
                    data = file.read()
                lines.append(f"{stream}: {len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}")
            shutil.rmtree(streams, ignore_errors=True)
            sections[f"inspect {name} --extract"] = lines
            self.write(f"inspect/{name}.txt", sections)

    # Parts that run cases

    def run(self, name, *words, wait=1800):
        """Records a run: its console output, and its events, case by case."""
        status, out, err = self.start("run", *words, "--out", "o", "--json", "events.json", wait=wait)
        sections = {"run": [f"exit {status}"] + [f"stderr: {line}" for line in normal.text(err).splitlines()]}
        with open(os.path.join(self.work, "events.json"), encoding="utf-8") as file:
            events = [json.loads(line) for line in file]
        ended = {}
        for event in events:
            kind = event["event"]
            if kind == "case-ended":
                ended[event["id"] + (f" [{event['subject']}]" if "subject" in event else "")] = event
            elif kind != "case-started":
                sections.setdefault(kind, []).extend(normal.event(event))
        for title, event in sorted(ended.items()):
            sections[title] = normal.event(event, self.script(event["path"]))
        self.write(f"{name}/events.txt", sections)
        self.write(f"{name}/console.txt", dict(sorted(normal.console(out, lambda block: self.named(block, ended)).items())))
        os.remove(os.path.join(self.work, "events.json"))
        shutil.rmtree(os.path.join(self.work, "o"), ignore_errors=True)

    def named(self, block, ended):
        """Returns the script that a block of console output refers to."""
        words = block[0].split()
        return self.script(next((e["path"] for e in ended.values() if len(words) > 1 and e["id"] == words[1]), ""))

    def run_examples(self):
        reports = ["--junit", "junit.xml", "--tap", "report.tap", "--matrix", "matrix.md", "--matrix", "matrix.json"]
        self.run("examples", *self.examples(), *reports)
        self.keep_reports("examples")

    def keep_reports(self, part):
        known = normal.durations("\n".join(self.scripts.values()))
        for name in ("junit.xml", "report.tap", "matrix.md", "matrix.json"):
            path = os.path.join(self.work, name)
            with open(path, encoding="utf-8") as file:
                lines = normal.text(file.read(), known)
            os.remove(path)
            lines = re.sub(r'(\btime=)"[\d.]+"|("?duration(?:_ms)?"?: ?)[\d.]+', lambda found: (found[1] or found[2]) + "N", lines)
            self.write(f"{part}/{name}", {name: lines})

    def suite(self, *subject):
        name = re.sub(r"\W+", "-", subject[1]) if subject[0] == "--transport" else os.path.basename(subject[1]).removesuffix(".py")
        self.run(f"suite-{name}", "Scenarios/conformance", *subject, "-j", "4", "--keep", "none")

    def suites(self):
        for transport in ("bsd", "async-socket", "nio", "flyingsocks"):
            self.suite("--transport", transport)

    def adapters(self):
        """Records the suite over the adapter protocol, with the transports from which the mutants are derived."""
        for path in ("careful.py", "asked.py", "reference.py", "pull.py"):
            path = os.path.join(self.tree, "Tests", "Mutants", path)
            if os.path.exists(path):
                self.suite("--adapter", shlex.join([sys.executable, "-S", path]))

    def spoiled(self):
        folder = os.path.join(self.work, "spoiled")
        spoil(os.path.join(self.work, "Scenarios"), folder, few=1)
        # Scripts with errors are checked, and all other scripts are run.
        refused = {}
        for parent, _, names in os.walk(folder):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(parent, name), self.work)
                status, out, err = self.start("check", path)
                if status:
                    refused[path] = [f"exit {status}"] + normal.text(out + err, normal.durations(self.script(path))).splitlines()
                    os.remove(os.path.join(self.work, path))
        self.write("spoiled/check.txt", dict(sorted(refused.items())))
        self.run("spoiled", "spoiled", "-j", str(WAITING), "--keep", "none")

    def mutants(self):
        """Records the table of mutants; each mutant runs one case at a time, because the first case that catches the
        mutant ends its run."""
        table = os.path.join(self.tree, "Tests", "Mutants", "run")
        done = subprocess.run(
            [sys.executable, table, self.tool, "-j", "2", "--cases", "1"], cwd=self.work, capture_output=True, text=True, check=False)
        self.write("mutants.txt", {"table": [f"exit {done.returncode}"] + normal.text(done.stdout + done.stderr).splitlines()})


PARTS = {
    "help": Recorder.help, "explain": Recorder.explain, "wrong": Recorder.wrong, "fmt": Recorder.fmt, "uses": Recorder.uses,
    "inspect": Recorder.inspect, "examples": Recorder.run_examples, "suites": Recorder.suites, "adapters": Recorder.adapters,
    "spoiled": Recorder.spoiled, "mutants": Recorder.mutants,
}
