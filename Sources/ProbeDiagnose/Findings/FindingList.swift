import ProbeBase

/// Collects the findings of one flow.
struct FindingList {
    let context: FlowContext
    private(set) var findings: [Finding] = []

    init(_ context: FlowContext) { self.context = context }

    /// Adds a finding. If packets are missing from the capture, the finding is less certain and at most a warning.
    mutating func add(
        _ id: FindingID, _ severity: FindingSeverity, _ certainty: FindingCertainty, _ side: FindingSide,
        _ evidence: Evidence, _ sentence: String, next: String, rivals: [String] = [],
        numbers: [(key: String, value: JSONValue)] = [], explains time: Int64 = 0
    ) {
        var (severity, certainty) = (severity, certainty)
        var rivals = rivals
        if context.hasCaptureLosses || context.isOneDirection, !id.isAboutCapture {
            severity = max(severity, .warning)
            certainty = certainty.weaker
            rivals.append("packets that the capture doesn't contain")
        }
        if certainty == .possible { severity = .note }
        if certainty == .certain { rivals = [] }
        findings.append(
            Finding(
                id: id, severity: severity, certainty: certainty, side: side, evidence: evidence.packets,
                sentence: sentence, next: next, rivals: rivals, numbers: numbers, explained: max(0, time)))
    }

    /// Returns a duration for a sentence.
    func text(_ time: Int64) -> String { DurationText.text(nanoseconds: max(0, time)) }

    /// Returns a share for a sentence: `12 %`.
    func percent(_ share: Double) -> String {
        let value = share * 100
        return value >= 10 || value == 0
            ? "\(Int(value.rounded())) %" : "\(DurationText.fixed(value, digits: value < 0.1 ? 2 : 1)) %"
    }

    func count(_ number: Int, _ noun: String) -> String { ByteText.count(number, noun) }
}

/// Durations in nanoseconds.
enum Time {
    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000
}
