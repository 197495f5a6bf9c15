/// What a subject may be able to do, as `require subject …` names it.
package enum Capability: String, Sendable, CaseIterable {
    case connect, listen, send, lines, data, messages
    case halfClose = "half-close"
    case stop
    case stopReading = "stop-reading"
    case resumeReading = "resume-reading"
    case sent, leftover, reads, tls
    case startTLS = "start-tls"
    case connectTimeout = "connect-timeout"
    case idleTimeout = "idle-timeout"
    case maxLine = "max-line"
}
