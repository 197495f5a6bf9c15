import ProbeBase

@testable import ProbeTLS
@testable import ProbeWire

/// Fuzzes the records that a TLS endpoint receives from its peer, during the handshake and after it. Records are valid,
/// altered, cut, repeated, omitted or forged. The fuzzer is compiled with ProbeTLS, ProbeWire and ProbeBase only;
/// OpenSSL itself is not instrumented.
///
/// However the records are changed, the bytes that the endpoint reads must be a prefix of the bytes that the peer has
/// written.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTLS(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    var exchange = Exchange(input: Array(UnsafeBufferPointer(start: start, count: count)))
    exchange.run()
    return 0
}

/// A certificate authority, and a certificate with its key. All three are created only once, because creating them
/// takes longer than using them.
private let identities: (authority: [UInt8], leaf: Certificate, key: [UInt8]) = {
    do {
        try TLSLibrary.load()
        let authority = try CertificateAuthority()
        let leaf = try authority.leaf(nil)
        return (try authority.certificate.pem(), leaf, try leaf.keyPEM())
    } catch {
        fatalError("TLS can't be set up: \(error)")
    }
}()

private struct Exchange {
    private let input: [UInt8]
    private var position = 0
    /// The endpoint under test.
    private let endpoint: TLSSession
    private let peer: TLSSession
    /// The bytes that the endpoint has read. `written` contains the bytes that the peer has written.
    private var read: [UInt8] = []
    private var written: [UInt8] = []
    /// All bytes that the endpoint has received, as they would appear in a capture.
    private var wire: [UInt8] = []
    private var early: [UInt8] = []

    init(input: [UInt8]) {
        self.input = input
        let first = input.first ?? 0
        position = 1
        var own = TLSContext.Options(isServer: first & 1 == 0)
        var other = TLSContext.Options(isServer: first & 1 == 1)
        other.forges = first & 2 != 0
        if !other.forges { other.version = first & 4 != 0 ? .tls12 : .tls13 }
        if first & 8 != 0 { own.protocols = ["imap", "smtp"] }
        if first & 16 != 0 {
            other.protocols = ["smtp"]
            if own.isServer { own.clientCertificate = .asked }
        }
        if own.isServer {
            own.identity = .made(identities.leaf)
            own.trusted = [identities.authority]
        } else {
            other.identity = .made(identities.leaf)
            if first & 32 != 0 { own.trusted = [identities.authority] }
        }
        do {
            endpoint = try TLSSession(
                TLSContext(own), indicated: own.isServer ? nil : "localhost",
                verified: own.trusted.isEmpty ? nil : "localhost")
            peer = try TLSSession(TLSContext(other), indicated: other.isServer ? nil : "localhost")
        } catch {
            fatalError("a session can't be made: \(error)")
        }
    }

    mutating func run() {
        // Scripts can name certificate and key files. Whatever such a file contains, it must be either used or
        // rejected.
        if input.first == 255 { return useFiles() }
        if next() % 4 != 0 { for _ in 0..<4 { passOn(changes: 0) } }
        while position < input.count {
            switch next() % 16 {
            case 0...3: passOn(changes: 0)
            case 4, 5: passOn(changes: Int(next() % 3) + 1)
            case 6: give([20 + next() % 6, 3, next() % 5] + length(Int(next()) << 8 | Int(next())) + take(Int(next())))
            case 7: give(take(Int(next())))
            case 8, 9: write(Int(next()) * 8, recordLength: Int(next()) + 1)
            case 10: act { _ = $0.notify() }
            case 11:
                let isRequested = next() % 2 == 0
                act { _ = $0.updateKey(isRequested: isRequested) }
            case 12: act { _ = Self.message(of: $0) }
            case 13: forge()
            case 14:
                _ = endpoint.write(take(Int(next())), recordLength: 100)
                if next() % 8 == 0 { _ = endpoint.notify() }
            default:
                early += peer.takeOutput()
            }
            look()
        }
        for startsAtOnce in [true, false] {
            let records = TLSRecords(wire.span, startsAtOnce: startsAtOnce)
            demand(records.count * 5 <= wire.count, "there are more records than fit into the bytes")
        }
        demand(TLSRecords.plainText(in: wire.span).length <= wire.count, "there is more plain text than bytes")
    }

    // MARK: The peer

    private static func message(of peer: TLSSession) -> TLSSession.Progress {
        peer.version == .tls12 ? peer.requestHello() : peer.sendTicket()
    }

    private mutating func act(_ body: (TLSSession) -> Void) {
        // As in the engine, no more data is sent through OpenSSL after a record was forged.
        if !peer.hasForged { body(peer) }
    }

    private mutating func write(_ count: Int, recordLength: Int) {
        guard !peer.hasForged else { return }
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: written.count + $0) }
        if peer.write(bytes, recordLength: recordLength) == .done { written += bytes }
    }

    private mutating func forge() {
        early += peer.takeOutput()
        let type = next() % 2 == 0 ? 23 : next()
        let bytes = take(Int(next()) * (next() % 32 == 0 ? 80 : 1))
        // A record can't be forged before the end of the handshake, or with TLS 1.2, so `try?` is used.
        guard let record = try? peer.forge(type: type, bytes) else { return }
        if type == 23 { written += bytes }
        early += record
    }

    // MARK: The network

    /// Passes the peer's output to the endpoint with some bytes altered, and passes the endpoint's output to the peer.
    private mutating func passOn(changes: Int) {
        _ = peer.handshake()
        var bytes = early + peer.takeOutput()
        early = []
        for _ in 0..<changes where !bytes.isEmpty {
            let place = (Int(next()) << 8 | Int(next())) % bytes.count
            switch next() % 4 {
            case 0: bytes[place] ^= 1 << (next() % 8)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(contentsOf: take(Int(next() % 8)), at: place)
            // Repeats the last bytes, so that they arrive twice.
            default: bytes += bytes[place...]
            }
        }
        give(bytes)
        _ = peer.handshake()
        peer.receive(endpoint.takeOutput())
        _ = peer.read { _ in }
        early += peer.takeOutput()
    }

    private mutating func give(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        wire += bytes
        let cut = bytes.count * Int(next()) / 256
        for part in [bytes[..<cut], bytes[cut...]] {
            endpoint.receive(Array(part))
            look()
        }
    }

    private mutating func look() {
        if case .failed(let error) = endpoint.handshake() {
            demand(!error.reason.isEmpty, "a failure has no reason")
        }
        var received: [UInt8] = []
        if case .failed(let error) = endpoint.read({ received += $0 }) {
            demand(!error.reason.isEmpty, "a failure has no reason")
        }
        read += received
        demand(written.starts(with: read), "the read bytes differ from the peer's")
        demand(
            (endpoint.alertsReceived.map(\.alert) + endpoint.alertsSent).allSatisfy { !"\($0)".isEmpty },
            "an alert has no name")
        demand(
            endpoint.secrets.allSatisfy { $0.utf8.allSatisfy { (0x20...0x7E).contains($0) } },
            "the key log has unexpected bytes")
    }

    // MARK: Files

    private mutating func useFiles() {
        var options = TLSContext.Options(isServer: next() % 2 == 0)
        var (certificates, key) = (identities.authority, identities.key)
        for _ in 0..<next() % 8 {
            let place = Int(next()) << 8 | Int(next())
            if next() % 2 == 0 {
                certificates[place % certificates.count] = next()
            } else {
                key[place % key.count] = next()
            }
        }
        if next() % 2 == 0 { certificates = take(input.count) }
        options.identity = .files(certificates: certificates, key: key)
        options.trusted = [certificates]
        do { _ = try TLSContext(options) } catch { demand(!error.reason.isEmpty, "a failure has no reason") }
    }

    // MARK: Input

    private func length(_ count: Int) -> [UInt8] { [UInt8(count >> 8), UInt8(count & 0xff)] }

    private mutating func next() -> UInt8 {
        guard position < input.count else { return 0 }
        defer { position += 1 }
        return input[position]
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        let end = min(position + count, input.count)
        defer { position = end }
        return Array(input[min(position, end)..<end])
    }
}

/// Like `precondition`, but the text is also printed in an optimized build.
private func demand(_ condition: Bool, _ text: String) {
    if !condition { fatalError(text) }
}
