import ProbeBase
import ProbeEvents
import ProbeScenario

/// Collects the overview of a run for the top of its page: crowds, and the cases that did not pass, that took longest
/// or that had several verdicts. Memory is bounded.
struct RunOverview: Sendable {
    struct Named: Sendable {
        var name: String
        /// The anchor of the result; `nil` if the result is not listed.
        var anchor: String?
        var look: CellAppearance
        /// The reason for the verdict, on one line.
        var summary: String
        /// The duration in nanoseconds.
        var duration: Int64
    }

    struct Rounds: Sendable {
        var name: String
        var counts: [Verdict: Int] = [:]

        var isFlaky: Bool { counts.count > 1 }
    }

    struct NamedCrowd: Sendable {
        var name: String
        var anchor: String?
        var crowd: CrowdResult
    }

    private static let maxSlow = 10
    private static let maxBad = 1000
    private static let maxCrowds = 40

    private let options: ReportOptions
    private(set) var bad: [Named] = []
    private(set) var badCount = 0
    private(set) var slowest: [Named] = []
    private(set) var crowds: [NamedCrowd] = []
    private(set) var crowdCount = 0
    private(set) var messages: [String] = []
    private var rounds: [CaseKey: Rounds] = [:]
    private var order: [CaseKey] = []
    private var scores: [String: Score] = [:]
    /// The subjects, in the order in which their first results arrived.
    private(set) var subjects: [String] = []

    init(options: ReportOptions) { self.options = options }

    mutating func note(_ message: String) { if messages.count < 1000 { messages.append(message) } }

    mutating func add(_ result: CaseResult, isListed: Bool) {
        let anchor = isListed ? CaseMarkup.anchor(of: result) : nil
        var cell = ResultMatrix.Cell()
        (cell.verdict, cell.disposition) = (result.verdict, options.disposition(of: result))
        let named = Named(
            name: options.name(of: result), anchor: anchor, look: CellAppearance(cell),
            summary: result.findings.first?.summary ?? "", duration: max(0, result.duration))
        if result.verdict < .unsupported || cell.disposition != .fine {
            badCount += 1
            if bad.count < Self.maxBad { bad.append(named) }
        }
        if slowest.count < Self.maxSlow || named.duration > (slowest.last?.duration ?? 0) {
            let place = slowest.firstIndex { $0.duration < named.duration } ?? slowest.count
            slowest.insert(named, at: place)
            if slowest.count > Self.maxSlow { slowest.removeLast() }
        }
        for crowd in result.crowds {
            crowdCount += 1
            if crowds.count < Self.maxCrowds {
                crowds.append(NamedCrowd(name: named.name, anchor: anchor, crowd: crowd))
            }
        }
        if let subject = result.subject {
            if scores[subject] == nil { subjects.append(subject) }
            scores[subject, default: Score()].count(result.verdict, level: result.level)
        }
        if result.round != nil, !result.isInterrupted { count(result) }
    }

    private mutating func count(_ result: CaseResult) {
        if rounds[result.key] == nil { order.append(result.key) }
        let name = options.name(id: result.id, subject: result.subject)
        rounds[result.key, default: Rounds(name: name)].counts[result.verdict, default: 0] += 1
    }

    /// Returns the number of earlier rounds in which the case had the verdict.
    func hasSeen(_ verdict: Verdict, of key: CaseKey) -> Int { rounds[key]?.counts[verdict] ?? 0 }

    /// The cases of a repeated run that did not have the same verdict in every round.
    var flaky: [Rounds] { order.compactMap { rounds[$0] }.filter(\.isFlaky) }

    func score(of subject: String) -> Score { scores[subject] ?? Score() }
}
