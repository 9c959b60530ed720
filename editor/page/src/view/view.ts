import type { App } from "../core/app";
import { h } from "../core/dom";

export const viewPanel = (_app: App): HTMLElement => h("div", { class: "view" });
