// Bug: requests are handled concurrently, so the reply to a fast request overtakes the reply to a slow one.
// Why tests miss it: the second request is sent when the first one has been answered.
// SLOW takes 10 ms.
const net = require("net");
const { setTimeout: pause } = require("timers/promises");
const fixed = process.argv.includes("--fixed");

async function answer(request) {
  if (request === "SLOW") await pause(10);
  return "did " + request + "\r\n";
}

net.createServer((socket) => {
  let rest = "";
  socket.write("ready\r\n");
  let last = Promise.resolve();
  socket.setEncoding("utf8").on("error", () => {}).on("data", (data) => {
    const lines = (rest + data).split("\r\n");
    rest = lines.pop();
    for (const line of lines) {
      const done = async () => socket.write(await answer(line));
      if (fixed) last = last.then(done);
      else done();
    }
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
