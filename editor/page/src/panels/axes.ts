import type { App } from "../core/app";
import { h } from "../core/dom";

export const axesPanel = (_app: App): HTMLElement => h("div", { class: "axes" });
