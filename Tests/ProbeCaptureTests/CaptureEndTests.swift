import ProbeBase
import Glibc
import ProbeCapture
import ProbeWire
import Testing

extension CaptureTests {
    /// Tests fences that are not reached, and the release of resources after a capture. The suite is nested in
    /// `CaptureTests`, because captures are tested one at a time.
    @Suite struct CaptureEndTests {
        @Test func fenceWithZeroTimeoutTimesOut() async throws {
            let capture = try Capture.open(ports: CapturePorts())
            #expect(await capture.fence(timeout: .zero) == .timedOut)
            #expect(await capture.fence(timeout: .seconds(-1)) == .timedOut)
            #expect(await capture.fence(timeout: .seconds(Int64.max)) == .caughtUp(dropped: 0))
        }

        /// The test runs in a separate process, because descriptors and threads are counted for the whole process.
        @Test func closingAnswersEveryFenceAndLeaksNothing() async {
            await #expect(processExitsWith: .success) { try await CaptureTests.CaptureEndTests().closeTwice() }
        }

        private func closeTwice() async throws {
            // The first capture is not measured, because it opens descriptors that the runtime keeps open.
            try await openAndClose()
            let descriptors = try entries(of: "/proc/self/fd").count
            try await openAndClose()
            let left = try entries(of: "/proc/self/fd").count
            #expect(left <= descriptors)
        }

        private func openAndClose() async throws {
            do {
                let listener = try LoopbackListener()
                let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
                let subscription = try capture.subscribe(port: listener.port)
                try listener.connection().exchange()
                await caughtUp(capture)
                #expect(try captureThreads() == 1)
                capture.close()
                #expect(try captureThreadsEnd())
                #expect(subscription.packets().compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
                #expect(await capture.fence(timeout: capturePatience) == .failed(.closed))
                #expect(throws: CaptureError.closed) { try capture.add(port: 1) }
                capture.close()
            }
            do {
                let capture = try Capture.open(ports: CapturePorts())
                await caughtUp(capture)
                #expect(capture.leaveClosingToKernel())
                #expect(capture.leaveClosingToKernel())
            }
            #expect(try captureThreadsEnd())
        }

        @Test func closingAnswersPendingFences() async throws {
            let capture = try Capture.open(ports: CapturePorts())
            let outcomes = await withTaskGroup(of: FenceOutcome.self) { group in
                for _ in 0..<16 { group.addTask { await capture.fence(timeout: capturePatience) } }
                group.addTask { @concurrent in
                    capture.close()
                    return .failed(.closed)
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 17)
            #expect(outcomes.allSatisfy { $0 == .failed(.closed) || $0 == .caughtUp(dropped: 0) })
        }

        @Test func kernelMayCloseTheHandleLater() async throws {
            let listener = try LoopbackListener()
            let capture = try Capture.open(ports: CapturePorts(extra: [listener.port]))
            let subscription = try capture.subscribe(port: listener.port)
            #expect(capture.leaveClosingToKernel())
            try listener.connection().exchange()
            await caughtUp(capture)
            #expect(subscription.packets().compactMap(SegmentView.init).count { !$0.payload.isEmpty } == 10)
            capture.close()
            #expect(!capture.leaveClosingToKernel())
        }
    }
}

private func entries(of folder: String) throws -> [String] {
    guard let stream = opendir(folder) else { throw CallFailed(code: errno) }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        if name != ".", name != ".." { names.append(name) }
    }
    return names
}

/// Waits until no thread of this process has the capture's name, and returns whether that happened. `pthread_join`
/// returns shortly before the kernel removes the thread from its list.
private func captureThreadsEnd() throws -> Bool {
    for _ in 0..<60_000 {
        if try captureThreads() == 0 { return true }
        usleep(1000)
    }
    return false
}

private func captureThreads() throws -> Int {
    try entries(of: "/proc/self/task").count { task in
        guard let file = fopen("/proc/self/task/\(task)/comm", "r") else { return false }
        defer { fclose(file) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = fread(&text, 1, text.count, file)
        return String(decoding: text.prefix(count), as: UTF8.self) == "capture\n"
    }
}
