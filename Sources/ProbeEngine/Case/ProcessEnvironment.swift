import CShims
import Glibc

/// The environment that programs are started with: the run's own, and the mark of the case.
enum ProcessEnvironment {
    static func words(marker: String) -> [String] {
        var words: [String] = []
        var entry = probe_environment()
        while let pointer = entry?.pointee {
            let word = String(cString: pointer)
            if !word.hasPrefix("TCPPROBE_CASE=") { words.append(word) }
            entry = entry?.advanced(by: 1)
        }
        return words + [marker]
    }
}
