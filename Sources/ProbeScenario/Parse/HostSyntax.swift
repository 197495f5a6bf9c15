import ProbeBase

/// Determines whether text has the form of a host name or an address.
enum HostSyntax {
    static func isNameOrIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        guard !parts.contains(where: \.isEmpty), host.utf8.count <= 253 else { return false }
        let isNumeric = parts.allSatisfy { $0.utf8.allSatisfy(\.isDigit) }
        guard isNumeric else { return parts.allSatisfy { $0.utf8.count <= 63 && !$0.contains("_") } }
        return parts.count == 4 && parts.allSatisfy { $0.utf8.count <= 3 && (Int($0) ?? 256) < 256 }
    }

    /// Returns the reason why a resolver can't look up the text as a host name (RFC 1123, section 2.1); `nil` if the
    /// text is a valid host name.
    static func fault(inName name: String) -> String? {
        let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if name.isEmpty { return "it is empty" }
        if name.utf8.count > 253 { return "it is longer than 253 bytes" }
        if parts.last?.isEmpty == true { return "it ends with a dot" }
        for part in parts {
            if part.isEmpty { return "it begins with a dot, or has two dots in a row" }
            if part.count > 63 { return "one of its labels is longer than 63 bytes" }
            guard
                part.allSatisfy({ $0.isDigit || $0.isWordStart && $0 != UInt8(ascii: "_") || $0 == UInt8(ascii: "-") })
            else {
                return "it contains a character that is not a letter, digit or hyphen"
            }
            if part.first == UInt8(ascii: "-") || part.last == UInt8(ascii: "-") {
                return "one of its labels begins or ends with a hyphen"
            }
        }
        if parts.last?.allSatisfy(\.isDigit) == true { return "its last label is a number, as in an IP address" }
        if isLocal(name) { return "localhost always refers to this machine, so it is never looked up" }
        return nil
    }

    /// Returns whether the last label of a name is `localhost`, in upper or lower case (RFC 6761, section 6.3).
    static func isLocal(_ name: String) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).last?.lowercased() == "localhost"
    }

    /// Returns whether the text is an IPv6 address (RFC 4291, section 2.2), with an optional zone after `%`.
    static func isIPv6(_ host: String) -> Bool {
        let address = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)[0]
        var groups = 0
        var hasGap = false
        var rest = Array(address.utf8)[...]
        if rest.starts(with: "::".utf8) {
            hasGap = true
            rest = rest.dropFirst(2)
            if rest.isEmpty { return true }
        }
        while true {
            let end = rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
            let group = rest[rest.startIndex..<end]
            if end == rest.endIndex, group.contains(UInt8(ascii: ".")) {
                guard isNameOrIPv4(String(decoding: group, as: UTF8.self)), group.allSatisfy({ !$0.isWordStart }) else {
                    return false
                }
                groups += 2
            } else {
                guard (1...4).contains(group.count), group.allSatisfy({ $0.hexDigit != nil }) else { return false }
                groups += 1
            }
            if end == rest.endIndex { break }
            rest = rest[(end + 1)...]
            if rest.first == UInt8(ascii: ":") {
                guard !hasGap else { return false }
                hasGap = true
                rest = rest.dropFirst()
                if rest.isEmpty { break }
            }
        }
        return hasGap ? groups < 8 : groups == 8
    }
}
