/// Numbers of things in a sentence.
package enum ByteText {
    /// `1 byte`, `2 bytes`.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") ? "es" : "s")"
    }
}
