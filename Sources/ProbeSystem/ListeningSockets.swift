import Glibc

/// Finds listening sockets and their owners in the kernel's tables, without connecting to them.
package enum ListeningSockets {
    /// The ports on which a process of `group` listens, and the processes of the group whose descriptors may not be
    /// read.
    package static func ports(ownedByGroup group: Int32) -> (ports: Set<UInt16>, hidden: [Int32]) {
        let listening = inodes()
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

    /// Why the kernel's table can't be read; nil if it can.
    package static var problem: String? {
        access("/proc/net/tcp", R_OK) == 0 ? nil : "/proc/net/tcp can't be read (\(SystemError("access").reason))"
    }

    /// Where a process of `group` listens and other hosts can't reach it: loopback addresses whose port it has on no other address.
    package static func loopbackOnly(ownedByGroup group: Int32) -> [String] {
        let owned = ports(ownedByGroup: group).ports
        var places: [UInt16: [(text: String, isLoopback: Bool)]] = [:]
        for table in tables {
            for fields in listeners(in: table) {
                guard let colon = fields[1].lastIndex(of: 58),
                    let port = UInt16(String(decoding: fields[1][(colon + 1)...], as: UTF8.self), radix: 16),
                    owned.contains(port)
                else { continue }
                let address = loopback(String(decoding: fields[1][..<colon], as: UTF8.self))
                places[port, default: []].append(("\(address ?? ""):\(port)", address != nil))
            }
        }
        return places.filter { $0.value.allSatisfy(\.isLoopback) }.sorted { $0.key < $1.key }
            .flatMap { $0.value.map(\.text) }
    }

    /// A loopback address as the kernel's tables write it, in words of the machine's own order; `nil` for another address.
    static func loopback(_ hex: String) -> String? {
        guard let last = UInt32(hex.suffix(8), radix: 16) else { return nil }
        let word = UInt32(bigEndian: last)
        switch hex.count {
        case 8 where word >> 24 == 127, 32 where hex.dropLast(8).hasSuffix("0000FFFF0000") && word >> 24 == 127:
            return (0..<4).map { "\(word >> (24 - 8 * UInt32($0)) & 255)" }.joined(separator: ".")
        case 32 where hex.dropLast(8).allSatisfy { $0 == "0" } && word == 1: return "[::1]"
        default: return nil
        }
    }

    private static let tables = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"]

    /// Whether any process listens on the port. Reads only /proc/net: reading the descriptors of every process is slow.
    package static func isListening(port: UInt16) -> Bool { inodes().values.contains(port) }

    /// Maps the inode of each listening socket to its port.
    private static func inodes() -> [UInt64: UInt16] {
        var found: [UInt64: UInt16] = [:]
        for table in tables {
            for fields in listeners(in: table) {
                guard let colon = fields[1].lastIndex(of: 58),
                    let port = UInt16(String(decoding: fields[1][(colon + 1)...], as: UTF8.self), radix: 16),
                    let inode = UInt64(String(decoding: fields[9], as: UTF8.self))
                else { continue }
                found[inode] = port
            }
        }
        return found
    }

    /// The fields of each line of a table that is a listening socket.
    ///
    /// The kernel lists those first. Behind them there may be tens of thousands of connections (TIME_WAIT), so reading
    /// stops soon after the last listening socket.
    private static func listeners(in table: String) -> [[ArraySlice<UInt8>]] {
        var limit = 65536
        while true {
            let bytes: [UInt8]
            do { bytes = try SmallFile.contents(of: table, limit: limit) } catch { return [] }
            let isWhole = bytes.count < limit
            var found: [[ArraySlice<UInt8>]] = []
            // Without the header, and without the last line if it was cut off.
            for line in bytes.split(separator: 10).dropFirst().dropLast(isWhole ? 0 : 1) {
                let fields = line.split(separator: 32)
                guard fields.count > 9 else { continue }
                if fields[3].elementsEqual("0A".utf8) {
                    found.append(fields)
                } else if !fields[3].elementsEqual("03".utf8) {
                    // Connections that are being opened (SYN_RECV) may be listed between listening sockets; any other
                    // state ends the search.
                    return found
                }
            }
            if isWhole { return found }
            limit *= 4
        }
    }

    /// The process group, from `/proc/PID/stat`. The fields behind the name in parentheses are state, parent, group.
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
