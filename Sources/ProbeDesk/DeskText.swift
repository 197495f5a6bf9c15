import ProbeBase
import ProbeEvents
import ProbeReport
import ProbeScenario

/// The texts that an interactive session shows.
enum DeskText {
    /// Returns the text of `help`, which is intended for new users: it refers to other pages for the language and its
    /// steps.
    static func help(isServer: Bool) -> String {
        """
        Type a step of the language (`tcpprobe explain STEP` describes each step). Any other text is sent as a line.

          send line "EHLO x"        or send "a" + "b" in pieces of 1B every 5ms
          expect line /^250/        expect the next line; other steps consume all lines shown so far
          stop reading              or resume reading, read 1B every 10ms
          half-close, close, reset  end the connection from this side
          \(isServer ? "accept, accept as D       accept the next connection" : "connect                   connect again, after `close`")
          wait 1s, note "…"         all other steps work too; with several connections, begin with a name
          for i in 1..3 {           a block is read up to its `}`

        An empty line is sent if the previous line was sent; otherwise, it is ignored. A line that begins with # is ignored.

          wire                      show the packets so far
          save session.scn          save the session as a scenario
          help, quit                Ctrl-D also ends the session; Ctrl-C cancels a waiting step

        """
    }

    /// Returns a function that shows text: above the line that is being typed if lines can be edited, otherwise on
    /// `output`.
    static func output(to input: LineInput, _ output: any DeskOutput) -> @Sendable (String) -> Void {
        if case .edited = input.mode { return { input.show($0) } }
        return { output.write($0) }
    }

    /// Describes a problem with a typed line.
    ///
    /// - Parameter text: the step; `nil` if the line was not typed as a step.
    static func problem(_ problem: SessionScript.Problem, typed text: String?, actor: String) -> String {
        guard let text, !text.contains("\n") else { return problem.text }
        let words = text.hasPrefix("\(actor) ") ? String(text.dropFirst(actor.count + 1)) : text
        return problem.text
            + "  hint: use `send line \(Escaped.literal(Array(words.utf8)))` to send these words as a line\n"
    }

    /// Describes why a step failed, without the step's location, because the step is the line that was just typed.
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
