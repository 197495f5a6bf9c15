" Vim filetype plugin: scenarios of tcpprobe
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1
setlocal comments=:# commentstring=#\ %s expandtab shiftwidth=4 softtabstop=4
setlocal iskeyword=@,48-57,_,-
let b:undo_ftplugin = "setlocal comments< commentstring< expandtab< shiftwidth< softtabstop< iskeyword<"
