package import ProbeEvents

/// Adds color to text. The layout of the text is the same without color.
package struct Paint: Sendable {
    package enum Role {
        case verdict(Verdict)
        /// The most important part of a report.
        case cause
        /// The mark below a difference, or the caret below a line of a script.
        case marker
        case hint
        /// A result that is better than expected.
        case unexpected
        /// Details, which are printed faint.
        case faint
        /// The two sides of a captured connection.
        case client, server
    }

    package static let plain = Paint(isOn: false)

    package let isOn: Bool

    package init(isOn: Bool) { self.isOn = isOn }

    package func callAsFunction(_ role: Role, _ text: String) -> String {
        isOn && !text.isEmpty ? "\u{1b}[\(Paint.code(of: role))m\(text)\u{1b}[0m" : text
    }

    private static func code(of role: Role) -> String {
        switch role {
        case .verdict(.passed): "32"
        case .verdict(.failed), .verdict(.error): "1;31"
        case .verdict(.inconclusive): "35"
        case .verdict(.unsupported), .verdict(.skipped): "33"
        case .cause: "1"
        case .marker: "31"
        case .hint: "36"
        case .unexpected: "1;36"
        case .faint: "2"
        case .client: "36"
        case .server: "35"
        }
    }
}
