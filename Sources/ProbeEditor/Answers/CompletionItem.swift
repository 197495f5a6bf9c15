import ProbeBase
import ProbeScenario

/// Text that an editor can insert at a position in a document.
struct CompletionItem: Sendable {
    /// The kind of a completion item. The raw values are the numbers that the Language Server Protocol defines.
    enum Kind: Int, Sendable {
        case function = 3
        case variable = 6
        case actor = 7
        case property = 10
        case unit = 11
        case value = 12
        case keyword = 14
        case reference = 18
    }

    var label: String
    var kind: Kind
    /// A few words that are shown after the completion item's label.
    var detail: String?
    var documentation: String?

    init(_ label: String, _ kind: Kind, detail: String? = nil, documentation: String? = nil) {
        self.label = label
        self.kind = kind
        self.detail = detail
        self.documentation = documentation
    }

    /// Creates an item from an entry of the language; the label consists of the words that have not been typed.
    init(_ label: String, _ entry: ListedEntry) {
        self.init(
            label, entry.category == .function ? .function : .keyword,
            detail: EntryExplanation.plain(entry.entry.meaning), documentation: EntryExplanation.text(of: entry))
    }
}

/// Completion items without duplicates, in the order in which they were added.
struct CompletionItems: Sendable {
    private(set) var all: [CompletionItem] = []
    private var labels: Set<String> = []

    mutating func add(_ item: CompletionItem) {
        if labels.insert(item.label).inserted { all.append(item) }
    }

    mutating func add(words: some Sequence<String>, _ kind: CompletionItem.Kind = .keyword) {
        for word in words { add(CompletionItem(word, kind)) }
    }
}
