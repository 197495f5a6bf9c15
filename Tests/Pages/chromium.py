"""Chromium without a window, spoken to over two pipes: the DevTools protocol, a JSON object and a NUL each way."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Chromium:
    """A browser with one page. Use it with `with`: its processes and its folder are gone at the end."""

    def __init__(self, patience=120):
        self.patience = patience
        self.number = 0
        self.rest = b""
        self.events = []
        self.folder = tempfile.mkdtemp()
        theirs_in, self.out = os.pipe()
        self.inp, theirs_out = os.pipe()

        def inherit():
            # Far away first: one of the pipes may be descriptor 3 or 4 itself.
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(a, 103)
            os.dup2(b, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)
            for descriptor in (3, 4):
                os.set_inheritable(descriptor, True)

        self.process = subprocess.Popen(
            [
                "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions",
                "--disable-breakpad", "--disable-crash-reporter",
                "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank",
            ],
            env=os.environ | {"TMPDIR": self.folder}, preexec_fn=inherit, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.page(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.inp)
        os.close(self.out)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """The result of a method."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, method, **parameters):
        return self.call(method, self.session, **parameters)

    def read(self):
        until = time.monotonic() + self.patience
        while b"\0" not in self.rest:
            if not select.select([self.inp], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("chromium does not answer")
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise EOFError("chromium has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path):
        """Loads a file, and gives the seconds that passed until it was there."""
        self.events.clear()
        began = time.monotonic()
        self.page("Page.navigate", url="file://" + os.path.abspath(path))
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - began

    def show(self, width, is_dark):
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if is_dark else "light"
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, script):
        result = self.page("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def picture(self, path):
        """Writes the whole page as PNG, or as much of it as the browser can draw at once."""
        width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12_000), "scale": 1}
        data = self.page("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def complaints(self):
        """What the browser's console has about the page."""
        texts = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                texts.append(event["params"]["entry"]["text"])
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith("file://"):
                    texts.append(f"asks for {url}")
        return texts
