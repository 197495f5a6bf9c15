// libedit behind dlopen: a line that is edited on a terminal, while other text is written above it. Loaded by the first prompt.
#pragma once
#include <stddef.h>

typedef struct probe_editor probe_editor;

// What an editor asks its owner. All are called on the thread that calls `probe_editor_read`, with `owner`.
struct probe_editor_calls {
    void *owner;
    // `wake` has become readable. Returns 1 if the line is not to be read on.
    int (*woken)(void *owner);
    // What completes the `length` bytes before the cursor: `*insert` is put there, `*shown` is shown above the line. Each is NULL or
    // allocated by malloc, and freed by the editor.
    void (*complete)(void *owner, const char *text, size_t length, char **insert, char **shown);
};

// Loads the library. Returns NULL, or why it can't be loaded.
const char *probe_editor_load(void);

// An editor on standard input and output. `wake` is a descriptor; `history` is a file, or NULL. Returns NULL without memory or terminal.
probe_editor *probe_editor_open(int wake, const char *history, struct probe_editor_calls calls);

// Reads a line. `*length` is its length without the line feed; the line lives until the next call. Returns NULL at the end of the
// input, or when `woken` returned 1.
const char *probe_editor_read(probe_editor *editor, const char *prompt, size_t *length);

// Writes text above the line that is being edited; whole lines. Only within `woken`, or while no line is read.
void probe_editor_show(probe_editor *editor, const char *text, size_t length);

// Throws away what is typed by now; `woken` has to return 1 then. Only within `woken`. Returns how many characters there were.
size_t probe_editor_discard(probe_editor *editor);

// Adds a line to the history, and to its file.
void probe_editor_remember(probe_editor *editor, const char *line);

// Gives the terminal back.
void probe_editor_close(probe_editor *editor);
