// The mark on a row with a finding.
import type { Mark } from "../findings/places";

export const setMark = (element: HTMLElement, mark: Mark | undefined): void => {
    element.hidden = !mark;
    element.dataset["severity"] = mark?.severity ?? "";
    element.title = mark?.text ?? "";
    element.setAttribute("aria-label", mark ? `${mark.severity}: ${mark.text}` : "");
};
