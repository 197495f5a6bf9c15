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
