/// The targets in Package.swift and their dependencies. The folder of a target has the same name as the target.
struct Manifest: Sendable {
    struct Target: Sendable {
        var name: String
        /// The names of the targets and products that the target depends on.
        var dependencies: Set<String>
    }

    static let targets: [Target] = {
        let text = Repository.text("Package.swift") ?? ""
        return text.matches(of: /\.(?:target|executableTarget|systemLibrary)\(/).compactMap { match in
            target(argumentsAfter: match.range.upperBound, in: text)
        }
    }()

    /// Parses the arguments of a target, up to the closing parenthesis.
    private static func target(argumentsAfter start: String.Index, in text: String) -> Target? {
        var depth = 1
        var end = start
        while end < text.endIndex, depth > 0 {
            if text[end] == "(" { depth += 1 }
            if text[end] == ")" { depth -= 1 }
            end = text.index(after: end)
        }
        let arguments = text[start..<end]
        guard let name = arguments.firstMatch(of: /name: "([^"]+)"/).map({ String($0.1) }) else { return nil }
        var dependencies: Set<String> = []
        if let list = arguments.firstMatch(of: /dependencies: \[/) {
            // The first closing bracket ends the list, because the elements of the list contain no brackets.
            var rest = arguments[list.range.upperBound...].prefix { $0 != "]" }
            for product in rest.matches(of: /\.product\(name: "([^"]+)"[^)]*\)/) {
                dependencies.insert(String(product.1))
            }
            rest.replace(/\.product\([^)]*\)/, with: "")
            for target in rest.matches(of: /"([^"]+)"/) { dependencies.insert(String(target.1)) }
        }
        return Target(name: name, dependencies: dependencies)
    }
}
