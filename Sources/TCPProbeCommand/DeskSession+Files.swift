import ProbeBase
import ProbeDesk
import ProbeEngine
import ProbeReport
import ProbeSystem

/// What `save` has written, and what it is writing.
struct DeskFiles {
    /// The files of this session, which it may replace.
    fileprivate var paths: Set<String> = []
    /// The last one, and how many steps the script had then.
    fileprivate var last: (file: DeskFile, saved: SessionScript.Saved, count: Int)?
    /// The `save` that waits for its text.
    fileprivate var waiting: CheckedContinuation<SessionScript.Saved?, Never>?
    /// The number of the latest text that was begun: an earlier one was given up.
    fileprivate var number = 0

    var isSaving: Bool { waiting != nil }
}

/// `save`: the text is made on another thread, so that the session obeys signals meanwhile.
extension DeskSession {
    func save(_ words: String) async {
        do throws(DeskFile.Problem) {
            let file = try DeskFile(words, mayReplace: files.paths)
            guard let saved = await scenario() else {
                throw DeskFile.Problem(text: "\(Escaped.text(file.path)) was not written: `save` was interrupted")
            }
            try file.write(saved.bytes)
            files.paths.insert(file.path)
            files.last = (file, saved, script.count)
            show("\(Escaped.text(file.path)): \(saved.bytes.count { $0 == 10 }) lines\n")
            reportLimit(saved)
        } catch {
            tell(error)
        }
    }

    /// Writes the last scenario again if the session received more after its last step.
    func completeSaved() async {
        guard let (file, before, count) = files.last, count == script.count else { return }
        guard let present = await scenario(), present != before else { return }
        do throws(DeskFile.Problem) {
            try file.write(present.bytes)
            if present.unwritten != before.unwritten { reportLimit(present) }
        } catch {
            tell(error)
        }
    }

    private func reportLimit(_ saved: SessionScript.Saved) {
        guard saved.unwritten > 0 else { return }
        show(
            "note: the scenario has reached its limit and expects \(ByteText.count(saved.unwritten, "further byte")) by number alone: raise --limit to write them out\n"
        )
    }

    /// - Returns: nil if a signal came first.
    private func scenario() async -> SessionScript.Saved? {
        var rests: [SessionScript.Rest] = []
        for name in [script.actor] + named {
            var rest = SessionScript.Rest(actor: name)
            rest.unread = await caseRun.unread(of: name) ?? []
            rest.ending = await ending(of: name)
            rest.mayHaveFrames = await caseRun.speaksFrames(name)
            rests.append(rest)
        }
        files.number += 1
        let (script, number, whole) = (script, files.number, rests)
        return await withCheckedContinuation { continuation in
            files.waiting = continuation
            do throws(SystemError) {
                // With the stack of a main thread: the formatter parses the script on it.
                let thread = try WorkerThread("save", signals: .blocked, stack: 8 << 20) { [self] in
                    let saved = script.saved(whole)
                    reactor.post { self.assumeIsolated { $0.deliver(saved, number) } }
                }
                thread.detach()
            } catch {
                deliver(script.saved(whole), number)
            }
        }
    }

    private func deliver(_ saved: SessionScript.Saved?, _ number: Int) {
        guard number == files.number else { return }
        files.waiting?.resume(returning: saved)
        files.waiting = nil
    }

    /// Lets the session go on without the text. The thread that makes it ends by itself, or with the process.
    func giveUpSaving() {
        deliver(nil, files.number)
        files.number += 1
    }
}
