/// The version of `tcpprobe` and `tcpprobe-subjects`, which are built together and use the same adapter protocol.
package enum ProductVersion {
    /// The version as three numbers, such as `0.1.0`.
    package static let text = "0.1.0"
}
