/// The version of both programs, `tcpprobe` and `tcpprobe-subjects`: they are built together and use the same protocol.
package enum ProductVersion {
    /// The version as three numbers, such as `0.1.0`.
    package static let text = "0.1.0"
}
