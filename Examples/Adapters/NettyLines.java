// Netty's frame decoders, IdleStateHandler and water marks; also listens. A change of the framing replaces the decoder.
// javac -cp "$(echo /usr/share/java/netty-{common,buffer,transport,codec,handler,resolver}.jar | tr " " :)" -d build Examples/Adapters/NettyLines.java (Debian: libnetty-java)
import io.netty.bootstrap.*;
import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.*;
import io.netty.handler.codec.*;
import io.netty.handler.codec.protobuf.*;
import io.netty.handler.timeout.*;
import io.netty.util.Version;
import java.io.*;
import java.net.*;
import java.nio.ByteOrder;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.*;

public class NettyLines extends ChannelInboundHandlerAdapter {
    static final Map<Integer, NettyLines> connections = new ConcurrentHashMap<>();
    static final AtomicInteger accepted = new AtomicInteger(1_000_000);
    static final EventLoopGroup loops = new NioEventLoopGroup(1);
    static final Map<String, Integer> widths = Map.of("u8", 1, "u16", 2, "u24", 3, "u32", 4, "u64", 8, "u16le", 2, "u32le", 4);
    static final Map<String, String> terminators = Map.of("crlf", "\r\n", "lf", "\n", "cr", "\r", "nul", "\0");
    final int conn;
    final String op; // the op `connect` or `listen`, with its fields
    final int maxLine, idle;
    volatile Channel channel; // the connection's channel, or the listening channel
    volatile boolean isConnected, isStopping, isOver;
    boolean isInputShut, isOutputShut, isFull;
    String framing, terminator;
    String announced; // the op `framing` that takes effect after `remaining` messages
    int remaining;
    Throwable cause;

    NettyLines(int conn, String op) {
        this.conn = conn;
        this.op = op;
        maxLine = number(op, "max-line");
        idle = number(op, "idle-timeout-ms");
        setFraming(op);
    }

    void setFraming(String op) {
        framing = text(op, "framing");
        terminator = framing.equals("delimiter") ? text(op, "delimiter") : terminators.get(framing);
    }

    static boolean has(String framing) {
        return widths.containsKey(framing) || terminators.containsKey(framing) || Set.of("delimiter", "varint", "none").contains(framing);
    }

    static synchronized void say(String event) { System.out.println(event); System.out.flush(); }

    // The protocol's JSON is flat and ASCII, so two patterns are enough to parse it.
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

    static String quoted(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (char c : text.toCharArray()) json.append(c < 32 || c > 126 || c == '"' || c == '\\' ? String.format("\\u%04x", (int) c) : "" + c);
        return json.append('"').toString();
    }

    // A connection reports nothing after its event `stop`, whichever thread reports that event.
    synchronized void tell(String event, String more) {
        if (isOver) return;
        isOver = event.equals("stop");
        say("{\"ev\":\"" + event + "\",\"conn\":" + conn + more + "}");
    }

    void stopped(String reason) { tell("stop", ",\"reason\":\"" + (isStopping ? "stopped" : reason) + "\""); }

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

    void failed(Throwable cause) { tell("stop", ",\"reason\":\"" + (isStopping ? "stopped" : reason(cause)) + "\"" + (isStopping ? "" : trouble(cause))); }

    static String reason(Throwable cause) {
        String text = String.valueOf(cause.getMessage());
        return cause instanceof ConnectTimeoutException || cause instanceof ReadTimeoutException ? "timeout"
            : cause instanceof TooLongFrameException ? "too-long"
            : cause instanceof CorruptedFrameException ? "protocol"
            : machine(cause) != null ? "other"
            : cause instanceof ConnectException && text.contains("refused") ? "refused"
            : text.contains("reset") ? "reset" : text.contains("Broken pipe") ? "broken-pipe" : "other";
    }

    // Reports a decoder's unconsumed bytes. Called by the decoders.
    void tellRest(ByteBuf rest, List<Object> out) {
        if (rest.isReadable() && out.isEmpty() && !isStopping) tell("leftover", ",\"data\":" + quoted(rest.toString(StandardCharsets.ISO_8859_1)));
    }

    class Lines extends DelimiterBasedFrameDecoder {
        Lines() { super(maxLine > 0 ? maxLine : 1 << 26, Unpooled.copiedBuffer(terminator, StandardCharsets.ISO_8859_1)); }

        @Override protected void decodeLast(ChannelHandlerContext context, ByteBuf rest, List<Object> out) throws Exception {
            super.decodeLast(context, rest, out);
            tellRest(rest, out);
        }
    }

    class Counted extends LengthFieldBasedFrameDecoder {
        Counted(int width) { super(order(), (maxLine > 0 ? maxLine : 1 << 26) + width, 0, width, 0, width, true); }

        @Override protected void decodeLast(ChannelHandlerContext context, ByteBuf rest, List<Object> out) throws Exception {
            super.decodeLast(context, rest, out);
            tellRest(rest, out);
        }
    }

    class Varints extends ProtobufVarint32FrameDecoder {
        @Override protected void decodeLast(ChannelHandlerContext context, ByteBuf rest, List<Object> out) throws Exception {
            super.decodeLast(context, rest, out);
            tellRest(rest, out);
        }
    }

    ByteOrder order() { return framing.endsWith("le") ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN; }

    ChannelHandler decoder() {
        return terminator != null ? new Lines() : framing.equals("none") ? new ChannelInboundHandlerAdapter()
            : framing.equals("varint") ? new Varints() : new Counted(widths.get(framing));
    }

    // Netty has no encoder for lines; `send` appends the terminator.
    ChannelHandler encoder() {
        return framing.equals("varint") ? new ProtobufVarint32LengthFieldPrepender()
            : widths.containsKey(framing) ? new LengthFieldPrepender(order(), widths.get(framing), 0, false) : new ChannelOutboundHandlerAdapter();
    }

    ChannelInitializer<SocketChannel> handlers() {
        return new ChannelInitializer<>() {
            @Override protected void initChannel(SocketChannel it) {
                if (op.contains("\"allow-half-close\":true")) it.config().setAllowHalfClosure(true);
                int mark = number(op, "high-water");
                if (mark > 0) it.config().setWriteBufferWaterMark(new WriteBufferWaterMark(mark / 2, mark));
                if (idle > 0) it.pipeline().addLast(new IdleStateHandler(0, 0, idle, TimeUnit.MILLISECONDS));
                it.pipeline().addLast("decoder", decoder()).addLast("encoder", encoder()).addLast(NettyLines.this);
            }
        };
    }

    // The bytes that the old decoder holds are passed on to the new decoder.
    void change(String op) {
        announced = null;
        if (isOver || isStopping) return;
        setFraming(op);
        channel.pipeline().replace("encoder", "encoder", encoder());
        channel.pipeline().replace("decoder", "decoder", decoder());
    }

    String framing(String op) throws Exception {
        if (!has(text(op, "framing"))) return "unsupported";
        channel.eventLoop().submit(() -> {
            remaining = number(op, "behind");
            announced = remaining > 0 ? op : null;
            if (remaining == 0) change(op);
        }).sync();
        return null;
    }

    // Completes when everything that was sent has been written. The empty buffer bypasses the encoder.
    ChannelFuture written() { return channel.pipeline().context("encoder").writeAndFlush(Unpooled.EMPTY_BUFFER); }

    String send(String data) throws Exception {
        byte[] bytes = (data + (terminator == null ? "" : terminator)).getBytes(StandardCharsets.ISO_8859_1);
        int width = framing.equals("varint") ? (32 - Integer.numberOfLeadingZeros(bytes.length | 1) + 6) / 7 : widths.getOrDefault(framing, 0);
        ChannelFuture written = channel.writeAndFlush(Unpooled.wrappedBuffer(bytes));
        written.addListener(done -> { if (done.isSuccess() && bytes.length + width > 0) tell("sent", ",\"bytes\":" + (bytes.length + width)); });
        channel.eventLoop().submit(() -> { }).sync(); // The encoder runs in the event loop.
        // The encoder refuses a message that is too long for its length prefix. A connection error is reported as the
        // connection's end.
        if (written.cause() instanceof EncoderException) return "invalid";
        if (written.cause() instanceof ClosedChannelException) return isOutputShut ? "half-closed" : "stopped";
        written.addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        return null;
    }

    @Override public void channelActive(ChannelHandlerContext context) {
        channel = context.channel();
        isConnected = true;
        if (isStopping) channel.close();
        else tell("start", "");
    }

    @Override public void channelRead(ChannelHandlerContext context, Object line) {
        ByteBuf bytes = (ByteBuf) line;
        String kind = terminator != null ? "line" : framing.equals("none") ? "data" : "message";
        boolean isDue = announced != null && --remaining == 0;
        if (isDue) setFraming(announced); // A `send` in response to this message uses the new framing.
        if (!isStopping && cause == null) tell(kind, ",\"data\":" + quoted(bytes.toString(StandardCharsets.ISO_8859_1)));
        bytes.release();
        if (isDue) change(announced);
    }

    @Override public void channelWritabilityChanged(ChannelHandlerContext context) {
        if (number(op, "high-water") == 0 || isStopping || isFull == !channel.isWritable()) return;
        isFull = !channel.isWritable();
        tell(isFull ? "full" : "drained", "");
    }

    @Override public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof IdleStateEvent) exceptionCaught(context, ReadTimeoutException.INSTANCE);
        if (!(event instanceof ChannelInputShutdownEvent)) return;
        isInputShut = true;
        if (isOutputShut) context.close();
        else if (!isStopping) tell("half-closed", "");
    }

    @Override public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
        // After a frame that is too long, Netty's decoders continue automatically.
        if (error instanceof TooLongFrameException && op.contains("\"discard-too-long\":true")) {
            if (!isStopping) tell("discarded", "");
            return;
        }
        if (cause == null) cause = error instanceof DecoderException && error.getCause() != null ? error.getCause() : error;
        context.close();
    }

    @Override public void channelInactive(ChannelHandlerContext context) {
        if (cause == null) stopped("eof"); else failed(cause);
    }

    static String perform(String op) throws Exception {
        int conn = number(op, "conn");
        NettyLines it = connections.get(conn);
        String name = text(op, "op");
        if (name.equals("connect") || name.equals("listen")) {
            if (it != null) return "already-started";
            if (!has(text(op, "framing"))) return "unsupported";
            NettyLines fresh = new NettyLines(conn, op);
            connections.put(conn, fresh);
            return name.equals("connect") ? fresh.dial(op) : fresh.listen(op);
        } else if (it == null) return "not-started";
        if (it.isOver) return name.equals("stop") || name.equals("reset") ? null : "stopped";
        if (name.equals("reset")) {
            it.isStopping = true;
            if (it.isConnected) it.channel.config().setOption(ChannelOption.SO_LINGER, 0);
            it.channel.close();
            if (!it.isConnected) it.stopped("stopped");
            return null;
        }
        if (it.isStopping) return name.equals("stop") ? null : "stopped";
        if (name.equals("stop")) {
            it.isStopping = true;
            if (!it.isConnected) {
                it.channel.close();
                it.stopped("stopped");
            } else it.written().addListener(ChannelFutureListener.CLOSE);
        } else if (!it.isConnected) return "not-started";
        else if (name.equals("send")) return it.send(text(op, "data"));
        else if (name.equals("half-close")) it.channel.eventLoop().submit(() -> {
            it.isOutputShut = true;
            // As with `close`, data that has not been written must be flushed first, because shutdownOutput drops it.
            it.written().addListener(sent -> ((SocketChannel) it.channel).shutdownOutput().addListener(done -> { if (it.isInputShut) it.channel.close(); }));
        }).sync();
        else if (name.equals("framing")) return it.framing(op);
        else if (name.endsWith("-reading")) it.channel.eventLoop().submit(() -> it.channel.config().setAutoRead(name.equals("resume-reading"))).sync();
        else return "unsupported";
        return null;
    }

    String dial(String op) {
        Bootstrap bootstrap = new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(handlers());
        int timeout = number(op, "connect-timeout-ms");
        if (timeout > 0) bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeout);
        ChannelFuture connecting = bootstrap.connect(text(op, "host"), number(op, "port"));
        channel = connecting.channel();
        connecting.addListener(done -> { if (!done.isSuccess()) failed(done.cause()); });
        return null;
    }

    String listen(String op) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
        // Stops a listener that can't accept a connection. By default, Netty would retry every second while the client
        // waits.
        bootstrap.handler(new ChannelInboundHandlerAdapter() {
            @Override public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
                if (machine(error) == null) return;
                failed(error);
                context.close();
            }
        });
        bootstrap.childHandler(new ChannelInitializer<SocketChannel>() {
            @Override protected void initChannel(SocketChannel it) {
                NettyLines fresh = new NettyLines(accepted.getAndIncrement(), op);
                connections.put(fresh.conn, fresh);
                fresh.channel = it;
                fresh.isConnected = true;
                say("{\"ev\":\"accept\",\"conn\":" + fresh.conn + ",\"listener\":" + conn + "}");
                it.pipeline().addLast(fresh.handlers());
            }
        });
        ChannelFuture bound = bootstrap.bind(text(op, "host"), number(op, "port")).awaitUninterruptibly();
        if (!bound.isSuccess()) {
            // The harness has not been informed about this listener yet, so the answer to the op reports the error.
            String trouble = machine(bound.cause());
            return trouble == null ? String.valueOf(bound.cause().getMessage()) : "machine " + trouble;
        }
        channel = bound.channel();
        return "port " + ((InetSocketAddress) channel.localAddress()).getPort();
    }

    // The first connection of a process loads hundreds of classes. The loading must not count toward a case's time.
    static void warmUp() throws Exception {
        NettyLines nobody = new NettyLines(-1, "\"framing\":\"crlf\",\"idle-timeout-ms\":1000");
        nobody.isOver = true;
        ServerBootstrap bootstrap = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class).childHandler(nobody.handlers());
        Channel listener = bootstrap.bind("127.0.0.1", 0).sync().channel();
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(nobody.handlers()).connect("127.0.0.1", port).sync().channel().close().sync();
        listener.close().sync();
    }

    public static void main(String[] arguments) throws Exception {
        warmUp();
        say("{\"ev\":\"hello\",\"proto\":1,\"minor\":4,\"name\":\"netty\",\"version\":\"" + Version.identify().getOrDefault("netty-common", Version.identify().values().iterator().next()).artifactVersion()
            + "\",\"can\":[\"connect\",\"listen\",\"send\",\"lines\",\"messages\",\"data\",\"leftover\",\"crlf\",\"lf\",\"cr\",\"nul\",\"delimiter\",\"u8\",\"u16\",\"u24\",\"u32\",\"u64\",\"u16le\",\"u32le\",\"varint\",\"none\","
            + "\"framing\",\"sent\",\"reset\",\"half-closed\",\"high-water\",\"discarded\",\"half-close\",\"stop\",\"stop-reading\",\"resume-reading\",\"connect-timeout\",\"idle-timeout\",\"max-line\"],\"lacks\":[\"frames\"]}");
        var ops = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String op; (op = ops.readLine()) != null; ) {
            String error;
            try { error = perform(op); } catch (Exception failure) { error = "stopped"; }
            String more = error == null ? "" : error.startsWith("port ") ? ",\"port\":" + error.substring(5)
                : error.startsWith("machine ") ? ",\"error\":\"other\",\"machine\":" + quoted(error.substring(8)) : ",\"error\":" + quoted(error);
            say("{\"ev\":\"done\",\"id\":" + number(op, "id") + more + "}");
        }
        System.exit(0);
    }
}
