"use strict";
// The client's half of the protocol: a process of `tcpprobe lsp`, requests, and notifications. It does not depend on an editor.

const { spawn } = require("child_process");

/** The maximum number of starts within a minute; after that, the server is not restarted. */
const MOST_STARTS = 5;
/** Half of a character, which JSON.stringify escapes and valid text never contains; its backslash is not itself escaped. */
const LONE_SURROGATE = /(?<=(?:^|[^\\])(?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;
const HEADER_END = Buffer.from("\r\n\r\n");

class Client {
    /**
     * @param {string} tool the path of tcpprobe
     * @param {string[]} words its arguments
     * @param {{notify: (method: string, params: any) => void, log: (text: string) => void, started: () => void,
     *          failed: (text: string) => void}} events
     */
    constructor(tool, words, events) {
        this.tool = tool;
        this.words = words;
        this.events = events;
        this.waiting = new Map();
        this.number = 0;
        this.starts = [];
        this.isStopping = false;
        this.isReady = false;
    }

    /** Starts the process and sends `initialize`; `started` is called once the server has answered. */
    start() {
        const now = Date.now();
        this.starts = this.starts.filter((time) => now - time < 60000).concat(now);
        if (this.starts.length > MOST_STARTS) {
            this.events.failed(`${this.tool} lsp has exited ${MOST_STARTS} times within a minute and is not restarted.`);
            return;
        }
        const child = spawn(this.tool, this.words, { stdio: ["pipe", "pipe", "pipe"] });
        this.child = child;
        this.received = [];
        this.size = 0;
        child.on("error", (error) => {
            if (child !== this.child) return;
            this.child = undefined;
            const reason = error.code === "ENOENT" ? "the program was not found" : error.message;
            this.events.failed(`${this.tool} can't be started: ${reason}. Set tcpprobe.path to its location.`);
            this.giveUp(reason);
        });
        child.on("exit", (code, signal) => {
            if (child !== this.child) return;
            this.child = undefined;
            this.giveUp("the language server has exited");
            if (this.isStopping) return;
            this.events.log(`tcpprobe lsp has exited (${signal || "exit code " + code}); restarting it`);
            this.start();
        });
        child.stdin.on("error", () => {}); // The `exit` event reports it.
        child.stderr.on("data", (data) => this.events.log(data.toString("utf8").trimEnd()));
        child.stdout.on("data", (data) => { if (child === this.child) this.receive(data); });
        this.send("initialize", {
            processId: process.pid,
            rootUri: null,
            capabilities: {
                general: { positionEncodings: ["utf-16"] },
                textDocument: {
                    hover: { contentFormat: ["markdown", "plaintext"] },
                    completion: { completionItem: { documentationFormat: ["markdown", "plaintext"] } },
                    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
                    publishDiagnostics: { relatedInformation: true, versionSupport: true },
                },
            },
        }).then(() => {
            this.isReady = true;
            this.tell("initialized", {});
            this.events.started();
        }, () => {});
    }

    giveUp(reason) {
        this.isReady = false;
        for (const { reject } of this.waiting.values()) reject(new Error(reason));
        this.waiting.clear();
    }

    /** Shuts the server down; the promise resolves when its process has exited. */
    stop() {
        this.isStopping = true;
        const child = this.child;
        if (!child) return Promise.resolve();
        const gone = new Promise((resolve) => child.once("exit", resolve));
        this.send("shutdown", null).then(() => { this.tell("exit", null); child.stdin.end(); }, () => {});
        // A server that hangs must not delay the editor.
        const timer = setTimeout(() => child.kill(), 3000);
        return gone.then(() => clearTimeout(timer));
    }

    /** Sends a request and returns its result; undefined if the server is not ready or answers with an error. */
    async ask(method, params, token) {
        if (!this.isReady) return undefined;
        try {
            return await this.send(method, params, token);
        } catch (error) {
            if (error.code !== -32800) this.events.log(`${method}: ${error.message}`);
            return undefined;
        }
    }

    /** Sends a notification. */
    tell(method, params) {
        this.write({ jsonrpc: "2.0", method, params });
    }

    send(method, params, token) {
        const id = ++this.number;
        return new Promise((resolve, reject) => {
            if (!this.child) return reject(new Error("the language server is not running"));
            this.waiting.set(id, { resolve, reject });
            this.write({ jsonrpc: "2.0", id, method, params });
            if (token) token.onCancellationRequested(() => { if (this.waiting.has(id)) this.tell("$/cancelRequest", { id }); });
        });
    }

    write(message) {
        if (!this.child) return;
        const body = Buffer.from(JSON.stringify(message).replace(LONE_SURROGATE, "\\ufffd"), "utf8");
        this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
        this.child.stdin.write(body);
    }

    receive(data) {
        this.received.push(data);
        this.size += data.length;
        if (this.wanted !== undefined && this.size < this.wanted) return;
        let rest = Buffer.concat(this.received, this.size);
        this.wanted = undefined;
        for (;;) {
            const end = rest.indexOf(HEADER_END);
            if (end < 0) break;
            const length = /^content-length: *(\d+)/im.exec(rest.toString("latin1", 0, end));
            if (!length) {
                this.events.log("tcpprobe lsp wrote an invalid message");
                this.child.kill();
                return;
            }
            const next = end + HEADER_END.length + Number(length[1]);
            if (rest.length < next) {
                this.wanted = next;
                break;
            }
            this.take(JSON.parse(rest.toString("utf8", end + HEADER_END.length, next)));
            rest = rest.subarray(next);
        }
        this.received = [rest];
        this.size = rest.length;
    }

    take(message) {
        if (message.method !== undefined) {
            if (message.id === undefined) this.events.notify(message.method, message.params);
            return;
        }
        const request = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (!request) return;
        if (message.error) request.reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
        else request.resolve(message.result);
    }
}

module.exports = { Client };
