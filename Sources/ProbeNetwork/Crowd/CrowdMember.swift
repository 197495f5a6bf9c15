/// One member of a crowd. There may be a hundred thousand, so it is small.
struct CrowdMember {
    enum Connection: UInt8 {
        case none, connecting, open
    }

    /// What it does at its instruction.
    enum State: UInt8 {
        /// Its script has not begun.
        case waitingToStart
        /// It goes on as soon as it is looked at.
        case running
        /// `connect`: for its turn.
        case queued
        /// `connect`
        case connecting
        /// `send`: until the kernel takes more.
        case blocked
        /// `wait`, and the pause behind a piece.
        case pausing
        /// `expect`
        case expecting
        /// Its script has ended.
        case done
        case failed
    }

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let everConnected = Flags(rawValue: 1)
        /// The kernel may have bytes, or an end.
        static let readable = Flags(rawValue: 2)
        static let stopsReading = Flags(rawValue: 4)
        /// The peer's FIN has come.
        static let atEnd = Flags(rawValue: 8)
        /// It has come to the end of its script.
        static let wasDone = Flags(rawValue: 16)
        /// It has been through a `repeat` once.
        static let hasRepeated = Flags(rawValue: 32)
        /// `ignore rest` on its connection.
        static let ignoresRest = Flags(rawValue: 64)
        /// One of its connections ended with bytes that nothing had consumed.
        static let hadRest = Flags(rawValue: 128)
    }

    var state = State.waitingToStart
    var connection = Connection.none
    var flags: Flags = []
    var instruction: Int32 = 0
    /// Of a send: the piece, and how much of it is written.
    var piece: Int32 = 0
    var written: Int32 = 0
    /// The `read N every D` that it keeps to; -1: none.
    var slowReading: Int32 = -1
    /// Of ``input``: what was taken, and what was looked at in vain.
    var taken: Int32 = 0
    var scanned: Int32 = 0
    /// When its step was due, in nanoseconds of CLOCK_MONOTONIC.
    var due: Int64 = 0
    /// What wakes it: the end of a pause, or a deadline; `Int64.max`: nothing.
    var wakes: Int64 = .max
    /// Of slow reading: when it reads again.
    var reads: Int64 = .max
    /// What was received and no `expect` has taken; only the first bytes where none is to come.
    var input: [UInt8] = []
    /// The number of bytes that followed, where only the first were kept.
    var surplus = 0
}
