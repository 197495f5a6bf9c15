import ProbeBase
import CShims
import Glibc
import ProbeCapture
import ProbeSystem
import ProbeWire

/// Determines which loopback connections belong to a user: those with a socket of that user at either end, according to
/// the kernel's tables.
struct SocketOwners {
    private struct Pair: Hashable {
        var local: SocketEndpoint
        var remote: SocketEndpoint
    }

    private let user: UInt32
    /// The connections in the tables, and whether one of the two ends belongs to the user.
    private var connections: [Pair: Bool] = [:]
    private var listeners: Set<SocketEndpoint> = []
    /// The result found at a connection's SYN or later; valid until the next SYN with the same addresses and ports.
    private var known: [Pair: Bool] = [:]
    /// The number of packets that were not shown.
    private(set) var hidden = 0

    init(user: UInt32) { self.user = user }

    static var canBeRead: Bool { SmallFile.read("/proc/net/tcp") != nil }

    /// Discards the tables and reads them again.
    mutating func refresh() {
        (connections, listeners) = ([:], [])
        readMore()
    }

    /// Reads the tables again, to add connections that have begun since.
    mutating func readMore() {
        for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in (SmallFile.read(file) ?? []).split(separator: 10).dropFirst() {
                take(line.split(separator: 32))
            }
        }
    }

    private mutating func take(_ fields: [ArraySlice<UInt8>]) {
        guard fields.count > 9, let local = SocketEndpoint(kernelTable: fields[1])?.unmapped,
            let remote = SocketEndpoint(kernelTable: fields[2])?.unmapped,
            let owner = UInt32(String(decoding: fields[7], as: UTF8.self))
        else { return }
        let state = String(decoding: fields[3], as: UTF8.self)
        if state == "0A" {
            if owner == user { listeners.insert(local) }
            return
        }
        // The kernel shows a socket without an owner, for example in TIME_WAIT, as root's.
        if fields[9].elementsEqual("0".utf8) && state != "0C" { return }
        let pair = Pair(local: local, remote: remote)
        let isOwn = owner == user
        connections[pair] = isOwn || connections[pair] == true
        let other = Pair(local: remote, remote: local)
        connections[other] = isOwn || connections[other] == true
    }

    /// Returns whether the user may see a segment. A segment with an unknown owner is not shown.
    mutating func mayShow(_ header: DecodedTCP) -> Bool {
        let pair = Pair(local: header.source.unmapped, remote: header.destination.unmapped)
        let other = Pair(local: pair.remote, remote: pair.local)
        let begins = header.flags.contains(.syn) && !header.flags.contains(.ack)
        if begins { (known[pair], known[other]) = (nil, nil) }
        var isOwn = connections[pair] ?? known[pair]
        // A new connection to a port on which the user listens belongs to the user. An older one may belong to an
        // earlier listener.
        if isOwn == nil, begins { isOwn = isListening(pair.remote) ? true : nil }
        if let isOwn { (known[pair], known[other]) = (isOwn, isOwn) }
        if isOwn != true { hidden += 1 }
        return isOwn == true
    }

    /// Returns whether the user listens on an endpoint. A listener on `[::]` counts for IPv6 only, because it may not
    /// accept IPv4.
    private func isListening(_ endpoint: SocketEndpoint) -> Bool {
        let any = endpoint.address.family == .v4 ? IPAddress(v4: 0) : IPAddress(v6High: 0, low: 0)
        return listeners.contains(endpoint) || listeners.contains(SocketEndpoint(address: any, port: endpoint.port))
    }
}
