import type { App } from "../core/app";
import { h } from "../core/dom";

export const layersPanel = (_app: App): HTMLElement => h("div", { class: "layers" });
