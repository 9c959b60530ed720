// Small things that the browser keeps. Choices of a person (theme, hints) are cookies: the tool serves each start at
// another port, and the browser's storage would forget them with the port. The state of a page is in that storage.
// Pages from a disk have no cookies, and a browser may allow neither: then the choice holds until the page is closed.

const YEAR = 365 * 24 * 3600;

const stored = (key: string): string | null => {
    try {
        return localStorage.getItem(key);
    } catch {
        return null;
    }
};
const store = (key: string, value: string): void => {
    try {
        localStorage.setItem(key, value);
    } catch {
        // it is not kept
    }
};

/** A choice, such as "theme"; null if none was made. */
export const choiceOf = (name: string): string | null =>
    new RegExp(`(?:^|; )exemplar_${name}=([^;]*)`).exec(document.cookie)?.[1] ?? stored(`exemplar.${name}`);

export const keepChoice = (name: string, value: string): void => {
    document.cookie = `exemplar_${name}=${value}; path=/; max-age=${YEAR}; SameSite=Strict`;
    store(`exemplar.${name}`, value);
};

/** The state of a project's page; null if there is none, or none that can be read. */
export const stateOf = (project: string): unknown => {
    try {
        return JSON.parse(stored(`exemplar.state.${project}`) ?? "null") as unknown;
    } catch {
        return null;
    }
};
export const keepState = (project: string, state: unknown): void => store(`exemplar.state.${project}`, JSON.stringify(state));
