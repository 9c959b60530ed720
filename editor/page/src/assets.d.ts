// What build.mjs puts into the page beside the script: the WebAssembly module of @exemplar/runtime, as its bytes.
declare module "@exemplar/runtime/exemplar.wasm" {
    const bytes: Uint8Array<ArrayBuffer>;
    export default bytes;
}
