/// A value that a `ColdStorage` may hold.
package protocol ColdValue: Sendable {
    /// Creates the initial, empty value.
    init()
}

/// Storage for a value that takes no more space than a pointer for as long as it has its initial value.
///
/// Use cold storage for data that only a few of many structs need. With thousands of flows, most time is spent fetching
/// them from memory, so the data that is needed for each packet must be close together. The storage has value
/// semantics: a copy becomes independent when it is changed. Each new instance allocates memory, but unchanged copies
/// share that memory, so a table creates one instance and copies it for each of its flows.
package struct ColdStorage<Value: ColdValue>: Sendable {
    /// An array with exactly one element: the value.
    private var storage = [Value()]

    package init() {}

    package var value: Value {
        @inline(__always) _read { yield storage[0] }
        @inline(__always) _modify { yield &storage[0] }
    }
}

/// The limits of a table's flows. All flows are copies of one initial flow and share its limits, so that the limits
/// cost each flow only a pointer.
struct SharedLimits: Sendable {
    private let storage: [ConversationLimits]

    init(_ limits: ConversationLimits) {
        storage = [limits]
    }

    @inline(__always)
    var value: ConversationLimits { storage[0] }
}
