// The note, for one reload, that the rig beside the project is not to be shown: the project cannot be built.
const UNBUILT = "exemplar unbuilt";

export const isUnbuilt = (): boolean => sessionStorage.getItem(UNBUILT) !== null;

/** Opens the page again without the rig beside the project. */
export const openUnbuilt = (): void => {
    sessionStorage.setItem(UNBUILT, "true");
    location.reload();
};

export const takeUnbuilt = (): boolean => {
    const was = isUnbuilt();
    sessionStorage.removeItem(UNBUILT);
    return was;
};
