import Foundation

/// Runs the system's python3, whose parsers check the output of recorders.
enum Python {
    // An error means that the program or the module is missing, so `try?` is used.

    /// Whether python3 is installed.
    static let isAvailable = (try? run("pass", input: "")) != nil
    /// Whether the module `jsonschema` is installed.
    static let hasValidator = (try? run("import jsonschema", input: "")) != nil
    /// Whether the module `yaml` is installed.
    static let hasYAML = (try? run("import yaml", input: "")) != nil

    /// Returns bytes in the format of Python's `bytes.hex()`.
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Returns the output of a Python program for the given input.
    static func run(_ program: String, _ arguments: [String] = [], input: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tcpprobe-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // If the removal fails, the program's folder remains in the system's temporary folder, which is harmless.
        defer { try? FileManager.default.removeItem(at: folder) }
        let (inputFile, outputFile) = (folder.appending(path: "in"), folder.appending(path: "out"))
        let errorFile = folder.appending(path: "err")
        try Data(input.utf8).write(to: inputFile)
        for file in [outputFile, errorFile] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-X", "utf8", "-W", "ignore", "-c", program] + arguments
        process.standardInput = try FileHandle(forReadingFrom: inputFile)
        process.standardOutput = try FileHandle(forWritingTo: outputFile)
        process.standardError = try FileHandle(forWritingTo: errorFile)
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            throw Failure(description: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
        }
        return String(decoding: try Data(contentsOf: outputFile), as: UTF8.self)
    }
}
