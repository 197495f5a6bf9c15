// Netty: DelimiterBasedFrameDecoder, IdleStateHandler; also listens.
// javac -cp "$(echo /usr/share/java/netty-{common,buffer,transport,codec,handler,resolver}.jar | tr " " :)" -d build Adapters/NettyLines.java (Debian: libnetty-java)
import io.netty.bootstrap.*;
import io.netty.buffer.*;
import io.netty.channel.*;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.*;
import io.netty.handler.codec.*;
import io.netty.handler.timeout.*;
import io.netty.util.Version;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.*;

public class NettyLines extends ChannelInboundHandlerAdapter {
    static final Map<Integer, NettyLines> connections = new ConcurrentHashMap<>();
    static final AtomicInteger accepted = new AtomicInteger(1_000_000);
    static final EventLoopGroup loops = new NioEventLoopGroup(1);
    final int conn, maxLine, idle;
    volatile Channel channel; // of the connection, or the one that listens
    volatile boolean isConnected, isStopping, isOver;
    Throwable cause;

    NettyLines(int conn, int maxLine, int idle) {
        this.conn = conn;
        this.maxLine = maxLine;
        this.idle = idle;
    }

    static synchronized void say(String event) { System.out.println(event); System.out.flush(); }

    // The protocol's JSON is flat and ASCII: two patterns read all of it.
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

    // What a connection tells ends with its stop, whichever thread tells that.
    synchronized void tell(String event, String more) {
        if (isOver) return;
        isOver = event.equals("stop");
        say("{\"ev\":\"" + event + "\",\"conn\":" + conn + more + "}");
    }

    void stopped(String reason) { tell("stop", ",\"reason\":\"" + (isStopping ? "stopped" : reason) + "\""); }

    static String reason(Throwable cause) {
        String text = String.valueOf(cause.getMessage());
        return cause instanceof ConnectTimeoutException || cause instanceof ReadTimeoutException ? "timeout"
            : cause instanceof TooLongFrameException ? "too-long"
            : cause instanceof ConnectException && text.contains("refused") ? "refused"
            : text.contains("reset") ? "reset" : text.contains("Broken pipe") ? "broken-pipe" : "other";
    }

    // The decoder's rest is handed out by this one as what is no line.
    class Lines extends DelimiterBasedFrameDecoder {
        Lines() { super(maxLine > 0 ? maxLine : 1 << 26, Unpooled.copiedBuffer("\r\n", StandardCharsets.ISO_8859_1)); }

        @Override protected void decodeLast(ChannelHandlerContext context, ByteBuf rest, List<Object> out) throws Exception {
            super.decodeLast(context, rest, out);
            if (rest.isReadable() && out.isEmpty() && !isStopping) tell("leftover", ",\"data\":" + quoted(rest.toString(StandardCharsets.ISO_8859_1)));
        }
    }

    ChannelInitializer<SocketChannel> handlers() {
        return new ChannelInitializer<>() {
            @Override protected void initChannel(SocketChannel it) {
                if (idle > 0) it.pipeline().addLast(new IdleStateHandler(0, 0, idle, TimeUnit.MILLISECONDS));
                it.pipeline().addLast(new Lines(), NettyLines.this);
            }
        };
    }

    @Override public void channelActive(ChannelHandlerContext context) {
        channel = context.channel();
        isConnected = true;
        if (isStopping) channel.close();
        else tell("start", "");
    }

    @Override public void channelRead(ChannelHandlerContext context, Object line) {
        ByteBuf bytes = (ByteBuf) line;
        if (!isStopping && cause == null) tell("line", ",\"data\":" + quoted(bytes.toString(StandardCharsets.ISO_8859_1)));
        bytes.release();
    }

    @Override public void userEventTriggered(ChannelHandlerContext context, Object event) {
        if (event instanceof IdleStateEvent) exceptionCaught(context, ReadTimeoutException.INSTANCE);
    }

    @Override public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
        if (cause == null) cause = error instanceof DecoderException && error.getCause() != null ? error.getCause() : error;
        context.close();
    }

    @Override public void channelInactive(ChannelHandlerContext context) { stopped(cause == null ? "eof" : reason(cause)); }

    static String perform(String op) throws Exception {
        int conn = number(op, "conn");
        NettyLines it = connections.get(conn);
        String name = text(op, "op");
        if (name.equals("connect") || name.equals("listen")) {
            if (it != null) return "already-started";
            if (!text(op, "framing").equals("crlf")) return "unsupported";
            NettyLines fresh = new NettyLines(conn, number(op, "max-line"), number(op, "idle-timeout-ms"));
            connections.put(conn, fresh);
            return name.equals("connect") ? fresh.dial(op) : fresh.listen(op);
        } else if (it == null) return "not-started";
        if (it.isOver || it.isStopping) return name.equals("stop") ? null : "stopped";
        if (name.equals("stop")) {
            it.isStopping = true;
            if (!it.isConnected) {
                it.channel.close();
                it.stopped("stopped");
            } else it.channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
        } else if (!it.isConnected) return "not-started";
        else if (name.equals("send")) it.channel.writeAndFlush(Unpooled.copiedBuffer(text(op, "data") + "\r\n", StandardCharsets.ISO_8859_1))
            .addListener(ChannelFutureListener.FIRE_EXCEPTION_ON_FAILURE);
        else if (name.equals("half-close")) ((SocketChannel) it.channel).shutdownOutput();
        else if (name.equals("stop-reading")) it.channel.config().setAutoRead(false);
        else if (name.equals("resume-reading")) it.channel.config().setAutoRead(true);
        else return "unsupported";
        return null;
    }

    String dial(String op) {
        Bootstrap bootstrap = new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(handlers());
        int timeout = number(op, "connect-timeout-ms");
        if (timeout > 0) bootstrap.option(ChannelOption.CONNECT_TIMEOUT_MILLIS, timeout);
        ChannelFuture connecting = bootstrap.connect(text(op, "host"), number(op, "port"));
        channel = connecting.channel();
        connecting.addListener(done -> { if (!done.isSuccess()) stopped(reason(done.cause())); });
        return null;
    }

    String listen(String op) throws Exception {
        ServerBootstrap bootstrap = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class);
        bootstrap.childHandler(new ChannelInitializer<SocketChannel>() {
            @Override protected void initChannel(SocketChannel it) {
                NettyLines fresh = new NettyLines(accepted.getAndIncrement(), maxLine, idle);
                connections.put(fresh.conn, fresh);
                fresh.channel = it;
                fresh.isConnected = true;
                say("{\"ev\":\"accept\",\"conn\":" + fresh.conn + ",\"listener\":" + conn + "}");
                it.pipeline().addLast(fresh.handlers());
            }
        });
        ChannelFuture bound = bootstrap.bind(text(op, "host"), number(op, "port")).awaitUninterruptibly();
        if (!bound.isSuccess()) return String.valueOf(bound.cause().getMessage());
        channel = bound.channel();
        return "port " + ((InetSocketAddress) channel.localAddress()).getPort();
    }

    // The first connection of a process loads some hundred classes; that is no time of a case.
    static void warmUp() throws Exception {
        NettyLines nobody = new NettyLines(-1, 0, 1000);
        nobody.isOver = true;
        ServerBootstrap bootstrap = new ServerBootstrap().group(loops).channel(NioServerSocketChannel.class).childHandler(nobody.handlers());
        Channel listener = bootstrap.bind("127.0.0.1", 0).sync().channel();
        int port = ((InetSocketAddress) listener.localAddress()).getPort();
        new Bootstrap().group(loops).channel(NioSocketChannel.class).handler(nobody.handlers()).connect("127.0.0.1", port).sync().channel().close().sync();
        listener.close().sync();
    }

    public static void main(String[] arguments) throws Exception {
        warmUp();
        say("{\"ev\":\"hello\",\"proto\":1,\"name\":\"netty\",\"version\":\"" + Version.identify().getOrDefault("netty-common", Version.identify().values().iterator().next()).artifactVersion()
            + "\",\"can\":[\"connect\",\"listen\",\"send\",\"lines\",\"leftover\",\"half-close\",\"stop\",\"stop-reading\",\"resume-reading\",\"connect-timeout\",\"idle-timeout\",\"max-line\"]}");
        var ops = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String op; (op = ops.readLine()) != null; ) {
            String error;
            try { error = perform(op); } catch (Exception failure) { error = "stopped"; }
            String more = error == null ? "" : error.startsWith("port ") ? ",\"port\":" + error.substring(5) : ",\"error\":" + quoted(error);
            say("{\"ev\":\"done\",\"id\":" + number(op, "id") + more + "}");
        }
        System.exit(0);
    }
}
