"""A small client of `tcpprobe lsp` for tests: requests are sent in order, and notifications are kept."""
import json
import os
import subprocess


class Client:
    def __init__(self, tool=None, capabilities=None, arguments=(), initialize=True):
        tool = tool or os.environ.get("TOOL", "tcpprobe")
        self.process = subprocess.Popen(
            [tool, "lsp", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.number = 0
        self.notifications = []
        self.description = None
        if initialize:
            self.description = self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities or {}})
            self.tell("initialized", {})

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def message(self, value):
        body = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    def tell(self, method, params):
        self.write(self.message({"jsonrpc": "2.0", "method": method, "params": params}))

    def read(self):
        """Returns the next message, or None at the end."""
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            line = line.rstrip(b"\r\n")
            if not line:
                break
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        return json.loads(self.process.stdout.read(length))

    def reply(self, number):
        """Returns the response with this id; notifications before it are kept."""
        while True:
            message = self.read()
            if message is None:
                raise EOFError(self.process.stderr.read().decode())
            if "method" in message:
                self.notifications.append(message)
            elif message["id"] == number:
                return message

    def request(self, method, params):
        self.number += 1
        self.write(self.message({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}))
        return self.reply(self.number)

    def ask(self, method, params):
        reply = self.request(method, params)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply["result"]

    def diagnostics(self, uri):
        """Returns the next diagnostics of a document."""
        while True:
            for index, message in enumerate(self.notifications):
                if message["method"] == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                    return self.notifications.pop(index)["params"]
            message = self.read()
            if message is None:
                raise EOFError(self.process.stderr.read().decode())
            self.notifications.append(message)

    def open(self, uri, text, version=1):
        self.tell("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "scn", "version": version, "text": text}})
        return self.diagnostics(uri)

    def at(self, method, uri, line, character):
        return self.ask("textDocument/" + method, {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})

    def labels(self, uri, line, character):
        return [item["label"] for item in self.at("completion", uri, line, character)["items"]]

    def end(self):
        """Shuts the server down as the protocol requires. Returns its exit code and stderr."""
        self.ask("shutdown", None)
        self.tell("exit", None)
        return self.close()

    def close(self):
        self.process.stdin.close()
        rest = self.process.stdout.read()
        error = self.process.stderr.read().decode()
        return self.process.wait(), rest, error
