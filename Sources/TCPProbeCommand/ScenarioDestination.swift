import ArgumentParser
import ProbeBase
import ProbeEngine
import ProbeSystem

/// The path to which a scenario is written, and its folder, which is opened only once.
struct ScenarioDestination: Sendable {
    let folder: Folder
    /// The path as given by the user.
    let path: String
    /// The file name of the scenario.
    let name: String
    /// The file name of the scenario without `.scn`.
    var stem: String { String(name.dropLast(4)) }
    /// The path of the folder, which ends with `/` or is `.`.
    let parent: String

    /// Creates a destination.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if the file exists and must not be
    ///   replaced, or if it can't be written.
    init(_ path: String, replaces: Bool) throws {
        self.path = path
        name = path.split(separator: "/").last.map(String.init) ?? path
        guard name.hasSuffix(".scn"), name.count > 4 else {
            throw Failure.invalidUsage("\(Escaped.text(path)): the scenario's name must end with .scn")
        }
        guard !SmallFile.isFolder(path) else { throw Failure.invalidUsage("\(Escaped.text(path)) is a folder") }
        if SmallFile.exists(path), !replaces {
            throw Failure.invalidUsage("\(Escaped.text(path)) already exists; use --force to replace it")
        }
        parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        do throws(SystemError) {
            folder = try Folder(parent)
            try folder.requireWritable()
        } catch {
            throw Failure.invalidUsage("can't write \(Escaped.text(path)): \(error.reason)")
        }
    }
}
