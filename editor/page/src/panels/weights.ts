import type { App } from "../core/app";
import { h } from "../core/dom";

export const weightsPanel = (_app: App): HTMLElement => h("div", { class: "weights" });
