// java.net.Socket with a BufferedReader, the usual way to read a line protocol in Java. Runs from its source: java Examples/Adapters/JavaSocket.java
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.security.cert.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import javax.net.ssl.*;

public class JavaSocket {
    static final Map<Integer, JavaSocket> connections = new ConcurrentHashMap<>();
    final int conn;
    // With TLS, the SSLSocket that wraps the plain socket. Closing it also closes the plain socket.
    volatile Socket socket = new Socket();
    boolean isOver;

    JavaSocket(int conn) { this.conn = conn; }

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

    static String[] texts(String op, String name) {
        Matcher found = Pattern.compile("\"" + name + "\":\\[([^\\]]*)\\]").matcher(op);
        if (!found.find()) return new String[0];
        return Arrays.stream(found.group(1).split(",")).map(word -> text("\"x\":" + word, "x")).toArray(String[]::new);
    }

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) json.append(c < 32 || c > 126 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : "" + c);
        return json.append('"').toString();
    }

    // A connection reports nothing after its event `stop`, whichever thread reports that event.
    synchronized void tell(String event, String more) {
        if (!isOver) say("{\"ev\":\"" + event + "\",\"conn\":" + conn + more + "}");
        isOver |= event.equals("stop");
    }

    void stopped(String reason) { tell("stop", ",\"reason\":\"" + reason + "\""); }

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

    static SSLContext trusting(String file) throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null);
        try (InputStream certificates = new FileInputStream(file)) {
            for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(certificates))
                store.setCertificateEntry("ca" + store.size(), certificate);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    // "HTTPS" makes the socket verify the host name.
    void secure(String op, int port, int timeout) throws IOException, GeneralSecurityException {
        SSLSocket tls = (SSLSocket) trusting(text(op, "ca")).getSocketFactory().createSocket(socket, text(op, "name"), port, true);
        SSLParameters parameters = tls.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        parameters.setApplicationProtocols(texts(op, "alpn"));
        String version = text(op, "version");
        parameters.setProtocols(version.isEmpty() ? new String[] {"TLSv1.2", "TLSv1.3"} : new String[] {"TLSv" + version});
        tls.setSSLParameters(parameters);
        tls.setSoTimeout(timeout);
        socket = tls;
        tls.startHandshake();
        tls.setSoTimeout(0);
        String protocol = tls.getApplicationProtocol();
        tell("secured", ",\"version\":\"" + tls.getSession().getProtocol().substring(4) + "\""
            + (protocol == null || protocol.isEmpty() ? "" : ",\"alpn\":" + quoted(protocol)));
    }

    void serve(String op, String host, int port, int timeout) {
        try {
            socket.connect(new InetSocketAddress(host, port), timeout);
            if (op.contains("\"tls\":")) secure(op, port, timeout);
            tell("start", "");
            var lines = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            for (String line; (line = lines.readLine()) != null; ) tell("line", ",\"data\":" + quoted(line));
            stopped("eof");
        } catch (GeneralSecurityException error) {
            stopped("tls-failed");
        } catch (SSLException error) {
            // The streams of an SSLSocket wrap the error of the underlying socket.
            stopped(String.valueOf(error.getMessage()).contains("reset") ? "reset" : "tls-failed");
        } catch (SocketTimeoutException error) {
            stopped("timeout");
        } catch (IOException error) {
            String text = String.valueOf(error.getMessage());
            if (machine(error) != null) tell("stop", ",\"reason\":\"other\"" + trouble(error));
            else stopped(error instanceof ConnectException ? "refused" : text.contains("reset") ? "reset" : "other");
        }
        try { socket.close(); } catch (IOException error) { /* The connection is closed in any case. */ }
    }

    static String perform(String op) throws IOException {
        int conn = number(op, "conn");
        JavaSocket connection = connections.get(conn);
        String name = text(op, "op");
        if (name.equals("connect")) {
            if (connection != null) return "already-started";
            if (!text(op, "framing").equals("crlf")) return "unsupported";
            JavaSocket fresh = new JavaSocket(conn);
            connections.put(conn, fresh);
            Thread thread = new Thread(() -> fresh.serve(op, text(op, "host"), number(op, "port"), number(op, "connect-timeout-ms")));
            thread.setDaemon(true);
            thread.start();
        } else if (connection == null) return "not-started";
        else if (name.equals("stop")) {
            connection.stopped("stopped");
            connection.socket.close();
        } else if (connection.isOver()) return "stopped";
        else if (name.equals("send")) connection.socket.getOutputStream().write((text(op, "data") + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
        else if (name.equals("half-close")) connection.socket.shutdownOutput();
        else return "unsupported";
        return null;
    }

    public static void main(String[] arguments) throws IOException {
        say("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"java-socket\",\"version\":\"" + Runtime.version().feature()
            + "\",\"can\":[\"connect\",\"send\",\"lines\",\"crlf\",\"half-close\",\"stop\",\"connect-timeout\",\"tls\"],\"lacks\":[\"frames\"]}");
        var ops = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String op; (op = ops.readLine()) != null; ) {
            String error;
            try { error = perform(op); } catch (IOException failure) { error = "stopped"; }
            say("{\"ev\":\"done\",\"id\":" + number(op, "id") + (error == null ? "}" : ",\"error\":\"" + error + "\"}"));
        }
    }
}
