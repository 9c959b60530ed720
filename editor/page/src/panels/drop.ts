import type { App } from "../core/app";
export const acceptDrops = (_app: App): void => {};
export const chooseFiles = (_app: App): void => {};
