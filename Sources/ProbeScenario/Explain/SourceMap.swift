/// The files of one scenario. A span refers to its file by the file's index.
package struct SourceMap: Sendable {
    package private(set) var files: [SourceFile]

    package init(_ files: [SourceFile]) {
        self.files = files
    }

    /// Adds a file and returns the index by which spans refer to it.
    package mutating func add(_ file: SourceFile) -> Int {
        files.append(file)
        return files.count - 1
    }

    /// Returns the file that a span points into; `nil` if the span belongs to another map.
    package func file(of span: SourceSpan) -> SourceFile? {
        files.indices.contains(span.file) ? files[span.file] : nil
    }

    /// Returns the start of a span; line 1, column 1 if the span belongs to another map.
    package func location(of span: SourceSpan) -> SourceLocation {
        guard let file = file(of: span) else { return SourceLocation(path: "", line: 1, column: 1) }
        let (line, column) = file.lineAndColumn(at: span.start)
        return SourceLocation(path: file.path, line: line, column: column)
    }

    /// Returns the text of a span, with invalid UTF-8 replaced.
    package func text(of span: SourceSpan) -> String {
        guard let file = file(of: span) else { return "" }
        let start = min(max(0, span.start), file.bytes.count)
        let end = min(max(start, span.end), file.bytes.count)
        return String(decoding: file.bytes[start..<end], as: UTF8.self)
    }
}

/// A human-readable place in a script.
package struct SourceLocation: Sendable, Hashable, CustomStringConvertible {
    package var path: String
    /// The line number, starting at 1.
    package var line: Int
    /// The column, counted from 1 in Unicode scalars; a tab is one column.
    package var column: Int

    package init(path: String, line: Int, column: Int) {
        self.path = path
        self.line = line
        self.column = column
    }

    /// The place in the form `path:line:column`.
    package var description: String { "\(path):\(line):\(column)" }
}
