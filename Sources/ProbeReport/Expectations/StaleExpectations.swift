package import ProbeEvents
import ProbeScenario

/// The lines of expectations files that match no case of the run. They are reported, because otherwise the user would
/// not notice that they are stale.
package enum StaleExpectations {
    /// The maximum number of lines that are listed for each file; the other lines are only counted.
    private static let limit = 10

    /// Returns a sentence for each stale line. A line is not stale if a filter excluded its case.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run, once for each subject.
    ///   - filteredAway: the ids of the cases that `--filter` or `--tag` excluded.
    package static func notes(
        _ files: [ExpectationsFile], planned: [PlannedCase], filteredAway: Set<String>
    ) -> [String] {
        let keys = Set(planned.map(\.key))
        let ids = Set(planned.map(\.id))
        let subjects = Set(planned.compactMap(\.subject))
        return files.flatMap { file in
            var notes: [String] = []
            var left = 0
            var absent: [String: Int] = [:]
            for line in file.lines {
                let expected = line.expected
                if keys.contains(expected.key) || filteredAway.contains(expected.key.id) { continue }
                if let subject = expected.key.subject, !subjects.contains(subject) {
                    absent[subject, default: 0] += 1
                    continue
                }
                if notes.count < limit {
                    notes.append("\(expected.place): \(reason(expected.key, ids))")
                } else {
                    left += 1
                }
            }
            if left > 0 { notes.append("\(file.source.path): \(left) more lines do not match any case of this run") }
            for (subject, count) in absent.sorted(by: { $0.key < $1.key }) {
                let lines = count == 1 ? "1 line is" : "\(count) lines are"
                let near = Suggestion.nearest(to: subject, among: subjects.sorted())
                notes.append(
                    "\(file.source.path): \(lines) about \(subject), which is not a subject of this run"
                        + (near.map { "; did you mean \($0)?" } ?? ""))
            }
            return notes
        }
    }

    private static func reason(_ key: CaseKey, _ ids: Set<String>) -> String {
        if ids.contains(key.id) {
            return key.subject == nil
                ? "\(key.id) tests a subject; write its name instead of \(ExpectationsFile.noSubject)"
                : "\(key.id) tests no subject; write \(ExpectationsFile.noSubject) instead of the name"
        }
        // The ids in the run are shorter than those in the expectations file if only one folder of the suite was run.
        if let short = ids.filter({ key.id.hasSuffix("/\($0)") }).max(by: { $0.count < $1.count }) {
            return "this run has no case \(key.id), but has \(short): ids are relative to the given folder; "
                + "use `--filter` to run only a part of that folder"
        }
        let near = Suggestion.nearest(to: key.id, among: ids.sorted())
        return "this run has no case \(key.id)" + (near.map { "; did you mean \($0)?" } ?? "")
    }
}
