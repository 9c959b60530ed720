// The bytes of editor.html between two symbols: an array in C would take a compiler seconds, and an assembler none.
#ifdef __APPLE__
#define SYMBOL(name) _##name
    .section __TEXT,__const
#else
#define SYMBOL(name) name
    .section .rodata
#endif
    .globl SYMBOL(exi_edit_page_start)
    .globl SYMBOL(exi_edit_page_end)
    .p2align 4
SYMBOL(exi_edit_page_start):
    .incbin EX_EDITOR_PAGE_FILE
SYMBOL(exi_edit_page_end):
    .byte 0
#ifdef __ELF__
    .hidden exi_edit_page_start
    .hidden exi_edit_page_end
    .section .note.GNU-stack,"",%progbits
#endif
