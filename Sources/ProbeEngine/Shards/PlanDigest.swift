package import ProbeBase
package import ProbeEvents
package import ProbeScenario

/// Identifies what a run does, so that results of different plans are not combined: the cases in order, the bytes of
/// their scripts, and the options that affect verdicts. Paths are not included, because machines keep scripts in
/// different folders.
package struct PlanDigest: Sendable {
    private var low = FNV1a()
    private var high = FNV1a(salt: 0x9e37_79b9_7f4a_7c15)
    private var scripts: [String: [UInt8]] = [:]

    package init() {}

    /// Adds an option with its name and value.
    package mutating func add(option name: String, _ value: String) {
        add(Array("\(name)=\(value)\u{0}".utf8))
    }

    /// Adds a case with its scripts.
    ///
    /// - Parameter path: the path of the script, by which its bytes are found again for its next case.
    package mutating func add(_ key: CaseKey, path: String, sources: SourceMap) {
        var hash = FNV1a()
        hash.add(key)
        add(PlanDigest.bytes(of: hash.value))
        if let known = scripts[path] {
            add(known)
            return
        }
        var script = FNV1a()
        for file in sources.files {
            script.add(PlanDigest.bytes(of: UInt64(file.bytes.count)))
            script.add(file.bytes)
        }
        scripts[path] = PlanDigest.bytes(of: script.value)
        add(PlanDigest.bytes(of: script.value))
    }

    private mutating func add(_ bytes: [UInt8]) {
        low.add(bytes)
        high.add(bytes)
    }

    /// The digest as 32 hexadecimal digits.
    package var text: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: (PlanDigest.bytes(of: high.value) + PlanDigest.bytes(of: low.value)).flatMap {
                [digits[Int($0 >> 4)], digits[Int($0 & 15)]]
            }, as: UTF8.self)
    }

    /// Returns 32 hexadecimal digits that identify a list of numbers.
    package static func text(of numbers: [Int]) -> String {
        var digest = PlanDigest()
        for number in numbers { digest.add(bytes(of: UInt64(truncatingIfNeeded: number))) }
        return digest.text
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
    }
}

extension FNV1a {
    /// Adds a case. The subject's name is separated from the id, and distinguished from a case without a subject.
    package mutating func add(_ key: CaseKey) {
        add(key.id.utf8)
        add(CollectionOfOne(0))
        if let subject = key.subject {
            add(subject.utf8)
            add(CollectionOfOne(0))
        }
    }
}
