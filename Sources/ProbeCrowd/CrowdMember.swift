/// One member of a crowd. Its size is kept small, because there may be a hundred thousand members.
struct CrowdMember {
    enum Connection: UInt8 {
        case none, connecting, open
    }

    /// The activity of a member at its current instruction.
    enum State: UInt8 {
        /// The member's script has not begun.
        case waitingToStart
        /// The member continues when it is next run.
        case running
        /// The member is at `connect`, waiting for its turn to connect.
        case queued
        /// The member is at `connect`, waiting for the connection to be established.
        case connecting
        /// The member is at `send`, waiting for the kernel to accept more bytes.
        case blocked
        /// The member is at `wait`, or pausing after a piece of a `send`.
        case pausing
        /// The member is at `expect`, waiting for bytes.
        case expecting
        /// The member's script has ended.
        case done
        case failed
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let everConnected = Flags(rawValue: 1)
        /// The kernel may have bytes, a FIN or an RST that can be read.
        static let readable = Flags(rawValue: 2)
        static let stopsReading = Flags(rawValue: 4)
        /// The peer's FIN has been received.
        static let atEnd = Flags(rawValue: 8)
        /// The member has reached the end of its script.
        static let wasDone = Flags(rawValue: 16)
        /// The member has completed the first round of a `repeat`.
        static let hasRepeated = Flags(rawValue: 32)
        /// `ignore rest` applies to the current connection.
        static let ignoresRest = Flags(rawValue: 64)
        /// At least one of the member's connections ended with bytes that no statement had consumed.
        static let hadRest = Flags(rawValue: 128)
    }

    var state = State.waitingToStart
    var connection = Connection.none
    var flags: Flags = []
    var instruction: Int32 = 0
    /// The index of the current piece of a send, and the number of bytes of that piece that have been written.
    var piece: Int32 = 0
    var written: Int32 = 0
    /// The index of the `read N every D` instruction that is in effect; -1 if there is none.
    var slowReading: Int32 = -1
    /// The number of bytes in ``input`` that were consumed, and the number that were examined without a match.
    var taken: Int32 = 0
    var scanned: Int32 = 0
    /// The time at which the current step was due, in nanoseconds of CLOCK_MONOTONIC.
    var due: Int64 = 0
    /// The time at which the member wakes up, at the end of a pause or at a deadline; `Int64.max` for never.
    var wakes: Int64 = .max
    /// The time at which a member that reads slowly reads again; `Int64.max` for never.
    var reads: Int64 = .max
    /// The received bytes that no `expect` has consumed. If no `expect` follows, only the first bytes are kept.
    var input: [UInt8] = []
    /// The number of further bytes that were received but not kept in ``input``.
    var surplus = 0
}
