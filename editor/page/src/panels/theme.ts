// Light and dark theme: the system's until the user chooses, and remembered if the browser allows it.
import { choiceOf, keepChoice } from "../core/kept";

type Theme = "light" | "dark";

export const theme = (): Theme => (document.documentElement.dataset["theme"] === "dark" ? "dark" : "light");

export const setTheme = (wanted?: Theme): void => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const kept = choiceOf("theme");
    document.documentElement.dataset["theme"] = wanted ?? (kept === "dark" || kept === "light" ? kept : system);
    if (wanted) keepChoice("theme", wanted);
};
