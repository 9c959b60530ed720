import type { App } from "../core/app";
export const showNewLayer = (_app: App): void => {};
