// Bug: `text += chunk` decodes each chunk separately, so a character that is split between two chunks becomes U+FFFD.
// Why tests miss it: a short line arrives in one chunk.
// Each line is echoed.
const net = require("net");
const fixed = process.argv.includes("--fixed");

net.createServer((socket) => {
  let text = "";
  socket.write("ready\r\n");
  if (fixed) socket.setEncoding("utf8");
  socket.on("error", () => {}).on("data", (chunk) => {
    text += chunk;
    const lines = text.split("\r\n");
    text = lines.pop();
    for (const line of lines) socket.write(line + "\r\n");
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
