import type { App } from "../core/app";
import { h } from "../core/dom";

export const mapPanel = (_app: App): HTMLElement => h("div", { class: "map" });
