import type { App } from "../core/app";
import { h } from "../core/dom";

export const playPanel = (_app: App): HTMLElement => h("div", { class: "play" });
