package import ProbeEvents

/// Several recorders over one run: the console, and a file for each report that was asked for.
///
/// Completes the summary on its way (which cases were not run, which failures do not count, what could not be written),
/// so that every report says the same; ``summary`` is the one to take the exit code from.
package struct RecorderSet: Sendable {
    private struct Output {
        var recorder: any Recorder
        var write: @Sendable ([UInt8]) throws -> Void
        /// nil: not a document, but a stream that goes on behind the run's end.
        var file: ReportFile?
        /// Writing failed: the rest is not tried.
        var isBroken = false
    }

    private var outputs: [Output] = []
    private let planned: [PlannedCase]
    /// When cases began that have not ended; one may run in two rounds at a time.
    private var running: [CaseKey: [Int64]] = [:]
    private var tally: RunTally
    private var runErrors: [String] = []
    /// Complete when ``RunEvent/ended(_:)`` was recorded; nil before.
    package private(set) var summary: RunSummary?

    /// - Parameter planned: every case of the run, once however often it is repeated.
    /// - Parameter notes: what is to be said when the run has ended.
    package init(planned: [PlannedCase], rules: RunRules, notes: [String] = []) {
        self.planned = planned
        tally = RunTally(planned: planned, rules: rules, notes: notes)
    }

    /// Adds a recorder whose text goes to a stream, such as standard output.
    package mutating func attach(_ recorder: any Recorder, write: @escaping @Sendable ([UInt8]) throws -> Void) {
        outputs.append(Output(recorder: recorder, write: write))
    }

    /// Adds a report that appears at its path when the run has ended, and not before.
    package mutating func attach(_ recorder: any Recorder, to file: ReportFile) {
        outputs.append(Output(recorder: recorder, write: { try file.append($0) }, file: file))
    }

    /// - Parameter time: nanoseconds since the run began.
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
        case .message: break
        }
        for index in outputs.indices { give(event, to: index, at: time) }
    }

    /// Time has passed: what is shown live is brought up to date.
    package mutating func tick(at time: Int64) {
        if summary != nil { return }
        for index in outputs.indices { write(outputs[index].recorder.tick(at: time), to: index) }
    }

    /// Completes every report of a run that will not end by itself, from what is known so far.
    ///
    /// - Parameter signal: what ends it; nil when something broke, which `runErrors` then name.
    package mutating func abort(signal: Int32?, runErrors: [String] = [], at time: Int64) {
        // What was running did not run to its end, and what it would have come to is not known.
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

    /// Files first: what goes wrong with them is said by the streams.
    private mutating func end(_ summary: RunSummary, at time: Int64) {
        var summary = summary
        summary.runErrors += runErrors
        runErrors = []
        for index in outputs.indices where outputs[index].file != nil {
            give(.ended(summary), to: index, at: time)
            finish(index)
        }
        summary.runErrors += runErrors
        self.summary = summary
        for index in outputs.indices where outputs[index].file == nil { give(.ended(summary), to: index, at: time) }
    }

    private mutating func give(_ event: RunEvent, to index: Int, at time: Int64) {
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
