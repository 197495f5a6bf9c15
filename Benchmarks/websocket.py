"""The benchmark of WebSocket: frames that a script echoes."""

import os
import statistics
from pathlib import Path

ROUNDS = 20_000
ECHO = """scenario "an echo"
timeout 60s
case-timeout 120s
server S
client C -> S
C connect websocket "/"
S accept as A websocket
for i in 1..{rounds} {{
  C send message "hello"
  A expect message as m
  A send message m
  C expect message "hello"
}}
C close
A expect eof
A close
"""


class WebSocketFigures:
    """A mixin that adds the benchmark of WebSocket to `Bench`."""

    work: Path

    def websocket(self):
        """Runs one process, which contains both ends of a connection, on one core. Each round consists of a masked
        frame in one direction and an unmasked frame in the other direction, in four steps. The time of a run with one
        round is subtracted, so that the time to start the program is not measured."""
        target = ">= 20000 frames/s"
        rounds = self.count(ROUNDS, ROUNDS // 4)
        core = min(os.sched_getaffinity(0))
        walls = {1: [], rounds: []}
        for _ in range(self.count(5, 2)):
            for number in walls:
                script = self.work / f"echo-{number}.scn"
                script.write_text(ECHO.format(rounds=number))
                execution = self.execute("taskset", "-c", core, self.tool, "run", "--keep", "none", script)
                if execution.status != 0:
                    return self.failed("websocket", target, execution)
                walls[number].append(execution.wall)
        seconds = statistics.median(walls[rounds]) - statistics.median(walls[1])
        rate = 2 * (rounds - 1) / seconds
        self.add("websocket", target, f"{rate:.0f} frames/s", f"{rate / 20_000:.2f}", rate >= 20_000)
