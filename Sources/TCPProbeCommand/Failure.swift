import ArgumentParser
import ProbeBase
import ProbeEngine
import ProbeSystem
import ProbeTransport

/// The ways in which a command can fail.
enum Failure {
    /// Prints an error message, and returns the exit code for invalid usage.
    static func invalidUsage(_ text: String) -> ExitCode {
        Console.standardError.write("error: \(text)\n")
        return ExitCode(2)
    }

    /// Prints an error message about an unavailable resource of the machine, and returns the exit code for an error.
    static func machine(_ text: String) -> ExitCode {
        Console.standardError.write("error: \(text)\n")
        return ExitCode(3)
    }

    /// Prints the reason why a subject can't be used, with the known details, and returns the exit code for invalid
    /// usage.
    static func invalidUsage(_ failure: SubjectFailure) -> ExitCode {
        invalidUsage(([failure.summary] + failure.details).joined(separator: "\n  "))
    }

    /// Returns a message from the argument parser in this tool's style: it begins with `error:` in lower case, and the
    /// user's input is escaped.
    static func text(of message: String, arguments: [String]) -> String {
        let prefix = "Error: "
        let own = message.hasPrefix(prefix) ? "error: " + message.dropFirst(prefix.count) : message
        return EchoedArguments.safe(own, arguments: arguments)
    }
}

extension RunSession {
    /// Ends the session, and reports folders that could not be removed.
    func endAndReport() {
        for (folder, reason) in end() {
            Console.standardError.write(
                "error: the temporary folder \(Escaped.text(folder)) can't be removed: \(reason)\n")
        }
    }
}

extension ScenarioFiles {
    /// Returns the scenarios named on the command line.
    ///
    /// - Throws: the exit code for invalid usage if a path does not exist or can't be read.
    static func named(_ paths: [String]) throws -> ScenarioFiles {
        do throws(PathError) {
            return try ScenarioFiles(paths)
        } catch {
            throw Failure.invalidUsage(error.text)
        }
    }

    /// Returns the scenarios named on the command line. Standard input (`-`) comes first.
    static func namedOrInput(_ paths: [String]) throws -> [File] {
        let named = paths.filter { $0 != "-" }
        if paths.count - named.count > 1 { throw Failure.invalidUsage("standard input can be read only once") }
        let files = named.isEmpty ? [] : try ScenarioFiles.named(named).files
        return paths.count == named.count ? files : [File(path: "-", id: "-")] + files
    }

    /// Returns the contents of a script, which may be standard input.
    static func content(of file: File) throws(PathError) -> [UInt8] {
        guard file.path == "-" else { return try read(file) }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.standardInput(limit: largestScript + 1)
        } catch {
            throw PathError(text: "standard input can't be read: \(error.reason)")
        }
        if bytes.count > largestScript {
            throw PathError(text: "standard input is larger than 64 MiB, the limit for a scenario")
        }
        return bytes
    }
}
