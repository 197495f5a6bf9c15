/// Where a session shows what happens: the standard output of the program that runs it.
package protocol DeskOutput: Sendable {
    /// Whether to use colour.
    var usesColor: Bool { get }
    /// The width of the terminal, in columns; `nil` if the output is not a terminal.
    var width: Int? { get }
    /// Whether the reader of the output is gone.
    var isReaderGone: Bool { get }

    func write(_ text: String)
}
