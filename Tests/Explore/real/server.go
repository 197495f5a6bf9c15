// server.go answers each HTTP request with "<METHOD PATH BODY>".
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		fmt.Fprintf(w, "<%s %s %s>\n", r.Method, r.URL.Path, body)
	}
	fmt.Fprintln(os.Stderr, http.ListenAndServe("127.0.0.1:"+os.Args[1], http.HandlerFunc(handler)))
	os.Exit(1)
}
