import ProbeBase
import ProbeWire

/// What distinguishes a connection's segments from those of another connection with the same addresses: the initial
/// sequence numbers of both sides, and how far they have advanced.
struct TrackedConnection<Owner: AnyObject> {
    /// Where a segment's sequence numbers are, relative to the connection.
    enum Place: Equatable {
        case inside
        /// Before the connection's first sequence number: the segment was sent on an earlier connection.
        case before
        /// Further ahead than any window allows.
        case beyond
    }

    /// How far ahead of the captured packets a sequence number may be and still belong to the connection: packets may
    /// be missing, a window is 1 GiB at most (RFC 7323, section 2.3), and a socket buffer is far smaller.
    private static var reach: Int { 1 << 26 }

    let number: Int
    private let client: SocketEndpoint
    private let server: SocketEndpoint
    private let clientStart: SequenceNumber
    private var serverStart: SequenceNumber?
    /// The next position, counted from the first sequence number, in more than 32 bits because sequence numbers may
    /// wrap.
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

    /// The route of the connection's segments; `nil` once it has no owner.
    var route: ConnectionRouter<Owner>.Route? {
        owners.isEmpty ? nil : ConnectionRouter<Owner>.Route(owners: owners, connection: number)
    }

    /// Returns whether a SYN without ACK belongs to this connection: a retransmission, or a simultaneous open by the
    /// other side (RFC 9293, section 3.5).
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
        // The reset in answer to a SYN without a listener has the sequence number 0 (RFC 9293, section 3.5.2).
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
    /// The sequence space that the segment occupies; SYN and FIN count as one each.
    var sequenceLength: Int {
        payloadLength + (flags.contains(.syn) ? 1 : 0) + (flags.contains(.fin) ? 1 : 0)
    }
}
