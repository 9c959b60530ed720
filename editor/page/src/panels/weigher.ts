import type { App } from "../core/app";
import { h } from "../core/dom";

export const weigherPanel = (_app: App): HTMLElement => h("div", { class: "weigher" });
