"""Headless Chromium, controlled over two pipes with the DevTools protocol: JSON objects, each followed by a NUL."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

# Waits until the browser has drawn all changes.
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"


class Chromium:
    """A browser with one page. Use it in a `with` statement, which ends the browser's processes and removes its
    folder."""

    def __init__(self, patience=120):
        self.patience = patience
        self.number = 0
        self.rest = b""
        self.events = []
        self.folder = tempfile.mkdtemp()
        theirs_in, self.out = os.pipe()
        self.inp, theirs_out = os.pipe()

        def inherit():
            # High descriptor numbers are used first, because one of the pipes may itself be descriptor 3 or 4.
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
                # With these options, text has the same edges and widths whatever the machine's settings are.
                "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb",
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
        self.page("Page.setLifecycleEventsEnabled", enabled=True)

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
        """Calls a method and returns its result."""
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
                raise TimeoutError("chromium did not answer")
            piece = os.read(self.inp, 1 << 20)
            if not piece:
                raise EOFError("chromium has exited")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def open(self, path):
        """Loads a file, and returns the seconds until it was loaded."""
        return self.load("file://" + os.path.abspath(path))

    def load(self, address):
        self.events.clear()
        began = time.monotonic()
        loader = self.page("Page.navigate", url=address)["loaderId"]
        # The page is identified by its number, because the previous page may still send events.
        while not any(self.is_load(event, loader) for event in self.events):
            self.events.append(self.read())
        self.evaluate(FRAMES)
        return time.monotonic() - began

    @staticmethod
    def is_load(event, loader):
        parameters = event.get("params", {})
        return event.get("method") == "Page.lifecycleEvent" and parameters["loaderId"] == loader and parameters["name"] == "load"

    def show(self, width, is_dark):
        self.page("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if is_dark else "light"
        self.page("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def evaluate(self, script):
        result = self.page("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"])
        return result["result"].get("value")

    def fonts(self, families):
        """Returns the font families that are actually used, as a list for each requested family."""
        self.load("about:blank")
        texts = "".join(f"<p style='font-family: \"{family}\"'>a page</p>" for family in families)
        self.evaluate(f"document.body.innerHTML = {json.dumps(texts)}; {FRAMES}")
        for domain in ("DOM", "CSS"):
            self.page(f"{domain}.enable")
        root = self.page("DOM.getDocument")["root"]["nodeId"]
        nodes = self.page("DOM.querySelectorAll", nodeId=root, selector="p")["nodeIds"]
        used = [self.page("CSS.getPlatformFontsForNode", nodeId=node)["fonts"] for node in nodes]
        for domain in ("CSS", "DOM"):
            self.page(f"{domain}.disable")
        return [[font["familyName"] for font in fonts] for fonts in used]

    def drawn(self):
        """Returns the whole page as PNG, or as much of it as the browser can draw at once."""
        width, height = self.evaluate("[innerWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": width, "height": min(height, 12_000), "scale": 1}
        data = self.page("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip)["data"]
        return base64.b64decode(data)

    def picture(self, path):
        """Writes a screenshot to a file."""
        with open(path, "wb") as file:
            file.write(self.drawn())

    def complaints(self):
        """Returns the messages of the browser's console about the page."""
        texts = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                texts.append(event["params"]["entry"]["text"])
            if event.get("method") == "Network.requestWillBeSent":
                url = event["params"]["request"]["url"]
                if not url.startswith("file://"):
                    texts.append(f"asks for {url}")
        return texts
