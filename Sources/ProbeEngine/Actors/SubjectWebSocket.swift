import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeTransport

/// The control frames that a subject is asked to send (RFC 6455, section 5.5).
struct SubjectWebSocket {
    let context: CaseContext

    /// Returns the operation that sends a control frame, and its text for the timeline; `nil` for any other action.
    ///
    /// - Throws: an error if a value can't be computed or isn't a valid close code.
    func operation(_ action: SubjectAction) throws(Finding) -> (value: SubjectOperation, text: String)? {
        switch action {
        case .ping(let value):
            let payload = try context.payload(of: value) ?? []
            return (.ping(payload), "ping \(Escaped.phrase(payload))")
        case .closeFrame(let code, let reason):
            let number = try code.map { (code) throws(Finding) in try context.integer(of: code, as: UInt16.self) }
            let text = number.map { "close \($0)" } ?? "close"
            return (.close(code: number, reason: try context.payload(of: reason) ?? []), text)
        default: return nil
        }
    }
}

extension CaseContext {
    /// Returns the bytes of a value; `nil` if there is no value.
    func payload(of expression: Expression?) throws(Finding) -> [UInt8]? {
        try expression.map { (expression) throws(Finding) in try bytes(of: expression) }
    }
}
