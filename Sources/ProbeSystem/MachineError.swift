import Glibc
import ProbeBase

/// A machine error that a program under test can report by the name of its errno.
package enum MachineError: String, Sendable, CaseIterable {
    case EADDRNOTAVAIL, EMFILE, ENFILE, ENOBUFS, ENOMEM, EAGAIN, ENETDOWN, ENETUNREACH, EHOSTUNREACH, EPERM

    package var code: Int32 {
        switch self {
        case .EADDRNOTAVAIL: Glibc.EADDRNOTAVAIL
        case .EMFILE: Glibc.EMFILE
        case .ENFILE: Glibc.ENFILE
        case .ENOBUFS: Glibc.ENOBUFS
        case .ENOMEM: Glibc.ENOMEM
        case .EAGAIN: Glibc.EAGAIN
        case .ENETDOWN: Glibc.ENETDOWN
        case .ENETUNREACH: Glibc.ENETUNREACH
        case .EHOSTUNREACH: Glibc.EHOSTUNREACH
        case .EPERM: Glibc.EPERM
        }
    }

    package init?(code: Int32) {
        guard let found = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = found
    }

    /// Finds the error in a transport's message: the system's message at the end of the text, or a number such as
    /// `errno: 24`.
    package init?(text: String) {
        let found = Self.allCases.first { fault in
            text.hasSuffix(fault.reason) || text.contains("errno: \(fault.code))")
                || text.contains("errno: \(fault.code),")
        }
        guard let found else { return nil }
        self = found
    }

    /// The errors that no case can provoke, whatever the destination of its connections.
    package static let shortages: [MachineError] = [.EADDRNOTAVAIL, .EMFILE, .ENFILE, .ENOBUFS, .ENOMEM]

    /// Returns the errors of a connection that a case may have provoked, and that therefore do not indicate a problem
    /// with the machine.
    ///
    /// - Parameters:
    ///   - staysHere: whether the connection stays on this machine; another host may be unreachable.
    ///   - isFromHere: whether the connection needs no particular local address, which this machine might lack.
    package static func provocable(staysHere: Bool, isFromHere: Bool) -> Set<MachineError> {
        var all: Set<MachineError> = []
        if !staysHere { all = Set(allCases).subtracting(shortages) }
        if !isFromHere { all.insert(.EADDRNOTAVAIL) }
        return all
    }

    /// The system's message for the error.
    package var reason: String { String(cString: strerror(code)) }
    package var advice: String { Surroundings.advice(on: code) ?? "the machine has run out of a resource" }
}

/// The remaining amounts of the resources that a program can exhaust, as text.
package enum ResourcesLeft {
    /// Returns the amount of each resource that is left for this process and in this thread's network namespace.
    /// Amounts that can't be determined are omitted. The function opens no descriptor, because the process may have run
    /// out of descriptors.
    package static func here() -> [String] {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let most = Int(clamping: limit.rlim_cur)
        let used =
            SmallFile.names(in: "/proc/self/fd").map { $0.count - 1 }
            ?? (0..<min(most, 1 << 16)).count { fcntl(Int32($0), F_GETFD) >= 0 }
        return [descriptors(of: "this process", used: used, limit: most)]
            + (ports(in: "/proc/thread-self/net").map { [$0] } ?? [])
    }

    /// Returns, for each of the processes, the amount of each resource that is left under the process's own limit and
    /// in the processes' network namespace.
    package static func of(_ pids: [Int32]) -> [String] {
        var lines: [String] = []
        for pid in pids.sorted().prefix(8) {
            guard let used = ProcessTable.descriptorCount(of: pid), used > 0,
                let limit = SmallFile.read("/proc/\(pid)/limits").flatMap(openFiles)
            else { continue }
            lines.append(descriptors(of: "process \(pid)", used: used, limit: limit))
        }
        if let ports = ports(in: pids.min().map { "/proc/\($0)/net" } ?? "/proc/thread-self/net") {
            lines.append(ports)
        }
        return lines
    }

    private static func descriptors(of owner: String, used: Int, limit: Int) -> String {
        "\(owner) has \(max(0, limit - used)) of \(limit) descriptors left"
    }

    /// Returns the soft limit on open files from `/proc/PID/limits`.
    static func openFiles(_ limits: [UInt8]) -> Int? {
        let name = Array("Max open files".utf8)
        guard let line = limits.split(separator: 10).first(where: { $0.starts(with: name) }) else { return nil }
        return line.dropFirst(name.count).split(separator: 32).first.flatMap {
            Int(String(decoding: $0, as: UTF8.self))
        }
    }

    private static func ports(in place: String) -> String? {
        let words = (SmallFile.read("/proc/sys/net/ipv4/ip_local_port_range") ?? []).split { $0 == 9 || $0 == 10 }
        let ends = words.compactMap { UInt16(String(decoding: $0, as: UTF8.self)) }
        guard ends.count == 2, ends[0] <= ends[1], let table = SmallFile.read("\(place)/tcp") else { return nil }
        let range = ends[0]...ends[1]
        let taken = maxPorts(in: range, [table, SmallFile.read("\(place)/tcp6") ?? []])
        return
            "\(range.count - taken) of the \(range.count) ports from which the kernel chooses (\(ends[0]) to \(ends[1])) are left"
    }

    /// Returns the largest number of ports in use on any single address, according to tables in the format of
    /// `/proc/net/tcp`. A socket that is bound to all addresses counts for every address.
    static func maxPorts(in range: ClosedRange<UInt16>, _ tables: [[UInt8]]) -> Int {
        var ports: [IPAddress: Set<UInt16>] = [:]
        var everywhere: Set<UInt16> = []
        for line in tables.flatMap({ $0.split(separator: 10) }) {
            let fields = line.split(separator: 32, maxSplits: 2)
            guard fields.count > 1, let local = SocketEndpoint(kernelTable: fields[1]), range.contains(local.port)
            else {
                continue
            }
            if local.address.isUnspecified {
                everywhere.insert(local.port)
            } else {
                ports[local.address, default: []].insert(local.port)
            }
        }
        return ports.values.map { $0.union(everywhere).count }.max() ?? everywhere.count
    }
}
