import type { App } from "../core/app";
import { h } from "../core/dom";

export const findingsPanel = (_app: App): HTMLElement => h("div", { class: "findings" });
