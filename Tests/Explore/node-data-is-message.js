// Bug: each 'data' event is taken for one complete message.
// Why tests miss it: a short message that is sent at once arrives in one event.
// A message is a line of JSON; the reply is the sum of its numbers.
const net = require("net");
const fixed = process.argv.includes("--fixed");

function answer(text) {
  try {
    return JSON.parse(text).reduce((sum, n) => sum + n, 0) + "\r\n";
  } catch {
    return "error\r\n";
  }
}

net.createServer((socket) => {
  let rest = "";
  socket.write("ready\r\n");
  socket.setEncoding("utf8").on("error", () => {}).on("data", (data) => {
    if (!fixed) return socket.write(answer(data));
    const lines = (rest + data).split("\n");
    rest = lines.pop();
    for (const line of lines) socket.write(answer(line));
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
