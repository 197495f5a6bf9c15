import ProbeBase
import Testing

/// Verifies that a decoder produces the same outcome for every way in which a network can cut a stream.
struct FrameDecoderVerifier {
    /// The outcome of decoding a stream.
    struct Outcome: Equatable {
        var frames: [Frame] = []
        var error: FrameError?
        var leftover: [UInt8] = []
    }

    let framing: Framing
    var limit: Int?

    /// Returns the outcome for a stream that arrives in chunks. After each chunk, frames are requested until there are
    /// no more, as a connection does.
    func outcome(_ chunks: [ArraySlice<UInt8>]) -> Outcome {
        var decoder = FrameDecoder(framing: framing, limit: limit)
        var outcome = Outcome()
        for chunk in chunks {
            decoder.append(chunk.span)
            Self.drain(&decoder, into: &outcome)
        }
        outcome.leftover = decoder.finish()
        return outcome
    }

    private static func drain(_ decoder: inout FrameDecoder, into outcome: inout Outcome) {
        do throws(FrameError) {
            while let frame = try decoder.next() { outcome.frames.append(frame) }
        } catch {
            outcome.error = error
        }
    }

    /// Verifies that payloads are the same after encoding and decoding, wherever the stream is cut and wherever it
    /// ends.
    func verify(_ payloads: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let encoder = FrameEncoder(framing: framing)
        let units = try payloads.map { payload throws(FrameEncoder.Failure) in try encoder.encode(payload) }
        let stream = Array(units.joined())
        let whole = outcome([stream[...]])
        #expect(whole.frames.map(\.payload) == payloads, sourceLocation: sourceLocation)
        #expect(whole.error == nil, sourceLocation: sourceLocation)
        #expect(whole.leftover == [], sourceLocation: sourceLocation)

        var start = 0
        for (frame, unit) in zip(whole.frames, units) {
            let terminatorCount = framing.terminator?.count ?? 0
            let end = start + unit.count
            #expect(frame.range == start..<end, sourceLocation: sourceLocation)
            #expect(frame.terminator == (end - terminatorCount)..<end, sourceLocation: sourceLocation)
            start = end
        }
        verifyCuts(stream, whole, sourceLocation: sourceLocation)

        for end in stream.indices {
            let expected = whole.frames.filter { $0.range.upperBound <= end }
            let consumed = expected.last?.range.upperBound ?? 0
            let truncated = outcome([stream[..<end]])
            #expect(truncated.frames == expected, sourceLocation: sourceLocation)
            #expect(truncated.error == nil, sourceLocation: sourceLocation)
            #expect(truncated.leftover == Array(stream[consumed..<end]), sourceLocation: sourceLocation)
        }
    }

    /// Verifies the outcome for a stream that arrives byte by byte and in two pieces with a cut at every offset. A
    /// short stream also arrives in three pieces, with cuts at every pair of offsets.
    func verifyCuts(_ stream: [UInt8], _ expected: Outcome, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(outcome([stream[...]]) == expected, sourceLocation: sourceLocation)
        #expect(outcome(stream.indices.map { stream[$0...$0] }) == expected, sourceLocation: sourceLocation)
        for cut in 0...stream.count {
            #expect(outcome([stream[..<cut], stream[cut...]]) == expected, sourceLocation: sourceLocation)
            guard stream.count <= 48 else { continue }
            for second in cut...stream.count {
                let chunks = [stream[..<cut], stream[cut..<second], stream[second...]]
                #expect(outcome(chunks) == expected, sourceLocation: sourceLocation)
            }
        }
    }

    /// Returns the number of bytes after which the decoder throws an error; `nil` if it never does.
    func bytesUntilError(_ stream: [UInt8]) -> (count: Int, error: FrameError)? {
        var decoder = FrameDecoder(framing: framing, limit: limit)
        for (index, byte) in stream.enumerated() {
            decoder.append([byte])
            var outcome = Outcome()
            Self.drain(&decoder, into: &outcome)
            if let error = outcome.error { return (index + 1, error) }
        }
        return nil
    }
}
