// Searches the sections of all pages, which search-data.js holds as [page, title, anchor, heading, text,
// summary]. Every word of the query must be in a section or in its page's title; whole words count more than beginnings,
// headings and what docs/README.md says of a page more than text.
"use strict";
(() => {
    const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    const part = "[\\p{L}\\p{N}_]"; // of a word; names of functions have underscores

    /** A word of the query as two patterns: the word itself, and words that begin with it. A plural finds the singular. */
    const wordOf = (given) => {
        const word = given.toLowerCase();
        const stem = word.length > 3 && /^[a-z]+s$/.test(word) && !word.endsWith("ss") ? word.slice(0, -1) : word;
        const before = /^[\p{L}\p{N}_]/u.test(word) ? `(?<!${part})` : "";
        return {
            word,
            whole: new RegExp(`${before}${escaped(stem)}s?(?!${part}|-${part})`, "giu"),
            begin: new RegExp(before + escaped(stem), "giu"),
        };
    };
    const count = (pattern, text) => (text.match(pattern) ?? []).length;

    const scoreOf = (words, [page, title, anchor, heading, text, summary]) => {
        let score = 0;
        for (const { whole, begin } of words) {
            const own = count(begin, heading);
            const inText = count(begin, text);
            const inTitle = count(begin, title);
            const said = count(begin, summary);
            if (own + inText + inTitle + said === 0) return 0;
            score += 40 * Math.min(1, count(whole, heading)) + 15 * Math.min(1, own) + 8 * Math.min(1, inTitle) + 40 * Math.min(1, said)
                + 8 * Math.log2(1 + count(whole, text)) + 2 * Math.log2(1 + inText);
            // A page's title alone says little about a section below it.
            if (own + inText + said === 0) score -= 6;
        }
        // Functions and options are looked up.
        if (page.startsWith("reference/") && words.some(({ word }) => /^-|_/.test(word))) score *= 1.6;
        // Headers have every name, and say little to those who do not look for one.
        if (page.startsWith("source/")) score *= 0.4;
        return anchor ? score : score * 1.3;
    };

    /** The words around the first hit, hits marked. */
    const excerptOf = (words, text) => {
        let at = -1;
        for (const { whole, begin } of words) {
            for (const pattern of [whole, begin]) {
                pattern.lastIndex = 0;
                if (at < 0) at = text.search(pattern);
            }
        }
        const start = at < 90 ? 0 : text.indexOf(" ", at - 80) + 1;
        const shown = text.slice(start, start + 240);
        const line = document.createElement("p");
        line.append(start ? "… " : "");
        let done = 0;
        const marks = new RegExp(words.map(({ begin }) => begin.source).join("|"), "giu");
        for (const hit of shown.matchAll(marks)) {
            const mark = document.createElement("mark");
            mark.textContent = hit[0];
            line.append(shown.slice(done, hit.index), mark);
            done = hit.index + hit[0].length;
        }
        line.append(shown.slice(done), start + 240 < text.length ? " …" : "");
        return line;
    };

    const link = (hit, text) => {
        const [page, , anchor] = hit.section;
        return Object.assign(document.createElement("a"), { href: anchor ? `${page}#${anchor}` : page, textContent: text });
    };

    /** A page with its best section, and links to the two after it. */
    const resultOf = (words, hits) => {
        const [best] = hits;
        const [, title, , heading, own, summary] = best.section;
        const text = summary ? `${summary} ${own}` : own;
        const result = Object.assign(document.createElement("div"), { className: "search-hit" });
        const head = document.createElement("h2");
        head.append(link(best, heading === title ? title : `${title}: ${heading}`));
        result.append(head, excerptOf(words, text));
        if (hits.length > 1) {
            const more = Object.assign(document.createElement("p"), { className: "search-more" });
            more.append("Also in ");
            hits.slice(1, 4).forEach((hit, i) => more.append(i ? ", " : "", link(hit, hit.section[3])));
            result.append(more);
        }
        return result;
    };

    const field = document.getElementById("query");
    const show = () => {
        const words = field.value.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).map(wordOf);
        const pages = new Map();
        for (const section of words.length ? SECTIONS : []) {
            const score = scoreOf(words, section);
            if (score <= 0) continue;
            pages.set(section[0], [...(pages.get(section[0]) ?? []), { section, score }]);
        }
        const found = [...pages.values()].map((hits) => hits.sort((a, b) => b.score - a.score));
        // A page with many good sections is worth more than one with a single mention.
        const worth = (hits) => hits[0].score + hits.slice(1, 6).reduce((sum, hit) => sum + hit.score / 8, 0);
        found.sort((a, b) => worth(b) - worth(a));
        document.getElementById("search-hits").replaceChildren(...found.slice(0, 30).map((hits) => resultOf(words, hits)));
        document.getElementById("search-count").textContent = !words.length ? ""
            : found.length ? `${found.length} ${found.length === 1 ? "page" : "pages"}` : "No page has all these words.";
    };
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", show);
    field.form.addEventListener("submit", (event) => event.preventDefault());
    field.focus();
    show();
})();
