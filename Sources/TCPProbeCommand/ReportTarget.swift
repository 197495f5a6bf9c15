import ArgumentParser
import ProbeBase
import ProbeSystem

/// The file to which the output of an option is written.
struct ReportTarget {
    /// The name of the option, such as `--junit`.
    let option: String
    /// The path as given by the user; `-` stands for standard output.
    let path: String

    /// Creates the target of an option; `nil` if the option was not given.
    init?(_ option: String, _ path: String?) {
        guard let path else { return nil }
        self.option = option
        self.path = path
    }

    /// Checks that the path can name a file.
    ///
    /// - Throws: an error if the path is empty or names a folder.
    func validate() throws {
        if path.isEmpty { throw ValidationError("\(option): the file's name is empty") }
        if path.hasSuffix("/") {
            throw ValidationError("\(option) \(path): a path that ends with / is a folder; name a file in it")
        }
    }
}

/// The files that a command reads and that no report may replace.
struct FilesRead {
    /// A description of each file, keyed by the file's identity (its device and inode) rather than its path.
    private var kinds: [FileStatus.Identity: String] = [:]

    /// Creates a set of files that all have the same description.
    ///
    /// - Parameter kind: a description of the files, such as `a script of the run`.
    init(_ paths: some Sequence<String>, are kind: String) { add(paths, are: kind) }

    /// Adds files to the set. Files that are not regular are ignored, because writing a report to a device or a pipe
    /// doesn't destroy anything.
    mutating func add(_ paths: some Sequence<String>, are kind: String) {
        for path in paths where path != "-" {
            guard let status = FileStatus(at: path), status.isRegular else { continue }
            kinds[status.identity] = kinds[status.identity] ?? kind
        }
    }

    /// Checks that no report would replace a file that the command reads. The check must precede the opening of any
    /// report, because opening a report removes the existing file.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if a report would replace such a file.
    func requireApart(_ targets: [ReportTarget]) throws {
        for target in targets where target.path != "-" {
            guard let status = FileStatus(at: target.path), let kind = kinds[status.identity] else { continue }
            throw Failure.invalidUsage(
                "\(target.option) \(Escaped.text(target.path)): the path is \(kind); choose another path")
        }
    }
}
