/// The version of both programs, `tcpprobe` and `tcpprobe-subjects`: they are built together and use the same protocol.
package enum ProductVersion {
    /// Three numbers: `0.1.0`.
    package static let text = "0.1.0"
}
