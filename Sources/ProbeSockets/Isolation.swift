import CShims
import Glibc

/// Moves this process into a network namespace of its own: nothing else is on its loopback, capture needs no privilege, and
/// segments are at most an Ethernet's.
package enum Isolation {
    /// Ethernet's: a TCP segment then carries 1,448 bytes (with timestamps).
    package static let mtu: Int32 = 1500

    /// What went wrong, and at which step.
    package struct Failure: Error, Sendable {
        package var step: String
        package var reason: String
    }

    /// Enters it. The process must have one thread, and what it starts afterwards lives there too.
    ///
    /// Without CAP_SYS_ADMIN a user namespace comes with it, in which the user keeps their own number: programs that are started
    /// see no root.
    package static func enter() throws(Failure) {
        let (user, group) = (geteuid(), getegid())
        let withUser = !hasCapability(21)
        if probe_unshare(withUser ? 1 : 0) < 0 {
            throw Failure(step: withUser ? "unshare(user, network)" : "unshare(network)", reason: reason())
        }
        if withUser {
            try write("deny", to: "/proc/self/setgroups")
            try write("\(user) \(user) 1", to: "/proc/self/uid_map")
            try write("\(group) \(group) 1", to: "/proc/self/gid_map")
        }
        if probe_set_up_loopback(mtu) < 0 { throw Failure(step: "setting up lo", reason: reason()) }
    }

    /// Whether the process may capture (CAP_NET_RAW, capabilities(7)).
    package static var mayCapture: Bool { hasCapability(13) }

    /// A bit of `CapEff` in `/proc/self/status`.
    private static func hasCapability(_ bit: Int) -> Bool {
        let status = String(decoding: SmallFile.read("/proc/self/status") ?? [], as: UTF8.self)
        for line in status.split(separator: "\n") where line.hasPrefix("CapEff:") {
            let digits = line.dropFirst(7).drop { $0 == "\t" || $0 == " " }
            return ((UInt64(digits, radix: 16) ?? 0) >> UInt64(bit)) & 1 == 1
        }
        return false
    }

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
