/// What a step of a connection of the harness did with the stream: the bytes that it sent, or how many it took.
package struct StepObservation: Sendable {
    package enum Event: Sendable {
        /// The pieces of a `send`, before TLS. Nothing is told of a send on a connection that speaks TLS.
        case sent([[UInt8]])
        /// An `expect` was met and took so many bytes.
        case took(Int)
    }

    /// The number of the step in its scenario.
    package var step: Int
    /// The connection that acted.
    package var actor: String
    package var event: Event

    package init(step: Int, actor: String, event: Event) {
        self.step = step
        self.actor = actor
        self.event = event
    }
}
