package import ProbeBase
package import ProbeEvents
package import ProbeScenario

/// A digest of what a run does, which prevents results of different plans from being combined. It covers the cases in
/// their order, the bytes of their scripts, and the options that affect verdicts. It doesn't cover the scripts'
/// folders, because these may differ between machines.
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
    /// - Parameter path: the path of the script. The script's hash is stored under this path, so that it can be reused
    ///   for the script's other cases.
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
    /// Adds a case. A separator follows the id, and a case without a subject differs from one whose subject's name is
    /// empty.
    package mutating func add(_ key: CaseKey) {
        add(key.id.utf8)
        add(CollectionOfOne(0))
        if let subject = key.subject {
            add(subject.utf8)
            add(CollectionOfOne(0))
        }
    }
}
