// The note, for one reload, that the rig beside the project is not to be shown: the project cannot be built. It is in the
// state of the tab's history, which outlives a reload also where the browser stores nothing.
const UNBUILT = "unbuilt";

export const isUnbuilt = (): boolean => history.state === UNBUILT;

/** Opens the page again without the rig beside the project. */
export const openUnbuilt = (): void => {
    history.replaceState(UNBUILT, "");
    location.reload();
};

export const takeUnbuilt = (): boolean => {
    const was = isUnbuilt();
    if (was) history.replaceState(null, "");
    return was;
};
