"""An adapter that reports an event after the end of a connection: `late.py MILLISECONDS FILE COMMAND…` forwards the
messages from the adapter COMMAND, and adds an event after each `stop`. If MILLISECONDS is 0, `stop` and the event are
written together. If the machine is so slow that the event would be more than 30 ms late, the event is withheld, and a
line is added to FILE."""
import json
import subprocess
import sys
import threading
import time


def main():
    delay, missed, command = int(sys.argv[1]) / 1000, sys.argv[2], sys.argv[3:]
    lock = threading.Lock()

    def say(data):
        with lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def say_later(data, since):
        time.sleep(delay)
        if time.monotonic() - since < 0.03:
            say(data)
        else:
            with open(missed, "a", encoding="ascii") as file:
                file.write("one\n")

    # The adapter inherits stdin, so it receives the harness's messages unchanged.
    with subprocess.Popen(command, stdout=subprocess.PIPE) as adapter:
        for number, line in enumerate(adapter.stdout):
            event = json.loads(line)
            if event["ev"] != "stop":
                say(line)
                continue
            more = {"ev": "stop", "conn": event["conn"], "reason": "eof"} if number % 2 else {
                "ev": "line", "conn": event["conn"], "data": "late"}
            if delay:
                since = time.monotonic()
                say(line)
                threading.Thread(target=say_later, args=(json.dumps(more).encode() + b"\n", since), daemon=True).start()
            else:
                say(line + json.dumps(more).encode() + b"\n")
    sys.exit(adapter.returncode)


main()
