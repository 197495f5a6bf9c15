/// What the names of an expression stand for at the moment when it is evaluated.
package protocol EvaluationScope {
    /// The value of a variable; nil when it is not bound.
    func value(of name: String) -> Value?
    /// `port`, `address`, `port.2` of an actor as bytes; nil while it has none.
    func property(_ property: String, of actor: String) -> [UInt8]?
    /// The bytes of a file in the script's folder.
    func contents(of file: ScriptFile) throws(LoadError) -> [UInt8]
}

/// A scope of given variables and closures.
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

/// The values that a place of a script allows, and what they are.
///
/// The check notes it for each integer that it can't compute, and the run applies it once the integer has a value: so a value from a
/// variable has the bounds of a literal.
package struct IntegerRange: Sendable, Equatable {
    /// `the size`
    package var what: String
    package var values: ClosedRange<Int>
}
