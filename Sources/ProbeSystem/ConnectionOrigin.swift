import CShims
import Glibc

/// How a connection of the harness began. The origin identifies the connection in the capture, because addresses may be
/// reused.
///
/// Times are wall-clock times in nanoseconds since 1970-01-01 UTC, like the timestamps of packets.
package enum ConnectionOrigin: Sendable, Hashable {
    /// The connection's SYN was sent after the given time.
    case connected(after: UInt64)
    /// The connection was accepted: the peer's SYN arrived before the given time and had the given sequence number. The
    /// number is `nil` if the kernel did not keep the SYN.
    case accepted(sequence: UInt32?, before: UInt64)

    /// Returns the sequence number of the SYN of an accepted connection, read from the headers that TCP_SAVED_SYN
    /// returns (tcp(7)).
    static func initialSequence(of descriptor: Int32) -> UInt32? {
        // The buffer is large enough for the largest IP header and the TCP header without options.
        var headers = [UInt8](repeating: 0, count: 256)
        var length = socklen_t(headers.count)
        guard getsockopt(descriptor, Int32(IPPROTO_TCP), Int32(PROBE_TCP_SAVED_SYN), &headers, &length) == 0 else {
            return nil
        }
        return initialSequence(inHeaders: headers.prefix(Int(length)))
    }

    /// Returns the sequence number of a TCP header.
    ///
    /// - Parameter headers: an IPv4 or IPv6 header followed by the TCP header.
    static func initialSequence(inHeaders headers: ArraySlice<UInt8>) -> UInt32? {
        guard let first = headers.first else { return nil }
        let network = first >> 4 == 4 ? Int(first & 15) * 4 : first >> 4 == 6 ? 40 : 0
        let position = headers.startIndex + network + 4
        guard network >= 20, position + 4 <= headers.endIndex else { return nil }
        return headers[position..<position + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
}
