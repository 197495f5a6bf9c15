// java.net.http's WebSocket, used as in its documentation. Runs from its source: java Examples/Adapters/JavaWebSocket.java
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.charset.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;
import java.util.regex.*;

public class JavaWebSocket implements WebSocket.Listener {
    static final Map<Integer, JavaWebSocket> connections = new ConcurrentHashMap<>();
    static final HttpClient client = HttpClient.newHttpClient();
    final int conn;
    final StringBuilder text = new StringBuilder();
    final ByteArrayOutputStream binary = new ByteArrayOutputStream();
    // The latest operation; null before `start`. At most one message and one ping may be in progress, so each operation
    // waits for the previous one.
    volatile CompletableFuture<?> sending;
    volatile WebSocket socket;
    volatile CompletableFuture<WebSocket> connecting;
    boolean isOver, isStopping;

    JavaWebSocket(int conn) { this.conn = conn; }

    static synchronized void say(String event) { System.out.println(event); System.out.flush(); }

    // The protocol's JSON is ASCII, and no name occurs twice in it, so a few patterns are enough to parse it.
    static int number(String op, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":(\\d+)").matcher(op);
        return found.find() ? Integer.parseInt(found.group(1)) : 0;
    }

    static String text(String op, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\"((?:[^\"\\\\]|\\\\.)*+)\"").matcher(op);
        if (!found.find()) return "";
        return Pattern.compile("\\\\(u(....)|.)").matcher(found.group(1)).replaceAll(escape -> Matcher.quoteReplacement(
            escape.group(2) != null ? "" + (char) Integer.parseInt(escape.group(2), 16)
                : escape.group(1).replace('n', '\n').replace('r', '\r').replace('t', '\t').replace('b', '\b').replace('f', '\f')));
    }

    static ByteBuffer bytes(String op, String name) { return ByteBuffer.wrap(text(op, name).getBytes(StandardCharsets.ISO_8859_1)); }

    static String quoted(byte[] bytes) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : new String(bytes, StandardCharsets.ISO_8859_1).toCharArray())
            json.append(c < 32 || c > 126 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : "" + c);
        return json.append('"').toString();
    }

    static String quoted(String text) { return quoted(text.getBytes(StandardCharsets.UTF_8)); }

    static byte[] rest(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    // A connection reports nothing after its event `stop`, whichever thread reports that event, or after the op `stop`.
    synchronized void tell(String event, String more) {
        if (isOver || isStopping) return;
        say("{\"ev\":\"" + event + "\",\"conn\":" + conn + more + "}");
        isOver = event.equals("stop");
    }

    void stopped(String reason, String more) { tell("stop", ",\"reason\":\"" + reason + "\"" + more); }

    // Returns the name of the errno if the machine, not the peer, caused the error. Java's exceptions contain only the system's message.
    static String machine(Throwable error) {
        for (; error != null; error = error.getCause()) {
            String text = String.valueOf(error.getMessage());
            String name = text.contains("Cannot assign requested address") ? "EADDRNOTAVAIL"
                : text.contains("Too many open files in system") ? "ENFILE" : text.contains("Too many open files") ? "EMFILE"
                : text.contains("No buffer space available") ? "ENOBUFS" : text.contains("Cannot allocate memory") ? "ENOMEM" : null;
            if (name != null) return name;
        }
        return null;
    }

    static String trouble(Throwable error) {
        String name = machine(error);
        return name == null ? "" : ",\"machine\":\"" + name + "\"";
    }

    synchronized boolean isOver() { return isOver; }

    synchronized void stopping() { isStopping = true; }

    synchronized void isStopped() {
        isStopping = false;
        stopped("stopped", "");
    }

    @Override public void onOpen(WebSocket socket) {
        sending = CompletableFuture.completedFuture(socket);
        this.socket = socket;
        tell("start", "");
        // The connection was asked to stop while it was connecting.
        if (isOver()) socket.abort();
        else socket.request(1);
    }

    @Override public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
        text.append(data);
        if (last) {
            tell("message", ",\"kind\":\"text\",\"data\":" + quoted(text.toString()));
            text.setLength(0);
        }
        socket.request(1);
        return null;
    }

    @Override public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
        binary.writeBytes(rest(data));
        if (last) {
            tell("message", ",\"kind\":\"binary\",\"data\":" + quoted(binary.toByteArray()));
            binary.reset();
        }
        socket.request(1);
        return null;
    }

    @Override public CompletionStage<?> onPing(WebSocket socket, ByteBuffer data) {
        tell("ping", ",\"data\":" + quoted(rest(data)));
        socket.request(1);
        return null;
    }

    @Override public CompletionStage<?> onPong(WebSocket socket, ByteBuffer data) {
        tell("pong", ",\"data\":" + quoted(rest(data)));
        socket.request(1);
        return null;
    }

    // 1006: the stream ended without a close frame. 1005: the close frame has no code.
    @Override public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
        if (code == 1006) stopped("eof", "");
        else stopped("closed", (code == 1005 ? "" : ",\"code\":" + code) + ",\"detail\":" + quoted(reason));
        return null;
    }

    @Override public void onError(WebSocket socket, Throwable error) { failed(error); }

    void failed(Throwable error) {
        while (error instanceof CompletionException && error.getCause() != null) error = error.getCause();
        String message = String.valueOf(error.getMessage());
        String reason = error instanceof HttpTimeoutException ? "timeout"
            : machine(error) != null ? "other"
            : error instanceof ConnectException ? "refused"
            : error instanceof WebSocketHandshakeException || error instanceof ProtocolException ? "protocol"
            : error.getCause() instanceof EOFException || error instanceof EOFException ? "eof"
            : message.contains("reset") ? "reset"
            : message.contains("Broken pipe") ? "broken-pipe" : "other";
        stopped(reason, ",\"detail\":" + quoted(error + (error.getCause() == null ? "" : ", " + error.getCause())) + trouble(error));
    }

    void connect(String op) {
        String host = text(op, "host"), path = text(op, "request-path");
        if (host.contains(":")) host = "[" + host + "]";
        var builder = client.newWebSocketBuilder();
        if (op.contains("\"connect-timeout-ms\":")) builder.connectTimeout(Duration.ofMillis(number(op, "connect-timeout-ms")));
        try {
            connecting = builder.buildAsync(URI.create("ws://" + host + ":" + number(op, "port") + (path.isEmpty() ? "/" : path)), this);
            connecting.exceptionally(error -> { failed(error); return null; });
        } catch (IllegalArgumentException error) {
            failed(error);
        }
    }

    // Starts the operation at once if nothing is waiting, so that its error becomes the answer to the op.
    String begin(Supplier<CompletableFuture<WebSocket>> operation) {
        CompletableFuture<?> begun = sending.isDone() ? operation.get() : sending.thenCompose(before -> operation.get());
        sending = begun.handle((done, error) -> null);
        if (!begun.isCompletedExceptionally()) return null;
        try {
            begun.join();
            return null;
        } catch (CompletionException error) {
            return error.getCause() instanceof IllegalArgumentException ? "invalid" : "stopped";
        }
    }

    static String decoded(ByteBuffer bytes) throws CharacterCodingException { return StandardCharsets.UTF_8.newDecoder().decode(bytes).toString(); }

    static String perform(String op) throws CharacterCodingException {
        int conn = number(op, "conn");
        JavaWebSocket connection = connections.get(conn);
        String name = text(op, "op");
        if (name.equals("connect")) {
            if (connection != null) return "already-started";
            if (!text(op, "framing").equals("websocket") || op.contains("\"tls\":")) return "unsupported";
            connections.put(conn, connection = new JavaWebSocket(conn));
            connection.connect(op);
            return null;
        }
        if (name.equals("listen")) return "unsupported";
        if (connection == null) return "not-started";
        WebSocket socket = connection.socket;
        if (name.equals("stop")) {
            if (socket == null) {
                connection.isStopped();
                if (connection.connecting != null) connection.connecting.cancel(true);
                return null;
            }
            JavaWebSocket it = connection;
            it.stopping();
            it.sending = it.sending.thenCompose(before -> socket.sendClose(WebSocket.NORMAL_CLOSURE, "")).handle((done, error) -> {
                socket.abort();
                it.isStopped();
                return null;
            });
            return null;
        }
        if (connection.isOver()) return "stopped";
        if (socket == null) return "not-started";
        if (name.equals("send")) {
            if (text(op, "kind").equals("binary")) return connection.begin(() -> socket.sendBinary(bytes(op, "data"), true));
            String message = decoded(bytes(op, "data"));
            return connection.begin(() -> socket.sendText(message, true));
        }
        if (name.equals("ping")) return connection.begin(() -> socket.sendPing(bytes(op, "data")));
        if (name.equals("close") && op.contains("\"code\":")) {
            String reason = decoded(bytes(op, "reason"));
            return connection.begin(() -> socket.sendClose(number(op, "code"), reason));
        }
        // The library can't send a close frame without a code.
        return "unsupported";
    }

    public static void main(String[] arguments) throws IOException {
        // The capability max-line is omitted because the library has no limit, and tls because the library does not
        // report the negotiated version.
        say("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"java-websocket\",\"version\":\"" + Runtime.version().feature()
            + "\",\"can\":[\"connect\",\"send\",\"websocket\",\"stop\",\"connect-timeout\"]}");
        var ops = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String op; (op = ops.readLine()) != null; ) {
            String error;
            // A String can't hold bytes that are not valid UTF-8.
            try { error = perform(op); } catch (CharacterCodingException failure) { error = "invalid"; }
            say("{\"ev\":\"done\",\"id\":" + number(op, "id") + (error == null ? "}" : ",\"error\":\"" + error + "\"}"));
        }
        // The HTTP client's thread would keep the process alive.
        System.exit(0);
    }
}
