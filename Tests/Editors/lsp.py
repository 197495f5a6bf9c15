"""Tests `tcpprobe lsp` from a client's point of view: edge cases of the base protocol, and the server's answers
compared with the output of the tool's commands.

    python3 lsp.py ROOT        TOOL in the environment is the tool; ends with `N checks passed, M failed`
"""
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lspclient import Client  # noqa: E402

ROOT = sys.argv[1]
TOOL = os.environ["TOOL"]
counts = [0, 0]


def check(what, condition, shown=""):
    counts[0 if condition else 1] += 1
    if not condition:
        print(f"wrong: {what}: {shown}")


def same(what, found, wanted):
    check(what, found == wanted, f"{found!r}, not {wanted!r}")


SCRIPT = """scenario "a 😀"
each n = 1, 2, 3
let body = "x"
server S
client C -> S
define login { C send line "hi" }
table t = "a" /b/

C connect
S accept as A
do login
A expect line /^(?<w>.*)$/
"""


# The base protocol

def raw(data, initialize=False):
    """Returns the exit code, the messages and stderr for these bytes."""
    client = Client(initialize=initialize)
    try:
        client.write(data)
    except BrokenPipeError:
        pass
    messages = []
    client.process.stdin.close()
    while (message := client.read()) is not None:
        messages.append(message)
    error = client.process.stderr.read().decode()
    return client.process.wait(), messages, error


def framed(text):
    body = text.encode() if isinstance(text, str) else text
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


INITIALIZE = framed('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}')
SHUTDOWN = framed('{"jsonrpc":"2.0","id":"bye","method":"shutdown"}')
EXIT = framed('{"jsonrpc":"2.0","method":"exit"}')


def base_protocol():
    code, messages, error = raw(INITIALIZE + SHUTDOWN + EXIT)
    same("exit after shutdown", (code, error), (0, ""))
    same("the ids are returned", [message["id"] for message in messages], [0, "bye"])
    same("exit alone", raw(INITIALIZE + EXIT)[0], 1)
    same("the end of the input", raw(INITIALIZE)[0], 1)
    same("the end of the input after shutdown", raw(INITIALIZE + SHUTDOWN)[0], 0)
    same("nothing at all", raw(b"")[0], 1)
    code, _, error = raw(INITIALIZE + b"Content-Length: 100\r\n\r\n{")
    check("an end inside a message", code == 1 and "in the middle of a message" in error, error)
    for data, word in [
        (b"hello\r\n\r\n", "hello"), (b"Content-Length: x\r\n\r\n", "Content-Length: x"),
        (b"Content-Length: -1\r\n\r\n", "-1"), (b"Content-Length:\r\n\r\n", "not a valid message length"),
        (b"Content-Length: 99999999999999999999\r\n\r\n", "99999999999999999999"),
        (b"Content-Length: 999999999999\r\n\r\n", "192 MiB"), (b"Content-Length: 2\n\n{}", "carriage return"),
        (b"X: y\r\n\r\n", "no length"), (b"\r\n\r\n", "no length"), (b"A" * 9000, "8 KiB"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length: 3"),
        (b"Content-Length: 2\r\nContent-Type: text/plain; charset=latin1\r\n\r\n{}", "UTF-8"),
        (b"\x00\x01\x02", "not ASCII text"), (b"\x1b[31m\r\n\r\n", "not ASCII text"),
    ]:
        code, messages, error = raw(INITIALIZE + data)
        check(f"a header {data[:40]!r}", code == 2 and word in error and "\x1b" not in error, (code, error))
        same("earlier messages are answered", [message.get("id") for message in messages], [0])
    odd = b'content-length:  %d  \r\nContent-Type: application/vscode-jsonrpc; charset="utf8"\r\n\r\n%s'
    body = b'{"jsonrpc":"2.0","id":7,"method":"shutdown"}'
    _, messages, _ = raw(INITIALIZE + odd % (len(body), body))
    same("fields in upper and lower case", messages[-1], {"jsonrpc": "2.0", "id": 7, "result": None})
    wrong = [("{", -32700, None), ("", -32700, None), ("[]", -32600, None), ("1", -32600, None), ("{}", -32600, None),
             ('{"jsonrpc":"2.0","id":1}', -32600, 1), ('{"jsonrpc":"1.0","id":"q","method":"shutdown"}', -32600, "q"),
             ('{"jsonrpc":"2.0","id":{},"method":"a"}', -32600, None), ('{"jsonrpc":"2.0","id":2,"method":3}', -32600, 2),
             ("[" * 100000, -32700, None), (b'{"a":"\xff"}', -32600, None), (b'{"a":\xff}', -32700, None), ('{"a":1,"a":2}', -32700, None),
             ('{"jsonrpc":"2.0","id":3,"method":"no/such"}', -32601, 3), ('{"jsonrpc":"2.0","id":4,"method":"$/x"}', -32601, 4),
             ('{"jsonrpc":"2.0","id":5,"method":"initialize"}', -32600, 5),
             ('{"jsonrpc":"2.0","id":6,"method":"textDocument/hover"}', -32602, 6),
             ('{"jsonrpc":"2.0","id":8,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x"}}}', -32602, 8),
             ('{"jsonrpc":"2.0","id":9,"method":"workspace/executeCommand","params":{"command":"tcpprobe.run"}}', -32601, 9)]
    code, messages, _ = raw(INITIALIZE + b"".join(framed(text) for text, _, _ in wrong) + SHUTDOWN + EXIT)
    same("the end after invalid messages", code, 0)
    same("wrong messages", [(m["error"]["code"], m["id"]) for m in messages[1:-1]], [(c, i) for _, c, i in wrong])
    _, messages, _ = raw(framed('{"jsonrpc":"2.0","id":1,"method":"shutdown"}') + INITIALIZE + SHUTDOWN
                         + framed('{"jsonrpc":"2.0","id":2,"method":"textDocument/hover"}'))
    same("before and after", [m.get("error", {}).get("code") for m in messages], [-32002, None, None, -32600])
    hover = framed('{"jsonrpc":"2.0","id":11,"method":"textDocument/hover","params":{}}')
    cancel = framed('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":11}}')
    unknown = framed('{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"none"}}') + framed(
        '{"jsonrpc":"2.0","id":77,"result":null}') + framed('{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"off"}}')
    _, messages, _ = raw(INITIALIZE + hover + cancel + unknown + SHUTDOWN + EXIT)
    same("a cancelled request", messages[1].get("error", {}).get("code"), -32800)
    check("one answer each", len(messages) == 3, messages)
    # The input is sent one byte at a time.
    client = Client(initialize=False)
    for byte in INITIALIZE + SHUTDOWN + EXIT:
        client.write(bytes([byte]))
    code, rest, _ = client.close()
    check("bytes one by one", code == 0 and rest.count(b"Content-Length") == 2, (code, rest))


# Documents

def uri_of(path):
    from urllib.parse import quote
    return "file://" + quote(path)


def units(text):
    return len(text.encode("utf-16-le")) // 2


def as_check(path):
    """Returns the diagnostics of `check` for a file: severity, id, place and message of each."""
    done = subprocess.run([TOOL, "check", "--json", path], capture_output=True, check=False)
    return [json.loads(line) for line in done.stdout.splitlines()]


def same_as_check(client, path, text):
    found = client.open(uri_of(path), text)["diagnostics"]
    lines = text.split("\n")
    wanted = []
    for value in as_check(path):
        if value["path"] != path:
            return
        def place(line, column):
            line_text = lines[line - 1].removeprefix("\ufeff") if line == 1 else lines[line - 1]
            skipped = 1 if line == 1 and lines[0].startswith("\ufeff") else 0
            return {"line": line - 1, "character": skipped + units(line_text[:column - 1])}
        message = value["message"] + ("\nhint: " + value["hint"] if "hint" in value else "")
        wanted.append((1 if value["severity"] == "error" else 2, value["id"], place(value["line"], value["column"]),
                       place(value["endLine"], value["endColumn"]), len(value.get("notes", [])), message))
    shown = [(d["severity"], d["code"], d["range"]["start"], d["range"]["end"], len(d.get("relatedInformation", [])),
              d["message"]) for d in found]
    # `check` escapes invisible characters; messages are compared only if they contain none.
    same(f"diagnostics of {os.path.basename(path)}", shown, wanted)


def documents(folder):
    client = Client(capabilities={"textDocument": {"publishDiagnostics": {"relatedInformation": True}}})
    scripts = sorted(glob.glob(ROOT + "/Scenarios/**/*.scn", recursive=True) + glob.glob(ROOT + "/Examples/**/*.scn", recursive=True))
    for path in scripts[::25]:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        same_as_check(client, path, text)
        # If a line is removed or a word is wrong, the diagnostics are the same as those of `check`.
        generator = random.Random(path)
        lines = text.split("\n")
        broken = os.path.join(folder, "broken 😀%.scn")
        for number in range(2):
            place = generator.randrange(len(lines))
            changed = lines[:place] + ([] if number else ["S sned \"😀\tx\" 🙂 y"]) + lines[place + 1:]
            with open(broken, "w", encoding="utf-8", newline="") as file:
                file.write("\n".join(changed))
            same_as_check(client, broken, "\n".join(changed))
            client.tell("textDocument/didClose", {"textDocument": {"uri": uri_of(broken)}})
            same("a closed document has no diagnostics", client.diagnostics(uri_of(broken))["diagnostics"], [])
    for name, text in [("crlf", SCRIPT.replace("\n", "\r\n") + "S sned \"a\"\r\n"), ("tabs", SCRIPT + "\tS\tsned \"😀\"\t😀 a\n"),
                       ("mark", "\ufeffscenario 😀 \"a\"\n"), ("empty", ""), ("prose", "Dear all,\nplease see below.\n")]:
        path = os.path.join(folder, name + ".scn")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        same_as_check(client, path, text)
    same("the end", client.end()[0], 0)


def changes():
    """Compares the result of incremental changes at random places with that of opening the resulting text, in both
    encodings."""
    for encoding in ("utf-16", "utf-8"):
        client = Client(capabilities={"general": {"positionEncodings": [encoding, "utf-16"]}})
        same("the encoding", client.description["capabilities"]["positionEncoding"], encoding)
        generator = random.Random(encoding)
        text, version = SCRIPT, 1
        client.open("untitled:a", text)
        for round in range(60):
            edits = []
            for _ in range(generator.randrange(1, 4)):
                start = generator.randrange(len(text) + 1)
                end = min(len(text), start + generator.choice([0, 0, 1, 3, 20]))
                # The position between CR and LF is not valid in a document.
                if text[start - 1:start + 1] == "\r\n" or text[end - 1:end + 1] == "\r\n":
                    continue
                new = generator.choice(["", "a", "\n", "\r\n", "\r", "😀", "é", "S send \"x\"\n", "{", "\""])
                edits.append({"range": {"start": place(text, start, encoding), "end": place(text, end, encoding)}, "text": new})
                text = text[:start] + new + text[end:]
            version += 1
            client.tell("textDocument/didChange", {"textDocument": {"uri": "untitled:a", "version": version}, "contentChanges": edits})
            found = client.diagnostics("untitled:a")
            same("the version", found["version"], version)
            name = f"untitled:b{round}"
            same("equal to the whole text", found["diagnostics"], client.open(name, text)["diagnostics"])
            client.tell("textDocument/didClose", {"textDocument": {"uri": name}})
        same("the end", client.end()[0], 0)


def halves():
    """Sends half of a character, as clients with UTF-16 strings do; client and server must still agree about the
    positions of later changes."""
    client = Client()
    client.open("untitled:h", "let x = \"ab\" y\n")
    changes = [(10, 10, b"\\ud83d"), (11, 11, b"\xff"), (12, 12, "\U0001f600".encode()), (13, 14, b""), (13, 13, b"x\\ude00")]
    for version, (start, end, text) in enumerate(changes, 2):
        client.write(client.message(
            b'{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:h","version":%d},"contentChanges":'
            b'[{"range":{"start":{"line":0,"character":%d},"end":{"line":0,"character":%d}},"text":"%s"}]}}' % (version, start, end, text)))
        found = client.diagnostics("untitled:h")["diagnostics"]
    whole = client.open("untitled:whole", "let x = \"a\ufffd\ufffd\ufffdx\ufffdb\" y\n")["diagnostics"]
    same("halves of characters", found, whole)
    check("the column after them", any(d["range"]["start"] == {"line": 0, "character": 18} for d in whole), whole)
    same("the end", client.end()[0], 0)


def place(text, offset, encoding):
    before = text[:offset]
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    column = lines[-1]
    return {"line": len(lines) - 1, "character": len(column.encode()) if encoding == "utf-8" else units(column)}


def odd_places():
    client = Client()
    uri = "untitled:odd"
    client.open(uri, SCRIPT)
    for line, character in [(0, 0), (0, 9999), (9999, 0), (2**31 - 1, 2**31 - 1), (2**62, 2**62), (0, 14), (0, 13), (7, 0), (12, 0)]:
        for method in ("hover", "completion", "definition"):
            client.at(method, uri, line, character)
            counts[0] += 1
    for position in [{"line": -1, "character": 0}, {"line": 0}, {"line": 1.5, "character": 0}, None, [], "x"]:
        reply = client.request("textDocument/hover", {"textDocument": {"uri": uri}, "position": position})
        same(f"the place {position}", reply.get("error", {}).get("code"), -32602)
    # Errors in notifications are only logged.
    client.tell("textDocument/didChange", {"textDocument": {"uri": "untitled:none", "version": 1}, "contentChanges": []})
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"range": 3, "text": ""}]})
    client.tell("textDocument/didOpen", {})
    client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 0}})
    same("three are logged", sum(m["method"] == "window/logMessage" for m in client.notifications), 3)
    same("the end", client.end()[0], 0)


def answers(folder):
    client = Client(capabilities={"textDocument": {"hover": {"contentFormat": ["markdown", "plaintext"]}}})
    path = os.path.join(folder, "answers.scn")
    uri = uri_of(path)
    with open(os.path.join(folder, "common.scn"), "w", encoding="utf-8") as file:
        file.write("server Q\nlet shared = \"1\"\n")
    with open(os.path.join(folder, "data.bin"), "w", encoding="utf-8") as file:
        file.write("x")
    text = ("scenario \"a\"\ninclude \"common.scn\"\neach n = 1, 2\nclient C -> Q\ndefine login { C send \"${shared}\" }\n"
            "C connect\nQ accept as A\ndo login\nA expect line /^(?<got>.*)$/\nC send file(\"data.bin\")\nA expect \"x\"\nC sned \"${got}\"\n")
    same("one error", [d["code"] for d in client.open(uri, text)["diagnostics"]], ["unknown-verb"])

    def explained(*words):
        return subprocess.run([TOOL, "explain", *words], capture_output=True, text=True, check=True).stdout.rstrip("\n")

    def hover(line, character):
        return (client.at("hover", uri, line, character) or {"contents": {"value": ""}})["contents"]["value"]

    check("hover of a verb", explained("accept as") in hover(6, 3) or explained("accept").split("\n")[0] in hover(6, 3), hover(6, 3))
    check("hover of an expectation", hover(8, 0).startswith("A: an accepted connection"), hover(8, 0))
    check("hover of a statement", explained("include") in hover(1, 2), hover(1, 2))
    check("hover of a function", explained("file") in hover(9, 8), hover(9, 8))
    check("hover of a diagnostic", explained("unknown-verb") in hover(11, 3), hover(11, 3))
    check("hover of a name", "shared: a value, defined in common.scn, line 2" in hover(4, 26), hover(4, 26))
    check("hover of a bound name", "got: a value, defined on line 9" in hover(11, 11), hover(11, 11))

    def defined(line, character):
        found = client.at("definition", uri, line, character)
        return found and (os.path.basename(found["uri"]), found["range"]["start"]["line"], found["range"]["start"]["character"])

    for where, wanted in [((1, 12), ("common.scn", 0, 0)), ((3, 12), ("common.scn", 0, 7)), ((4, 26), ("common.scn", 1, 4)),
                          ((7, 4), ("answers.scn", 4, 7)), ((8, 0), ("answers.scn", 6, 12)), ((11, 11), ("answers.scn", 8, 19)),
                          ((9, 16), ("data.bin", 0, 0)), ((5, 3), None), ((0, 3), None)]:
        same(f"definition at {where}", defined(*where), wanted)

    def completed(last, header=False):
        lines = text.split("\n")[:3 if header else 11] + [last]
        client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "\n".join(lines)}]})
        return client.labels(uri, len(lines) - 1, units(last))

    for last, has, lacks in [
        ("", ["C", "A", "Q", "wait", "together", "wire"], ["timeout", "server", "send"]),
        ("Q ", ["accept", "send", "expect", "stop reading"], ["timeout", "connect"]), ("C ", ["connect", "send"], ["accept"]),
        ("C stop ", ["reading"], ["send"]), ("C st", ["stop reading", "start tls"], []), ("A expect ", ["line", "eof", "got", "u16"], ["expect"]),
        ("A expect nothing for ", ["200ms"], ["line"]), ("A expect line \"x\" within 20", ["20ms", "20s"], ["200ms"]),
        ("do ", ["login"], ["got"]), ("wire Q -> C ", ["gap", "segments"], ["login"]), ("wire ", ["Q", "C", "no rst"], ["gap"]),
        ("C send \"${", ["got", "shared", "n", "Q"], ["login", "send"]), ("C send \"${Q.", ["port", "peer.port"], ["got"]),
        ("C send \"abc ", [], ["got", "send"]), ("# C ", [], ["send"]), ("C framing ", ["crlf", "netstring"], ["got"]),
        ("either { A expect \"a\" } ", ["or", "C"], []), ("C send \"a\"; A ", ["send"], ["accept"]), ("retry every 1s within 2s { C ", ["send"], []),
    ]:
        found = completed(last)
        check(f"completion of {last!r}", set(has) <= set(found) and not set(lacks) & set(found), found)
    for last, has, lacks in [("", ["server", "timeout", "require"], []), ("client D -> ", ["Q"], ["shared"]), ("require ", ["capture", "subject"], []),
                             ("require subject ", ["half-close"], ["capture"]), ("level ", ["must", "may"], []),
                             ("server S tls cert ", ["expired"], []), ("timeout ", ["5s"], [])]:
        found = completed(last, header=True)
        check(f"completion of {last!r} in the header", set(has) <= set(found) and not set(lacks) & set(found), found)

    good = text.replace("C sned", "C  send").replace("client C", "client     C")
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": good}]})
    with open(path, "w", encoding="utf-8") as file:
        file.write(good)
    edits = client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {"tabSize": 4, "insertSpaces": True}})
    same("one edit", len(edits), 1)
    lines = good.split("\n")
    start, end = edits[0]["range"]["start"], edits[0]["range"]["end"]
    same("whole lines", (start["character"], end["character"]), (0, 0))
    formatted = "\n".join(lines[:start["line"]]) + ("\n" if start["line"] else "") + edits[0]["newText"] + "\n".join(lines[end["line"]:])
    wanted = subprocess.run([TOOL, "fmt", "-"], input=good, capture_output=True, text=True, check=True).stdout
    same("the result of fmt", formatted, wanted)
    lenses = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
    same("lenses", [lens["command"]["title"] for lens in lenses], ["▶ run 2 cases", "▶ [n=1]", "▶ [n=2]"])
    for lens in lenses:
        file, *ids = lens["command"]["arguments"]
        same("the file of a lens", file, uri)
        listed = subprocess.run([TOOL, "list", path] + [word for id in ids for word in ("--filter", id)], capture_output=True, text=True, check=False)
        same("the cases of a lens", listed.stdout.count("answers[n="), 1 if ids else 2)
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 4}, "contentChanges": [{"text": wanted}]})
    same("a formatted text stays unchanged", client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}), [])
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 5}, "contentChanges": [{"text": good + "C send \"\n"}]})
    same("a text with errors stays unchanged", client.ask("textDocument/formatting", {"textDocument": {"uri": uri}, "options": {}}), [])
    same("and can't be run", client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}}), [])

    # The unsaved text of the included file in the editor.
    common = uri_of(os.path.join(folder, "common.scn"))
    client.tell("textDocument/didChange", {"textDocument": {"uri": uri, "version": 6}, "contentChanges": [{"text": wanted}]})
    # The diagnostics for a change may arrive late.
    while client.diagnostics(uri)["version"] != 6:
        pass
    client.open(common, "server Q\nlet other = \"1\"\nlet x =\n")
    found = client.diagnostics(uri)["diagnostics"]
    check("a mistake in the include is shown at its line", any(d["range"]["start"]["line"] == 1 and "common.scn:3" in d["message"] for d in found), found)
    check("the name is gone", any(d["code"] == "unknown-variable" for d in found), found)
    client.tell("textDocument/didClose", {"textDocument": {"uri": common}})
    same("the file on disk is used again", client.diagnostics(uri)["diagnostics"], [])
    same("the end", client.end()[0], 0)


def nothing_is_run(folder):
    """Checks that no request starts a program or writes a file."""
    path = os.path.join(folder, "runs.scn")
    text = f"scenario \"a\"\nprocess P = touch {folder}/touched\nP start\nP expect exit 0\n"
    client = Client()
    client.open(uri_of(path), text)
    client.ask("textDocument/codeLens", {"textDocument": {"uri": uri_of(path)}})
    client.request("workspace/executeCommand", {"command": "tcpprobe.run", "arguments": [uri_of(path)]})
    same("the end", client.end()[0], 0)
    check("nothing was run", not os.path.exists(os.path.join(folder, "touched")))


def large():
    """Edits a large document, and opens a document that is too large for a scenario."""
    client = Client()
    text = SCRIPT + "C send \"0123456789\"\n" * 20000
    client.open("untitled:large", text)
    for version in range(2, 12):
        client.tell("textDocument/didChange", {"textDocument": {"uri": "untitled:large", "version": version}, "contentChanges": [
            {"range": {"start": {"line": 5000, "character": 0}, "end": {"line": 5000, "character": 0}}, "text": "C sned 1\n"}]})
    while client.diagnostics("untitled:large").get("version") != 11:
        pass
    counts[0] += 1
    same("the end", client.end()[0], 0)


with tempfile.TemporaryDirectory() as folder:
    base_protocol()
    documents(folder)
    changes()
    halves()
    odd_places()
    answers(folder)
    nothing_is_run(folder)
    large()
print(f"{counts[0]} checks passed, {counts[1]} failed")
sys.exit(1 if counts[1] else 0)
