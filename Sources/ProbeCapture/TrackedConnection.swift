import ProbeBase
import ProbeWire

/// The state by which a connection's segments are distinguished from the segments of another connection with the same
/// addresses: the initial sequence numbers of both sides, and how far the sequence numbers have advanced.
struct TrackedConnection<Owner: AnyObject> {
    /// The position of a segment's sequence numbers relative to the connection.
    enum Place: Equatable {
        case inside
        /// The sequence numbers precede the connection's initial sequence number, so the segment was sent on an earlier
        /// connection.
        case before
        /// The sequence numbers are further ahead than any window allows.
        case beyond
    }

    /// The maximum distance by which a sequence number of the connection may be ahead of the captured packets. Packets
    /// may be missing; a window is at most 1 GiB (RFC 7323, section 2.3), and a socket buffer is far smaller.
    private static var reach: Int { 1 << 26 }

    let number: Int
    private let client: SocketEndpoint
    private let server: SocketEndpoint
    private let clientStart: SequenceNumber
    private var serverStart: SequenceNumber?
    /// The client's next sequence number, relative to the client's initial sequence number. The value has more than 32
    /// bits because sequence numbers may wrap.
    private var clientNext: Int
    private var serverNext = 0
    private var isReset = false
    var owners: [Owner]

    init(number: Int, syn: DecodedTCP, owners: [Owner]) {
        self.number = number
        self.owners = owners
        client = syn.source
        server = syn.destination
        clientStart = syn.sequence
        clientNext = syn.sequenceLength
    }

    /// The route of the connection's segments; `nil` once the connection has no owner.
    var route: ConnectionRouter<Owner>.Route? {
        owners.isEmpty ? nil : ConnectionRouter<Owner>.Route(owners: owners, connection: number)
    }

    /// Returns whether a SYN without ACK belongs to this connection, as a retransmission or as a simultaneous open by
    /// the other side (RFC 9293, section 3.5).
    func isContinued(bySYN segment: DecodedTCP) -> Bool {
        if segment.source == client { return segment.sequence == clientStart }
        return !isReset && (serverStart == nil || serverStart == segment.sequence)
    }

    func place(of segment: DecodedTCP) -> Place {
        let isFromClient = segment.source == client
        let own = isFromClient ? position(segment.sequence, clientStart, clientNext) : serverPosition(segment.sequence)
        var acknowledged: Int?
        if segment.flags.contains(.ack) {
            acknowledged =
                isFromClient
                ? serverPosition(segment.acknowledgment) : position(segment.acknowledgment, clientStart, clientNext)
        }
        // An RST that answers a SYN to a port without a listener has the sequence number 0 (RFC 9293, section 3.5.2).
        let isAnswer = segment.flags.contains(.rst) && segment.sequence.value == 0 && acknowledged != nil
        let bySequence = isAnswer ? nil : own.map { Self.place($0, isFromClient ? clientNext : serverNext) }
        let byAnswer = acknowledged.map { Self.place($0, isFromClient ? serverNext : clientNext) }
        guard let place = bySequence ?? byAnswer else { return .beyond }
        let other = byAnswer ?? place
        return place == .before || other == .before ? .before : place == .beyond ? place : other
    }

    private static func place(_ position: Int, _ next: Int) -> Place {
        position < 0 ? .before : position > next + reach ? .beyond : .inside
    }

    private func serverPosition(_ sequence: SequenceNumber) -> Int? {
        serverStart.map { position(sequence, $0, serverNext) }
    }

    private func position(_ sequence: SequenceNumber, _ start: SequenceNumber, _ next: Int) -> Int {
        next + (sequence - (start + next))
    }

    /// Updates the sequence numbers of the segment's sender.
    mutating func note(_ segment: DecodedTCP) {
        if segment.flags.contains(.rst) { isReset = true }
        if segment.source == client {
            let end = position(segment.sequence, clientStart, clientNext) + segment.sequenceLength
            if end <= clientNext + Self.reach { clientNext = max(clientNext, end) }
            return
        }
        if serverStart == nil, segment.flags.contains(.syn) { serverStart = segment.sequence }
        guard let position = serverPosition(segment.sequence) else { return }
        let end = position + segment.sequenceLength
        if end <= serverNext + Self.reach { serverNext = max(serverNext, end) }
    }
}

extension DecodedTCP {
    /// The length of the segment in sequence space. SYN and FIN count as one byte each.
    var sequenceLength: Int {
        payloadLength + (flags.contains(.syn) ? 1 : 0) + (flags.contains(.fin) ? 1 : 0)
    }
}
