"""An adapter that follows the protocol until it makes one mistake: misbehaving.py HOW.

There is no real transport: `connect` starts at once, and `send` makes the mistake that HOW selects; if HOW is unknown,
the adapter answers with the line "reply" and makes no mistake.
"""
import json, os, signal, subprocess, sys, time

how = sys.argv[1]
out = sys.stdout.buffer


def say(**message):
    out.write(json.dumps(message).encode() + b"\n")
    out.flush()


def raw(data):
    out.write(data)
    out.flush()


def hang():
    while True:
        time.sleep(60)


def hello(**changes):
    fields = {"ev": "hello", "proto": 1, "name": "misbehaving",
              "can": ["connect", "listen", "send", "lines", "half-close", "stop", "leftover", "sent", "data"]}
    fields.update(changes)
    say(**{name: value for name, value in fields.items() if value is not None})


print("stderr: about to be", how, file=sys.stderr, flush=True)
if how == "no-hello":
    hang()
elif how == "exit-at-once":
    sys.exit(7)
elif how == "no-json-at-once":
    raw(b"Listening on port 80\n")
    hang()
elif how == "event-before-hello":
    say(ev="start", conn=1)
    hang()
elif how == "wrong-proto":
    hello(proto=2)
    hang()
elif how == "no-name":
    hello(name=None)
    hang()
elif how == "unknown-capability":
    hello(can=["connect", "fly"])
    hang()
elif how == "endless-line-at-once":
    while True:
        raw(b"x" * 65536)
elif how == "stderr-flood":
    hello()
    while True:
        os.write(2, b"noise " * 10000)
hello()
if how == "exit-after-hello":
    sys.exit(9)
if how == "no-reading":
    hang()


def misbehave(op):
    conn = op["conn"]
    if how == "garbage":
        raw(b"\x00\xff\x1b[31m garbage \x07\n")
    elif how == "no-json":
        raw(b'{"ev":"line","conn":1,"data":"x"\n')
    elif how == "not-utf8":
        raw(b'{"ev":"line","conn":1,"data":"\xff"}\n')
    elif how == "array":
        raw(b"[1,2,3]\n")
    elif how == "deep":
        raw(b"[" * 100000 + b"\n")
    elif how == "unknown-event":
        say(ev="explode", conn=conn)
    elif how == "no-conn":
        say(ev="line", data="x")
    elif how == "no-data":
        say(ev="line", conn=conn)
    elif how == "not-latin1":
        say(ev="line", conn=conn, data="\u20ac")
    elif how == "unknown-reason":
        say(ev="stop", conn=conn, reason="tired")
    elif how == "long-line":
        raw(b'{"ev":"line","conn":1,"data":"' + b"x" * (20 << 20) + b'"}\n')
    elif how == "exit":
        print("Traceback: something broke", file=sys.stderr, flush=True)
        os._exit(3)
    elif how == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif how == "exit-mid-line":
        raw(b'{"ev":"li')
        os._exit(0)
    elif how == "second-hello":
        hello()
    elif how == "unknown-done":
        say(ev="done", id=4711)
    elif how == "done-twice":
        say(ev="done", id=op["id"])
        say(ev="done", id=op["id"])
    elif how == "unknown-conn":
        say(ev="line", conn=99, data="x")
    elif how == "early-accept":
        say(ev="accept", conn=5, listener=conn)
    elif how == "closed-stdout":
        os.close(1)
        hang()
    elif how == "closed-stdin":
        os.close(0)
        hang()
    elif how == "silence":
        hang()
    elif how == "grandchild":
        subprocess.Popen(["sleep", "600"])
        os._exit(4)
    elif how == "grandchild-own-session":
        subprocess.Popen(["sleep", "601"], start_new_session=True)
        os._exit(4)
    elif how == "million-events":
        line = json.dumps({"ev": "sent", "conn": conn, "bytes": 1}).encode() + b"\n"
        for _ in range(1000):
            raw(line * 1000)
        say(ev="done", id=op["id"])
    elif how == "endless-events":
        line = json.dumps({"ev": "line", "conn": conn, "data": "x" * 60000}).encode() + b"\n"
        while True:
            raw(line)
    elif how == "event-after-stop":
        say(ev="stop", conn=conn, reason="eof")
        say(ev="line", conn=conn, data="too late")
        say(ev="done", id=op["id"])
    elif how == "second-stop":
        say(ev="stop", conn=conn, reason="eof")
        say(ev="stop", conn=conn, reason="eof")
        say(ev="done", id=op["id"])
    else:
        if how == "ignores-quit":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        say(ev="line", conn=conn, data="reply")
        say(ev="done", id=op["id"])


for line in sys.stdin.buffer:
    op = json.loads(line)
    if op["op"] == "connect":
        say(ev="done", id=op["id"])
        say(ev="start", conn=op["conn"])
    elif op["op"] == "send":
        misbehave(op)
    elif op["op"] == "stop":
        say(ev="done", id=op["id"])
        if how == "accepts-behind-the-end":
            say(ev="accept", conn=1_000_000, listener=op["conn"])
            say(ev="stop", conn=1_000_000, reason="eof")
            say(ev="line", conn=1_000_000, data="too late")
        say(ev="stop", conn=op["conn"], reason="stopped")
    elif op["op"] == "listen":
        say(ev="done", id=op["id"], port=1)
    else:
        say(ev="done", id=op["id"])
if how == "ignores-quit":
    hang()
