"""Network namespaces with a TUN device each, made with system calls only, so that neither `ip` nor `tc` is needed.

A namespace has no name: it disappears with the last process in it, however that process ends.
"""
import ctypes
import fcntl
import os
import signal
import socket
import struct
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR, IFF_UP = 1, 0x1000, 0x4000, 1
TUN_F_CSUM, TUN_F_TSO4, TUN_F_TSO6 = 1, 2, 4
SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFFLAGS, SIOCSIFMTU, SIOCSIFTXQLEN = 0x8916, 0x891C, 0x8914, 0x8922, 0x8943
SIOCGIFINDEX = 0x8933
PR_SET_PDEATHSIG, IFA_F_TENTATIVE = 1, 0x40

libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """A part of the machine that a capture needs is missing; the captures that need it are skipped."""


def end_with_parent():
    """Makes the kernel end this process if its parent ends."""
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def be_punctual():
    """Gives this process a real-time priority if it may have one, so that delays are kept on a busy machine."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except OSError:
        pass


def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise Unavailable(f"{name} failed: {os.strerror(error)}")


class Namespace:
    """A network namespace with one TUN device, which is up and has the given addresses."""

    def __init__(self, addresses, mtu=1500, sysctls=None, offload=False):
        call("unshare", CLONE_NEWNET)
        self.file = os.open("/proc/self/ns/net", os.O_RDONLY)
        self.tun = None
        for name, value in {"ipv6.conf.default.accept_dad": 0, "ipv6.conf.all.accept_dad": 0,
                            "ipv6.conf.default.router_solicitations": 0, **(sysctls or {})}.items():
            self.set(name, value)
        self.configure("lo", [], 65536)
        if addresses:
            self.open_tun(offload)
            self.configure("tun0", addresses, mtu)

    def enter(self):
        """Moves the calling thread into the namespace."""
        call("setns", self.file, CLONE_NEWNET)

    def set(self, name, value):
        """Sets a parameter of the namespace that the calling thread is in."""
        path = "/proc/sys/net/" + name.replace(".", "/")
        try:
            with open(path, "w") as file:
                file.write(str(value))
        except OSError as error:
            if not name.startswith("ipv6.conf."):
                raise Unavailable(f"net.{name} can't be set to {value}: {error.strerror}") from None

    def open_tun(self, offload):
        try:
            self.tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            flags = IFF_TUN | IFF_NO_PI | (IFF_VNET_HDR if offload else 0)
            fcntl.ioctl(self.tun, TUNSETIFF, struct.pack("16sH22x", b"tun0", flags))
            if offload:
                fcntl.ioctl(self.tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6)
        except OSError as error:
            raise Unavailable(f"no TUN device: {error.strerror}") from None

    def configure(self, device, addresses, mtu):
        """Brings a device up with the given IPv4 (/24) and IPv6 (/64) addresses."""
        name = device.encode()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
            fcntl.ioctl(control, SIOCSIFMTU, struct.pack("16si20x", name, mtu))
            if device != "lo":
                # A burst must not overflow the device's queue: only the link drops packets.
                fcntl.ioctl(control, SIOCSIFTXQLEN, struct.pack("16si20x", name, 10000))
            fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sh22x", name, IFF_UP))
            alias = 0
            for address in addresses:
                if ":" in address:
                    self.add_v6(control, name, address)
                    continue
                label = name if alias == 0 else name + b":%d" % alias
                alias += 1
                packed = socket.inet_aton(address)
                fcntl.ioctl(control, SIOCSIFADDR, struct.pack("16sHH4s16x", label, socket.AF_INET, 0, packed))
                fcntl.ioctl(control, SIOCSIFNETMASK,
                            struct.pack("16sHH4s16x", label, socket.AF_INET, 0, b"\xff\xff\xff\0"))

    @staticmethod
    def add_v6(control, name, address):
        index = struct.unpack("16si20x", fcntl.ioctl(control, SIOCGIFINDEX, struct.pack("16si20x", name, 0)))[1]
        try:
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as six:
                fcntl.ioctl(six, SIOCSIFADDR,
                            struct.pack("16sIi", socket.inet_pton(socket.AF_INET6, address), 64, index))
        except OSError as error:
            raise Unavailable(f"no IPv6: {error.strerror}") from None
        # An address can't be bound while it is tentative.
        for _ in range(1000):
            with open("/proc/net/if_inet6") as file:
                if not any(int(line.split()[4], 16) & IFA_F_TENTATIVE for line in file):
                    return
            time.sleep(0.001)
