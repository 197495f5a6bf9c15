package import ProbeEvents

/// Writes the results of a run as an expectations file for later runs; see ``ExpectationsText``.
package struct ExpectationsRecorder: Recorder {
    private var matrix: ResultMatrix
    private let old: ExpectationsFile?
    private let filteredAway: Set<String>

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run, once for each subject.
    ///   - old: the existing file, whose comments are preserved.
    ///   - filteredAway: the ids of the cases that `--filter` or `--tag` excluded.
    package init(
        planned: [PlannedCase], options: ReportOptions, old: ExpectationsFile?, filteredAway: Set<String>
    ) {
        matrix = ResultMatrix(planned: planned, options: options, timelineLimit: nil)
        self.old = old
        self.filteredAway = filteredAway
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .caseEnded(let result): matrix.add(result)
        case .ended: return Array(ExpectationsText(matrix, old: old) { filteredAway.contains($0) }.text.utf8)
        case .started, .message, .caseStarted, .exploring: break
        }
        return []
    }
}
