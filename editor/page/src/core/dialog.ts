// A dialog over the page, gone from it once it is closed, by whatever closes it. The focus then is where it was.
import { h, type Child } from "./dom";

export const showDialog = (kind: string, label: string, ...children: Child[]): HTMLDialogElement => {
    const dialog = h("dialog", { class: kind, "aria-label": label, onclose: () => dialog.remove() }, ...children);
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
};
