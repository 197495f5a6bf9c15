"""A Slurm cluster of three nodes on one machine, without munge, in a private folder."""
import os
import re
import shutil
import socket
import subprocess
import time

CONFIGURATION = """\
ClusterName=tcpprobe
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
SlurmdPort={nodes[0]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_res
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
KillWait=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{lines}
PartitionName=all Nodes=n[1-3] Default=YES State=UP MaxTime=10
"""


class ClusterProblem(Exception):
    """Raised if Slurm did not behave as expected."""


class Cluster:
    """The daemons and the client commands. `stop` ends everything that `start` started."""

    PATIENCE = 60.0

    def __init__(self, folder, tool):
        self.folder = os.path.join(folder, "cluster")
        self.daemons = []
        self.duration = 0.0
        self.version = ""
        # The CPUs of a node. Slurm would drain a node with more CPUs than the machine has.
        self.cpus = min(2, os.cpu_count() or 1)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "SBATCH", "SRUN", "TEST_", "CI_"))}
        self.environment["SLURM_CONF"] = os.path.join(self.folder, "slurm.conf")
        self.environment["PATH"] = os.path.dirname(tool) + ":" + self.path()

    @staticmethod
    def path():
        """Returns a PATH that includes the folders of daemons, which an ordinary user's PATH lacks on Debian."""
        return os.environ.get("PATH", os.defpath) + ":/usr/local/sbin:/usr/sbin:/sbin"

    def start(self):
        began = time.monotonic()
        os.makedirs(os.path.join(self.folder, "state"))
        for node in ("n1", "n2", "n3"):
            os.mkdir(os.path.join(self.folder, node))
        host = socket.gethostname().split(".")[0]
        with open(self.environment["SLURM_CONF"], "w", encoding="utf-8") as file:
            file.write(self.configuration(host, self.free_ports(4)))
        self.daemon("slurmctld", "-D", "-i")
        for node in ("n1", "n2", "n3"):
            self.daemon("slurmd", "-D", "-N", node)
        self.wait_until(lambda: self.command("sinfo", "--noheader", "-o", "%D", "-t", "idle").stdout.strip() == "3", "three idle nodes")
        self.version = self.command("sinfo", "--version").stdout.split()[-1]
        self.duration = time.monotonic() - began

    def configuration(self, host, ports):
        lines = [f"NodeName=n{number} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} State=UNKNOWN"
                 for number, port in zip((1, 2, 3), ports[1:])]
        return CONFIGURATION.format(host=host, controller=ports[0], nodes=ports[1:], folder=self.folder, lines="\n".join(lines))

    @staticmethod
    def free_ports(count):
        sockets = [socket.socket() for _ in range(count)]
        try:
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            return [one.getsockname()[1] for one in sockets]
        finally:
            for one in sockets:
                one.close()

    def daemon(self, name, *arguments):
        program = shutil.which(name, path=self.path())
        with open(os.path.join(self.folder, f"{name}.out"), "ab") as log:
            self.daemons.append(subprocess.Popen([program, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log))

    def command(self, *words):
        return subprocess.run(words, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=self.PATIENCE)

    def submit(self, *words):
        """Submits a job and returns the number of the job."""
        names = ["--output", f"{self.folder}/job-%A_%a.out"] if any(word.startswith("--array") for word in words) else \
            ["--output", f"{self.folder}/job-%j.out"]
        result = self.command("sbatch", "--parsable", "--open-mode=append", *names, *words)
        if result.returncode != 0 or not re.fullmatch(r"\d+\s*", result.stdout):
            raise ClusterProblem(f"sbatch: {result.stdout}")
        return result.stdout.strip()

    def state(self, job):
        """Returns the state of a job, such as `RUNNING` or `PENDING`; an empty string if the job has ended."""
        return self.command("squeue", "--noheader", "-o", "%T", "-j", job).stdout.strip()

    def wait_for_jobs(self):
        def is_over():
            # A requeued job may start only after two minutes, unless Slurm is asked to start it now.
            for line in self.command("squeue", "--noheader", "-r", "-o", "%i %r").stdout.splitlines():
                job, reason = line.split(maxsplit=1)
                if reason == "BeginTime":
                    self.command("scontrol", "update", f"JobId={job}", "StartTime=now")
            return not self.command("squeue", "--noheader", "-o", "%i").stdout.strip()

        self.wait_until(is_over, "all jobs to end")

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.PATIENCE
        while not condition():
            for daemon in self.daemons:
                if daemon.poll() is not None:
                    raise ClusterProblem(f"{os.path.basename(daemon.args[0])} exited with status {daemon.returncode}")
            if time.monotonic() > deadline:
                raise ClusterProblem(f"timed out after {self.PATIENCE:.0f} s waiting for {what}")
            time.sleep(0.1)

    def complaints(self):
        """Returns the last lines of the logs of the daemons and jobs."""
        text = []
        if os.path.isdir(self.folder):
            for file in sorted(os.listdir(self.folder)):
                if file.endswith((".log", ".out")):
                    with open(os.path.join(self.folder, file), encoding="utf-8", errors="replace") as log:
                        text += [f"{file}: {line.rstrip()}" for line in log.readlines()[-8:]]
        return "\n".join(text)

    def cancel_all(self):
        if self.daemons and all(daemon.poll() is None for daemon in self.daemons):
            self.command("scancel", "--full", "--signal=KILL", "--user=root")

    def stop(self):
        self.cancel_all()
        for daemon in self.daemons:
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(timeout=3)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
