// This macro makes <wchar.h> declare wcwidth (XSI).
#define _GNU_SOURCE
#include "CEditline.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define PROBE_OF_LIBEDIT(X)                                                                                            \
    X(el_init) X(el_end) X(el_wgets) X(el_set) X(el_wset) X(el_get) X(el_wline) X(el_insertstr) X(el_deletestr)        \
    X(el_cursor) X(el_resize) X(el_source) X(history_init) X(history_end) X(history)

static struct {
#define X(name) __typeof__(&name) name;
    PROBE_OF_LIBEDIT(X)
#undef X
} lib;

struct probe_editor {
    EditLine *line;
    History *past;
    char *history_path;
    int wake;
    struct probe_editor_calls calls;
    const char *prompt;
    struct winsize size;
    // The current line.
    char *text;
    // Whether a line is being read.
    int reads;
    // The original modes of the terminal.
    struct termios modes;
    int has_modes;
};

const char *probe_editor_load(void) {
    static char reason[160];
    // Debian's soname for libedit is tried before the soname on other systems. Neither soname has changed since 2008.
    void *library = dlopen("libedit.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) library = dlopen("libedit.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return "libedit.so.2 is not installed";
#define X(name)                                                                                                        \
    *(void **)&lib.name = dlsym(library, #name);                                                                       \
    if (!lib.name) {                                                                                                   \
        snprintf(reason, sizeof reason, "the installed libedit lacks %s", #name);                             \
        return reason;                                                                                                 \
    }
    PROBE_OF_LIBEDIT(X)
#undef X
    return NULL;
}

static probe_editor *owner_of(EditLine *line) {
    void *editor = NULL;
    lib.el_get(line, EL_CLIENTDATA, &editor);
    return editor;
}

static char *prompt_of(EditLine *line) { return (char *)owner_of(line)->prompt; }

static void put(const char *text, size_t length) {
    while (length > 0) {
        ssize_t count = write(STDOUT_FILENO, text, length);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return;
        text += count;
        length -= (size_t)count;
    }
}

// Returns the number of columns that the characters occupy. A character of unknown width counts as 0.
static size_t columns_of(const wchar_t *start, const wchar_t *end) {
    size_t columns = 0;
    for (const wchar_t *character = start; character < end; character++) {
        int width = wcwidth(*character);
        if (width > 0) columns += (size_t)width;
    }
    return columns;
}

// Removes the prompt and the line from the screen, and leaves the cursor at the place where the prompt began.
static void hide(probe_editor *editor) {
    const LineInfoW *line = lib.el_wline(editor->line);
    wchar_t prompt[256];
    size_t count = mbstowcs(prompt, editor->prompt, 256);
    size_t before = count == (size_t)-1 ? strlen(editor->prompt) : columns_of(prompt, prompt + count);
    before += columns_of(line->buffer, line->cursor);
    size_t rows = editor->size.ws_col > 0 ? before / editor->size.ws_col : 0;
    char text[32];
    int length = rows > 0 ? snprintf(text, sizeof text, "\r\x1b[%zuA\x1b[J", rows) : snprintf(text, sizeof text, "\r\x1b[J");
    put(text, (size_t)length);
}

static void show_again(probe_editor *editor) { lib.el_set(editor->line, EL_REFRESH); }

static void follow_size(probe_editor *editor) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0) return;
    if (size.ws_col == editor->size.ws_col && size.ws_row == editor->size.ws_row) return;
    editor->size = size;
    lib.el_resize(editor->line);
}

// Reads a character from the terminal (el_rfunc_t), and calls `woken` if `wake` becomes readable. Returns 1 if a
// character was read, 0 if the input has ended or `woken` returned 1, or -1 with errno.
static int next_character(EditLine *line, wchar_t *character) {
    probe_editor *editor = owner_of(line);
    mbstate_t state;
    memset(&state, 0, sizeof state);
    for (;;) {
        struct pollfd ready[2] = {{STDIN_FILENO, POLLIN, 0}, {editor->wake, POLLIN, 0}};
        if (poll(ready, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return -1;
        }
        if (ready[1].revents && editor->calls.woken(editor->calls.owner)) return 0;
        follow_size(editor);
        if (!ready[0].revents) continue;
        char byte;
        ssize_t count = read(STDIN_FILENO, &byte, 1);
        if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        // If the terminal has hung up, `read` fails with EPIPE or reports the end of the file.
        if (count <= 0) return 0;
        switch (mbrtowc(character, &byte, 1, &state)) {
        case (size_t)-2: continue;
        case (size_t)-1:
            // An invalid byte sequence is replaced with `?`, and the next character is decoded from the initial state.
            memset(&state, 0, sizeof state);
            *character = L'?';
            return 1;
        default: return 1;
        }
    }
}

static unsigned char complete(EditLine *line, int key) {
    (void)key;
    probe_editor *editor = owner_of(line);
    const LineInfoW *present = lib.el_wline(line);
    size_t count = (size_t)(present->cursor - present->buffer);
    wchar_t *before = malloc((count + 1) * sizeof *before);
    char *text = malloc(count * MB_CUR_MAX + 1);
    char *insert = NULL, *shown = NULL;
    if (before && text) {
        wmemcpy(before, present->buffer, count);
        before[count] = 0;
        if (wcstombs(text, before, count * MB_CUR_MAX + 1) != (size_t)-1)
            editor->calls.complete(editor->calls.owner, text, strlen(text), &insert, &shown);
    }
    free(before);
    free(text);
    if (shown) probe_editor_show(editor, shown, strlen(shown));
    int is_completed = insert && lib.el_insertstr(line, insert) == 0;
    int is_silent = !is_completed && !shown;
    free(insert);
    free(shown);
    return is_silent ? CC_REFRESH_BEEP : CC_REFRESH;
}

// Keeps keys that are typed while no line is being read, so that the next line contains them. The terminal neither
// echoes them nor interprets Ctrl-D as the end of the input.
static void keep_keys(void) {
    struct termios modes;
    if (tcgetattr(STDIN_FILENO, &modes) < 0) return;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &modes);
}

probe_editor *probe_editor_open(int wake, const char *history, struct probe_editor_calls calls) {
    // Multibyte characters are UTF-8, even if the environment sets no locale.
    if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
    probe_editor *editor = calloc(1, sizeof *editor);
    if (!editor) return NULL;
    // Ctrl-Z and Ctrl-\ would leave the terminal in editing mode without a prompt, so they are disabled.
    editor->has_modes = tcgetattr(STDIN_FILENO, &editor->modes) == 0;
    if (editor->has_modes) {
        struct termios modes = editor->modes;
        modes.c_cc[VSUSP] = _POSIX_VDISABLE;
        modes.c_cc[VQUIT] = _POSIX_VDISABLE;
        tcsetattr(STDIN_FILENO, TCSANOW, &modes);
    }
    editor->line = lib.el_init("tcpprobe", stdin, stdout, stderr);
    editor->past = lib.history_init();
    editor->history_path = history ? strdup(history) : NULL;
    editor->wake = wake;
    editor->calls = calls;
    editor->prompt = "";
    if (!editor->line || !editor->past) {
        probe_editor_close(editor);
        return NULL;
    }
    lib.el_set(editor->line, EL_CLIENTDATA, editor);
    lib.el_set(editor->line, EL_PROMPT, prompt_of);
    lib.el_set(editor->line, EL_SIGNAL, 0);
    lib.el_set(editor->line, EL_EDITOR, "emacs");
    HistEvent event;
    lib.history(editor->past, &event, H_SETSIZE, 1000);
    lib.history(editor->past, &event, H_SETUNIQUE, 1);
    lib.el_set(editor->line, EL_HIST, lib.history, editor->past);
    lib.el_set(editor->line, EL_ADDFN, "probe-complete", "completes a word", complete);
    lib.el_set(editor->line, EL_BIND, "^I", "probe-complete", NULL);
    lib.el_set(editor->line, EL_BIND, "^R", "em-inc-search-prev", NULL);
    // Reads the user's own key bindings.
    lib.el_source(editor->line, NULL);
    lib.el_wset(editor->line, EL_GETCFN, next_character);
    follow_size(editor);
    keep_keys();
    if (editor->history_path) lib.history(editor->past, &event, H_LOAD, editor->history_path);
    return editor;
}

const char *probe_editor_read(probe_editor *editor, const char *prompt, size_t *length) {
    int count = 0;
    editor->prompt = prompt;
    follow_size(editor);
    editor->reads = 1;
    const wchar_t *line = lib.el_wgets(editor->line, &count);
    editor->reads = 0;
    keep_keys();
    if (!line || count <= 0) return NULL;
    while (count > 0 && (line[count - 1] == L'\n' || line[count - 1] == L'\r')) count--;
    size_t size = (size_t)count * MB_CUR_MAX + 1;
    char *text = realloc(editor->text, size);
    if (!text) return NULL;
    editor->text = text;
    size_t used = 0;
    mbstate_t state;
    memset(&state, 0, sizeof state);
    for (int index = 0; index < count; index++) {
        size_t bytes = wcrtomb(text + used, line[index], &state);
        if (bytes != (size_t)-1) used += bytes;
    }
    text[used] = 0;
    *length = used;
    return text;
}

void probe_editor_show(probe_editor *editor, const char *text, size_t length) {
    if (!editor->reads) {
        put(text, length);
        return;
    }
    hide(editor);
    put(text, length);
    show_again(editor);
}

size_t probe_editor_discard(probe_editor *editor) {
    const LineInfoW *line = lib.el_wline(editor->line);
    int count = (int)(line->lastchar - line->buffer);
    hide(editor);
    // Deletion affects the text before the cursor, so the cursor is first moved to the end of the line.
    lib.el_cursor(editor->line, count);
    lib.el_deletestr(editor->line, count);
    return (size_t)count;
}

void probe_editor_remember(probe_editor *editor, const char *line) {
    HistEvent event;
    lib.history(editor->past, &event, H_ENTER, line);
    if (!editor->history_path) return;
    // The history may contain secrets that were sent, so only the user may read the history file.
    int file = open(editor->history_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return;
    close(file);
    // The history file is loaded again, so that lines added by other sessions are kept.
    History *all = lib.history_init();
    if (!all) return;
    lib.history(all, &event, H_SETSIZE, 1000);
    lib.history(all, &event, H_SETUNIQUE, 1);
    lib.history(all, &event, H_LOAD, editor->history_path);
    lib.history(all, &event, H_ENTER, line);
    lib.history(all, &event, H_SAVE, editor->history_path);
    lib.history_end(all);
}

void probe_editor_close(probe_editor *editor) {
    if (editor->line) lib.el_end(editor->line);
    if (editor->has_modes) tcsetattr(STDIN_FILENO, TCSANOW, &editor->modes);
    if (editor->past) lib.history_end(editor->past);
    free(editor->history_path);
    free(editor->text);
    free(editor);
}
