// std::net::TcpStream with BufReader::lines(), the simplest way to read a line protocol in Rust.
// rustc -O -o rust_std Examples/Adapters/rust_std.rs
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Default)]
struct Connection {
    stream: Option<Arc<TcpStream>>,
    is_over: bool,
}

type Shared = Arc<Mutex<Connection>>;

fn say(event: String) {
    println!("{event}");
}

fn quoted(text: &str) -> String {
    // Non-ASCII bytes are escaped one by one, because the protocol's strings represent bytes.
    let escape = |byte: u8| match byte {
        b'"' | b'\\' | 0..=31 | 127.. => format!("\\u{byte:04x}"),
        _ => (byte as char).to_string(),
    };
    text.bytes().map(escape).collect()
}

// A connection reports nothing after its event `stop`.
fn tell(conn: u32, shared: &Shared, event: &str, more: &str) {
    let mut connection = shared.lock().unwrap();
    if !connection.is_over {
        say(format!(r#"{{"ev":"{event}","conn":{conn}{more}}}"#));
        connection.is_over = event == "stop";
    }
}

fn stopped(conn: u32, shared: &Shared, reason: &str) {
    tell(conn, shared, "stop", &format!(r#","reason":"{reason}""#));
}

fn serve(conn: u32, shared: &Shared, host: (String, u16), timeout: Option<u64>) -> Result<(), Error> {
    let first = host.to_socket_addrs()?.next().ok_or(ErrorKind::AddrNotAvailable)?;
    let stream = match timeout {
        Some(ms) => TcpStream::connect_timeout(&first, Duration::from_millis(ms))?,
        None => TcpStream::connect(host)?,
    };
    let stream = Arc::new(stream);
    shared.lock().unwrap().stream = Some(stream.clone());
    if shared.lock().unwrap().is_over {
        return Ok(()); // A pending connect can't be cancelled, because there is no stream until it is connected.
    }
    tell(conn, shared, "start", "");
    for line in BufReader::new(&*stream).lines() {
        tell(conn, shared, "line", &format!(r#","data":"{}""#, quoted(&line?)));
    }
    Ok(())
}

// Returns the name of the errno if the machine, not the peer, caused the error; std has no names for Linux's numbers.
fn machine(error: &Error) -> Option<&'static str> {
    match error.raw_os_error()? {
        12 => Some("ENOMEM"),
        23 => Some("ENFILE"),
        24 => Some("EMFILE"),
        99 => Some("EADDRNOTAVAIL"),
        105 => Some("ENOBUFS"),
        _ => None,
    }
}

fn run(conn: u32, shared: Shared, host: (String, u16), timeout: Option<u64>) {
    match serve(conn, &shared, host, timeout) {
        Ok(()) => stopped(conn, &shared, "eof"),
        Err(error) => match (error.kind(), machine(&error)) {
            (_, Some(trouble)) => tell(conn, &shared, "stop", &format!(r#","reason":"other","machine":"{trouble}""#)),
            (ErrorKind::ConnectionRefused, _) => stopped(conn, &shared, "refused"),
            (ErrorKind::ConnectionReset, _) => stopped(conn, &shared, "reset"),
            (ErrorKind::TimedOut, _) => stopped(conn, &shared, "timeout"),
            _ => stopped(conn, &shared, "other"),
        },
    };
    shared.lock().unwrap().stream = None;
}

// The protocol's JSON is flat and ASCII, so finding the text after "name": is enough.
fn field<'a>(op: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":");
    op.find(&key).map(|at| &op[at + key.len()..])
}

fn number(op: &str, name: &str) -> Option<u64> {
    field(op, name)?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn bytes(op: &str, name: &str) -> Vec<u8> {
    let mut found = Vec::new();
    let mut text = field(op, name).unwrap_or("\"\"")[1..].chars();
    while let Some(c) = text.next() {
        found.push(match c {
            '"' => break,
            '\\' => match text.next() {
                Some('u') => u8::from_str_radix(&text.by_ref().take(4).collect::<String>(), 16).unwrap_or(b'?'),
                Some('n') => b'\n',
                Some('r') => b'\r',
                Some('t') => b'\t',
                Some('b') => 8,
                Some('f') => 12,
                other => other.unwrap_or('?') as u8,
            },
            _ => c as u8,
        });
    }
    found
}

fn perform(op: &str, connections: &mut HashMap<u32, Shared>) -> Result<(), &'static str> {
    let conn = number(op, "conn").unwrap_or(0) as u32;
    let name = String::from_utf8_lossy(&bytes(op, "op")).into_owned();
    if name == "connect" {
        let host = String::from_utf8_lossy(&bytes(op, "host")).into_owned();
        if connections.contains_key(&conn) {
            return Err("already-started");
        } else if bytes(op, "framing") != b"crlf" {
            return Err("unsupported");
        }
        let shared = connections.entry(conn).or_default().clone();
        let host = (host, number(op, "port").unwrap_or(0) as u16);
        let timeout = number(op, "connect-timeout-ms");
        std::thread::spawn(move || run(conn, shared, host, timeout));
        return Ok(());
    }
    let shared = connections.get(&conn).ok_or("not-started")?;
    if name == "stop" {
        stopped(conn, shared, "stopped");
        if let Some(stream) = &shared.lock().unwrap().stream {
            let _ = stream.shutdown(Shutdown::Both);
        }
        return Ok(());
    }
    let connection = shared.lock().unwrap();
    let stream = connection.stream.clone().filter(|_| !connection.is_over).ok_or("stopped")?;
    drop(connection); // The reading thread needs the lock, and sending can take long if the peer reads slowly.
    match name.as_str() {
        "send" => (&*stream).write_all(&[bytes(op, "data"), b"\r\n".to_vec()].concat()).map_err(|_| "stopped"),
        "half-close" => stream.shutdown(Shutdown::Write).map_err(|_| "stopped"),
        _ => Err("unsupported"),
    }
}

fn main() {
    let can = r#"["connect","send","lines","crlf","half-close","stop","connect-timeout"]"#;
    say(format!(r#"{{"ev":"hello","proto":1,"minor":4,"name":"rust-std","can":{can},"lacks":["frames"]}}"#));
    let mut connections = HashMap::new();
    for op in std::io::stdin().lines().map_while(Result::ok) {
        let error = match perform(&op, &mut connections) {
            Ok(()) => String::new(),
            Err(code) => format!(r#","error":"{code}""#),
        };
        say(format!(r#"{{"ev":"done","id":{}{error}}}"#, number(&op, "id").unwrap_or(0)));
    }
}
