import ProbeBase
import ProbeCrowd
import ProbeSystem

/// A worker of a crowd: a process of `tcpprobe-crowd`. It reads commands from stdin and writes answers to stdout. Each
/// command and each answer is one line of JSON.
///
/// Confined to the case's reactor.
final class CrowdWorkerProcess {
    let child: ChildProcess
    /// Whether the worker is ready, that is, whether its listener exists or its members can begin.
    private(set) var isReady = false
    /// Whether the worker's members have closed their connections.
    private(set) var hasStopped = false
    /// Whether the case has asked the worker to end.
    private(set) var isDismissed = false
    /// The error that the worker has reported, or that its output shows.
    private var complaint: String?
    private var lastErrors: [String] = []

    private var asked = 0
    private var answered = 0
    private var answers: [Int: CrowdSnapshot] = [:]
    /// The worker's stalls, as reported in its answers.
    private(set) var standstills = Standstills()
    /// The time at which the last answer arrived; before the first answer, the time at which the worker was started.
    private(set) var lastHeard = MonotonicTime.now
    /// The number of the next line to read from the worker's output.
    private var next = 0
    /// The beginning of a line that the output log has split into several entries.
    private var part: [UInt8] = []

    init(_ child: ChildProcess, _ order: CrowdOrder) {
        self.child = child
        send(order.json)
    }

    // MARK: Commands

    /// Starts the members.
    ///
    /// - Parameter moment: the time at which the first member begins.
    func begin(at moment: MonotonicTime) {
        send(.object([("do", .string("begin")), ("at", .integer(Int(moment.nanoseconds)))]))
    }

    /// Closes the worker's listener and keeps its connections. The worker sends no answer.
    func stopListening() { send(.object([("do", .string("stopListening"))])) }

    func stop() { send(.object([("do", .string("stop"))])) }

    /// Asks the worker for a snapshot of its members' state.
    ///
    /// - Parameter rests: whether to include bytes that no statement has consumed so far.
    /// - Returns: the number of the question, which identifies its answer.
    func ask(latencies: Bool, rests: Bool = false) -> Int {
        send(
            .object([
                ("do", .string("snapshot")), ("latencies", .boolean(latencies)), ("rests", .boolean(rests)),
            ]))
        asked += 1
        return asked - 1
    }

    /// Returns whether a question has been answered.
    func hasAnswer(_ question: Int) -> Bool { answers[question] != nil }

    var hasAnsweredAll: Bool { answered == asked }

    /// Whether there are unanswered questions that the worker can still answer.
    var hasUnansweredQuestion: Bool { !hasAnsweredAll && !isDismissed && child.exit == nil }

    func takeAnswer(_ question: Int) -> CrowdSnapshot? { answers.removeValue(forKey: question) }

    /// Makes the worker reset the connections of its members and exit.
    func dismiss() {
        isDismissed = true
        child.closeInput()
    }

    private func send(_ message: JSONValue) { child.write(message.encoded(.ascii) + [UInt8(ascii: "\n")]) }

    // MARK: Answers

    /// The reason why the worker can't continue; `nil` if it can.
    var problem: String? {
        if isDismissed { return nil }
        if let complaint { return complaint }
        guard let exit = child.exit else { return nil }
        let end = ExitText.describe(exit)
        return lastErrors.isEmpty ? end : "\(end): \(lastErrors.joined(separator: " / "))"
    }

    /// Reads the output that the worker has written since the last call.
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
            complaint = complaint ?? "printed invalid JSON: \(Escaped.phrase(Array(line.prefix(200))))"
            return
        }
        if let text = message["error"]?.text {
            complaint = "can't continue: \(Escaped.text(text.utf8))"
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
            complaint = complaint ?? "printed an unknown message: \(Escaped.phrase(Array(line.prefix(200))))"
        }
    }
}
