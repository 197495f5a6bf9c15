package import ProbeEvents

/// Writes the results of a run to a file, as a table of cases and subjects in HTML, Markdown or JSON.
package struct MatrixRecorder: Recorder {
    package enum Format: Sendable, CaseIterable {
        case html, markdown, json

        /// Chooses the format according to the extension of a path; `nil` for an unknown extension.
        package init?(path: String) {
            let name = path.lowercased()
            if name.hasSuffix(".html") || name.hasSuffix(".htm") {
                self = .html
            } else if name.hasSuffix(".md") || name.hasSuffix(".markdown") {
                self = .markdown
            } else if name.hasSuffix(".json") {
                self = .json
            } else {
                return nil
            }
        }
    }

    /// The maximum number of timeline lines for each failure.
    private static let timelineLimit = 200

    private let format: Format
    private let path: String
    private let options: ReportOptions
    private var matrix: ResultMatrix

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - path: the path of the file. Links to captures are relative to the file.
    ///   - planned: the cases of the run, once for each subject.
    package init(_ format: Format, path: String, planned: [PlannedCase], options: ReportOptions) {
        self.format = format
        self.path = path
        self.options = options
        matrix = ResultMatrix(planned: planned, options: options, timelineLimit: MatrixRecorder.timelineLimit)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .caseEnded(let result): matrix.add(result)
        case .ended(let summary): return document(summary)
        case .started, .message, .caseStarted, .exploring: break
        }
        return []
    }

    private func document(_ summary: RunSummary) -> [UInt8] {
        let folder = RelativePath.folder(of: path)
        return switch format {
        case .json: MatrixJSON(matrix: matrix, summary: summary, options: options).bytes
        case .markdown: Array(MatrixMarkdown(matrix: matrix, summary: summary, folder: folder).text.utf8)
        case .html: MatrixPage(matrix: matrix, summary: summary, options: options, folder: folder).bytes
        }
    }
}
