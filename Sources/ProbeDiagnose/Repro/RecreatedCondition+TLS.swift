import ProbeBase

/// Scenarios for findings about TLS.
extension RecreatedCondition {
    var tls: ReproductionScript? {
        switch id {
        case .tlsAlert: tlsAlert
        case .tlsHandshakeStalled: tlsHandshakeStalled
        case .tlsVersionMismatch: tlsVersionMismatch
        case .truncatedTLS: truncatedTLS
        default: nil
        }
    }

    private static let random = (0..<32).map { Hex.byte($0) }.joined(separator: " ")

    /// The bytes of a ClientHello that is complete, but offers too little for a connection.
    private static let clientHello =
        "hex(16 03 01 00 31 01 00 00 2d 03 03 \(random) 00 00 02 13 01 01 00 00 02 00 00)"

    /// Returns the bytes of a ServerHello with a version, which is given in hexadecimal digits.
    private static func serverHello(version: String) -> String {
        "hex(16 \(version) 00 2a 02 00 00 26 \(version) \(random) 00 \(version == "03 01" ? "00 2f" : "13 01") 00)"
    }

    private var tlsAlert: ReproductionScript {
        let code = count("alert", in: 40...255)
        let isFatal = severity == .problem
        let own = ReproductionScript.name(place)
        var script = ReproductionScript(
            "the \(place.word) sends \(isFatal ? "the fatal" : "the warning") TLS alert \(code)")
        if place == .client, isFatal, let flaw = Self.flaws[code] {
            script.options = [
                .server: "tls cert \(flaw.word) version 1.2", .client: "tls ca run name \"localhost\"",
            ]
            script.add("C connect tls failed \(flaw.alert)", "S accept tls failed \(flaw.alert)")
            return script
        }
        script.connect()
        script.add("# A ClientHello.", "C send \(Self.clientHello)", "S expect 54 bytes")
        if place == .client {
            script.add("# A ServerHello.")
            script.deliver(Self.serverHello(version: "03 03"), from: .server)
        }
        script.add(
            "# The alert, with its level and its description.",
            "\(own) send hex(15 03 03 00 02 \(isFatal ? "02" : "01") \(Hex.byte(code)))",
            "\(ReproductionScript.name(place.opposite)) expect 7 bytes")
        script.close(first: place)
        return script
    }

    /// The flaws of a certificate for which a client that verifies it sends an alert.
    private static let flaws: [Int: (word: String, alert: String)] = [
        45: ("expired", "certificate-expired"), 48: ("unknown-ca", "unknown-ca"),
    ]

    private var tlsHandshakeStalled: ReproductionScript {
        var script = ReproductionScript("the TLS handshake stalls because the \(place.word) sends nothing")
        script.connect()
        script.add("# A ClientHello.", "C send \(Self.clientHello)", "S expect 54 bytes")
        if place == .client {
            script.add("# A ServerHello.")
            script.deliver(Self.serverHello(version: "03 03"), from: .server)
        }
        script.wait(2200)
        script.close()
        return script
    }

    private var tlsVersionMismatch: ReproductionScript {
        var script = ReproductionScript("the client and the server have no TLS version in common")
        if place == .server {
            script.options = [.server: "tls version 1.3", .client: "tls version 1.2"]
            script.add("C connect tls failed protocol-version", "S accept tls failed protocol-version")
            return script
        }
        script.connect()
        script.add(
            "together {", "  C start tls failed protocol-version", "  do {", "    S expect 5 bytes",
            "    S expect any bytes", "    # A ServerHello with TLS 1.0.",
            "    S send \(Self.serverHello(version: "03 01"))", "  }", "}", "C close",
            "S ignore rest", "S expect closed", "S close")
        return script
    }

    private var truncatedTLS: ReproductionScript {
        let (own, other) = (ReproductionScript.name(place), ReproductionScript.name(place.opposite))
        let isCut = severity == .problem
        var script = ReproductionScript(
            isCut
                ? "the \(place.word) closes in the middle of a TLS record"
                : "the \(place.word) closes without close_notify")
        script.options = [.client: "tls", .server: "tls"]
        script.connect()
        script.exchange()
        if isCut {
            script.add("\(own) send plaintext hex(17 03 03 00 40 00 00)", "\(own) close without notify")
            script.add("\(other) ignore rest", "\(other) expect closed")
        } else {
            // A short record could be an alert.
            script.deliver("\"x\" * 200", from: place)
            script.add("\(own) close without notify", "\(other) expect truncated")
        }
        script.add("\(other) close")
        return script
    }
}

/// Bytes in hexadecimal digits.
private enum Hex {
    static func byte(_ value: Int) -> String {
        let digits = String(value & 0xff, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
