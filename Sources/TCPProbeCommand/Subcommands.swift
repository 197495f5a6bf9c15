import ArgumentParser
import ProbeBase
import ProbeScenario
import ProbeSystem

/// The names of the subcommands, and the messages about unknown subcommands.
enum Subcommands {
    /// The subcommands that `--help` lists, including `help` itself.
    static let shown =
        TCPProbe.configuration.subcommands.filter { $0.configuration.shouldDisplay }.map(name) + ["help"]

    private static let all =
        TCPProbe.configuration.subcommands.map(name) + ["help"]

    private static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? ""
    }

    /// Returns an error message if the command line begins with a word that is not a subcommand, or requests help for
    /// such a word; `nil` otherwise.
    ///
    /// - Parameter arguments: the arguments, excluding the name of the program.
    static func problem(_ arguments: [String]) -> String? {
        guard let first = arguments.first, !first.hasPrefix("-") else { return nil }
        if !all.contains(first) { return problem(with: first, isHelp: false) }
        guard first == "help", arguments.count > 1, !arguments[1].hasPrefix("-"), !all.contains(arguments[1]) else {
            return nil
        }
        return problem(with: arguments[1], isHelp: true)
    }

    private static func problem(with word: String, isHelp: Bool) -> String {
        let shown = Escaped.text(word)
        let start = "unknown subcommand \(shown)"
        if !isHelp, let command = command(forFile: word) {
            return "\(start); did you mean `tcpprobe \(command) \(shown)`?"
        }
        if let near = Suggestion.nearest(to: word, among: all) {
            return "\(start); did you mean `\(isHelp ? "help \(near)" : near)`?"
        }
        return "\(start): expected one of \(Subcommands.shown.joined(separator: ", ")); see `tcpprobe --help`"
    }

    /// Returns the subcommand that was probably intended if the word is a path; `nil` if the word is not a path.
    private static func command(forFile word: String) -> String? {
        let captures = [".pcap", ".pcapng", ".cap"].flatMap { [$0, $0 + ".gz", $0 + ".zst"] }
        if captures.contains(where: word.hasSuffix) { return "inspect" }
        if word.hasSuffix(".scn") || (word.contains("/") && SmallFile.exists(word)) || SmallFile.isFolder(word) {
            return "run"
        }
        return nil
    }

    // MARK: Completions

    /// Returns the argument parser's completion script with the names of the subcommands added after `help`. Without
    /// this change, the script completes nothing at that position.
    static func completed(_ script: String, shell: String) -> String {
        let words = shown.filter { $0 != "help" }
        var lines = script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        switch shell {
        case "bash":
            let offer = "    __tcpprobe_offer_flags_options -1"
            guard let start = lines.firstIndex(of: "_tcpprobe_help() {"),
                let place = lines[start...].firstIndex(of: offer)
            else { break }
            let list = words.joined(separator: "'$'\\n''")
            lines[place] = "    __tcpprobe_offer_flags_options 1"
            lines.insert(
                "    if [[ \"${positional_number}\" -eq 1 ]]; then __tcpprobe_add_completions -W '\(list)'; fi",
                at: place + 1)
        case "zsh":
            guard let place = lines.firstIndex(of: "        '*:subcommands:'") else { break }
            lines[place] = "        ':subcommand:(\(words.joined(separator: " ")))'"
        case "fish":
            let list = words.joined(separator: " ")
            lines.append("complete -c 'tcpprobe' -n '__fish_seen_subcommand_from help' -fa '\(list)'")
        default: break
        }
        return lines.joined(separator: "\n")
    }
}
