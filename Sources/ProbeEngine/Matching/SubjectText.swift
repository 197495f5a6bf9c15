import ProbeBase
import ProbeEvents
import ProbeTransport

/// Describes a subject's reports in the words that scripts use.
enum SubjectText {
    static func describe(_ event: SubjectReport.Event) -> String {
        switch event {
        case .started: "started"
        case .secured(let version, let name):
            "secured: TLS \(version.rawValue)" + (name.map { ", alpn \(Escaped.text($0))" } ?? "")
        case .accepted: "accept"
        case .line(let bytes): "line \(Escaped.phrase(bytes))"
        case .message(let bytes, let kind):
            "message " + (kind.map { "\($0.rawValue) " } ?? "") + Escaped.phrase(bytes)
        case .ping(let bytes): "ping \(Escaped.phrase(bytes))"
        case .pong(let bytes): "pong \(Escaped.phrase(bytes))"
        case .data(let bytes): "data \(Escaped.phrase(bytes))"
        case .leftover(let bytes): "leftover \(Escaped.phrase(bytes))"
        case .sent(let count): "sent \(count)"
        case .halfClosed: "half-closed"
        case .discarded: "discarded"
        case .full: "full"
        case .drained: "drained"
        case .lost(let reason, let dropped, let detail):
            "lost \(word(reason))" + (dropped == 0 ? "" : ", \(ByteText.count(dropped, "byte")) dropped")
                + words(in: detail)
        case .attemptFailed(let reason, let detail): "attempt-failed \(word(reason))" + words(in: detail)
        case .stopped(let reason, let detail): "stopped \(word(reason))" + words(in: detail)
        case .output(let line): "stderr \(Escaped.phrase(line))"
        case .broken(let failure): "broken: \(failure.summary)"
        }
    }

    /// Returns the detail of a reason, in parentheses.
    private static func words(in detail: String?) -> String {
        guard let detail, !detail.isEmpty else { return "" }
        return " (\(Escaped.text(detail.utf8)))"
    }

    /// Returns a stop reason in the notation of `expect stopped`, such as `eof` or `closed 1001`.
    static func word(_ reason: StopReason) -> String {
        guard case .closed(let code) = reason, let code else { return reason.word }
        return "\(reason.word) \(code)"
    }

    static func payload(_ event: SubjectReport.Event) -> [UInt8]? {
        switch event {
        case .line(let bytes), .message(let bytes, _), .data(let bytes), .leftover(let bytes), .ping(let bytes),
            .pong(let bytes):
            bytes
        default: nil
        }
    }

    /// Returns the kind of an event, such as `line` or `leftover`.
    static func kind(_ event: SubjectReport.Event) -> String {
        switch event {
        case .line: "line"
        case .message: "message"
        case .ping: "ping"
        case .pong: "pong"
        case .data: "data"
        case .leftover: "leftover"
        case .sent: "sent"
        case .halfClosed: "half-closed"
        case .discarded: "discarded"
        case .full: "full"
        case .drained: "drained"
        case .lost: "lost"
        case .attemptFailed: "attempt-failed"
        case .started: "started"
        case .secured: "secured"
        case .accepted: "accept"
        case .stopped: "stopped"
        case .output: "stderr"
        case .broken: "broken"
        }
    }

    /// Returns a note with the detail that the subject reported, if any.
    static func words(_ detail: String?) -> [String] {
        guard let detail, !detail.isEmpty else { return [] }
        return ["it reported: \(Escaped.text(detail.utf8))"]
    }
}
