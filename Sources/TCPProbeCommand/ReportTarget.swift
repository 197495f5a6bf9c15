import ArgumentParser
import ProbeBase
import ProbeSystem

/// A file that an option writes.
struct ReportTarget {
    /// The option, such as `--junit`.
    let option: String
    /// The path as given by the user; `-` is standard output.
    let path: String

    /// Creates the target of an option; `nil` if the option was not given.
    init?(_ option: String, _ path: String?) {
        guard let path else { return nil }
        self.option = option
        self.path = path
    }

    /// Checks the path.
    ///
    /// - Throws: an error if the path can't name a file.
    func validate() throws {
        if path.isEmpty { throw ValidationError("\(option): the file's name is empty") }
        if path.hasSuffix("/") {
            throw ValidationError("\(option) \(path): a path that ends with / is a folder; name a file in it")
        }
    }
}

/// The files that a command reads. A report would destroy one of them if it replaced it.
struct FilesRead {
    /// A description of each file, by its identity rather than its name.
    private var kinds: [FileStatus.Identity: String] = [:]

    /// Creates a set of files.
    ///
    /// - Parameter kind: a description of the files, such as `a script of the run`.
    init(_ paths: some Sequence<String>, are kind: String) { add(paths, are: kind) }

    /// Adds files, except those that are not regular: a report to a device or a pipe destroys nothing.
    mutating func add(_ paths: some Sequence<String>, are kind: String) {
        for path in paths where path != "-" {
            guard let status = FileStatus(at: path), status.isRegular else { continue }
            kinds[status.identity] = kinds[status.identity] ?? kind
        }
    }

    /// Checks that no report would replace a file that is read. Must be called before any report is opened, because
    /// opening one removes the existing file.
    ///
    /// - Throws: the exit code of invalid usage, after printing the message, if a report would replace such a file.
    func requireApart(_ targets: [ReportTarget]) throws {
        for target in targets where target.path != "-" {
            guard let status = FileStatus(at: target.path), let kind = kinds[status.identity] else { continue }
            throw Failure.invalidUsage(
                "\(target.option) \(Escaped.text(target.path)): this is \(kind); choose another path")
        }
    }
}
