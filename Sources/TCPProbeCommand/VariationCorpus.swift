import ProbeBase
import ProbeSystem

/// A folder with the variations that failed, one file for each case. They are tried first in the next search.
struct VariationCorpus {
    private let path: String
    /// The maximum size of a case's file, in bytes.
    private static let limit = 1 << 20
    private static let heading =
        "# Variations under which the scenario failed. `tcpprobe explore --corpus` tries them first.\n"

    /// The reason why a case's file can't be used, as a clause.
    private struct Problem: Error {
        var text: String
    }

    init(_ path: String) { self.path = path }

    private func file(of name: String) -> String { "\(path)/\(name).variations" }

    /// Returns the contents of a case's file; nothing if there is no file.
    private func contents(of name: String) throws(Problem) -> [UInt8] {
        let file = file(of: name)
        guard SmallFile.exists(file) else { return [] }
        guard let bytes = SmallFile.foreign(file, limit: Self.limit + 1) else {
            throw Problem(text: "\(Escaped.text(file)) can't be read as a regular file")
        }
        guard bytes.count <= Self.limit else {
            throw Problem(text: "\(Escaped.text(file)) is larger than \(ByteText.count(Self.limit, "byte"))")
        }
        return bytes
    }

    /// Returns the variations in a file: lines between empty lines. A line that begins with `#` is a comment.
    private static func variations(in bytes: [UInt8]) -> [String] {
        let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { line in
            String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
        }
        return lines.filter { !$0.hasPrefix("#") }.split(separator: "").map { $0.joined(separator: "\n") + "\n" }
    }

    /// Checks that the folder can be written to, and that the files of the cases can be read.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message.
    func requireUsable(for names: [String]) throws {
        do throws(SystemError) {
            try Folder(making: path).requireWritable()
        } catch {
            throw Failure.invalidUsage(
                "--corpus: the folder \(Escaped.text(path)) can't be written to: \(error.reason); choose another one")
        }
        for name in names {
            do throws(Problem) {
                _ = try contents(of: name)
            } catch {
                throw Failure.invalidUsage("--corpus: \(error.text)")
            }
        }
    }

    /// Returns the texts of the variations of a case, each in the notation of `VariationText`.
    func variations(of name: String) -> [String] {
        // `requireUsable` has reported a file that can't be read. One that became unreadable since then has no effect.
        Self.variations(in: (try? contents(of: name)) ?? [])
    }

    /// Adds variations to the file of a case. Those that are already in it are not added.
    ///
    /// - Returns: the reason why they could not be added, which has been printed; `nil` if they were added.
    func add(_ found: [String], to name: String) -> String? {
        do {
            // Another run may have added variations in the meantime.
            var bytes = try contents(of: name)
            let known = Self.variations(in: bytes)
            let new = found.filter { !known.contains($0) }
            guard !new.isEmpty else { return nil }
            if bytes.isEmpty { bytes = Array(Self.heading.utf8) }
            if bytes.last != 10 { bytes.append(10) }
            for variation in new { bytes += Array("\n\(variation)".utf8) }
            guard bytes.count <= Self.limit else {
                throw Problem(text: "\(Escaped.text(file(of: name))) has no room for another variation")
            }
            try Folder(making: path).replace("\(name).variations", with: bytes)
            return nil
        } catch {
            let reason =
                (error as? Problem)?.text
                ?? "\(Escaped.text(file(of: name))) can't be written: \((error as? SystemError)?.reason ?? "\(error)")"
            Console.standardError.write("error: --corpus: \(reason)\n")
            return reason
        }
    }
}
