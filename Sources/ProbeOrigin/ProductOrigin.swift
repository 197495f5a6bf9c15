/// The origin of the programs: the commit of the sources from which they were built. Bug reports include the commit,
/// because many commits have the same version.
///
/// The commit is in a file that `Plugins/CommitPlugin` writes before each build. A function in a separate module
/// returns the commit, so that a new commit requires only that file to be recompiled before linking.
package enum ProductOrigin {
    /// The commit's name, 12 hexadecimal digits, with `-dirty` if a file had been changed; `nil` if the commit is not
    /// known, as in a build from a copy without git.
    package static var commit: String? {
        let text = commitOfTheSources()
        return text.isEmpty ? nil : text
    }

    /// Returns the output of `--version`: `tcpprobe 0.1.0 (5060c143a1b2)`, or only the name and the version if the
    /// commit is not known.
    package static func line(program: String, version: String) -> String {
        line(program: program, version: version, commit: commit)
    }

    /// Returns the output of `--version` for the given commit.
    package static func line(program: String, version: String, commit: String?) -> String {
        guard let commit else { return "\(program) \(version)" }
        return "\(program) \(version) (\(commit))"
    }
}
