"""The figures of shards: how evenly past durations divide the suite, and putting 100,000 results together."""

import json
import statistics
from pathlib import Path

CASES = 100_000
SHARDS = 8
FAILS = """scenario "another byte than expected"
server S
client C -> S
C connect
S accept
C send "abc"
S expect "abd"
"""


class ScaleFigures:
    def scale(self):
        self.balance()
        self.merge()

    def balance(self):
        """Every shard of the suite as an earlier run's times divide it, by those times."""
        target = "each within 15 % of the mean"
        results = self.work / "suite.json"
        suite = Path(__file__).resolve().parent.parent / "Scenarios"
        whole = self.run_tool(suite, "--keep", "none", "-q", "-j", "2", "--results", results, limit=1200)
        if not results.exists():
            return self.failed("8 shards of the suite", target, whole)
        times = {}
        for case in json.loads(results.read_text())["cases"]:
            times[case["id"]] = case["duration"] / 1e9
        loads = []
        for index in range(1, SHARDS + 1):
            listed = self.execute(self.tool, "run", suite, "--timings", results, "--shard", f"{index}/{SHARDS}", "--dry-run")
            if listed.status != 0:
                return self.failed("8 shards of the suite", target, listed)
            ids = [line.split("  ")[0] for line in listed.output.splitlines() if "  at most " in line]
            loads.append(sum(times[name] for name in ids))
        mean = statistics.mean(loads)
        worst = max(abs(load - mean) / mean for load in loads)
        self.add("8 shards of the suite", target, f"{min(loads):.1f} to {max(loads):.1f} s, {worst:.1%} off", passed=worst <= 0.15)

    def merge(self):
        """Results that the tool wrote, of a case that passes and of one that fails, multiplied: one in a hundred fails."""
        target = "<= 5 s, <= 500 MB"
        count = self.count(CASES, CASES // 10)
        script = self.work / "fails.scn"
        script.write_text(FAILS)
        sample = self.work / "sample.json"
        made = self.run_tool(Path(__file__).resolve().parent / "min.scn", script, "--results", sample)
        if not sample.exists():
            return self.failed("merge of results", target, made)
        document = json.loads(sample.read_text())
        passed, failed = document["cases"]
        files = []
        for index in range(1, SHARDS + 1):
            places = list(range(index, count + 1, SHARDS))
            cases = []
            for place in places:
                case = dict(failed if place % 100 == 0 else passed)
                case.update(place=place, id=f"group-{place % 97}/case-{place}", rerun=f"tcpprobe run group-{place % 97}/case-{place}.scn")
                cases.append(case)
            document.update(cases=cases, expectedResults=len(cases))
            document["plan"] = {"hash": "0" * 32, "cases": count, "division": "hash"}
            document["shard"] = {"index": index, "total": SHARDS, "places": [[place, place] for place in places]}
            path = self.work / f"{index}.json"
            path.write_text(json.dumps(document, separators=(",", ":")))
            files.append(path)
        size = sum(path.stat().st_size for path in files) / 1e6
        walls, peaks = [], []
        for _ in range(self.count(5, 2)):
            merged = self.execute(
                self.tool, "merge", *files, "-q", "--junit", self.work / "merged.xml", "--json", self.work / "merged.jsonl")
            if merged.status != 1:
                return self.failed("merge of results", target, merged)
            walls.append(merged.wall)
            peaks.append(merged.peak / 1024)
        wall, peak = statistics.median(walls), max(peaks)
        scaled = wall * CASES / count
        self.add(
            "merge of results", target, f"{count:,} cases, {size:.0f} MB: {wall:.2f} s, {peak:.0f} MB, with JUnit and JSON",
            passed=scaled <= 5 and peak <= 500,
        )
