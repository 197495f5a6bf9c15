package import ProbeScenario

/// One entry of a case's timeline.
package struct TimelineEntry: Sendable {
    package enum Kind: Sendable {
        /// A step began. The text is the step's line in the script, and `values` are the values of the names in that
        /// line.
        case step(SourceSpan, String, values: [NamedText] = [])
        /// A step did not pass.
        case stepFailed(SourceSpan)
        /// A packet of one of the case's connections.
        case packet(TimelinePacket)
        /// A line that a process printed.
        case output(actor: String, isError: Bool, [UInt8])
        /// A report from a subject, the end of a connection, or the exit of a process.
        case event(actor: String, String)
        case note(String)
    }

    /// The time since the case began, in nanoseconds.
    package var time: Int64
    package var kind: Kind

    package init(time: Int64, kind: Kind) {
        self.time = time
        self.kind = kind
    }
}
