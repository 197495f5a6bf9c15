/// The call graph of the definitions. The graph determines whether the steps of a definition can be checked at each
/// `do` that invokes the definition.
struct DefinitionGraph {
    /// The maximum number of steps in a script, including, for each `do`, the steps of the definition that it invokes.
    private static let maxSteps = 1_000_000

    private let context: ParseContext
    private var definitions: [String: Block] { context.scenario.definitions }
    private var heights: [String: Int] = [:]
    private var isOpen: Set<String> = []
    private var sizes: [String: Int] = [:]
    private(set) var canInline = true
    /// Whether the definitions are too large to be walked. If so, no diagnostic may depend on the effects of their
    /// steps.
    private(set) var isTooLarge = false

    /// Reports definitions that are recursive, too deeply nested, or too large.
    init(checking context: ParseContext) {
        self.context = context
        // Without definitions, only the parsed steps need to be counted.
        guard !definitions.isEmpty || context.stepCount > Self.maxSteps else { return }
        for name in definitions.keys.sorted() { _ = height(of: name, depth: 0) }
        if canInline { checkSizes() }
    }

    private mutating func height(of name: String, depth: Int) -> Int {
        if let known = heights[name] { return known }
        guard let block = definitions[name] else { return 0 }
        isOpen.insert(name)
        defer { isOpen.remove(name) }
        var highest = 0
        for call in Self.calls(in: block.steps) {
            if isOpen.contains(call.value) {
                context.report(
                    .recursiveDefinition, "`\(call.value)` invokes itself and would never end",
                    hint: "repeat steps with `for i in 1..100 { … }` or `retry`", at: call.span)
                canInline = false
            } else if depth >= TokenCursor.maxNestingDepth {
                reportDepth(at: call.span)
            } else {
                highest = max(highest, height(of: call.value, depth: depth + 1))
            }
        }
        heights[name] = highest + 1
        if highest >= TokenCursor.maxNestingDepth {
            canInline = false
            if let name = context.definitionNames[name] { reportDepth(at: name.span) }
        }
        return highest + 1
    }

    private mutating func reportDepth(at span: SourceSpan) {
        context.report(.nestingTooDeep(TokenCursor.maxNestingDepth), at: span)
        canInline = false
    }

    private static func calls(in steps: [Step]) -> [Name] {
        steps.flatMap { step in
            if case .invoke(let name) = step.kind { return [name] }
            return step.kind.blocks.flatMap { calls(in: $0.steps) }
        }
    }

    // MARK: Sizes

    /// Reports definitions with too many steps. A `do` counts as the steps that it invokes, so the number of steps
    /// doubles at each level if every definition invokes the next definition twice.
    private mutating func checkSizes() {
        for name in definitions.keys.sorted() where canInline { _ = size(of: name) }
        if canInline { _ = size(context.scenario.steps) }
    }

    private mutating func size(_ steps: [Step]) -> Int {
        var count = 0
        for step in steps {
            count += 1
            if case .invoke(let name) = step.kind { count += size(of: name.value) }
            for block in step.kind.blocks { count += size(block.steps) }
            if count > Self.maxSteps {
                if canInline {
                    context.report(
                        .tooDeep,
                        "the `do` steps up to this one would run more than \(Self.maxSteps) steps",
                        hint: "replace two `do NAME` with `for i in 1..2 { do NAME }`, which doesn't double the "
                            + "number of steps",
                        at: step.span)
                }
                (canInline, isTooLarge) = (false, true)
                return count
            }
        }
        return count
    }

    private mutating func size(of name: String) -> Int {
        if let known = sizes[name] { return known }
        guard let block = definitions[name] else { return 0 }
        let size = size(block.steps)
        sizes[name] = size
        return size
    }
}
