"""A TLS server with a self-signed certificate that answers the first bytes of each connection with `ok`: `tls_server.py PORT`."""
import socket, ssl, subprocess, sys

subprocess.run(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
     "-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"], check=True, stderr=subprocess.DEVNULL)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    plain, _ = listener.accept()
    try:
        with context.wrap_socket(plain, server_side=True) as secured:
            print("got", secured.recv(100), flush=True)
            secured.sendall(b"ok\n")
            secured.unwrap().close()
    except (ssl.SSLError, OSError) as error:
        print("error", error, flush=True)
