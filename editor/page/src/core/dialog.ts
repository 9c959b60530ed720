// A modal dialog, removed from the page however it is closed. The focus returns to the element that had it.
import { h, type Child } from "./dom";

export const showDialog = (kind: string, label: string, ...children: Child[]): HTMLDialogElement => {
    const dialog = h("dialog", { class: kind, "aria-label": label, onclose: () => dialog.remove() }, ...children);
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
};
