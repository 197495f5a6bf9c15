// server.js PORT: answers each HTTP request with "<METHOD PATH BODY>".
const http = require("http");

http.createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => response.end(`<${request.method} ${request.url} ${Buffer.concat(chunks)}>\n`));
}).listen(Number(process.argv[2]), "127.0.0.1");
