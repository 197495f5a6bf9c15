import CShims
import Glibc

/// Moves this process into a private network namespace. In the namespace, the loopback interface carries no traffic
/// from other processes, capturing requires no privileges, and segments are as large as on Ethernet.
package enum Isolation {
    /// The MTU of Ethernet. With this MTU, a TCP segment with timestamps carries 1,448 bytes.
    package static let mtu: Int32 = 1500

    /// The step at which entering the namespace failed, and the reason why it failed.
    package struct Failure: Error, Sendable {
        package var step: String
        package var reason: String
        /// Whether the process has already entered the namespace and therefore can't continue.
        package var isAfterUnshare = true
    }

    /// Enters a new namespace. The process must have only one thread. Programs that the process starts later also run
    /// in the namespace.
    ///
    /// If the process lacks CAP_SYS_ADMIN, a user namespace is also created. The user keeps their id in the user
    /// namespace, so programs do not appear to run as root.
    package static func enter() throws(Failure) {
        let (user, group) = (geteuid(), getegid())
        let withUser = probe_has_capability(21) == 0
        // The files in /proc of a program with file capabilities belong to root, so the process is made dumpable for a
        // short time. Another process of the user can't exploit the dumpable state: a traced process loses the
        // capabilities (capabilities(7), PTRACE).
        let wasDumpable = withUser ? probe_set_dumpable(1) : 1
        defer { if wasDumpable != 1 { _ = probe_set_dumpable(0) } }
        if withUser {
            // Whether these files can be written is checked before `unshare` is called, because `unshare` can't be
            // undone.
            for file in ["setgroups", "uid_map", "gid_map"] where access("/proc/self/\(file)", W_OK) != 0 {
                throw Failure(step: "opening /proc/self/\(file)", reason: reason(), isAfterUnshare: false)
            }
        }
        if probe_unshare(withUser ? 1 : 0) < 0 {
            throw Failure(
                step: withUser ? "unshare(user, network)" : "unshare(network)", reason: reason(),
                isAfterUnshare: false)
        }
        if withUser {
            try write("deny", to: "/proc/self/setgroups")
            try write("\(user) \(user) 1", to: "/proc/self/uid_map")
            try write("\(group) \(group) 1", to: "/proc/self/gid_map")
        }
        if probe_set_up_loopback(mtu) < 0 { throw Failure(step: "setting up lo", reason: reason()) }
    }

    /// Whether the process may capture packets (CAP_NET_RAW, capabilities(7)).
    package static var mayCapture: Bool { probe_may_use_capability(PROBE_CAP_NET_RAW) != 0 }

    private static func write(_ text: String, to path: String) throws(Failure) {
        let raw = open(path, O_WRONLY | O_CLOEXEC)
        guard raw >= 0 else { throw Failure(step: "opening \(path)", reason: reason()) }
        let descriptor = OwnedDescriptor(raw)
        let bytes = Array(text.utf8)
        if Glibc.write(descriptor.raw, bytes, bytes.count) != bytes.count {
            throw Failure(step: "writing \(path)", reason: reason())
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}
