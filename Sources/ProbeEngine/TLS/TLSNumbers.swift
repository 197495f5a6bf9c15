import ProbeEvents
import ProbeScenario

/// Numbers of TLS that have limits, which the check knows of constants only.
struct TLSNumbers {
    let context: CaseContext

    /// - Parameter what: the number, as `content type`.
    func integer(
        of expression: Expression, _ what: String, _ range: ClosedRange<Int>
    ) throws(Finding) -> Int {
        let value = try context.integer(of: expression)
        guard range.contains(value) else {
            throw Finding(
                .error, at: expression.span,
                "\(value) is no \(what): it is from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    /// The number of an alert.
    func alert(_ expression: Expression) throws(Finding) -> UInt8 {
        UInt8(try integer(of: expression, "number of an alert", 0...255))
    }
}
