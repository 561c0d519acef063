// SPDX-License-Identifier: MIT
// TypeScript's compiler checks its own declarations and those of the browser, TSC_TIMES times.
// ARGV[0]: the folder of typescript.js. Prints the number of types and diagnostics.
const {GLib} = imports.gi;
const folder = ARGV[0];
const read = name => {
    try {
        const [ok, bytes] = GLib.file_get_contents(name);
        return ok ? new TextDecoder().decode(bytes) : undefined;
    } catch (e) {
        return undefined;
    }
};
globalThis.module = {exports: {}};
imports.searchPath.unshift(folder);
const ts = imports.typescript.ts;
const texts = new Map();
const host = {
    fileExists: name => host.readFile(name) !== undefined,
    readFile(name) {
        if (!texts.has(name))
            texts.set(name, read(name));
        return texts.get(name);
    },
    getSourceFile: (name, version) => {
        const text = host.readFile(name);
        return text === undefined ? undefined : ts.createSourceFile(name, text, version);
    },
    getDefaultLibFileName: () => `${folder}/lib.es2022.full.d.ts`,
    getDefaultLibLocation: () => folder,
    getCurrentDirectory: () => folder,
    getCanonicalFileName: name => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    writeFile() {},
    getDirectories: () => [],
    directoryExists: () => false,
};
for (let i = Number(GLib.getenv('TSC_TIMES') ?? 1); i > 0; i--) {
    const program = ts.createProgram([`${folder}/typescript.d.ts`],
        {noEmit: true, target: ts.ScriptTarget.ES2022, types: []}, host);
    const found = ts.getPreEmitDiagnostics(program);
    print(program.getTypeCount(), found.length, found[0]?.messageText);
}
