import ProbeBase
import ProbeEvents

/// Bytes in the sentences of the engine: escaped, quoted, and cut where they would fill the screen.
enum EscapedText {
    static func quoted(_ bytes: some Collection<UInt8>) -> String {
        Escaped.literal(bytes, limit: 60)
    }
}
