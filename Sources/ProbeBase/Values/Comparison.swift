/// A comparison operator as written in a script.
package enum Comparison: String, Sendable, CaseIterable {
    case equal = "=="
    case notEqual = "!="
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="

    /// Returns the expected values, worded for the end of a sentence: `at least 5`, or only `5` for equality.
    package func phrase(_ bound: some CustomStringConvertible) -> String {
        switch self {
        case .equal: "\(bound)"
        case .notEqual: "anything but \(bound)"
        case .less: "less than \(bound)"
        case .lessOrEqual: "at most \(bound)"
        case .greater: "more than \(bound)"
        case .greaterOrEqual: "at least \(bound)"
        }
    }

    /// Returns whether `left OP right` is true.
    package func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
        switch self {
        case .equal: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        }
    }
}
