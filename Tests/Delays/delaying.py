"""A relay that delays some of the messages from an adapter: delaying.py KIND MILLISECONDS COMMAND…

KIND is start, delivery (line, message, data), leftover, sent, stop, accept, done, or all. The rules of the protocol are
still obeyed: nothing about a connection is reported before its `accept` and `start` or after its `stop`, deliveries and
`sent` events each keep their order, and answers have the order of the ops. A transport whose reports are this late is
still correct.
"""
import heapq, json, subprocess, sys, threading, time

KINDS = {"start": "start", "line": "delivery", "message": "delivery", "data": "delivery", "leftover": "leftover", "sent": "sent",
         "stop": "stop", "accept": "accept", "done": "done"}
kind, delay, command = sys.argv[1], int(sys.argv[2]) / 1000, sys.argv[3:]
if kind != "all" and kind not in KINDS.values():
    sys.exit(f"unknown kind {kind}")


class Order:
    """Computes when a message may be reported, which is after all messages that must precede it."""

    def __init__(self):
        self.answers, self.begun, self.delivered, self.sent = 0.0, {}, {}, {}

    def time(self, message, now):
        event = message["ev"]
        when = now + (delay if kind in ("all", KINDS.get(event)) else 0)
        if event == "done":
            self.answers = when = max(when, self.answers)
            return when
        conn = message.get("conn")
        when = max(when, self.begun.get(conn, 0.0))
        if event in ("accept", "start"):
            self.begun[conn] = when
        elif event == "sent":
            self.sent[conn] = when = max(when, self.sent.get(conn, 0.0))
        elif event == "stop":
            when = max(when, self.delivered.pop(conn, 0.0), self.sent.pop(conn, 0.0))
            self.begun.pop(conn, None)
        else:
            self.delivered[conn] = when = max(when, self.delivered.get(conn, 0.0))
        return when


waiting, changed, over = [], threading.Condition(), False


def tell():
    """Writes each message when it is due, and the remaining ones at the end."""
    out = sys.stdout.buffer
    while True:
        with changed:
            while not over and (not waiting or waiting[0][0] > time.monotonic()):
                changed.wait(waiting[0][0] - time.monotonic() if waiting else None)
            if not waiting:
                return
            line = heapq.heappop(waiting)[2]
        out.write(line)
        out.flush()


# The adapter inherits stdin, from which it reads the ops directly.
adapter = subprocess.Popen(command, stdout=subprocess.PIPE)
teller = threading.Thread(target=tell)
teller.start()
order = Order()
for number, line in enumerate(adapter.stdout):
    due = order.time(json.loads(line), time.monotonic())
    with changed:
        heapq.heappush(waiting, (due, number, line))
        changed.notify()
with changed:
    over = True
    changed.notify()
teller.join()
sys.exit(adapter.wait())
