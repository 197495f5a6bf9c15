import ProbeBase
import ProbeEvents
import ProbeReport
import ProbeScenario

/// The messages of a session.
enum DeskText {
    /// Returns the text of `help`, for a user who has just started: the language has its own page, and each step an
    /// explanation.
    static func help(isServer: Bool) -> String {
        """
        A line is a step of the language: `tcpprobe explain STEP` tells about each. Any other text is sent as a line.

          send line "EHLO x"        send "a" + "b" in pieces of 1B every 5ms
          expect line /^250/        the next line that was not looked at; what was shown before you act counts as seen
          stop reading              resume reading, read 1B every 10ms
          half-close, close, reset  how this side ends it
          \(isServer ? "accept, accept as D       takes the next connection" : "connect                   once more, behind `close`")
          wait 1s, note "…"         and every other step: with several connections their names stand in front
          for i in 1..3 {           a block is read up to its `}`

        An empty line is sent behind one that was; else it does nothing. A line that begins with # does nothing.

          wire                      the packets so far
          save session.scn          what was done, as a scenario
          help, quit                Ctrl-D ends it too, Ctrl-C a step that waits

        """
    }

    /// Returns a function that shows text: above the line that is being typed if lines are edited, otherwise on
    /// `output`.
    static func output(to input: LineInput, _ output: any DeskOutput) -> @Sendable (String) -> Void {
        if case .edited = input.mode { return { input.show($0) } }
        return { output.write($0) }
    }

    /// Describes a problem with a typed line.
    ///
    /// - Parameter text: the step; `nil` if it was not typed as one.
    static func problem(_ problem: SessionScript.Problem, typed text: String?, actor: String) -> String {
        guard let text, !text.contains("\n") else { return problem.text }
        let words = text.hasPrefix("\(actor) ") ? String(text.dropFirst(actor.count + 1)) : text
        return problem.text
            + "  hint: `send line \(Escaped.literal(Array(words.utf8)))` sends these words as a line\n"
    }

    /// Describes why a step failed, without its place, because it is the line that was just typed.
    static func finding(_ finding: Finding, in plan: Plan, paint: Paint) -> String {
        var finding = finding
        finding.actors = []
        let result = CaseResult(
            id: "session", path: "session", sources: plan.sources, title: "", about: nil, because: [], level: .must,
            tags: [], subject: nil, verdict: finding.verdict, findings: [finding], timeline: [], duration: 0,
            capturePath: nil, rerun: "")
        var text = FindingText.text(finding, result).drop { $0 == " " }
        if text.hasPrefix("session"), let place = text.firstRange(of: ": ") { text = text[place.upperBound...] }
        return paint(.verdict(finding.verdict), "\(finding.verdict.rawValue):") + " \(text)"
    }
}
