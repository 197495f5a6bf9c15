import ProbeBase
import CShims
import Glibc
import ProbeCapture
import ProbeSystem
import ProbeWire

/// Determines which loopback connections belong to a user. A connection belongs to a user if the socket at either end
/// is owned by that user, according to the kernel's tables.
struct SocketOwners {
    private struct Pair: Hashable {
        var local: SocketEndpoint
        var remote: SocketEndpoint
    }

    private let user: UInt32
    /// The connections in the kernel's tables. For each connection, the value states whether the user owns either end.
    private var connections: [Pair: Bool] = [:]
    private var listeners: Set<SocketEndpoint> = []
    /// For each connection, whether it belongs to the user, as determined since its last SYN. A SYN with the same
    /// addresses and ports invalidates the value.
    private var known: [Pair: Bool] = [:]
    /// The number of packets that were not shown.
    private(set) var hidden = 0

    init(user: UInt32) { self.user = user }

    static var canBeRead: Bool { SmallFile.read("/proc/net/tcp") != nil }

    /// Reads the kernel's tables again, discarding their previous contents.
    mutating func refresh() {
        (connections, listeners) = ([:], [])
        readMore()
    }

    /// Reads the kernel's tables again and adds connections that have begun since they were last read.
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
        // The kernel lists a socket without an owner, for example in TIME_WAIT, as owned by root.
        if fields[9].elementsEqual("0".utf8) && state != "0C" { return }
        let pair = Pair(local: local, remote: remote)
        let isOwn = owner == user
        connections[pair] = isOwn || connections[pair] == true
        let other = Pair(local: remote, remote: local)
        connections[other] = isOwn || connections[other] == true
    }

    /// Returns whether the user may see a segment. If the owner of the connection is unknown, the segment must not be
    /// shown.
    mutating func mayShow(_ header: DecodedTCP) -> Bool {
        let pair = Pair(local: header.source.unmapped, remote: header.destination.unmapped)
        let other = Pair(local: pair.remote, remote: pair.local)
        let begins = header.flags.contains(.syn) && !header.flags.contains(.ack)
        if begins { (known[pair], known[other]) = (nil, nil) }
        var isOwn = connections[pair] ?? known[pair]
        // A new connection to a port on which one of the user's processes listens belongs to the user. An older
        // connection may belong to an earlier listener.
        if isOwn == nil, begins { isOwn = isListening(pair.remote) ? true : nil }
        if let isOwn { (known[pair], known[other]) = (isOwn, isOwn) }
        if isOwn != true { hidden += 1 }
        return isOwn == true
    }

    /// Returns whether one of the user's processes listens on an endpoint. A listener on `[::]` counts for IPv6 only,
    /// because it might not accept IPv4 connections.
    private func isListening(_ endpoint: SocketEndpoint) -> Bool {
        let any = endpoint.address.family == .v4 ? IPAddress(v4: 0) : IPAddress(v6High: 0, low: 0)
        return listeners.contains(endpoint) || listeners.contains(SocketEndpoint(address: any, port: endpoint.port))
    }
}
