import ArgumentParser
import ProbeBase
import ProbeSystem

/// A file that an option asks for.
struct ReportTarget {
    /// `--junit`.
    let option: String
    /// As the user wrote it; `-` is standard output.
    let path: String

    /// - Parameter path: nil if the option was not given; then there is no target.
    init?(_ option: String, _ path: String?) {
        guard let path else { return nil }
        self.option = option
        self.path = path
    }

    /// - Throws: if the path can be no file's.
    func validate() throws {
        if path.isEmpty { throw ValidationError("\(option): the file's name is empty") }
        if path.hasSuffix("/") {
            throw ValidationError("\(option) \(path): a name that ends in / is a folder's; name a file in it")
        }
    }
}

/// The files that a command reads. A report would destroy one of them if it took its place.
struct FilesRead {
    /// What each of them is, by whatever name it is known.
    private var kinds: [FileStatus.Identity: String] = [:]

    /// - Parameter kind: what the files are: `a script of the run`.
    init(_ paths: some Sequence<String>, are kind: String) { add(paths, are: kind) }

    /// Adds files. What is no ordinary file is left out: a report to a device or a pipe destroys nothing.
    mutating func add(_ paths: some Sequence<String>, are kind: String) {
        for path in paths where path != "-" {
            guard let status = FileStatus(at: path), status.isRegular else { continue }
            kinds[status.identity] = kinds[status.identity] ?? kind
        }
    }

    /// To be called before any report is opened, because opening one removes what is in its place.
    ///
    /// - Throws: the exit code of wrong use, after the message was printed, if a report would take the place of a file that is read.
    func requireApart(_ targets: [ReportTarget]) throws {
        for target in targets where target.path != "-" {
            guard let status = FileStatus(at: target.path), let kind = kinds[status.identity] else { continue }
            throw Failure.wrongUse("\(target.option) \(Escaped.text(target.path)): this is \(kind); another path")
        }
    }
}
