import ProbeBase
import ProbeSystem

/// A folder with the variations that failed, one file for each case. They are tried first in the next search.
struct VariationCorpus {
    private let path: String
    /// The maximum size of a case's file, in bytes.
    private static let limit = 1 << 20

    init(_ path: String) { self.path = path }

    private func file(of name: String) -> String { "\(name).variations" }

    /// Returns the texts of the variations of a case, each in the notation of `VariationText`.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if the file can't be read.
    func variations(of name: String) throws -> [String] {
        let file = "\(path)/\(file(of: name))"
        guard SmallFile.exists(file) else { return [] }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SmallFile.contents(of: file, limit: Self.limit)
        } catch {
            throw Failure.invalidUsage("--corpus: \(Escaped.text(file)) can't be read: \(error.reason)")
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.filter { !$0.hasPrefix("#") }.split(separator: "").map { $0.joined(separator: "\n") + "\n" }
    }

    /// Adds variations to the file of a case. Those that are already in it are not added.
    ///
    /// - Returns: the reason why they could not be added, which has been printed; `nil` if they were added.
    func add(_ found: [String], to name: String) -> String? {
        let known = (try? variations(of: name)) ?? []
        let new = found.filter { !known.contains($0) }
        guard !new.isEmpty else { return nil }
        var text = "# Variations under which the scenario failed. `tcpprobe explore --corpus` tries them first.\n"
        for variation in known + new { text += "\n" + variation }
        do throws(SystemError) {
            try Folder(making: path).replace(file(of: name), with: Array(text.utf8))
            return nil
        } catch {
            let file = Escaped.text("\(path)/\(file(of: name))")
            let problem = "\(file) can't be written: \(error.reason); choose another folder with --corpus"
            Console.standardError.write("error: \(problem)\n")
            return problem
        }
    }
}
