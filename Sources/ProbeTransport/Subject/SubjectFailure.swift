/// What is wrong with the program of a subject (not with the transport that it tests).
package struct SubjectFailure: Error, Sendable, Equatable {
    /// One line.
    package var summary: String
    /// Facts, a line each, safe to print: what it said, its exit, its last words on stderr.
    package var details: [String]

    package init(_ summary: String, details: [String] = []) {
        self.summary = summary
        self.details = details
    }
}
