/// What an ``AsyncSocket`` tells its owner; the comments name AsyncSocket's delegate methods.
enum AsyncSocketEvent: Sendable, Equatable {
    /// didConnectToHost
    case connected
    /// didReadData:withTag:
    case read([UInt8], tag: Int)
    /// didWritePartialDataOfLength:tag:
    case wrotePart(Int, tag: Int)
    /// didWriteDataWithTag: with the bytes since the last part.
    case wrote(Int, tag: Int)
    /// socketDidDisconnect:withError: exactly once, and nothing after it; with the bytes that nobody read.
    case disconnected(StopReason, detail: String?, unread: [UInt8])
}
