/// The names that an expression can use when it is evaluated.
package protocol EvaluationScope {
    /// Returns the value of a variable; `nil` if it is not bound.
    func value(of name: String) -> Value?
    /// Returns `port`, `address` or `port.2` of an actor as bytes; `nil` while the property has no value.
    func property(_ property: String, of actor: String) -> [UInt8]?
    /// Returns the bytes of a file in the script's folder.
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8]
}

/// A scope that consists of variables and closures.
package struct BoundScope: EvaluationScope {
    package var variables: [String: Value]
    private let properties: (_ property: String, _ actor: String) -> [UInt8]?
    private let loader: FileLoader

    package init(
        variables: [String: Value] = [:],
        properties: @escaping (_ property: String, _ actor: String) -> [UInt8]? = { _, _ in nil },
        loader: @escaping FileLoader = { (_) throws(LoadError) in throw .notFound }
    ) {
        self.variables = variables
        self.properties = properties
        self.loader = loader
    }

    package func value(of name: String) -> Value? { variables[name] }
    package func property(_ property: String, of actor: String) -> [UInt8]? { properties(property, actor) }
    package func contents(of file: ScriptFile) throws(LoadError) -> [UInt8] { try loader(file) }
}

/// The range of integers that is allowed at a place in a script, with a description of the integer.
///
/// The checker records a range for each integer that it can't compute, and the run checks the integer once its value is
/// known. The value of a variable therefore has the same bounds as a literal.
package struct IntegerRange: Sendable, Equatable {
    /// The description of the integer for messages, such as `the size`.
    package var what: String
    package var values: ClosedRange<Int>
}
