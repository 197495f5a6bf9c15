// Bug: without allowHalfOpen, Node ends its side of the connection as soon as the client half-closes it; a reply that is not ready yet is lost.
// Why tests miss it: clients wait for the reply before they close the connection.
// A reply takes 20 ms.
const net = require("net");
const { setTimeout: pause } = require("timers/promises");
const fixed = process.argv.includes("--fixed");

net.createServer({ allowHalfOpen: fixed }, async (socket) => {
  socket.on("error", () => {});
  socket.write("ready\r\n");
  let rest = "";
  try {
    for await (const data of socket.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
      const lines = (rest + data).split("\r\n");
      rest = lines.pop();
      for (const line of lines) {
        await pause(20);
        socket.write("found " + line + "\r\n");
      }
    }
  } catch {} // the client has reset the connection
  socket.end();
}).listen(Number(process.argv[2]), "127.0.0.1");
