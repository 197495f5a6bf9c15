// Go's net.Conn with bufio.Scanner, the usual way to read a line protocol in Go; also listens.
// go build -o go_bufio Examples/Adapters/go_bufio.go
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
)

type op struct {
	Op, Host, Data, Framing string
	ID, Conn, Port          int
	MaxLine                 int `json:"max-line"`
	ConnectTimeout          int `json:"connect-timeout-ms"`
	IdleTimeout             int `json:"idle-timeout-ms"`
}

type message map[string]any

var (
	lock        sync.Mutex // protects the variables below and stdout
	out         = bufio.NewWriter(os.Stdout)
	connections = map[int]*connection{}
	next        = 1_000_000
)

func say(m message) {
	line, _ := json.Marshal(m)
	out.Write(append(line, '\n'))
	out.Flush()
}

func latin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

func bytesOf(s string) []byte {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return b
}

type connection struct {
	number   int
	op       op
	conn     *net.TCPConn
	listener net.Listener
	cancel   chan struct{} // closed if the connection is stopped while connecting
	unsent   chan []byte   // bytes that a separate goroutine writes
	stopping bool
	over     bool
}

// The caller must hold the lock.
func (c *connection) stop(why string) {
	if !c.over {
		c.over = true
		say(message{"ev": "stop", "conn": c.number, "reason": why})
	}
}

// The caller must hold the lock.
func (c *connection) fail(err error) {
	if trouble := machine(err); trouble != "" && !c.over {
		c.over = true
		say(message{"ev": "stop", "conn": c.number, "reason": "other", "detail": err.Error(), "machine": trouble})
		return
	}
	c.stop(reason(err))
}

// Returns the name of the errno if the machine, not the peer, caused the error.
func machine(err error) string {
	for code, name := range map[syscall.Errno]string{
		syscall.EADDRNOTAVAIL: "EADDRNOTAVAIL", syscall.EMFILE: "EMFILE", syscall.ENFILE: "ENFILE",
		syscall.ENOBUFS: "ENOBUFS", syscall.ENOMEM: "ENOMEM"} {
		if errors.Is(err, code) {
			return name
		}
	}
	return ""
}

func reason(err error) string {
	var timeout net.Error
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return "eof"
	case errors.Is(err, bufio.ErrTooLong):
		return "too-long"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "reset"
	case errors.Is(err, syscall.EPIPE):
		return "broken-pipe"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "other"
}

func (c *connection) dial() {
	dialer := net.Dialer{Timeout: time.Duration(c.op.ConnectTimeout) * time.Millisecond, Cancel: c.cancel}
	conn, err := dialer.Dial("tcp", net.JoinHostPort(c.op.Host, fmt.Sprint(c.op.Port)))
	lock.Lock()
	defer lock.Unlock()
	if err != nil {
		c.fail(err)
	} else if c.over {
		conn.Close()
	} else {
		c.begin(conn.(*net.TCPConn))
	}
}

// The caller must hold the lock.
func (c *connection) begin(conn *net.TCPConn) {
	c.conn = conn
	c.unsent = make(chan []byte, 1<<16)
	say(message{"ev": "start", "conn": c.number})
	go c.read()
	go c.write(c.unsent)
}

// Extends the deadline with each read and each write, as is usual in Go: each direction has its own deadline.
type idle struct {
	*net.TCPConn
	time time.Duration
}

func (i idle) Read(b []byte) (int, error) {
	if i.time > 0 {
		i.SetReadDeadline(time.Now().Add(i.time))
	}
	return i.TCPConn.Read(b)
}

func (c *connection) read() {
	scanner := bufio.NewScanner(idle{c.conn, time.Duration(c.op.IdleTimeout) * time.Millisecond})
	most := c.op.MaxLine
	if most == 0 {
		most = bufio.MaxScanTokenSize
	}
	scanner.Buffer(nil, most+2)
	var rest []byte
	scanner.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.Index(data, []byte("\r\n")); i >= 0 {
			return i + 2, data[:i], nil
		}
		if atEOF {
			rest = append(rest, data...)
		}
		return 0, nil, nil
	})
	for scanner.Scan() {
		lock.Lock()
		if !c.stopping && !c.over {
			say(message{"ev": "line", "conn": c.number, "data": latin1(scanner.Bytes())})
		}
		lock.Unlock()
	}
	lock.Lock()
	defer lock.Unlock()
	if c.stopping {
		return // The writer reports the end.
	}
	if scanner.Err() == nil && len(rest) > 0 && !c.over {
		say(message{"ev": "leftover", "conn": c.number, "data": latin1(rest)})
	}
	c.fail(scanner.Err())
	c.conn.Close()
	c.end()
}

// The caller must hold the lock.
func (c *connection) end() {
	if c.unsent != nil {
		close(c.unsent)
		c.unsent = nil
	}
}

func (c *connection) write(unsent chan []byte) {
	for data := range unsent {
		n, err := c.conn.Write(data)
		lock.Lock()
		if n > 0 && !c.stopping && !c.over {
			say(message{"ev": "sent", "conn": c.number, "bytes": n})
		}
		if err != nil && !c.stopping {
			c.fail(err)
			c.conn.Close()
		}
		lock.Unlock()
	}
	lock.Lock()
	defer lock.Unlock()
	if c.stopping {
		c.conn.Close()
		c.stop("stopped")
	}
}

func (c *connection) accept() {
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			lock.Lock()
			defer lock.Unlock()
			if machine(err) != "" {
				c.fail(err)
			}
			return
		}
		lock.Lock()
		accepted := &connection{number: next, op: c.op}
		connections[next] = accepted
		next++
		say(message{"ev": "accept", "conn": accepted.number, "listener": c.number})
		accepted.begin(conn.(*net.TCPConn))
		lock.Unlock()
	}
}

// The caller must hold the lock.
func perform(o op) message {
	c := connections[o.Conn]
	if o.Op == "connect" || o.Op == "listen" {
		if c != nil {
			return message{"error": "already-started"}
		}
		if o.Framing != "crlf" {
			return message{"error": "unsupported"}
		}
		c = &connection{number: o.Conn, op: o, cancel: make(chan struct{})}
		if o.Op == "listen" {
			listener, err := net.Listen("tcp", net.JoinHostPort(o.Host, fmt.Sprint(o.Port)))
			if err != nil {
				if trouble := machine(err); trouble != "" {
					return message{"error": err.Error(), "machine": trouble}
				}
				return message{"error": err.Error()}
			}
			c.listener = listener
			connections[o.Conn] = c
			go c.accept()
			return message{"port": listener.Addr().(*net.TCPAddr).Port}
		}
		connections[o.Conn] = c
		go c.dial()
		return message{}
	}
	if c == nil {
		return message{"error": "not-started"}
	}
	if c.over || c.stopping {
		if o.Op == "stop" {
			return message{}
		}
		return message{"error": "stopped"}
	}
	if o.Op == "stop" {
		switch {
		case c.listener != nil:
			c.listener.Close()
			c.stop("stopped")
		case c.conn == nil:
			close(c.cancel)
			c.stop("stopped")
		default:
			c.stopping = true
			c.end()
		}
		return message{}
	}
	if c.conn == nil {
		return message{"error": "not-started"}
	}
	switch o.Op {
	case "send":
		if c.unsent == nil {
			return message{"error": "half-closed"}
		}
		select {
		case c.unsent <- append(bytesOf(o.Data), '\r', '\n'):
		default:
			return message{"error": "the queue of 65536 messages is full"}
		}
	default:
		return message{"error": "unsupported"}
	}
	return message{}
}

func main() {
	say(message{"ev": "hello", "proto": 1, "minor": 4, "name": "go-bufio", "version": runtime.Version(), "lacks": []string{"frames"}, "can": []string{
		"connect", "listen", "send", "lines", "crlf", "sent", "leftover", "stop", "connect-timeout", "idle-timeout", "max-line"}})
	ops := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := ops.ReadBytes('\n')
		if err != nil {
			return
		}
		var o op
		json.Unmarshal(line, &o)
		lock.Lock()
		answer := perform(o)
		answer["ev"], answer["id"] = "done", o.ID
		say(answer)
		lock.Unlock()
	}
}
