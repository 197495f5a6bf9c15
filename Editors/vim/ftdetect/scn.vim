autocmd BufRead,BufNewFile *.scn setfiletype scn
