import ArgumentParser
import ProbeEngine

/// The ways in which a command fails.
enum Failure {
    /// Prints what is wrong and returns the exit code of wrong use.
    static func wrongUse(_ text: String) -> ExitCode {
        Console.standardError.write("error: \(text)\n")
        return ExitCode(2)
    }
}

extension ScenarioFiles {
    /// The scenarios that a command line names.
    ///
    /// - Throws: the exit code of wrong use if one of them does not exist or can't be read.
    static func named(_ paths: [String]) throws -> ScenarioFiles {
        do throws(PathError) {
            return try ScenarioFiles(paths)
        } catch {
            throw Failure.wrongUse(error.text)
        }
    }
}
