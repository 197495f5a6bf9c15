import ProbeBase

/// Finds the words of a `process` line that name files in the script's folder. The program runs in a private folder, so
/// it would not find these files.
struct FilesOfCommands {
    let context: ParseContext

    /// The role of a word in a program's command line.
    private enum Place {
        /// The program needs the file to run: the file is a command with a `/`, or the script that an interpreter runs.
        case decisive
        case other
    }

    /// Programs that run the file given as their first non-option argument.
    private static let interpreters = [
        "python", "python2", "python3", "pypy3", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "sh",
        "bash",
        "dash", "zsh", "tclsh", "Rscript", "guile", "osascript",
    ]

    func check(_ command: ProcessCommand) {
        var isScriptNext = false
        var isOptionsValue = false
        for (index, word) in command.words.enumerated() {
            guard word.value.count == 1, case .text(let bytes) = word.value[0] else {
                isScriptNext = false
                continue
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if index == 0 {
                isScriptNext = Self.isInterpreter(text)
                if text.contains("/") || text.contains(".") {
                    check(text, text.contains("/") ? .decisive : .other, word.span)
                }
                continue
            }
            if text.hasPrefix("-") {
                // After `-c`, `-m` or `-e`, the argument is not a script file.
                if ["-c", "-m", "-e", "--eval"].contains(text) { isScriptNext = false }
                isOptionsValue = ["-W", "-X", "-r", "-I", "--require", "--import", "-o", "-O"].contains(text)
                continue
            }
            let place: Place = isScriptNext && !isOptionsValue ? .decisive : .other
            if isScriptNext || text.contains(".") || text.contains("/") { check(text, place, word.span) }
            if place == .decisive { isScriptNext = false }
            isOptionsValue = false
        }
    }

    private static func isInterpreter(_ command: String) -> Bool {
        let name = command.split(separator: "/").last.map(String.init) ?? command
        // A name with a version, such as `python3.11`.
        return interpreters.contains(name) || name.hasPrefix("python3.")
    }

    private func check(_ path: String, _ place: Place, _ span: SourceSpan) {
        guard !path.isEmpty, !path.hasSuffix("/"), isThere(path) else { return }
        let shown = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        if place == .decisive {
            context.report(
                .fileBesideScript, "programs run in a private folder, which does not contain \(Escaped.quoted(shown))",
                hint: "write `${dir}/\(shown)`; `${dir}` is the script's folder", at: span)
        } else {
            context.report(
                .fileMayBeBesideScript,
                "programs run in a private folder, but \(Escaped.quoted(shown)) is a file next to the script",
                hint: "write `${dir}/\(shown)` if you mean that file", at: span)
        }
    }

    /// Returns whether a file exists at a path that is relative to the script's folder.
    private func isThere(_ path: String) -> Bool {
        let script = context.sources.files[0].path
        guard let file = ScriptPath.file(path, referencedIn: script, of: script) else { return false }
        do throws(LoadError) {
            _ = try context.loader(file)
            return true
        } catch {
            return error == .notPermitted
        }
    }
}
