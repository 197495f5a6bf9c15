"""A test's private folder and environment, the requirements that this machine meets, and the processes and files that a
test leaves behind."""
import ctypes
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
PR_SET_CHILD_SUBREAPER = 36
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]


class Workspace:
    """A fresh folder; `close` reports what a test has left behind, and removes the folder."""

    def __init__(self, tool):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.tool = tool
        self.path = os.path.realpath(tempfile.mkdtemp(prefix="tcpprobe-e2e-"))
        # Users other than root must be able to enter this folder.
        os.chmod(self.path, 0o755)
        self.files = os.path.join(self.path, "files")
        self.temporary = os.path.join(self.path, "tmp")
        self.programs = os.path.join(self.path, "bin")
        for folder in (self.files, self.temporary, self.programs):
            os.mkdir(folder)
        os.chmod(self.temporary, 0o1777)
        os.symlink(tool, os.path.join(self.programs, "tcpprobe"))

    def environment(self):
        """Returns the environment of the commands: the caller's environment without variables that would change the
        tool's output."""
        kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM", "COLUMNS")}
        kept.update(
            PATH=self.programs + os.pathsep + os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin"),
            TMPDIR=self.temporary, WORK=self.path, ROOT=ROOT, TOOL=self.tool, AS_NOBODY=" ".join(NOBODY),
            NOBODY_TOOL=os.path.join(self.path, "tool"), LC_ALL="C.UTF-8", TERM="dumb")
        return kept

    def write(self, name, data):
        path = os.path.join(self.files, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        if data.startswith(b"#!"):
            os.chmod(path, 0o755)

    def unmet(self, need):
        """Returns the reason why a requirement is not met on this machine; None if it is met."""
        if need.startswith("command "):
            name = need.removeprefix("command ")
            return None if shutil.which(name) else f"{name} is not installed"
        if need.startswith("module "):
            name = need.removeprefix("module ")
            return None if importlib.util.find_spec(name) else f"python3 has no module {name}"
        if need == "root":
            return None if os.geteuid() == 0 else "needs root"
        if need == "capture":
            try:
                socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
                return None
            except OSError as error:
                return f"capture is not permitted: {error.strerror}"
        if need == "ipv6":
            try:
                with socket.socket(socket.AF_INET6) as probe:
                    probe.bind(("::1", 0))
                return None
            except OSError as error:
                return f"no IPv6: {error.strerror}"
        if need == "isolation":
            return self._try(NOBODY + ["unshare", "-Urn", "true"], "user namespaces are not available")
        if need == "network":
            change = "echo 32768 60999 > /proc/sys/net/ipv4/ip_local_port_range"
            return self._try(["unshare", "-n", "sh", "-c", change], "network namespaces can't be changed")
        if need == "mounts":
            return self._try(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"], "private mounts are not available")
        if need == "nobody":
            if os.geteuid() != 0 or not shutil.which("setpriv"):
                return "needs root and setpriv to start the tool without privileges"
            copy = os.path.join(self.path, "tool")
            shutil.copyfile(self.tool, copy)
            os.chmod(copy, 0o755)
            return self._try(NOBODY + [copy, "--version"], "the tool can't be started without privileges")
        raise ValueError(f"unknown need: {need}")

    def _try(self, command, reason):
        try:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=20)
        except OSError as error:
            return f"{reason}: {error.strerror}"
        if done.returncode == 0:
            return None
        words = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return f"{reason}: {words[-1] if words else done.returncode}"

    def close(self):
        """Removes everything, and reports the processes and files that should no longer have existed."""
        problems = []
        # A process that has just been killed may still be exiting; on a busy machine, exiting takes seconds.
        deadline = time.monotonic() + 20
        left = children()
        while left and time.monotonic() < deadline:
            reap()
            time.sleep(0.01)
            left = children()
        for pid, words in left:
            problems.append(f"a process was left behind: {words} (pid {pid})")
            for victim in (pid, -pid):
                try:
                    os.kill(victim, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        reap()
        for name in sorted(os.listdir(self.temporary)):
            problems.append(f"a file was left in TMPDIR: {name}")
        shutil.rmtree(self.path, ignore_errors=True)
        return problems


def children():
    """Returns the living children of this process, including those that it adopted, with their command lines."""
    found = []
    own = str(os.getpid())
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = file.read().rsplit(b")", 1)[1].split()
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().replace(b"\0", b" ").decode("utf-8", "replace").strip()
        except OSError:
            continue
        if fields[1].decode() == own and fields[0] not in (b"Z", b"X"):
            found.append((int(name), words[:200]))
    return found


def reap():
    """Collects the exit status of every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass
    except ChildProcessError:
        pass


class Outcome:
    """The outcome of a test."""

    def __init__(self):
        self.skipped = None
        self.problems = []
        self.log = ""
