#!/usr/bin/env python3
"""Records the conversation of a client and a server, and runs the recorded scenario against the same programs.

    recording.py TOOL FILE.scn --server COMMAND --client COMMAND [options] [-- options for record]

`{port}` in a command is the port that the program serves or connects to. Prints the tool's output and the scenario.
With --as both or client, the scenario is run against the same server; with --as server, the same client is run against
the scenario. The exit status is 0 if the recording and the run of the scenario succeeded.
"""
import argparse
import os
import shlex
import signal
import socket
import subprocess
import sys
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def command(text, port):
    return shlex.split(text.replace("{port}", str(port)))


def wait_for(port, server):
    while server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.02)
    sys.exit(f"the server ended: {server.args}")


def checked(arguments, **options):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}: exit status {done.returncode}")


def announced_port(process):
    """Returns the port in the line `listening on 127.0.0.1:7000, forwarding to …`."""
    line = process.stderr.readline()
    if "listening on" not in line:
        sys.exit(f"the recorder does not listen: {line}")
    return int(line.split(",")[0].rsplit(":", 1)[1])


def talk(client, port, times, environment):
    for number in range(times):
        if number:
            # The two recordings must have different dates.
            time.sleep(1.1)
        checked(command(client, port), env=environment)


def record_live(options, port, extra):
    arguments = [options.tool, "record", "0", f"127.0.0.1:{port}", options.file, "--as", options.role,
                 "--count", str(options.count), "--force"] + extra
    record = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    listening = announced_port(record)
    talk(options.client, listening, options.count, None)
    out, error = record.communicate(timeout=300)
    print(out + error, end="", flush=True)
    if record.returncode:
        sys.exit(f"record: exit status {record.returncode}")
    return listening


def record_capture(options, port, extra):
    capture = options.file + ".pcapng"
    keys = os.path.abspath(options.file + ".keys")
    environment = dict(os.environ, SSLKEYLOGFILE=keys)
    proxy = subprocess.Popen([options.tool, "proxy", "0", f"127.0.0.1:{port}", "--write", capture, "-q"],
                             stderr=subprocess.PIPE, text=True)
    listening = announced_port(proxy)
    talk(options.client, listening, options.count, environment)
    proxy.send_signal(signal.SIGINT)
    proxy.communicate(timeout=300)
    # Each connection has two flows: to the proxy, and from the proxy to the server.
    if options.keys:
        extra = extra + ["--keylog", keys]
    for number in range(options.count):
        extra = extra + ["--flow", str(2 * number + 1)]
    checked([options.tool, "record", "--from", capture, options.file, "--as", options.role, "--force"] + extra)
    if options.role == "server":
        # The port in a capture may not be available, so the scenario listens on any port.
        with open(options.file, encoding="utf-8") as scenario:
            text = scenario.read()
        with open(options.file, "w", encoding="utf-8") as scenario:
            scenario.write(text.replace("server  S", f"server  S on 127.0.0.1:{listening}", 1))
    return listening


def serve(options, listening, environment):
    """Runs the client against the scenario."""
    run = subprocess.Popen([options.tool, "run", "-q", options.file], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    while run.poll() is None:
        done = subprocess.run(command(options.client, listening), stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, env=environment)
        if done.returncode == 0:
            print(done.stdout, end="")
            break
        time.sleep(0.05)
    out, _ = run.communicate(timeout=300)
    print(out, end="", flush=True)
    return run.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("file")
    parser.add_argument("--server", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("--as", dest="role", default="client")
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--capture", action="store_true", help="record from a capture, not live")
    parser.add_argument("--keys", action="store_true", help="use the TLS secrets that the client wrote")
    own, extra = sys.argv[1:], []
    if "--" in own:
        own, extra = own[:own.index("--")], own[own.index("--") + 1:]
    options = parser.parse_args(own)

    port = free_port()
    with open(options.file + ".log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(command(options.server, port), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    status = 1
    try:
        wait_for(port, server)
        listening = (record_capture if options.capture else record_live)(options, port, extra)
        checked([options.tool, "check", options.file])
        checked([options.tool, "fmt", "--check", options.file])
        with open(options.file, encoding="utf-8") as scenario:
            print(scenario.read(), end="", flush=True)
        if options.role == "server":
            status = serve(options, listening, None)
        else:
            checked([options.tool, "run", "-q", options.file])
            status = 0
    finally:
        server.terminate()
        server.wait()
    sys.exit(status)


main()
