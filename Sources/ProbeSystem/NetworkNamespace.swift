import CShims
import Glibc

/// A private network: interfaces, addresses and ports that no other process has. It disappears when its descriptor is
/// closed and no program or socket is left in it, so also after a kill.
package final class NetworkNamespace: Sendable {
    /// The descriptor of the namespace, for programs that are started in it.
    package let descriptor: Int32

    /// Creates a network with loopback up.
    package init() throws(SystemError) {
        descriptor = probe_new_network()
        if descriptor < 0 { throw SystemError("unshare(CLONE_NEWNET)") }
    }

    deinit { close(descriptor) }

    /// Runs a body on this thread in the network: sockets that it opens belong to that network permanently.
    ///
    /// - Throws: the error that the body throws.
    package func run<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        let own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        // A socket in a network other than the script's would make every verdict wrong: the process ends rather than
        // continuing.
        guard own >= 0, probe_enter_network(descriptor) == 0 else { Self.abandon("entering a network namespace") }
        defer {
            if probe_enter_network(own) < 0 { Self.abandon("leaving a network namespace") }
            close(own)
        }
        return try body()
    }

    /// Whether the network has no TCP connection that may still send: only those in TIME_WAIT, which were closed on
    /// both sides, are left.
    package var isQuiet: Bool {
        run {
            ["tcp", "tcp6"].allSatisfy { table in
                // Without IPv6 there is no such table.
                guard let bytes = SmallFile.read("/proc/thread-self/net/\(table)") else { return true }
                return bytes.split(separator: 10).dropFirst().allSatisfy { line in
                    let fields = line.split(separator: 32)
                    return fields.count < 4 || String(decoding: fields[3], as: UTF8.self) == "06"
                }
            }
        }
    }

    private static func abandon(_ what: String) -> Never {
        let text = Array("error: \(what): \(String(cString: strerror(errno)))\n".utf8)
        _ = text.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(3)
    }

    private static let netAdmin: Int32 = 12
    private static let sysAdmin: Int32 = 21

    /// The reason why this process lacks the privilege to make a network, by its capabilities alone, which costs
    /// nothing; `nil` if they suffice.
    package static var missingPrivilege: String? {
        for (number, name) in [
            (sysAdmin, "CAP_SYS_ADMIN"), (netAdmin, "CAP_NET_ADMIN"), (PROBE_CAP_NET_RAW, "CAP_NET_RAW"),
        ]
        where probe_may_use_capability(number) == 0 {
            return
                "\(name) is required; run as root, or where users may create namespaces (check with `unshare -Urn true`)"
        }
        return nil
    }

    /// The reason why this process can't make a network; `nil` if it can.
    package static var obstacle: String? { missingPrivilege ?? trial }

    /// The result of an attempt to make a network: a container may forbid it even to root with the capabilities.
    private static let trial: String? = {
        do throws(SystemError) {
            let network = try NetworkNamespace()
            let other = try NetworkNamespace()
            let isMade = network.run { probe_make_pair("probe", other.descriptor) == 0 }
            return isMade ? nil : "veth: \(String(cString: strerror(errno)))"
        } catch {
            return "\(error)"
        }
    }()
}
