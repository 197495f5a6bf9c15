// Node's net.Socket with readline, the usual way to read a line protocol in Node.
const fs = require("fs"), net = require("net"), readline = require("readline"), tls = require("tls");
const sockets = new Map();
let accepted = 999999;
const say = message => process.stdout.write(JSON.stringify(message) + "\n");
// Returns the name of an error that the machine, not the peer, caused.
const machine = error => ["EADDRNOTAVAIL", "EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"].find(code => code === error.code);
const reasons = { ECONNREFUSED: "refused", ECONNRESET: "reset", EPIPE: "broken-pipe" };

// The options for `tls.connect`. SNI must not be sent for an address. The certificate is verified against the given
// name, because by default it would be verified against the host.
function secure({ ca, name, alpn, version }) {
  return { ca: fs.readFileSync(ca), servername: net.isIP(name) ? "" : name, ALPNProtocols: alpn,
    checkServerIdentity: (_, certificate) => tls.checkServerIdentity(name, certificate),
    minVersion: version ? "TLSv" + version : "TLSv1.2", maxVersion: version ? "TLSv" + version : "TLSv1.3" };
}

const secured = (conn, socket) =>
  say({ ev: "secured", conn, version: socket.getProtocol().slice(4), alpn: socket.alpnProtocol || undefined });

// Returns true for errors of OpenSSL, errors in the certificate chain or in the certificate's name, and the end of the
// stream during the handshake.
const isOfTLS = (error, socket) => error.code?.startsWith("ERR_SSL") || error.code?.startsWith("ERR_TLS")
  || socket.encrypted && !socket.isSecured && !(error.code in reasons && error.syscall);

function serve(conn, socket) {
  let reason = "eof", detail, trouble;
  sockets.set(conn, socket);
  const lines = readline.createInterface({ input: socket.setEncoding("latin1"), crlfDelay: Infinity });
  lines.on("line", data => socket.isStopping || say({ ev: "line", conn, data }));
  lines.on("error", () => {}); // readline re-emits the socket's errors, and an unhandled error would end the process.
  socket.lines = lines;
  socket.tell = (reason, detail, machine) => {
    if (!socket.isOver) say({ ev: "stop", conn, reason, detail, machine });
    socket.isOver = true;
  };
  socket.on("timeout", () => { reason = "timeout"; socket.destroy(); });
  socket.on("error", error => { reason = isOfTLS(error, socket) ? "tls-failed" : reasons[error.code] ?? "other"; detail = error.message; trouble = machine(error); });
  socket.on("close", () => setImmediate(() => socket.tell(reason, detail, trouble)));
}

function connect({ conn, host, port, ...options }) {
  const socket = options.tls ? tls.connect({ host, port, ...secure(options.tls) }) : net.connect({ host, port });
  if (options["connect-timeout-ms"]) socket.setTimeout(options["connect-timeout-ms"]);
  socket.on(options.tls ? "secureConnect" : "connect", () => {
    socket.setTimeout(0);
    if (options.tls) { socket.isSecured = true; secured(conn, socket); }
    say({ ev: "start", conn });
  });
  serve(conn, socket);
}

// From now on only TLS reads the plain socket: its readline interface is closed, and its later events are ignored.
function startTLS(conn, plain, options) {
  plain.lines.removeAllListeners("line").close();
  for (const event of ["error", "close", "timeout"]) plain.removeAllListeners(event);
  plain.on("error", () => {});
  const socket = tls.connect({ socket: plain, ...secure(options) });
  socket.on("secureConnect", () => { socket.isSecured = true; secured(conn, socket); });
  serve(conn, socket);
}

function listen({ conn: listener, host, port }, done) {
  const server = net.createServer(socket => {
    const conn = ++accepted;
    say({ ev: "accept", conn, listener });
    say({ ev: "start", conn });
    serve(conn, socket);
  });
  sockets.set(listener, server);
  server.tell = (reason, detail, machine) => { server.close(); server.isOver = true; say({ ev: "stop", conn: listener, reason, detail, machine }); };
  server.on("error", error => {
    if (!server.listening) return done({ error: error.message, machine: machine(error) });
    if (!server.isOver && machine(error)) server.tell("other", error.message, machine(error)); // `accept` failed.
  });
  server.listen(port, host, () => done({ port: server.address().port }));
}

function stop(socket) {
  if (socket.isOver) return;
  if (socket instanceof net.Server || socket.connecting) { socket.tell("stopped"); socket.destroy?.(); }
  else {
    socket.isStopping = true;
    socket.on("close", () => socket.tell("stopped")).destroySoon();
  }
}

function perform({ id, ...op }) {
  const done = answer => say({ ev: "done", id, ...answer });
  const socket = sockets.get(op.conn), begins = op.op === "connect" || op.op === "listen";
  if (begins && socket) return done({ error: "already-started" });
  if (begins && op.framing !== "crlf") return done({ error: "unsupported" });
  if (op.op === "listen") return listen(op, done);
  if (op.op === "connect") { connect(op); return done(); }
  if (!socket) return done({ error: "not-started" });
  if (op.op === "stop") { stop(socket); return done(); }
  if (socket.isOver) return done({ error: "stopped" });
  if (op.op === "send") socket.write(op.data + "\r\n", "latin1");
  else if (op.op === "half-close") socket.end();
  else if (op.op === "start-tls") {
    if (socket.encrypted) return done({ error: "already-started" });
    startTLS(op.conn, socket, op.tls);
  } else if (op.op === "stop-reading") socket.pause();
  else if (op.op === "resume-reading") socket.resume();
  else return done({ error: "unsupported" });
  done();
}

say({ ev: "hello", proto: 1, minor: 4, name: "node-net", version: process.version,
  can: ["connect", "listen", "send", "lines", "crlf", "half-close", "stop", "stop-reading", "resume-reading", "connect-timeout", "tls", "start-tls"],
  lacks: ["frames"] });
readline.createInterface({ input: process.stdin }).on("line", line => perform(JSON.parse(line))).on("close", () => process.exit());
