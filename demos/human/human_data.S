// The files of demos/data between symbols: arrays in C would take a compiler seconds, and an assembler none. The
// folder is in the include path.
#ifdef __APPLE__
#define SYMBOL(name) _##name
    .section __TEXT,__const
#else
#define SYMBOL(name) name
    .section .rodata
#endif
#ifdef __ELF__
#define HIDE(name) .hidden name
#else
#define HIDE(name)
#endif
#define FILE(name, path) \
    .globl SYMBOL(exi_##name##_start); .globl SYMBOL(exi_##name##_end); HIDE(exi_##name##_start); \
    HIDE(exi_##name##_end); .p2align 4; SYMBOL(exi_##name##_start): .incbin path; SYMBOL(exi_##name##_end): .byte 0

    FILE(person, "human.glb")
    FILE(pixels, "pixels.json")
    FILE(skin_female_child, "skin_female_child.jpg")
    FILE(skin_female_young, "skin_female_young.jpg")
    FILE(skin_female_old, "skin_female_old.jpg")
    FILE(skin_male_child, "skin_male_child.jpg")
    FILE(skin_male_young, "skin_male_young.jpg")
    FILE(skin_male_old, "skin_male_old.jpg")
    FILE(hair_child, "hair_child.jpg")
    FILE(hair_young, "hair_young.jpg")
    FILE(hair_old, "hair_old.jpg")
    FILE(cloth_shirt, "cloth_shirt.jpg")
    FILE(cloth_trousers, "cloth_trousers.jpg")
#ifdef __ELF__
    .section .note.GNU-stack,"",%progbits
#endif
