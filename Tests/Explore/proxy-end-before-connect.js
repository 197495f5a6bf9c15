// Bug: a proxy connects to the backend when the first data arrives; if the client's FIN arrives before the connection is
// established, it is not forwarded.
// Why tests miss it: a FIN that follows later finds the connection established.
// The arguments are the port and the backend's port.
const net = require("net");
const fixed = process.argv.includes("--fixed");

net.createServer({ allowHalfOpen: true }, (client) => {
  let backend;
  client.on("error", () => backend?.destroy());
  client.on("data", (data) => {
    if (!backend) {
      backend = net.connect({ port: Number(process.argv[3]), host: "127.0.0.1", allowHalfOpen: true });
      backend.on("data", (reply) => client.write(reply));
      backend.on("end", () => client.end());
      backend.on("error", () => client.destroy());
    }
    backend.write(data);
  });
  client.on("end", () => {
    if (!backend) client.end();
    else if (fixed || !backend.connecting) backend.end();
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
