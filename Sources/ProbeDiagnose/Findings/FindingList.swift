import ProbeBase

/// Collects the findings of one flow.
final class FindingList {
    let context: FlowContext
    private(set) var findings: [FlowFinding] = []
    /// Whether the findings are described. Most flows of a capture have only notes, and composing the sentences takes
    /// longer than finding them, so a caller that shows no notes omits the descriptions.
    private let isDescribed: Bool
    private let hasKnownRoles: Bool

    init(_ context: FlowContext, isDescribed: Bool) {
        self.context = context
        hasKnownRoles = context.hasKnownRoles
        self.isDescribed = isDescribed
    }

    /// Adds a finding. If packets that the evidence depends on are missing from the capture, the finding is made less
    /// certain and is at most a warning, unless it is a finding about the capture itself. A finding about a side whose
    /// role is only assumed is never certain.
    func add(
        _ id: FindingID, _ severity: FindingSeverity, _ certainty: FindingCertainty, _ side: FindingSide,
        _ evidence: @autoclosure () -> Evidence, _ sentence: @autoclosure () -> String,
        next: @autoclosure () -> String, rivals: @autoclosure () -> [String] = [],
        numbers: @autoclosure () -> [(key: String, value: JSONValue)] = [], explains time: Int64 = 0
    ) {
        var (severity, certainty) = (severity, certainty)
        var rivals = isDescribed ? rivals() : []
        let isWeakened =
            context.isOneDirection
            || (context.hasCaptureLosses
                && context.isTouchedByLosses(evidence().packets, of: id))
        if isWeakened, !id.isAboutCapture {
            severity = max(severity, .warning)
            certainty = certainty.weaker
            rivals.append("packets that the capture doesn't contain")
        }
        if !hasKnownRoles, side == .client || side == .server {
            certainty = max(certainty, .likely)
            rivals.append("exchanged roles: the capture doesn't show which side is the client")
        }
        if certainty == .possible { severity = .note }
        if certainty == .certain { rivals = [] }
        findings.append(
            FlowFinding(
                id: id, severity: severity, certainty: certainty, side: side,
                evidence: isDescribed ? evidence().packets : [], sentence: isDescribed ? sentence() : "",
                next: isDescribed ? next() : "", rivals: rivals, numbers: isDescribed ? numbers() : [],
                explained: max(0, time)))
    }
}

/// Durations in nanoseconds.
enum Time {
    /// Returns a time relative to `origin`, limited to 18 years, so that sums and small multiples of times can't overflow.
    static func relative(_ time: UInt64, to origin: UInt64) -> Int64 {
        min(max(DurationText.difference(from: origin, to: time), -1 << 59), 1 << 59)
    }

    static let millisecond: Int64 = 1_000_000
    static let second: Int64 = 1_000_000_000
}

/// A group of related checks, which adds its findings to a flow's list of findings.
protocol FindingGroup {
    var list: FindingList { get }
    /// Adds the findings for which the flow contains evidence.
    func find()
}

extension FindingGroup {
    var context: FlowContext { list.context }

    func add(
        _ id: FindingID, _ severity: FindingSeverity, _ certainty: FindingCertainty, _ side: FindingSide,
        _ evidence: @autoclosure () -> Evidence, _ sentence: @autoclosure () -> String,
        next: @autoclosure () -> String, rivals: @autoclosure () -> [String] = [],
        numbers: @autoclosure () -> [(key: String, value: JSONValue)] = [], explains time: Int64 = 0
    ) {
        list.add(
            id, severity, certainty, side, evidence(), sentence(), next: next(), rivals: rivals(), numbers: numbers(),
            explains: time)
    }

    /// Returns a duration as text for use in a sentence.
    func text(_ time: Int64) -> String { DurationText.text(nanoseconds: max(0, time)) }

    /// Returns a fraction as text for use in a sentence, such as `12 %`.
    func percent(_ share: Double) -> String {
        let value = share * 100
        return value >= 10 || value == 0
            ? "\(Int(value.rounded())) %" : "\(DurationText.fixed(value, digits: value < 0.1 ? 2 : 1)) %"
    }

    func count(_ number: Int, _ noun: String) -> String { ByteText.count(number, noun) }

    /// Returns a point in time as text for use in a sentence.
    func seconds(_ time: Int64) -> String { "\(DurationText.fixed(Double(time) / 1e9, digits: 3)) s" }

    /// Returns the fraction of a side's transfer time that was limited by the receive window; `nil` if the window was
    /// not the main limit.
    func isWindowLimited(_ side: ConversationSide) -> Double? {
        let sender = context.flow[side]
        guard sender.transferTime >= 200 * Time.millisecond else { return nil }
        let share = Double(sender.receiveWindowTime) / Double(sender.transferTime)
        return share >= 0.5 ? share : nil
    }

    /// Returns a size as text for use in a sentence.
    func size(_ bytes: Int) -> String {
        bytes >= 1 << 20
            ? "\(DurationText.fixed(Double(bytes) / Double(1 << 20), digits: 1)) MiB"
            : bytes >= 10 * 1024 ? "\(bytes / 1024) KiB" : count(bytes, "byte")
    }

    func rate(_ bytesPerSecond: Double) -> String {
        bytesPerSecond >= 1e6
            ? "\(DurationText.fixed(bytesPerSecond / 1e6, digits: 1)) MB/s"
            : bytesPerSecond >= 1e3
                ? "\(DurationText.fixed(bytesPerSecond / 1e3, digits: 1)) kB/s" : "\(Int(bytesPerSecond)) B/s"
    }
}
