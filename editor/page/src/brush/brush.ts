import type { App } from "../core/app";
import { h } from "../core/dom";

export const brushPanel = (_app: App): HTMLElement => h("div", { class: "brush" });
