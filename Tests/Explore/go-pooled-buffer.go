// Bug: an unfinished line remains a slice of a pooled buffer that has been released, so the data of another connection overwrites it.
// Why tests miss it: each test has one client, or its lines arrive at once.
// Each line is echoed.
package main

import (
	"bytes"
	"net"
	"sync"
	"syscall"
)

// The released buffers; the last one is handed out first.
var (
	lock sync.Mutex
	pool [][]byte
)

func acquire() []byte {
	lock.Lock()
	defer lock.Unlock()
	if len(pool) == 0 {
		return make([]byte, 4096)
	}
	buffer := pool[len(pool)-1]
	pool = pool[:len(pool)-1]
	return buffer
}

func release(buffer []byte) {
	lock.Lock()
	defer lock.Unlock()
	pool = append(pool, buffer)
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
				release(buffer)
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
		release(buffer)
	}
}

func main() { serve(handle) }
