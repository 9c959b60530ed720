// Light and dark theme: the system's until the user chooses, and remembered if the browser allows it.
const KEY = "exemplar.theme";
type Theme = "light" | "dark";

const kept = (): string | null => {
    try {
        return localStorage.getItem(KEY);
    } catch {
        return null; // a page opened from disk may have no storage
    }
};

export const theme = (): Theme => (document.documentElement.dataset["theme"] === "dark" ? "dark" : "light");

export const setTheme = (wanted?: Theme): void => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.dataset["theme"] = wanted ?? kept() ?? system;
    if (wanted)
        try {
            localStorage.setItem(KEY, wanted);
        } catch {
            // the choice holds for this session only
        }
};
