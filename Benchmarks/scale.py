"""The benchmarks of shards (how evenly past durations divide the suite, and merging 100,000 results) and of pages with many cases."""

import json
import shutil
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "Pages"))

CASES = 100_000
PAGE_CASES = 10_000
SHARDS = 8
FAILS = """scenario "an unexpected byte"
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
        self.page()

    def balance(self):
        """Divides the suite into shards by the durations of an earlier run, and compares the total durations of the
        shards."""
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

    def results(self, figure, target, count, timelines):
        """Writes results files, which consist of copies of the tool's results for a passing case and for a failing one:
        one case in a hundred fails.

        In each shard, `timelines` passed results include a timeline. Returns nothing if the tool could not run.
        """
        script = self.work / "fails.scn"
        script.write_text(FAILS)
        sample = self.work / "sample.json"
        made = self.run_tool(Path(__file__).resolve().parent / "min.scn", script, "--results", sample)
        if not sample.exists():
            self.failed(figure, target, made)
            return []
        document = json.loads(sample.read_text())
        passed, failed = document["cases"]
        files = []
        for index in range(1, SHARDS + 1):
            places = list(range(index, count + 1, SHARDS))
            cases = []
            for place in places:
                case = dict(failed if place % 100 == 0 else passed)
                case.update(place=place, id=f"group-{place % 97}/case-{place}", rerun=f"tcpprobe run group-{place % 97}/case-{place}.scn")
                if place % 100 != 0 and len(cases) >= timelines:
                    case["timeline"] = []
                cases.append(case)
            document.update(cases=cases, expectedResults=len(cases))
            document["plan"] = {"hash": "0" * 32, "cases": count, "division": "hash"}
            document["shard"] = {"index": index, "total": SHARDS, "places": [[place, place] for place in places]}
            path = self.work / f"{index}.json"
            path.write_text(json.dumps(document, separators=(",", ":")))
            files.append(path)
        return files

    def merge(self):
        target = "<= 5 s, <= 500 MB"
        count = self.count(CASES, CASES // 10)
        # The last argument is the number of timelines that a shard of this size writes; they take 2 MiB.
        files = self.results("merge of results", target, count, 500)
        if not files:
            return
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

    def page(self):
        """Measures a page with many cases: the additional time of a merge that writes it, and the time until a browser has loaded it."""
        target = "<= 3 s, < 30 MB"
        count = self.count(PAGE_CASES, PAGE_CASES // 10)
        files = self.results("page of the cases", target, count, 500)
        if not files:
            return
        page = self.work / "page.html"
        plain, walls = [], []
        for _ in range(self.count(5, 2)):
            for options, times in (([], plain), (["--html", page], walls)):
                merged = self.execute(self.tool, "merge", *files, "-q", *options)
                if merged.status != 1:
                    return self.failed("page of the cases", target, merged)
                times.append(merged.wall)
        wall, size = statistics.median(walls) - statistics.median(plain), page.stat().st_size / 1e6
        self.add("page of the cases", target, f"{count:,} cases: {size:.1f} MB, {wall:.2f} s", passed=wall <= 3 and size < 30)
        target = "<= 2 s"
        if not shutil.which("chromium"):
            return self.add("the page in a browser", target, "chromium is not installed")
        from chromium import Chromium

        with Chromium() as browser:
            browser.show(1280, False)
            opened = [browser.open(page) for _ in range(3)]
        self.add("the page in a browser", target, f"{statistics.median(opened):.2f} s", passed=statistics.median(opened) <= 2)
