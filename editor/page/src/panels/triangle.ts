import type { App } from "../core/app";
import { h } from "../core/dom";
export const trianglePart = (_app: App) => ({ element: h("div"), rebuild: (): void => undefined });
