// Bug: an unfinished line remains a slice of a pooled buffer that has been released, so the data of another connection overwrites it.
// Why tests miss it: each test has one client, or its lines arrive at once.
// Each line is echoed.
package main

import (
	"bytes"
	"net"
	"syscall"
)

// The released buffers. Unlike a sync.Pool, the channel hands out the same buffer every time as long as one is enough.
var pool = make(chan []byte, 16)

func acquire() []byte {
	select {
	case buffer := <-pool:
		return buffer
	default:
		return make([]byte, 4096)
	}
}

func handle(conn net.Conn) {
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return
	}
	var rest []byte
	for {
		// The buffer is acquired when there is something to read, so idle connections need none.
		var buffer []byte
		var n int
		waited := raw.Read(func(fd uintptr) bool {
			buffer = acquire()
			n, err = syscall.Read(int(fd), buffer[copy(buffer, rest):])
			if err == syscall.EAGAIN {
				pool <- buffer
				return false
			}
			return true
		})
		if waited != nil || n <= 0 {
			return
		}
		data := buffer[:len(rest)+n]
		for {
			end := bytes.IndexByte(data, '\n')
			if end < 0 {
				break
			}
			conn.Write(data[:end+1])
			data = data[end+1:]
		}
		if fixed {
			data = append([]byte(nil), data...)
		}
		rest = data
		pool <- buffer
	}
}

func main() { serve(handle) }
