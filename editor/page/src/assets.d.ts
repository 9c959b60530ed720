// The WebAssembly module of @exemplar/runtime as bytes; build.mjs bundles it into the script.
declare module "@exemplar/runtime/exemplar.wasm" {
    const bytes: Uint8Array<ArrayBuffer>;
    export default bytes;
}
