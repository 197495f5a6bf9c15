"""Faults of TLS. The records come from OpenSSL, except for alerts and a ServerHello that it would not send."""
import os
import shutil
import ssl
import subprocess
import tempfile

from catalogue import scenario
from variant import Net, drain

HANDSHAKE, ALERT = 22, 21
# Cipher suites without a certificate, for machines without the program `openssl`.
ANONYMOUS = "AECDH-AES256-SHA:@SECLEVEL=0"
NAME = "server.example"


class End:
    """One end of a TLS connection whose records the scenario passes to its socket, or holds back."""

    def __init__(self, connection, context, is_server):
        self.connection = connection
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=is_server,
                                    server_hostname=None if is_server else NAME)

    def flush(self):
        data = self.outgoing.read()
        if data:
            self.connection.sendall(data)

    def feed(self):
        data = self.connection.recv(65536)
        if not data:
            raise EOFError
        self.incoming.write(data)

    def wait(self, operation, *arguments):
        """Repeats an operation until it needs no more input, and returns its result; sends what it writes."""
        while True:
            try:
                result = operation(*arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                self.feed()
            except ssl.SSLError:
                self.flush()
                raise EOFError from None

    def shake_hands(self):
        self.wait(self.tls.do_handshake)

    def hello(self):
        """Returns the next flight of the handshake, without sending it."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.outgoing.read()

    def send(self, data):
        self.tls.write(data)
        self.flush()

    def receive(self, size):
        left = size
        while left > 0:
            left -= len(self.wait(self.tls.read, left))

    def close(self):
        """Sends `close_notify`, then closes once the peer has closed."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass
        self.flush()
        self.connection.shutdown(1)
        drain(self.connection)
        self.connection.close()


def context(is_server, low=ssl.TLSVersion.TLSv1_2, high=ssl.TLSVersion.TLSv1_3, ciphers=None, certificate=None):
    result = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if is_server else ssl.PROTOCOL_TLS_CLIENT)
    if not is_server:
        result.check_hostname, result.verify_mode = False, ssl.CERT_NONE
    result.minimum_version, result.maximum_version = low, high
    if ciphers:
        result.set_ciphers(ciphers)
    if certificate:
        result.load_cert_chain(certificate)
    return result


def contexts(variant):
    """Returns the contexts of a client and a server that agree on a version."""
    certificate = make_certificate()
    version = variant.choose("version", "1.2", "1.3") if certificate else variant.note("version", "1.2")
    if certificate and version == "1.3":
        return context(False), context(True, certificate=certificate)
    high = ssl.TLSVersion.TLSv1_2
    return context(False, high=high, ciphers=ANONYMOUS), context(True, high=high, ciphers=ANONYMOUS)


def make_certificate():
    """Returns the path of a self-signed certificate with its key, or None without the program `openssl`."""
    if not shutil.which("openssl"):
        return None
    folder = tempfile.mkdtemp(prefix="tcpprobe-diagnosis-")
    key, path = os.path.join(folder, "key.pem"), os.path.join(folder, "both.pem")
    try:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", key, "-out", path, "-subj", f"/CN={NAME}", "-days", "2"],
                       check=True, capture_output=True)
        with open(path, "ab") as both, open(key, "rb") as one:
            both.write(one.read())
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, subprocess.CalledProcessError):
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    # A file without a name, which disappears with the process.
    memory = os.memfd_create("certificate", 0)
    os.write(memory, data)
    return f"/proc/self/fd/{memory}"


def record(kind, body, version=0x0303):
    return bytes([kind]) + version.to_bytes(2, "big") + len(body).to_bytes(2, "big") + body


def tls_net(variant):
    return Net(variant, rtt=variant.number_between("rtt", 0.003, 0.05), port=variant.choose("port", 443, 8443))


def run_ends(net, server, client, limit=4.0):
    net.serve(server)
    net.client(lambda: client(net.connect()))
    net.run(limit=limit)


def hand_over(connection, hello):
    """Sends a client's flight and reads the answer until the server closes."""
    connection.sendall(hello)
    drain(connection)


@scenario("tls-alert", 1)
def tls_alert(variant):
    """One side refuses the handshake, or ends the session, with an alert."""
    kinds = ["no shared cipher", "unrecognized name", "corrupted Finished", "unknown ca", "internal error", "warning"]
    certificate = make_certificate()
    kind = variant.turn("kind", *(kinds if certificate else [one for one in kinds if one != "unknown ca"]))
    net = tls_net(variant)
    high = ssl.TLSVersion.TLSv1_2
    side = "server"

    if kind == "no shared cipher":
        def server(connection):
            End(connection, context(True, high=high, ciphers="ECDHE-RSA-AES256-GCM-SHA384"), True).shake_hands()

        run_ends(net, server, lambda connection: End(connection, context(False, high=high, ciphers=ANONYMOUS),
                                                     False).shake_hands())
    elif kind == "unknown ca":
        side = "client"
        verifying = context(False, high=high)
        verifying.verify_mode = ssl.CERT_REQUIRED

        def server(connection):
            End(connection, context(True, high=high, certificate=certificate), True).shake_hands()

        run_ends(net, server, lambda connection: End(connection, verifying, False).shake_hands())
    elif kind in ("unrecognized name", "internal error"):
        code = 112 if kind == "unrecognized name" else 80

        def server(connection):
            connection.recv(4096)
            connection.sendall(record(ALERT, bytes([2, code])))

        run_ends(net, server, lambda connection: hand_over(connection, End(connection, context(False), False).hello()))
    else:
        anonymous = [context(is_server, high=high, ciphers=ANONYMOUS) for is_server in (False, True)]

        def server(connection):
            end = End(connection, anonymous[1], True)
            if kind == "warning":
                end.feed()
                connection.sendall(record(ALERT, bytes([1, 112])))
            end.shake_hands()
            end.receive(40)
            end.send(bytes(500))
            drain(connection)
            end.close()

        def client(connection):
            end = End(connection, anonymous[0], False)
            if kind == "warning":
                end.shake_hands()
                end.send(bytes(40))
                end.receive(500)
                end.close()
            else:
                connection.sendall(end.hello())
                end.feed()
                data = bytearray(end.hello())
                # The server's alert about the last record is not encrypted yet.
                data[-1] ^= 1
                connection.sendall(data)
                drain(connection)

        run_ends(net, server, client)
    return variant.label(side=side, also=["truncated-tls"])


@scenario("tls-version-mismatch", 1)
def tls_version_mismatch(variant):
    """The two sides support no common version."""
    kind = variant.turn("kind", "old client", "old server", "old answer")
    net = tls_net(variant)
    old, new = ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3
    if kind == "old answer":
        # A ServerHello for TLS 1.0, which the client rejects.
        body = b"\x03\x01" + bytes(range(32)) + b"\0" + b"\xc0\x14" + b"\0"
        answer = record(HANDSHAKE, b"\x02" + len(body).to_bytes(3, "big") + body, 0x0301)

        def server(connection):
            connection.recv(4096)
            connection.sendall(answer)
            drain(connection)

        run_ends(net, server, lambda connection: End(connection, context(False), False).shake_hands())
    else:
        low_client, low_server = (old, new) if kind == "old client" else (new, old)

        def server(connection):
            one = context(True, low=low_server, high=low_server,
                          ciphers=None if low_server == new else ANONYMOUS)
            End(connection, one, True).shake_hands()

        run_ends(net, server, lambda connection: End(connection, context(False, low=low_client, high=low_client),
                                                     False).shake_hands())
    return variant.label(side="client" if kind == "old answer" else "server", also=["tls-alert", "truncated-tls"])


@scenario("tls-handshake-stalled", 4)
def tls_handshake_stalled(variant):
    """One side stops in the handshake: after the ClientHello, or after the server's first flight."""
    side = variant.turn("owes", "server", "client", "server")
    gives_up = variant.choose("peer gives up", True, False)
    net = tls_net(variant)
    wait = variant.number_between("wait", 2.25, 3.2)
    if not gives_up:
        net.companion()
    client_context, server_context = contexts(variant)

    def stop(connection):
        drain(connection)

    def give_up(end):
        end.connection.settimeout(wait if gives_up else 60)
        end.shake_hands()

    def server(connection):
        if side == "server":
            stop(connection)
        else:
            give_up(End(connection, server_context, True))

    def client(connection):
        end = End(connection, client_context, False)
        if side == "client":
            connection.sendall(end.hello())
            stop(connection)
        else:
            give_up(end)

    run_ends(net, server, client, limit=wait + (0.5 if gives_up else 0.0))
    return variant.label(side=side, also=["request-unfinished", "slow-server"])


@scenario("truncated-tls", 1)
def truncated_tls(variant):
    """One side closes in the middle of a record, or without `close_notify`."""
    side = variant.turn("side", "server", "client")
    cut = variant.turn("cut", True, True, False)
    size = variant.number_between("bytes", 1_000, 12_000)
    net = tls_net(variant)
    client_context, server_context = contexts(variant)

    def finish(end):
        """Sends the last record, or a part of it, and closes."""
        end.tls.write(bytes(size))
        data = end.outgoing.read()
        end.connection.sendall(data[:variant.random.randint(100, size - 200)] if cut else data)
        end.connection.shutdown(1)
        drain(end.connection)

    def take(end):
        """Reads to the FIN and then closes as TLS requires."""
        drain(end.connection)
        end.close()

    def server(connection):
        end = End(connection, server_context, True)
        end.shake_hands()
        end.receive(60)
        end.send(bytes(700))
        (finish if side == "server" else take)(end)

    def client(connection):
        end = End(connection, client_context, False)
        end.shake_hands()
        end.send(bytes(60))
        end.receive(700)
        (finish if side == "client" else take)(end)

    run_ends(net, server, client)
    return variant.label(side=side)
