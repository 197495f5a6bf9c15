package import ProbeBase
import CShims
import Glibc

/// Finds listening sockets and their owners in the kernel's tables, without connecting to them.
package enum ListeningSockets {
    fileprivate struct Socket {
        var inode: UInt64
        var endpoint: SocketEndpoint
    }

    /// Returns the ports on which processes of a process group listen, and the processes of the group whose descriptors
    /// can't be read.
    package static func ports(ownedByGroup group: Int32) -> (ports: Set<UInt16>, hidden: [Int32]) {
        let listening = Dictionary(all().map { ($0.inode, $0.endpoint.port) }) { first, _ in first }
        guard !listening.isEmpty else { return ([], []) }
        var ports: Set<UInt16> = []
        var hidden: [Int32] = []
        for name in SmallFile.names(in: "/proc") ?? [] {
            guard let pid = Int32(name), Self.group(of: pid) == group else { continue }
            guard let descriptors = SmallFile.names(in: "/proc/\(name)/fd") else {
                if errno == EACCES, ProcessTable.residentMemory(of: pid) > 0 { hidden.append(pid) }
                continue
            }
            for descriptor in descriptors {
                guard let inode = socketInode("/proc/\(name)/fd/\(descriptor)") else { continue }
                if let port = listening[inode] { ports.insert(port) }
            }
        }
        return (ports, hidden)
    }

    /// The reason why listening sockets can't be determined; `nil` if they can.
    package static var problem: String? {
        if diagnosed(AF_INET) != nil || access("/proc/net/tcp", R_OK) == 0 { return nil }
        return "/proc/net/tcp can't be read (\(SystemError("access").reason))"
    }

    /// Returns the endpoints on which a process of `group` listens and that other hosts can't reach. These are the
    /// loopback addresses with a port on which the group listens only at loopback addresses.
    package static func loopbackOnly(ownedByGroup group: Int32) -> [String] {
        let owned = ports(ownedByGroup: group).ports
        let places = Dictionary(grouping: all().map(\.endpoint.unmapped).filter { owned.contains($0.port) }, by: \.port)
        return places.values.filter { $0.allSatisfy(\.address.isLoopback) }.joined().sorted { $0.port < $1.port }
            .map(\.description)
    }

    /// Returns whether any process listens on the port. The sockets' owners are not determined, because reading the
    /// descriptors of every process is slow.
    package static func isListening(port: UInt16) -> Bool { all().contains { $0.endpoint.port == port } }

    /// Returns the listening sockets of the calling thread's network namespace.
    private static func all() -> [Socket] {
        [AF_INET, AF_INET6].flatMap { diagnosed($0) ?? listed($0) }
    }

    /// Returns the kernel's response to a request for the listening sockets of an address family (sock_diag(7)); `nil`
    /// if the kernel does not support such requests.
    private static func diagnosed(_ family: Int32) -> [Socket]? {
        var capacity = 256
        while true {
            var count = 0
            let sockets = [probe_listener](unsafeUninitializedCapacity: capacity) { buffer, used in
                count = Int(probe_listeners(family, buffer.baseAddress, Int32(capacity)))
                used = max(0, min(count, capacity))
            }
            if count < 0 { return nil }
            if count <= capacity { return sockets.compactMap { Socket($0, family) } }
            capacity = 2 * count
        }
    }

    /// Returns the listening sockets found in a table of /proc, for a kernel without sock_diag(7). If there are many
    /// connections, the kernel takes milliseconds to write the table.
    private static func listed(_ family: Int32) -> [Socket] {
        let table = "/proc/thread-self/net/tcp\(family == AF_INET6 ? "6" : "")"
        return (SmallFile.read(table) ?? []).split(separator: 10).dropFirst().compactMap { line in
            let fields = line.split(separator: 32)
            guard fields.count > 9, fields[3].elementsEqual("0A".utf8),
                let endpoint = SocketEndpoint(kernelTable: fields[1]),
                let inode = UInt64(String(decoding: fields[9], as: UTF8.self))
            else { return nil }
            return Socket(inode: inode, endpoint: endpoint)
        }
    }

    /// Returns the process group from `/proc/PID/stat`. The fields after the name in parentheses are the state, the
    /// parent and the group.
    static func group(of pid: Int32) -> Int32? { statusField(2, of: pid) }

    static func parent(of pid: Int32) -> Int32? { statusField(1, of: pid) }

    private static func statusField(_ index: Int, of pid: Int32) -> Int32? {
        guard let fields = ProcessTable.statusFields(of: pid), fields.count > index else { return nil }
        return Int32(fields[index])
    }

    private static func socketInode(_ path: String) -> UInt64? {
        guard let target = SmallFile.linkTarget(path), target.hasPrefix("socket:[") else { return nil }
        return UInt64(target.dropFirst(8).dropLast())
    }
}

extension ListeningSockets.Socket {
    fileprivate init?(_ listener: probe_listener, _ family: Int32) {
        let address = withUnsafeBytes(of: listener.address) { bytes in
            IPAddress(bytes: Array(bytes.prefix(family == AF_INET ? 4 : 16)).span)
        }
        guard let address else { return nil }
        self.init(inode: UInt64(listener.inode), endpoint: SocketEndpoint(address: address, port: listener.port))
    }
}

extension SocketEndpoint {
    /// Reads an endpoint from `/proc/net/tcp`, such as `0100007F:1F90`. The address consists of words in the machine's
    /// byte order.
    package init?(kernelTable field: ArraySlice<UInt8>) {
        guard let colon = field.lastIndex(of: 58),
            let port = UInt16(String(decoding: field[(colon + 1)...], as: UTF8.self), radix: 16)
        else { return nil }
        let digits = Array(field[..<colon])
        let words = stride(from: 0, to: digits.count, by: 8).compactMap { start in
            UInt32(String(decoding: digits[start..<min(start + 8, digits.count)], as: UTF8.self), radix: 16)
        }
        let bytes = words.flatMap { withUnsafeBytes(of: $0, Array.init) }
        guard bytes.count * 2 == digits.count, let address = IPAddress(bytes: bytes.span) else { return nil }
        self.init(address: address, port: port)
    }
}
