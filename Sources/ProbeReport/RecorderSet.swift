package import ProbeEvents

/// The recorders of one run: one for the console, and one for each report that was requested.
///
/// The set completes the summary before it passes the summary to the recorders, so that all reports agree. It adds the
/// cases that were not run, the failures that do not fail the run, and the reports that could not be written. The exit
/// code must be taken from ``summary``.
package struct RecorderSet: Sendable {
    private struct Output {
        var recorder: any Recorder
        var write: @Sendable ([UInt8]) throws -> Void
        /// The report's file; `nil` for a stream, which remains in use after the run has ended.
        var file: ReportFile?
        /// Whether a write has failed. If so, no further writes are attempted.
        var isBroken = false
    }

    private var outputs: [Output] = []
    private let planned: [PlannedCase]
    /// The times at which the running cases began. Two rounds of a case may run at the same time.
    private var running: [CaseKey: [Int64]] = [:]
    private var tally: RunTally
    private var runErrors: [String] = []
    /// The completed summary after ``RunEvent/ended(_:)``; `nil` before that event.
    package private(set) var summary: RunSummary?

    /// Creates a set without recorders.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run, listed once even if they are repeated.
    ///   - notes: sentences that are reported at the end of the run.
    package init(planned: [PlannedCase], rules: RunRules, notes: [String] = []) {
        self.planned = planned
        tally = RunTally(planned: planned, rules: rules, notes: notes)
    }

    /// Adds a recorder that writes to a stream, such as standard output.
    package mutating func attach(_ recorder: any Recorder, write: @escaping @Sendable ([UInt8]) throws -> Void) {
        outputs.append(Output(recorder: recorder, write: write))
    }

    /// Adds a report that is renamed to its final path only when the run has ended.
    package mutating func attach(_ recorder: any Recorder, to file: ReportFile) {
        outputs.append(Output(recorder: recorder, write: { try file.append($0) }, file: file))
    }

    /// Passes an event to all recorders.
    ///
    /// - Parameter time: the nanoseconds since the run began.
    package mutating func record(_ event: RunEvent, at time: Int64) {
        if summary != nil { return }
        switch event {
        case .started(let count): tally.caseCount = count
        case .caseStarted(let id, let subject): running[CaseKey(id: id, subject: subject), default: []].append(time)
        case .caseEnded(let result):
            tally.count(result)
            if running[result.key]?.isEmpty == false { running[result.key]?.removeFirst() }
            if running[result.key]?.isEmpty == true { running[result.key] = nil }
        case .ended(let summary):
            end(tally.complete(summary), at: time)
            return
        case .message, .exploring: break
        }
        for index in outputs.indices { deliver(event, to: index, at: time) }
    }

    /// Updates the progress that recorders show.
    package mutating func tick(at time: Int64) {
        if summary != nil { return }
        for index in outputs.indices { write(outputs[index].recorder.tick(at: time), to: index) }
    }

    /// Completes every report of a run that can't end normally, with the results that are available.
    ///
    /// - Parameter signal: the signal that ends the run; `nil` if an error ends it. The error is then in `runErrors`.
    package mutating func abort(signal: Int32?, runErrors: [String] = [], at time: Int64) {
        // A case that is still running has no verdict, so it is recorded as interrupted.
        if signal != nil, summary == nil {
            for item in planned {
                for start in running[item.key] ?? [] {
                    record(.caseEnded(item.interrupted(after: time - start)), at: time)
                }
            }
        }
        var summary = RunSummary()
        (summary.interruptedBy, summary.duration, summary.runErrors) = (signal, time, runErrors)
        record(.ended(summary), at: time)
    }

    // MARK: Writing

    /// Ends all reports. The files are ended first, so that errors in writing them can be reported on the streams.
    private mutating func end(_ summary: RunSummary, at time: Int64) {
        var summary = summary
        summary.runErrors += runErrors
        runErrors = []
        for index in outputs.indices where outputs[index].file != nil {
            deliver(.ended(summary), to: index, at: time)
            finish(index)
        }
        summary.runErrors += runErrors
        self.summary = summary
        for index in outputs.indices where outputs[index].file == nil { deliver(.ended(summary), to: index, at: time) }
    }

    private mutating func deliver(_ event: RunEvent, to index: Int, at time: Int64) {
        write(outputs[index].recorder.record(event, at: time), to: index)
    }

    private mutating func write(_ bytes: [UInt8], to index: Int) {
        if bytes.isEmpty || outputs[index].isBroken { return }
        let write = outputs[index].write
        attempt(index) { try write(bytes) }
    }

    private mutating func finish(_ index: Int) {
        guard !outputs[index].isBroken, let file = outputs[index].file else { return }
        attempt(index) { try file.finish() }
    }

    private mutating func attempt(_ index: Int, _ work: () throws -> Void) {
        do {
            try work()
        } catch {
            outputs[index].isBroken = true
            runErrors.append("\(error)")
        }
    }
}
