"use strict";
// Tests Editors/vscode without the editor. Uses the real server, and a stub of the module `vscode` with everything that
// the extension uses.
//
//     node vscode.js EXTENSION TOOL FOLDER       ends with `N checks passed`

const assert = require("assert");
const fs = require("fs");
const Module = require("module");
const path = require("path");

const [extensionFolder, tool, folder] = process.argv.slice(2);
let checks = 0;
const same = (found, wanted, what) => { assert.deepStrictEqual(found, wanted, what); checks += 1; };

class Emitter {
    constructor() { this.listeners = []; this.event = (listener) => { this.listeners.push(listener); return { dispose() {} }; }; }
    fire(value) { for (const listener of this.listeners) listener(value); }
    dispose() {}
}
class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range {
    constructor(a, b, c, d) { this.start = new Position(a, b); this.end = new Position(c, d); }
}
class Uri {
    constructor(text) { this.text = text; this.scheme = text.slice(0, text.indexOf(":")); this.fsPath = decodeURIComponent(text.replace(/^file:\/\//, "")); }
    static parse(text) { return new Uri(text); }
    static file(name) { return new Uri("file://" + name.split("/").map(encodeURIComponent).join("/")); }
    toString() { return this.text; }
}
const record = (...names) => class { constructor(...values) { names.forEach((name, index) => { this[name] = values[index]; }); } };

const events = { open: new Emitter(), change: new Emitter(), close: new Emitter(), save: new Emitter(), configuration: new Emitter() };
const providers = {};
const commands = {};
const shown = new Map();
const errors = [];
const sent = [];
let told = new Emitter();
const configuration = { path: tool, allowTargets: [] };
const fake = {
    EventEmitter: Emitter, Position, Range, Uri,
    Diagnostic: record("range", "message", "severity"), DiagnosticRelatedInformation: record("location", "message"),
    Location: record("uri", "range"), MarkdownString: record("value"), Hover: record("contents", "range"),
    CompletionItem: record("label", "kind"), TextEdit: record("range", "newText"), CodeLens: record("range", "command"),
    DocumentSymbol: record("name", "detail", "kind", "range", "selectionRange"),
    window: {
        createOutputChannel: () => ({ appendLine: (text) => { if (process.env.VERBOSE) console.log(text); }, dispose() {} }),
        showErrorMessage: (text) => { errors.push(text); told.fire(); },
        createTerminal: (options) => ({ options, show() {}, sendText: (text) => sent.push(text) }),
        activeTextEditor: undefined,
    },
    workspace: {
        isTrusted: true, textDocuments: [], getConfiguration: () => ({ get: (name, value) => configuration[name] ?? value }),
        onDidOpenTextDocument: events.open.event, onDidChangeTextDocument: events.change.event, onDidCloseTextDocument: events.close.event,
        onDidSaveTextDocument: events.save.event, onDidChangeConfiguration: events.configuration.event,
    },
    languages: {
        createDiagnosticCollection: () => ({
            set: (uri, list) => { shown.set(uri.toString(), list); told.fire(); }, delete: (uri) => shown.delete(uri.toString()),
            clear: () => shown.clear(), dispose() {},
        }),
    },
    commands: { registerCommand: (name, run) => { commands[name] = run; return { dispose() {} }; } },
};
for (const kind of ["Hover", "CompletionItem", "Definition", "DocumentSymbol", "DocumentFormattingEdit", "CodeLens"]) {
    fake.languages[`register${kind}Provider`] = (selector, provider) => {
        assert.strictEqual(selector.language, "scn");
        Object.assign(providers, provider);
        return { dispose() {} };
    };
}
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? fake : load(name, ...rest));

const until = async (condition) => {
    while (!condition()) await new Promise((resolve) => { told.listeners = [resolve]; });
};

class Document {
    constructor(uri, text) { Object.assign(this, { uri, text, version: 1, languageId: "scn", isDirty: false, saved: 0 }); }
    getText() { return this.text; }
    async save() { fs.writeFileSync(this.uri.fsPath, this.text); this.isDirty = false; this.saved += 1; return true; }
    change(from, to, text) {
        const place = (offset) => {
            const lines = this.text.slice(0, offset).split("\n");
            return [lines.length - 1, lines[lines.length - 1].length];
        };
        const range = new Range(...place(from), ...place(to));
        this.text = this.text.slice(0, from) + text + this.text.slice(to);
        this.version += 1;
        this.isDirty = true;
        events.change.fire({ document: this, contentChanges: [{ range, rangeOffset: from, rangeLength: to - from, text }] });
    }
}

async function main() {
    const manifest = JSON.parse(fs.readFileSync(path.join(extensionFolder, "package.json")));
    for (const file of [manifest.main, ...manifest.contributes.languages.map((one) => one.configuration), ...manifest.contributes.grammars.map((one) => one.path)]) {
        assert.ok(fs.existsSync(path.join(extensionFolder, file)), file);
    }
    JSON.parse(fs.readFileSync(path.join(extensionFolder, "language-configuration.json")));
    assert.ok(!manifest.dependencies && !manifest.scripts, "nothing must be installed or built");

    const extension = require(path.join(extensionFolder, manifest.main));
    const name = path.join(folder, "it's 😀 [1].scn");
    const uri = Uri.file(name);
    const text = "scenario \"a\"\neach n = 1, 2\nserver S\nclient   C -> S\nC connect\nS accept\nS send \"${n}\"\nC expect \"${n}\"\ndo { C expect \"😀\"; C sned \"x\" }\n";
    const document = new Document(uri, text);
    // The document is open before the extension is activated.
    fake.workspace.textDocuments.push(document);
    extension.activate({ subscriptions: [] });
    for (const command of manifest.contributes.commands) assert.ok(commands[command.command], command.command);
    await until(() => shown.has(uri.toString()));
    const list = shown.get(uri.toString());
    same(list.map((one) => one.code), ["unknown-verb"], "the diagnostics");
    const wrong = list.find((one) => one.code === "unknown-verb");
    same([wrong.severity, wrong.source, wrong.range.start], [0, "tcpprobe", new Position(8, 22)], "the position after an emoji");
    // Changes are sent as they are typed, so the diagnostic disappears once its line has been removed.
    shown.delete(uri.toString());
    const start = document.text.indexOf("do {");
    document.change(start, document.text.length, "");
    document.change(start, start, "C sned");
    document.change(start, start + "C sned".length, "");
    await until(() => shown.has(uri.toString()));
    same(shown.get(uri.toString()), [], "no diagnostics");

    // Half of a surrogate pair is not valid text, but must not end the session.
    document.change(10, 10, "\ud83d\\n\ud83d\udc4d");
    document.change(10, 15, "");
    const hover = await providers.provideHover(document, new Position(4, 3));
    assert.ok(hover.contents.value.includes("connect: a verb for a client"));
    const place = await providers.provideDefinition(document, new Position(3, 14));
    same([place.uri.toString(), place.range.start], [uri.toString(), new Position(2, 7)], "the definition");
    const items = await providers.provideCompletionItems(document, new Position(6, 2));
    assert.ok(items.some((one) => one.label === "stop reading" && one.kind === 13 && one.insertText === "stop reading"));
    const symbols = await providers.provideDocumentSymbols(document);
    same(symbols.map((one) => one.name), ["n", "S", "C"], "the symbols");
    const [edit] = await providers.provideDocumentFormattingEdits(document, { tabSize: 4, insertSpaces: true });
    same(edit.newText.split("\n")[0], "server  S", "the layout");
    const lenses = await providers.provideCodeLenses(document);
    same(lenses.map((one) => one.command.title), ["▶ run 2 cases", "▶ [n=1]", "▶ [n=2]"], "the lenses");

    // A lens saves the file and runs it in a shell, whatever the name of the file is.
    const { command } = lenses[1];
    await commands[command.command](...command.arguments);
    same([document.saved, sent.length], [1, 1], "it is saved and run");
    const listed = require("child_process").execFileSync("/bin/sh", ["-c", sent[0].replace(" run ", " list ")]).toString();
    same(listed.split("\n").filter((line) => line.includes("[n=")).length, 1, "one case");
    fake.workspace.isTrusted = false;
    await commands["tcpprobe.run"](uri);
    same([sent.length, errors.length], [1, 1], "nothing is run if the folder is not trusted");
    fake.workspace.isTrusted = true;
    await commands["tcpprobe.run"]("untitled:a");
    same([sent.length, errors.length], [1, 2], "nothing is run if the document is not a file");

    events.close.fire(document);
    fake.workspace.textDocuments.length = 0;
    same(shown.has(uri.toString()), false, "a closed document shows nothing");

    // A missing tool is reported, and a change of the setting for the tool's path takes effect.
    configuration.path = path.join(folder, "no such tool");
    events.configuration.fire({ affectsConfiguration: () => true });
    await until(() => errors.length === 3);
    assert.ok(errors[2].includes("tcpprobe.path"));
    configuration.path = tool;
    fake.workspace.textDocuments.push(document);
    events.configuration.fire({ affectsConfiguration: () => true });
    await until(() => shown.has(uri.toString()));
    await extension.deactivate();
    console.log(`${checks} checks passed`);
}

main().catch((error) => { console.log(error); process.exit(1); });
