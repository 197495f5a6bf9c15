import ProbeBase
import ProbeNetwork
import ProbeSystem

/// One worker of a crowd: a process of this tool. It reads what to do from its stdin and answers on its stdout, a line of JSON each.
///
/// Confined to the case's reactor.
final class CrowdWorkerProcess {
    let child: ChildProcess
    /// What it listens on is there, or its members can begin.
    private(set) var isReady = false
    /// Its members have closed.
    private(set) var hasStopped = false
    /// The case lets it end.
    private(set) var isDismissed = false
    /// What it says is wrong.
    private var complaint: String?
    private var lastErrors: [String] = []

    private var asked = 0
    private var answered = 0
    private var answers: [Int: CrowdSnapshot] = [:]
    /// When it stood still, as far as its answers say so.
    private(set) var standstills = Standstills()
    /// When its last answer came, or else when it was started.
    private(set) var lastHeard = MonotonicTime.now
    /// The next line of its output.
    private var next = 0
    /// The beginning of a line that came in parts.
    private var part: [UInt8] = []

    init(_ child: ChildProcess, _ order: CrowdOrder) {
        self.child = child
        tell(order.json)
    }

    // MARK: What it is told

    /// - Parameter moment: when its first member begins.
    func begin(at moment: MonotonicTime) {
        tell(.object([("do", .string("begin")), ("at", .integer(Int(moment.nanoseconds)))]))
    }

    /// It closes its listener, and keeps the connections that it has. There is no answer.
    func stopListening() { tell(.object([("do", .string("stopListening"))])) }

    func stop() { tell(.object([("do", .string("stop"))])) }

    /// - Parameter rests: also about bytes that no statement has consumed so far.
    /// - Returns: the number of the question, by which its answer is taken.
    func ask(latencies: Bool, rests: Bool = false) -> Int {
        tell(
            .object([
                ("do", .string("snapshot")), ("latencies", .boolean(latencies)), ("rests", .boolean(rests)),
            ]))
        asked += 1
        return asked - 1
    }

    /// Whether a question is answered.
    func hasAnswer(_ question: Int) -> Bool { answers[question] != nil }

    var hasAnsweredAll: Bool { answered == asked }

    /// Whether it can still answer, and has not answered all.
    var owesAnswer: Bool { !hasAnsweredAll && !isDismissed && child.exit == nil }

    func takeAnswer(_ question: Int) -> CrowdSnapshot? { answers.removeValue(forKey: question) }

    /// It resets its members, and ends.
    func dismiss() {
        isDismissed = true
        child.closeInput()
    }

    private func tell(_ message: JSONValue) { child.write(message.encoded(.ascii) + [UInt8(ascii: "\n")]) }

    // MARK: What it says

    /// Why it can't go on; nil while all is well.
    var problem: String? {
        if isDismissed { return nil }
        if let complaint { return complaint }
        guard let exit = child.exit else { return nil }
        let end =
            switch exit {
            case .status(let code): "ended with status \(code)"
            case .signal(let number): "was ended by signal \(number)"
            }
        return lastErrors.isEmpty ? end : "\(end): \(lastErrors.joined(separator: " / "))"
    }

    /// Reads what it has said since the last time.
    func look() {
        let log = child.outputLog
        next = max(next, log.dropped)
        while let line = log[next], line.isComplete || child.exit != nil {
            next += 1
            part += line.bytes
            if line.isBroken { continue }
            take(part, isError: line.stream == .error)
            part = []
        }
    }

    private func take(_ line: [UInt8], isError: Bool) {
        if isError {
            lastErrors = Array((lastErrors + [Escaped.text(line)]).suffix(3))
            return
        }
        let message: JSONValue
        do throws(JSONError) {
            message = try JSONParser.parse(line.span)
        } catch {
            complaint = complaint ?? "said what is no JSON: \(Escaped.phrase(Array(line.prefix(200))))"
            return
        }
        if let text = message["error"]?.text {
            complaint = "can't go on: \(Escaped.text(text.utf8))"
        } else if message["ready"] != nil {
            isReady = true
        } else if message["stopped"] != nil {
            hasStopped = true
        } else if let snapshot = CrowdSnapshot(json: message) {
            answers[answered] = snapshot
            lastHeard = .now
            for (from, to) in snapshot.standstills.all(from: MonotonicTime(nanoseconds: 0)) {
                standstills.add(from: from, to: to)
            }
            answered += 1
        } else {
            complaint = complaint ?? "said what no crowd says: \(Escaped.phrase(Array(line.prefix(200))))"
        }
    }
}
