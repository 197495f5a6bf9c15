/// The sources from which the programs were built. Bug reports need it because many commits have the same version.
///
/// The commit is in a file that `Plugins/CommitPlugin` writes before each build. A function in a separate module wraps
/// it, so that for another commit only that file is recompiled before linking.
package enum ProductOrigin {
    /// The commit's name, 12 hexadecimal digits, with `-dirty` if a file had been changed; `nil` if it is not known, as
    /// in a build from a copy without git.
    package static var commit: String? {
        let text = commitOfTheSources()
        return text.isEmpty ? nil : text
    }

    /// Returns the output of `--version`: `tcpprobe 0.1.0 (5060c143a1b2)`, without the commit if it is not known.
    package static func line(program: String, version: String) -> String {
        line(program: program, version: version, commit: commit)
    }

    /// Returns the same line for an arbitrary commit.
    package static func line(program: String, version: String, commit: String?) -> String {
        guard let commit else { return "\(program) \(version)" }
        return "\(program) \(version) (\(commit))"
    }
}
