/// One member of a crowd. It is small, because there may be a hundred thousand.
struct CrowdMember {
    enum Connection: UInt8 {
        case none, connecting, open
    }

    /// What a member is doing at its current instruction.
    enum State: UInt8 {
        /// The member's script has not begun.
        case waitingToStart
        /// The member continues as soon as it is run.
        case running
        /// `connect`: waiting for its turn.
        case queued
        /// `connect`: waiting for the connection.
        case connecting
        /// `send`: waiting until the kernel accepts more bytes.
        case blocked
        /// `wait`, or the pause after a piece.
        case pausing
        /// `expect`: waiting for received bytes.
        case expecting
        /// The member's script has ended.
        case done
        case failed
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let everConnected = Flags(rawValue: 1)
        /// The kernel may have bytes or an end to read.
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
        /// One of the member's connections ended with bytes that no statement had consumed.
        static let hadRest = Flags(rawValue: 128)
    }

    var state = State.waitingToStart
    var connection = Connection.none
    var flags: Flags = []
    var instruction: Int32 = 0
    /// The current piece of a send, and the number of its bytes that are written.
    var piece: Int32 = 0
    var written: Int32 = 0
    /// The instruction of the `read N every D` in force; -1 if there is none.
    var slowReading: Int32 = -1
    /// The numbers of bytes of ``input`` that were consumed, and that were examined without a match.
    var taken: Int32 = 0
    var scanned: Int32 = 0
    /// When the current step was due, in nanoseconds of CLOCK_MONOTONIC.
    var due: Int64 = 0
    /// When the member wakes up, at the end of a pause or at a deadline; `Int64.max` for never.
    var wakes: Int64 = .max
    /// When a member that reads slowly reads again; `Int64.max` for never.
    var reads: Int64 = .max
    /// The received bytes that no `expect` has consumed; only the first ones if no `expect` follows.
    var input: [UInt8] = []
    /// The number of further bytes, if only the first ones were kept.
    var surplus = 0
}
