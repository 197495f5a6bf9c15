// Bug: the unfinished line is a variable of the module, so all connections share it.
// Why tests miss it: each test has one client, or its lines arrive at once.
// Each line is answered with its length.
const net = require("net");
const fixed = process.argv.includes("--fixed");

let shared = "";

net.createServer((socket) => {
  let own = "";
  socket.write("ready\r\n");
  socket.setEncoding("utf8").on("error", () => {}).on("data", (data) => {
    const lines = ((fixed ? own : shared) + data).split("\r\n");
    own = shared = lines.pop();
    for (const line of lines) socket.write(line.length + "\r\n");
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
