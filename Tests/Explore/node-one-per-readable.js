// Bug: a 'readable' event is taken for one message; a second message that has arrived with the first one waits for the next event.
// Why tests miss it: messages that are sent one by one cause one event each.
// A message begins with its length, one byte. Each message is echoed as a line.
const net = require("net");
const fixed = process.argv.includes("--fixed");

net.createServer((socket) => {
  let length = 0;
  socket.write("ready\r\n");
  function message() {
    if (length === 0) {
      const head = socket.read(1);
      if (head === null) return null;
      length = head[0];
    }
    const body = socket.read(length);
    if (body !== null) length = 0;
    return body;
  }
  socket.on("error", () => {}).on("readable", () => {
    let body;
    while ((body = message()) !== null) {
      socket.write(body + "\r\n");
      if (!fixed) break;
    }
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
