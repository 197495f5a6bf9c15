"use strict";
// tcpprobe's scenarios in VS Code: `tcpprobe lsp` knows the language, and this file connects it to the editor. Nothing else has to be built
// or installed.

const vscode = require("vscode");
const { Client } = require("./client");

const LANGUAGE = "scn";
const RUN = "tcpprobe.run";

let client;
let log;
let diagnostics;
let lensesChanged;

function activate(context) {
    log = vscode.window.createOutputChannel("tcpprobe");
    diagnostics = vscode.languages.createDiagnosticCollection("tcpprobe");
    lensesChanged = new vscode.EventEmitter();
    context.subscriptions.push(log, diagnostics, lensesChanged);
    start();

    const documents = { language: LANGUAGE };
    context.subscriptions.push(
        vscode.workspace.onDidOpenTextDocument(opened),
        vscode.workspace.onDidChangeTextDocument(changed),
        vscode.workspace.onDidCloseTextDocument(closed),
        vscode.workspace.onDidSaveTextDocument((document) => {
            if (client && client.isReady) client.tell("textDocument/didSave", { textDocument: { uri: document.uri.toString() } });
        }),
        vscode.languages.registerHoverProvider(documents, { provideHover }),
        vscode.languages.registerCompletionItemProvider(documents, { provideCompletionItems }, " ", "{", "."),
        vscode.languages.registerDefinitionProvider(documents, { provideDefinition }),
        vscode.languages.registerDocumentSymbolProvider(documents, { provideDocumentSymbols }),
        vscode.languages.registerDocumentFormattingEditProvider(documents, { provideDocumentFormattingEdits }),
        vscode.languages.registerCodeLensProvider(documents, { onDidChangeCodeLenses: lensesChanged.event, provideCodeLenses }),
        vscode.commands.registerCommand(RUN, run),
        vscode.commands.registerCommand("tcpprobe.restart", restart),
        vscode.workspace.onDidChangeConfiguration((event) => { if (event.affectsConfiguration("tcpprobe")) return restart(); }));
}

function deactivate() {
    return client && client.stop();
}

function settings() {
    return vscode.workspace.getConfiguration("tcpprobe");
}

/** Returns `--allow-target` for each target. */
function targets() {
    return settings().get("allowTargets", []).flatMap((target) => ["--allow-target", target]);
}

function start() {
    client = new Client(settings().get("path", "tcpprobe"), ["lsp", ...targets()], {
        notify: (method, params) => {
            if (method === "textDocument/publishDiagnostics") publish(params);
            else if (method === "window/logMessage") log.appendLine(params.message);
        },
        log: (text) => log.appendLine(text),
        failed: (text) => { vscode.window.showErrorMessage(text); },
        started: () => { for (const document of vscode.workspace.textDocuments) opened(document); },
    });
    client.start();
}

async function restart() {
    const old = client;
    client = undefined;
    diagnostics.clear();
    if (old) await old.stop();
    start();
}

// Documents

function opened(document) {
    if (document.languageId !== LANGUAGE || !client || !client.isReady) return;
    client.tell("textDocument/didOpen", {
        textDocument: { uri: document.uri.toString(), languageId: LANGUAGE, version: document.version, text: document.getText() },
    });
}

function changed(event) {
    if (event.document.languageId !== LANGUAGE || !client || !client.isReady || event.contentChanges.length === 0) return;
    client.tell("textDocument/didChange", {
        textDocument: { uri: event.document.uri.toString(), version: event.document.version },
        // Changes are listed from the end of the text to its beginning, so the positions of each one are still valid.
        contentChanges: event.contentChanges.map((change) => ({ range: change.range, text: change.text })),
    });
}

function closed(document) {
    if (document.languageId !== LANGUAGE) return;
    if (client && client.isReady) client.tell("textDocument/didClose", { textDocument: { uri: document.uri.toString() } });
    diagnostics.delete(document.uri);
}

function publish(params) {
    const uri = vscode.Uri.parse(params.uri);
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    // The positions of diagnostics for an older text are no longer valid.
    if (document && params.version !== undefined && params.version !== document.version) return;
    diagnostics.set(uri, params.diagnostics.map((one) => {
        const diagnostic = new vscode.Diagnostic(range(one.range), one.message, one.severity - 1);
        diagnostic.code = one.code;
        diagnostic.source = one.source;
        diagnostic.relatedInformation = (one.relatedInformation || []).map((related) =>
            new vscode.DiagnosticRelatedInformation(location(related.location), related.message));
        return diagnostic;
    }));
    lensesChanged.fire();
}

// Answers

function range(value) {
    return new vscode.Range(value.start.line, value.start.character, value.end.line, value.end.character);
}

function location(value) {
    return new vscode.Location(vscode.Uri.parse(value.uri), range(value.range));
}

function markdown(content) {
    // Text from a script is in fences, so it can't contain links or pictures.
    return content.kind === "markdown" ? new vscode.MarkdownString(content.value) : content.value;
}

function ask(method, document, more, token) {
    return client ? client.ask("textDocument/" + method, { textDocument: { uri: document.uri.toString() }, ...more }, token) : undefined;
}

async function provideHover(document, position, token) {
    const hover = await ask("hover", document, { position }, token);
    return hover && new vscode.Hover(markdown(hover.contents), hover.range && range(hover.range));
}

async function provideCompletionItems(document, position, token) {
    const list = await ask("completion", document, { position }, token);
    return list && list.items.map((one) => {
        // The editor numbers the kinds from 0.
        const item = new vscode.CompletionItem(one.label, one.kind - 1);
        item.detail = one.detail;
        item.documentation = one.documentation && markdown(one.documentation);
        item.sortText = one.sortText;
        item.insertText = one.textEdit.newText;
        item.range = range(one.textEdit.range);
        return item;
    });
}

async function provideDefinition(document, position, token) {
    const place = await ask("definition", document, { position }, token);
    return place && location(place);
}

async function provideDocumentSymbols(document, token) {
    const symbols = await ask("documentSymbol", document, {}, token);
    return symbols && symbols.map((one) =>
        new vscode.DocumentSymbol(one.name, one.detail, one.kind - 1, range(one.range), range(one.selectionRange)));
}

async function provideDocumentFormattingEdits(document, options, token) {
    const edits = await ask("formatting", document, { options: { tabSize: options.tabSize, insertSpaces: options.insertSpaces } }, token);
    return edits && edits.map((edit) => new vscode.TextEdit(range(edit.range), edit.newText));
}

async function provideCodeLenses(document, token) {
    const lenses = await ask("codeLens", document, {}, token);
    return lenses && lenses.map((lens) => new vscode.CodeLens(range(lens.range), lens.command));
}

// Running

let terminal;

/** Runs a file or one of its cases in a terminal: that of a lens, or that of the active editor. */
async function run(target, caseId) {
    const editor = vscode.window.activeTextEditor;
    const uri = typeof target === "string" ? vscode.Uri.parse(target) : target || (editor && editor.document.uri);
    if (!uri || uri.scheme !== "file") {
        vscode.window.showErrorMessage("tcpprobe runs files: save the scenario first.");
        return;
    }
    if (!vscode.workspace.isTrusted) {
        vscode.window.showErrorMessage("The scenario was not run, because this folder is not trusted.");
        return;
    }
    const document = vscode.workspace.textDocuments.find((open) => open.uri.toString() === uri.toString());
    if (document && document.isDirty && !(await document.save())) return;
    const words = [settings().get("path", "tcpprobe"), "run", uri.fsPath, ...targets()];
    if (typeof caseId === "string") words.push("--filter", caseId);
    if (!terminal || terminal.exitStatus !== undefined) {
        // Use a shell with known quoting rules.
        terminal = vscode.window.createTerminal({ name: "tcpprobe", shellPath: "/bin/sh" });
    }
    terminal.show(true);
    terminal.sendText(words.map(quoted).join(" "));
}

/** Quotes a word for a POSIX shell. A line break in a name would end the command. */
function quoted(word) {
    const text = word.replace(/[\0-\x1f\x7f]/g, "?");
    return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'";
}

module.exports = { activate, deactivate };
