import ProbeBase
import ProbeScenario

/// An `expect` of a connection, with all its values computed.
enum ResolvedConnectionExpectation {
    /// Bytes, lines, messages, ends.
    case input(ExpectedInput)
    case urgent([UInt8])
    case nothing(for: Duration)
    case stalled(for: Duration)
    /// - Parameters:
    ///   - count: the number of bytes of the send.
    ///   - patience: the time without progress after which the send has failed.
    case sent(count: Int, patience: Duration)
    case sendFailed(reason: String?)

    /// What is awaited, in words.
    var description: String {
        switch self {
        case .input(let input): input.description
        case .urgent(let bytes): "urgent \(Escaped.phrase(bytes))"
        case .nothing(let duration): "nothing for \(DurationText.script(duration))"
        case .stalled(let duration): "the send to stall for \(DurationText.script(duration))"
        case .sent(let count, _): "the kernel to take \(count) bytes"
        case .sendFailed: "the send to fail"
        }
    }

    /// The name of the event when its time is judged.
    var eventName: String {
        switch self {
        case .sent: "the end of the send"
        case .sendFailed: "the failure of the send"
        case .input, .urgent, .nothing, .stalled: description
        }
    }

    /// Whether it expects the end of the connection.
    var isEnd: Bool { if case .input(let input) = self { input.isEnd } else { false } }

    /// Whether it is meaningless for a connection without TLS.
    var isOfTLS: Bool {
        switch self {
        case .input(.notify), .input(.truncated), .input(.alert): true
        case .input, .urgent, .nothing, .stalled, .sent, .sendFailed: false
        }
    }

    /// Whether it expects raw bytes. While they are awaited, no `whenever` takes lines.
    var isRaw: Bool { if case .input(let input) = self { input.isRaw } else { false } }

    var isSent: Bool { if case .sent = self { true } else { false } }
}
