/*
 * Formats that Exemplar cannot read, recognised by their first bytes or their ending, and the way from there to a
 * format that it can. Runs only after a parser has failed, so a file that can be read is never refused here.
 */
#include "author/formats/foreign.h"

#include <exemplar/author/files.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* ---- formats that can be read ---- */

/* Own formats, as bits. */
enum { GLTF = 1, PLY = 2, PNG = 4, BVH = 8, PC2 = 16, C3D = 32, TRC = 64, JPEG = 128, OFF = 256, ABC = 512 };

static const struct {
    const char *read; /* how to say which files hold this content */
    int fits;         /* own formats that may hold it */
} contents[EXI_CONTENT_COUNT] = {
    [EXI_CONTENT_MESH] = {"a mesh is read from .obj, .ply, .off, .abc, .glb or .gltf", GLTF | PLY | OFF | ABC},
    [EXI_CONTENT_SCENE] = {"a scene is read from .glb or .gltf", GLTF},
    [EXI_CONTENT_RIG] = {"a rig is a .glb file that Exemplar has built", GLTF},
    [EXI_CONTENT_PROJECT] = {"a project is a .json file", 0},
    [EXI_CONTENT_MOTION] = {"motion is read from .bvh, .glb, .gltf or .csv", GLTF | BVH},
    [EXI_CONTENT_MARKERS] = {"markers are read from .c3d or .trc", C3D | TRC},
    [EXI_CONTENT_CACHE] = {"a point cache is read from .pc2, .mdd, .abc or numbered .obj files", PC2 | ABC},
    [EXI_CONTENT_IMAGE] = {"an image is read from .png or .jpg", PNG | JPEG},
    [EXI_CONTENT_POSES] = {"poses are read from .csv", 0},
    [EXI_CONTENT_MASK] = {"a mask is a text file with a line 'vertex value' for each vertex", 0},
    [EXI_CONTENT_MAP] = {"a displacement map is read from .ply", PLY},
};

static const struct own {
    int format;
    const char *name, *start, *endings; /* the endings that its parsers go by */
} owns[] = {
    {GLTF, "a glTF file", "glTF", ".glb .gltf"}, {PLY, "a PLY file", "ply\n", ".ply"},
    {PLY, "a PLY file", "ply\r", ".ply"},        {PNG, "a PNG image", "\x89PNG", ".png"},
    {BVH, "a BVH motion", "HIERARCHY", ".bvh"},  {PC2, "a point cache", "POINTCACHE2", ".pc2"},
    {TRC, "a TRC file", "PathFileType", ".trc"}, {JPEG, "a JPEG image", "\xFF\xD8\xFF", ".jpg .jpeg"},
    {OFF, "an OFF file", "OFF\n", ".off"},       {OFF, "an OFF file", "OFF\r", ".off"},
    {OFF, "an OFF file", "COFF\n", ".off"},      {OFF, "an OFF file", "NOFF\n", ".off"},
    {OFF, "an OFF file", "OFF BINARY", ".off"},  {ABC, "an Alembic file", "Ogawa", ".abc"},
};

/* ---- formats that cannot be read ---- */

/* Way from a foreign format to one that can be read. */
typedef enum exit_way {
    BLENDER,
    IMPORT,
    MAYA,
    MAX,
    CINEMA,
    HOUDINI,
    ZBRUSH,
    PAINT,
    CLOUD,
    SHEET,
    NUMPY,
    UNPACK,
    AGAIN
} exit_way;

static const struct foreign {
    const char *name;
    const char *endings; /* separated by spaces; "" if its first bytes alone tell */
    const char *start;   /* first bytes, ? for any; NULL if its ending alone tells */
    exit_way way;
} foreigns[] = {
    {"an FBX file", ".fbx", "Kaydara FBX", IMPORT},
    {"an FBX file", ".fbx", "; FBX", IMPORT},
    {"a Blender file", ".blend", "BLENDER", BLENDER},
    {"a Maya file", ".ma", "//Maya ASCII", MAYA},
    {"a Maya file", ".mb", NULL, MAYA},
    {"a USD file", ".usdc .usd", "PXR-USDC", IMPORT},
    {"a USD file", ".usda .usd", "#usda", IMPORT},
    {"a USD file", ".usdz", NULL, IMPORT},
    {"an STL file", ".stl", NULL, IMPORT},
    {"a Collada file", ".dae", NULL, IMPORT},
    {"a 3DS file", ".3ds", NULL, IMPORT},
    {"an X3D file", ".x3d .wrl", NULL, IMPORT},
    {"a 3ds Max file", ".max", NULL, MAX},
    {"a Cinema 4D file", ".c4d", NULL, CINEMA},
    {"a Houdini file", ".hip .hipnc .hiplc .bgeo .geo", NULL, HOUDINI},
    {"a ZBrush file", ".ztl .zpr", NULL, ZBRUSH},
    {"an OpenEXR image", ".exr", "\x76\x2F\x31\x01", PAINT},
    {"a TIFF image", ".tif .tiff", "II*", PAINT},
    {"a Photoshop file", ".psd", "8BPS", PAINT},
    {"a GIF image", ".gif", "GIF8", PAINT},
    {"a WebP image", ".webp", "RIFF????WEBP", PAINT},
    {"an AVIF image", ".avif", "????ftypavi", PAINT},
    {"a HEIC image", ".heic .heif", "????ftyphei", PAINT},
    {"a HEIC image", ".heic .heif", "????ftypmif1", PAINT},
    {"a KTX2 texture", ".ktx2", "\xABKTX 20\xBB", PAINT},
    {"a KTX texture", ".ktx", "\xABKTX 11\xBB", PAINT},
    {"a DDS texture", ".dds", "DDS ", PAINT},
    {"a JPEG XL image", ".jxl", "????JXL ", PAINT},
    {"a JPEG 2000 image", ".jp2 .j2k", "????jP  ", PAINT},
    {"a TGA image", ".tga", NULL, PAINT},
    {"a BMP image", ".bmp", NULL, PAINT},
    {"an HDR image", ".hdr", "#?RADIANCE", PAINT},
    {"a point cloud", ".e57", "ASTM-E57", CLOUD},
    {"a point cloud", ".las .laz", "LASF", CLOUD},
    {"a point cloud", ".pcd .pts .ptx .xyz", NULL, CLOUD},
    {"a spreadsheet", ".xls .xlsx .ods", NULL, SHEET},
    {"a NumPy file", ".npz", NULL, NUMPY},
    {"a NumPy file", ".npy", "\x93NUMPY", NUMPY},
    {"an archive", ".zip", "PK\x03\x04", UNPACK},
    {"an archive", ".gz .tgz", "\x1F\x8B", UNPACK},
    {"an archive", ".7z", "7z\xBC\xAF", UNPACK},
    {"an archive", ".rar", "Rar!", UNPACK},
    {"an archive", ".xz",
     "\xFD"
     "7zXZ",
     UNPACK},
    {"a web page", ".html .htm", "<!DOCTYPE html", AGAIN},
    {"a web page", ".html .htm", "<html", AGAIN},
    {"a pointer of Git LFS, not the file itself", "", "version https://git-lfs", AGAIN},
};

/* Menu of Blender that exports this content. */
static const char *blender_menu(exi_content wanted) {
    switch (wanted) {
    case EXI_CONTENT_MESH:
    case EXI_CONTENT_MAP:
        return "File > Export > glTF 2.0 or Wavefront (.obj)";
    case EXI_CONTENT_MOTION:
        return "File > Export > glTF 2.0 or Motion Capture (.bvh)";
    case EXI_CONTENT_CACHE:
        return "File > Export > Wavefront (.obj), with Animation ticked";
    default:
        return "File > Export > glTF 2.0";
    }
}

/* True for content that a program for meshes and motion can export. */
static bool is_scene(exi_content wanted) {
    return wanted == EXI_CONTENT_MESH || wanted == EXI_CONTENT_SCENE || wanted == EXI_CONTENT_RIG ||
           wanted == EXI_CONTENT_PROJECT || wanted == EXI_CONTENT_MOTION || wanted == EXI_CONTENT_CACHE;
}

/* Writes what to do about it, "" if there is no advice. */
static void advise(char *text, size_t size, exit_way way, exi_content wanted) {
    const char *menu = blender_menu(wanted);
    text[0] = '\0';
    switch (way) {
    case BLENDER:
        if (is_scene(wanted))
            snprintf(text, size, ". In Blender, choose %s", menu);
        break;
    case IMPORT:
        if (is_scene(wanted))
            snprintf(text, size, ". To convert it, import it into Blender and choose %s", menu);
        break;
    case MAYA:
        if (wanted == EXI_CONTENT_MESH)
            snprintf(text, size, ". In Maya, choose File > Export Selection and the type OBJexport");
        else if (is_scene(wanted))
            snprintf(text, size, ". In Maya, export FBX; import that into Blender and choose %s", menu);
        break;
    case MAX:
    case CINEMA:
    case HOUDINI:
        if (is_scene(wanted))
            snprintf(text, size, ". Export it from %s as glTF%s",
                     way == MAX      ? "3ds Max"
                     : way == CINEMA ? "Cinema 4D"
                                     : "Houdini",
                     wanted == EXI_CONTENT_MESH ? " or OBJ" : "");
        break;
    case ZBRUSH:
        if (is_scene(wanted))
            snprintf(text, size, ". In ZBrush, choose Tool > Export and the type OBJ");
        break;
    case PAINT:
        if (wanted == EXI_CONTENT_IMAGE)
            snprintf(text, size, ". Save it as PNG or JPEG with 8 bits per channel");
        break;
    case CLOUD:
        if (wanted == EXI_CONTENT_MESH)
            snprintf(text, size, ". Export it as PLY, with faces, from the program of the scanner");
        break;
    case SHEET:
        if (wanted == EXI_CONTENT_POSES || wanted == EXI_CONTENT_MOTION)
            snprintf(text, size, ". Save it as CSV with commas");
        break;
    case NUMPY:
        break;
    case UNPACK:
        snprintf(text, size, ". Unpack it and give the file inside");
        break;
    case AGAIN:
        snprintf(text, size, ". Download the file again");
        break;
    }
    /* A project or a rig is made from a character, not converted. */
    if ((wanted == EXI_CONTENT_RIG || wanted == EXI_CONTENT_PROJECT) && way <= HOUDINI && text[0]) {
        const size_t used = strlen(text);
        snprintf(text + used, size - used, "; 'exemplar init' makes a project from that");
    }
}

/* ---- finding out ---- */

static bool starts_with(const char *bytes, size_t size, const char *start) {
    for (; *start; start++, bytes++, size--)
        if (size == 0 || (*bytes != *start && *start != '?'))
            return false;
    return true;
}

/* True if the path has one of the endings, which are separated by spaces. */
static bool has_ending(const char *path, const char *endings) {
    char one[16];
    while (*endings) {
        const size_t length = strcspn(endings, " ");
        if (length < sizeof one) {
            memcpy(one, endings, length);
            one[length] = '\0';
            if (ex_path_ends_with(path, one))
                return true;
        }
        endings += length;
        endings += *endings == ' ';
    }
    return false;
}

static const struct own *find_own(const char *bytes, size_t size) {
    static const struct own c3d = {C3D, "a C3D file", "", ".c3d"};
    for (size_t i = 0; i < sizeof owns / sizeof *owns; i++)
        if (starts_with(bytes, size, owns[i].start))
            return &owns[i];
    /* No text begins with this character. */
    return size >= 20 && bytes[0] > 0 && bytes[0] < ' ' && bytes[1] == 0x50 ? &c3d : NULL;
}

/* By both, else by the first bytes, else by the ending: a .usdz file and a spreadsheet are archives too. */
static const struct foreign *find_foreign(const char *path, const char *bytes, size_t size) {
    const struct foreign *by_start = NULL, *by_ending = NULL;
    for (size_t i = 0; i < sizeof foreigns / sizeof *foreigns; i++) {
        const struct foreign *f = &foreigns[i];
        const bool start = f->start && starts_with(bytes, size, f->start), ending = has_ending(path, f->endings);
        if (start && ending)
            return f;
        if (start && !by_start)
            by_start = f;
        if (ending && !by_ending)
            by_ending = f;
    }
    return by_start && (!by_ending || by_start->way != UNPACK) ? by_start : by_ending;
}

ex_result exi_foreign_explain(ex_error *error, ex_result result, exi_content wanted, const char *path,
                              const char *parsed, const void *bytes, size_t size) {
    if (!error || (result != EX_ERROR_FORMAT && result != EX_ERROR_DATA) || !path)
        return result;
    const struct own *own = find_own(bytes, size);
    const struct foreign *foreign = own ? NULL : find_foreign(path, bytes, size);
    const char *read = contents[wanted].read;
    char advice[240];
    if (own && has_ending(parsed, own->endings))
        return result;
    if (own && (own->format & contents[wanted].fits)) {
        ex_error_set(error, result, "%s: this is %s: rename it to end in %.*s", path, own->name,
                     (int)strcspn(own->endings, " "), own->endings);
    } else if (own) {
        ex_error_set(error, result, "%s: this is %s; %s", path, own->name, read);
    } else if (foreign) {
        advise(advice, sizeof advice, foreign->way, wanted);
        ex_error_set(error, result, "%s: this is %s; %s%s", path, foreign->name, read, advice);
    } else {
        return result;
    }
    return ex_error_kind(error, result, EXI_FOREIGN_KIND);
}

ex_result exi_foreign_ending(ex_error *error, exi_content wanted, const char *path) {
    struct stat status;
    char bytes[64];
    size_t size = 0;
    if (stat(path, &status) != 0)
        return ex_file_error(error, "read", path, errno);
    FILE *file = S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    if (S_ISREG(status.st_mode) && !file)
        return ex_file_error(error, "read", path, errno);
    if (file) {
        size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
    }
    ex_error_set(error, EX_ERROR_FORMAT, "%s: %s; export it as one of them", path, contents[wanted].read);
    return exi_foreign_explain(error, EX_ERROR_FORMAT, wanted, path, "", bytes, size);
}
