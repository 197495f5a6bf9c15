/// The output of a session, which is the standard output of the program that runs it.
package protocol DeskOutput: Sendable {
    /// Whether the output uses color.
    var usesColor: Bool { get }
    /// The width of the terminal, in columns; `nil` if the output is not a terminal.
    var width: Int? { get }
    /// Whether the process that reads the output has closed it.
    var isReaderGone: Bool { get }

    func write(_ text: String)
}
