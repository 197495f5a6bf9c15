/// The version of both programs, `tcpprobe` and `tcpprobe-subjects`: they are of one build and know each other's protocol.
package enum ProductVersion {
    /// Three numbers: `0.1.0`.
    package static let text = "0.1.0"
}
