/* figures/figures_page.c - writes the page that shows the figures: one HTML file that needs only the pictures next to
 * it. */
#include "figures.h"

#include "cli/base/files.h"

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light}*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.25rem 5rem;max-width:62rem;background:#fff;color:#23262b;"
    "font:17px/1.6 Georgia,'Iowan Old Style','Palatino Linotype',serif}\n"
    "h1{font-size:2.1rem;line-height:1.2;font-weight:500;margin:0 0 .6rem}\n"
    "h2{font-size:1.5rem;font-weight:500;margin:4rem 0 .1rem;padding-top:1.2rem;border-top:1px solid #d9d5ce}\n"
    "h3{font-size:1.12rem;font-weight:600;margin:0 0 .4rem}\n"
    "h3 span,.by,th,td,small,nav,summary{font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\n"
    "h3 span{font-size:.78rem;font-weight:600;letter-spacing:.04em;color:#a8472b;text-transform:uppercase;"
    "display:block}\n"
    ".by{color:#6d7178;margin:0 0 1.5rem;font-size:.92rem}p{max-width:42rem;margin:.3rem 0 1rem}\n"
    "figure{margin:2.6rem 0 3.4rem}img{display:block;width:auto;max-width:100%;height:auto;margin:0 auto;"
    "border:1px solid #ece8e1;border-radius:6px;background:#fff}\n"
    "figcaption{margin-top:1rem}a{color:#2f5d86}\n"
    "table{border-collapse:collapse;font-size:.88rem;width:100%;max-width:42rem}\n"
    "th,td{text-align:left;padding:.4rem .9rem .4rem 0;border-bottom:1px solid #ece8e1;vertical-align:top}\n"
    "th{font-weight:600;color:#6d7178}td:nth-child(n+2){font-variant-numeric:tabular-nums}\n"
    "td.ours{color:#2f4a62;font-weight:600}nav a{margin-right:1.2rem;display:inline-block}nav{font-size:.92rem;"
    "line-height:2}\n"
    "details{margin:1.2rem 0;color:#4b4f56}summary{cursor:pointer;font-size:.92rem;color:#6d7178}li{margin:.25rem 0}\n"
    "small{color:#6d7178;font-size:.82rem}\n"
    "@media(max-width:34rem){body{font-size:16px;padding:1.5rem 1rem 4rem}h1{font-size:1.65rem}}\n";

/* Writes text, escaped for markup. */
static void write_text(ex_file_writer *w, const char *text) {
    for (; *text; text++) {
        const char *as = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '"' ? "&quot;"
                                        : NULL;
        if (as)
            ex_file_write(w, as, strlen(as));
        else
            ex_file_write(w, text, 1);
    }
}

static void write_around(ex_file_writer *w, const char *before, const char *text, const char *after) {
    ex_file_write(w, before, strlen(before));
    write_text(w, text);
    ex_file_write(w, after, strlen(after));
}

static void write_facts(ex_file_writer *w, const exi_figure_result *result) {
    if (result->fact_count == 0)
        return;
    ex_file_printf(w, "<table><thead><tr><th></th><th>the paper</th><th>here</th></tr></thead><tbody>\n");
    for (int i = 0; i < result->fact_count; i++) {
        write_around(w, "<tr><td>", result->facts[i].what, "</td>");
        write_around(w, "<td>", result->facts[i].theirs[0] ? result->facts[i].theirs : "\xE2\x80\x93", "</td>");
        write_around(w, "<td class=\"ours\">", result->facts[i].ours, "</td></tr>\n");
    }
    ex_file_printf(w, "</tbody></table>\n");
}

static void write_figure(ex_file_writer *w, const exi_paper *paper, const exi_figure *figure,
                         const exi_figure_result *result) {
    ex_file_printf(w, "<figure id=\"%s-", paper->id);
    for (const char *at = figure->number; *at; at++)
        ex_file_printf(w, "%c", *at == ' ' ? '-' : *at);
    ex_file_printf(w, "\">\n");
    if (figure->file) {
        ex_file_printf(w, "<a href=\"%s\"><img src=\"%s\" loading=\"lazy\"", figure->file, figure->file);
        if (result->width > 0)
            ex_file_printf(w, " width=\"%d\" height=\"%d\"", result->width, result->height);
        write_around(w, " alt=\"", figure->title, "\"></a>\n");
    }
    write_around(w, "<figcaption><h3><span>", figure->number, "</span>");
    write_around(w, "", figure->title, "</h3>\n");
    write_around(w, "<p>", figure->caption, "</p>\n");
    write_facts(w, result);
    if (figure->demo)
        ex_file_printf(w, "<p><small>Made from <a href=\"demos/%s/%s.glb\">demos/%s/%s.glb</a></small></p>\n",
                       figure->demo, figure->demo, figure->demo, figure->demo);
    ex_file_printf(w, "</figcaption></figure>\n");
}

static void write_paper(ex_file_writer *w, const exi_paper *paper, const exi_figure_result *results) {
    int missing = 0;
    ex_file_printf(w, "<section id=\"%s\">\n", paper->id);
    write_around(w, "<h2>", paper->title, "</h2>\n");
    write_around(w, "<p class=\"by\">", paper->authors, "</p>\n");
    for (int i = 0; i < paper->figure_count; i++) {
        if (results[i].made)
            write_figure(w, paper, &paper->figures[i], &results[i]);
        else
            missing++;
    }
    if (missing > 0)
        ex_file_printf(w, "<details><summary>%d not computed here, and why</summary><ul>\n", missing);
    for (int i = 0; i < paper->figure_count; i++) {
        const exi_figure *figure = &paper->figures[i];
        if (results[i].made)
            continue;
        write_around(w, "<li>", figure->number, ", ");
        write_around(w, "", figure->title, ": ");
        write_text(w, !figure->make  ? figure->caption
                      : figure->slow ? "takes long; 'exemplar figures --all' makes it."
                                     : "was not asked for this time.");
        ex_file_printf(w, "</li>\n");
    }
    if (missing > 0)
        ex_file_printf(w, "</ul></details>\n");
    ex_file_printf(w, "</section>\n");
}

ex_result exi_figures_page(const exi_figures *f, const exi_figure_result *results, ex_error *error) {
    char *path = exi_path_inside(f->folder, "index", ".html");
    ex_file_writer w;
    ex_result result = path ? ex_file_open(&w, path, error) : ex_error_memory(error, "a path", 0);
    free(path);
    if (result != EX_OK)
        return result;
    ex_file_printf(&w, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                       "<title>Figures, computed again</title>\n<style>\n");
    ex_file_write(&w, style, strlen(style));
    ex_file_printf(&w,
                   "</style>\n</head>\n<body>\n<header>\n<h1>Figures, computed again</h1>\n"
                   "<p>Figures and tables of five papers, made by Exemplar %s from its own sample projects: the "
                   "same experiments with other forms. Captions are ours. If a paper gives a number, it is beside "
                   "ours.</p>\n<nav>",
                   ex_version().text);
    for (int i = 0; i < exi_paper_count; i++) {
        ex_file_printf(&w, "<a href=\"#%s\">", exi_papers[i].id);
        write_around(&w, "", exi_papers[i].title, "</a> ");
    }
    ex_file_printf(&w, "</nav>\n</header>\n<main>\n");
    for (int i = 0; i < exi_paper_count; i++) {
        write_paper(&w, &exi_papers[i], results);
        results += exi_papers[i].figure_count;
    }
    ex_file_printf(&w, "</main>\n</body>\n</html>\n");
    return ex_file_commit(&w, error);
}
