package import ProbeEvents

/// Writes what the run came to as expectations of the next one; see ``ExpectationsText``.
package struct ExpectationsRecorder: Recorder {
    private var matrix: ResultMatrix
    private let old: ExpectationsFile?
    private let filteredAway: Set<String>

    /// - Parameter planned: every case of the run by every subject.
    /// - Parameter old: the file that is there now, whose comments are kept.
    /// - Parameter filteredAway: ids of cases that `--filter` or `--tag` left out.
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
        case .started, .message, .caseStarted: break
        }
        return []
    }
}
