// A button that copies each block of code, and rigs that start inside the page "Play".
"use strict";
document.addEventListener("DOMContentLoaded", () => {
    const copy = async (text) => {
        if (navigator.clipboard) return navigator.clipboard.writeText(text);
        const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
        area.select();
        document.execCommand("copy");
        area.remove();
    };
    // Not for what a program prints.
    for (const block of document.querySelectorAll("div:not(.highlight-text) > div.highlight:not(.source)")) {
        const button = Object.assign(document.createElement("button"), { className: "copy", type: "button", textContent: "Copy" });
        button.addEventListener("click", async () => {
            let text = block.querySelector("pre").textContent;
            // Of a session, the commands alone.
            if (block.closest(".highlight-console")) text = text.replace(/^(?!\$ ).*\n?/gm, "").replace(/^\$ /gm, "");
            await copy(text);
            button.textContent = "Copied";
            setTimeout(() => { button.textContent = "Copy"; }, 1500);
        });
        block.append(button);
    }

    const stage = document.querySelector(".play-stage");
    for (const start of document.querySelectorAll(".play-start")) {
        start.addEventListener("click", (event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            const frame = Object.assign(document.createElement("iframe"), { src: start.href, title: start.dataset.name });
            stage.replaceChildren(frame);
            document.querySelector(".play-card.on")?.classList.remove("on");
            start.closest(".play-card").classList.add("on");
            stage.scrollIntoView({ block: "start" });
        });
    }
});
