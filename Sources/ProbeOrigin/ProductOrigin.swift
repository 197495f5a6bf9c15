/// Which sources the programs were built from. A report of a bug needs it: many commits have the same version.
///
/// The commit is in a file that `Plugins/CommitPlugin` writes before each build. It is behind a function in a room of its own, so that another
/// commit compiles that file and links, and nothing else.
package enum ProductOrigin {
    /// The commit's name, 12 hexadecimal digits, with `-dirty` where a file had been changed; nil where it is not known, as in a build from
    /// a copy without git.
    package static var commit: String? {
        let text = commitOfTheSources()
        return text.isEmpty ? nil : text
    }

    /// What `--version` prints: `tcpprobe 0.1.0 (5060c143a1b2)`, and without the commit where it is not known.
    package static func line(program: String, version: String) -> String {
        line(program: program, version: version, commit: commit)
    }

    /// As `line(program:version:)`, of any commit.
    package static func line(program: String, version: String, commit: String?) -> String {
        guard let commit else { return "\(program) \(version)" }
        return "\(program) \(version) (\(commit))"
    }
}
