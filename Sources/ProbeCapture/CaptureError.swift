import Glibc

/// The reason why a capture could not be opened, or why it ended.
package enum CaptureError: Error, Sendable, Equatable {
    /// The process lacks CAP_NET_RAW.
    case notPermitted(interface: String)
    case noSuchInterface(String)
    /// The interface is not a loopback interface. Captures work only on loopback, because fence markers are sent over
    /// loopback.
    case notLoopback(String)
    /// The interface is down, or went down during the capture. Because packets may then be missing, the capture ends.
    case interfaceDown(String)
    /// libpcap reported an error. The text is libpcap's message.
    case libpcap(String)
    /// A system call that the capture needs failed with this `errno`.
    case system(call: String, code: Int32)
    /// The capture was closed by its owner.
    case closed

    /// Returns a one-line message that states the problem and how to fix it.
    /// - Parameter executable: the path of the running program, for the `setcap` command.
    package func message(executable: String) -> String {
        switch self {
        case .notPermitted(let interface):
            "capture on \(interface) is not permitted: run as root, or run `setcap cap_net_raw+ep \(executable)` "
                + "after `chgrp GROUP` and `chmod 750`, because anyone who can execute the program can then read all "
                + "loopback traffic"
        case .noSuchInterface(let interface):
            "no interface named \(interface)"
        case .notLoopback(let interface):
            "capture works only on the loopback interface, not on \(interface)"
        case .interfaceDown(let interface):
            "can't capture on \(interface), because the interface is down: run `ip link set \(interface) up`"
        case .libpcap(let words):
            "libpcap: \(words)"
        case .system(let call, let code):
            "capture: \(call): \(systemMessage(code))"
        case .closed:
            "the capture was closed"
        }
    }
}

/// Returns the C library's message for an `errno`. Safe to call from any thread.
func systemMessage(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
