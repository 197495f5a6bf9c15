"""An adapter that tells of a connection after its end: `late.py MILLISECONDS COMMAND…` passes on what the adapter COMMAND says, and
behind each `stop` one event more. With 0 both are written at once."""
import json
import subprocess
import sys
import threading
import time


def main():
    delay, command = int(sys.argv[1]) / 1000, sys.argv[2:]
    lock = threading.Lock()

    def say(data):
        with lock:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def say_later(data):
        time.sleep(delay)
        say(data)

    # Its input is the harness's own: nothing of it is changed.
    with subprocess.Popen(command, stdout=subprocess.PIPE) as adapter:
        for number, line in enumerate(adapter.stdout):
            event = json.loads(line)
            if event["ev"] != "stop":
                say(line)
                continue
            more = {"ev": "stop", "conn": event["conn"], "reason": "eof"} if number % 2 else {
                "ev": "line", "conn": event["conn"], "data": "late"}
            if delay:
                say(line)
                threading.Thread(target=say_later, args=(json.dumps(more).encode() + b"\n",), daemon=True).start()
            else:
                say(line + json.dumps(more).encode() + b"\n")
    sys.exit(adapter.returncode)


main()
