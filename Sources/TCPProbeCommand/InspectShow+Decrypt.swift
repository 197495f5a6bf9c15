import ProbeBase
import ProbeInspect
import ProbeSystem
import ProbeWire

extension InspectShow {
    static let noSecrets =
        "the file holds no TLS secrets: `--key-log FILE` names those that the programs wrote (SSLKEYLOGFILE); a run's "
        + "captures hold them unless `--no-secrets` was given"

    /// Shows the plain text of a flow, and what tshark decrypts of it.
    func decrypt(_ source: consuming CaptureSource, keyLog: String?) -> Int32 {
        guard let tshark = Tshark() else {
            return fail("--decrypt \(Tshark.advice)", code: 3)
        }
        if let code = missing(keyLog: keyLog) { return code }
        let shown = FollowObserver(
            form: options.form, width: width, paint: paint, output: { [output] in output.write($0) })
        let observer = DecryptionObserver(showing: shown)
        let inspection = Inspection.of(
            source, limits: .handingOut, filter: filter, observer: observer, tunnels: tunnels, view: view)
        let code = finish(inspection)
        guard code == 0, observer.conversation != nil else { return code }
        // With a NULL cipher (RFC 5246 A.5) tshark needs no secrets.
        guard let failure = show(observer, tshark, keyLog) else { return 0 }
        if keyLog == nil, inspection.keyLog.isEmpty, observer.hasTLS { return fail(Self.noSecrets, code: 2) }
        return fail(failure, code: 3)
    }

    /// The exit code if there is no such file with secrets.
    func missing(keyLog: String?) -> Int32? {
        guard let keyLog, SmallFile.isFolder(keyLog) || !SmallFile.exists(keyLog) else { return nil }
        return fail("--key-log \(Escaped.text(keyLog)): there is no such file", code: 2)
    }

    /// Shows what tshark decrypts of a flow behind what the observer has seen of it.
    ///
    /// - Returns: why nothing was decrypted.
    func show(_ observer: DecryptionObserver, _ tshark: Tshark, _ keyLog: String?) -> String? {
        guard let conversation = observer.conversation, let packet = observer.firstPacket, observer.hasTLS else {
            return "the flow has no TLS in it"
        }
        let common = Tshark.arguments(file, keyLog: keyLog)
        guard let number = tshark.stream(ofFrame: packet + 1, common) else { return "tshark can't read the file" }
        // Where segments cut the first record, it must be told that the port is one of TLS.
        for ports in [[], ["-d", "tcp.port==\(conversation.server.port),tls"]] {
            var reader = TsharkFollowReader(client: conversation.client, server: conversation.server)
            var isAny = false
            let status = tshark.run(common + ports + ["-q", "-z", "follow,tls,raw,\(number)"]) { line in
                guard let data = reader.read(line) else { return }
                isAny = true
                observer.show(decrypted: data.bytes, from: data.side)
            }
            observer.endDecrypted()
            guard status == 0 else { return "tshark ended with an error" }
            if isAny { return nil }
        }
        return
            "nothing of the flow could be decrypted: its secrets are not there, its handshake is not in the capture, or it carried no data"
    }

    /// Prints what is wrong with the file.
    func fail(_ text: String, code: Int32) -> Int32 {
        output.flush()
        Console.standardError.write("error: \(Escaped.text(file)): \(text)\n")
        return code
    }
}
