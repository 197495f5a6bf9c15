import CShims
import Glibc

/// A private network: its interfaces, addresses and ports are separate from those of other networks. The network
/// disappears when its descriptor has been closed and no program or socket is left in it. It therefore also disappears
/// if this process is killed.
package final class NetworkNamespace: Sendable {
    /// The descriptor of the namespace. Programs that are started in the namespace receive the descriptor.
    package let descriptor: Int32

    /// Creates a network whose loopback interface is up.
    package init() throws(SystemError) {
        descriptor = probe_new_network()
        if descriptor < 0 { throw SystemError("unshare(CLONE_NEWNET)") }
    }

    deinit { close(descriptor) }

    /// Runs a closure on this thread inside the network. Sockets that the closure opens belong to the network
    /// permanently.
    ///
    /// - Throws: the error that the closure throws.
    package func run<T, E: Error>(_ body: () throws(E) -> T) throws(E) -> T {
        let own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
        // A socket in a network other than the script's network would make every verdict wrong, so the process ends
        // instead of continuing.
        guard own >= 0, probe_enter_network(descriptor) == 0 else { Self.abandon("entering a network namespace") }
        defer {
            if probe_enter_network(own) < 0 { Self.abandon("leaving a network namespace") }
            close(own)
        }
        return try body()
    }

    /// Whether no TCP connection in the network can send any more data: the only connections left are in TIME_WAIT,
    /// that is, closed by both sides.
    package var isQuiet: Bool {
        run {
            ["tcp", "tcp6"].allSatisfy { table in
                // If the kernel lacks IPv6, the table of IPv6 connections does not exist.
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

    /// The reason why this process lacks the privilege to create a network; `nil` if it has the privilege. Only the
    /// capabilities are examined, so the check is cheap.
    package static var missingPrivilege: String? {
        for (number, name) in [
            (sysAdmin, "CAP_SYS_ADMIN"), (netAdmin, "CAP_NET_ADMIN"), (PROBE_CAP_NET_RAW, "CAP_NET_RAW"),
        ]
        where probe_may_use_capability(number) == 0 {
            return
                "\(name) is required; run as root, or on a system where users may create namespaces (check with "
                + "`unshare -Urn true`)"
        }
        return nil
    }

    /// The reason why this process can't create a network; `nil` if it can.
    package static var obstacle: String? { missingPrivilege ?? trial }

    /// The result of an attempt to create a network. The attempt is necessary because a container may forbid creating
    /// networks even to root with all capabilities.
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
