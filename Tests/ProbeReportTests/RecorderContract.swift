import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

/// Verifies the requirements on every report, regardless of its format. `AdditionsTests` checks that the tests of each
/// recorder use it.
enum RecorderContract {
    /// Verifies that a report never contains invisible characters from untrusted text, or characters that change the
    /// direction of the text. Also verifies that a recorder writes the same report whether it is used alone or in a
    /// `RecorderSet`.
    ///
    /// - Parameter recorder: a function that creates the recorder for a run of the given cases.
    static func verify(_ recorder: ([PlannedCase], ReportOptions) -> any Recorder) {
        let options = ReportOptions.sample(severalSubjects: true)
        for bytes in EscapingTests.hostile {
            let text = String(decoding: bytes, as: UTF8.self)
            let planned = [PlannedCase(id: text, path: text, subject: text, title: text, because: [text], tags: [text])]
            let written = document(EscapingTests.events(bytes), recorder(planned, options))
            let unsafe = written.unicodeScalars.filter { $0 != "\n" && !EscapingTests.isVisible($0) }
            #expect(unsafe.map { String($0.value, radix: 16) } == [], "\(text.debugDescription)")
        }
        let sink = RecorderSetTests.Sink()
        var set = RecorderSet(planned: Samples.planned, rules: options.rules)
        set.attach(recorder(Samples.planned, options)) { sink.write($0) }
        for event in Samples.events { set.record(event, at: 0) }
        #expect(sink.text == document(Samples.events, recorder(Samples.planned, options)))
    }

    private static func document(_ events: [RunEvent], _ recorder: any Recorder) -> String {
        var recorder = recorder
        return String(decoding: events.flatMap { recorder.record($0, at: 0) }, as: UTF8.self)
    }
}
