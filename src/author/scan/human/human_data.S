// The bytes of human.glb between two symbols: an array in C would take a compiler seconds, and an assembler none.
#ifdef __APPLE__
#define SYMBOL(name) _##name
    .section __TEXT,__const
#else
#define SYMBOL(name) name
    .section .rodata
#endif
    .globl SYMBOL(exi_human_data_start)
    .globl SYMBOL(exi_human_data_end)
    .p2align 4
SYMBOL(exi_human_data_start):
    .incbin EX_HUMAN_FILE
SYMBOL(exi_human_data_end):
    .byte 0
#ifdef __ELF__
    .hidden exi_human_data_start
    .hidden exi_human_data_end
    .section .note.GNU-stack,"",%progbits
#endif
