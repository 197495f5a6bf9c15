/// The targets of Package.swift, with what each depends on. The folder of a target has its name.
struct Manifest: Sendable {
    struct Target: Sendable {
        var name: String
        /// Targets and products.
        var dependencies: Set<String>
    }

    static let targets: [Target] = {
        let text = Repository.text("Package.swift") ?? ""
        return text.matches(of: /\.(?:target|executableTarget|systemLibrary)\(/).compactMap { match in
            target(argumentsBehind: match.range.upperBound, in: text)
        }
    }()

    /// Reads the arguments up to the parenthesis that closes them.
    private static func target(argumentsBehind start: String.Index, in text: String) -> Target? {
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
            // A list ends with the first bracket: products have parentheses only.
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
