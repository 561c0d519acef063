/* decode.js - decodes the data of the page into a profile of flat arrays.
 *
 * SPDX-License-Identifier: MIT
 *
 * Nodes of the call tree are numbered so that a caller comes before its callees; 0 is the
 * root. A stack is an end of samples: node, thread, line. The figures of stacks in a span
 * s of time are in at*[], from spanStart[s] to spanStart[s + 1].
 */

function fromBase64(text) {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    return bytes;
}

function varintReader(bytes) {
    let at = 0;
    return () => {
        let byte = bytes[at++], value = byte & 127;
        for (let scale = 128; byte > 127; scale *= 128) {
            byte = bytes[at++];
            value += (byte & 127) * scale;
        }
        return value;
    };
}

function decodeTree(next, nodes, frames) {
    const calls = Array.from({ length: frames + 1 }, () => []);
    const n = next();
    for (let i = 0; i < n; i++)
        calls[next()].push(next());
    const tree = {
        parent: new Int32Array(nodes), frame: new Int32Array(nodes).fill(-1),
    };
    for (let node = 1, parent = 0; node < nodes; node++) {
        const code = next(), isLeaf = code & 1;
        tree.parent[node] = parent;
        const index = (code - isLeaf) / 2;
        tree.frame[node] = n ? calls[tree.frame[parent] + 1][index] : index;
        if (isLeaf)
            for (let up = next(); up > 0; up--)
                parent = tree.parent[parent];
        else
            parent = node;
    }
    return tree;
}

function decodeStacks(next, n, { states, labels = [] }) {
    const stacks = { node: new Int32Array(n), thread: new Int32Array(n),
                     place: new Int32Array(n), state: new Uint8Array(n),
                     labels: new Uint16Array(n) };
    for (let i = 0, node = 0, thread = 0; i < n; i++) {
        const code = next();
        node += Math.floor(code / 2);
        if (code % 2 === 0)
            thread = next();
        stacks.node[i] = node;
        stacks.thread[i] = thread;
        stacks.place[i] = next();
    }
    for (let i = 0, at = 0; states && i < states.length; i += 2)
        stacks.state.fill(states[i], at, at += states[i + 1]);
    let at = 0;
    for (const item of labels) { /* a set or, if negative, how many more have the last one */
        const end = item < 0 ? at - item : at + 1;
        stacks.labels.fill(item < 0 ? stacks.labels[at - 1] : item, at, end);
        at = end;
    }
    return stacks;
}

function decodeTime(next, meta) {
    const time = {
        spanStart: new Uint32Array(meta.spans + 1), stack: new Int32Array(meta.times),
        samples: new Float64Array(meta.times), value: new Float64Array(meta.times),
    };
    let at = 0;
    for (let span = 0; span < meta.spans; span++) {
        time.spanStart[span] = at;
        for (let n = next(), stack = 0; n > 0; n--, at++) {
            const code = next();
            stack += Math.floor(code / 2);
            time.stack[at] = stack;
            time.samples[at] = code % 2 ? next() : 1;
            time.value[at] = next() * meta.unit;
        }
    }
    time.spanStart[meta.spans] = at;
    return time;
}

/* ["", 0, 12, "a.c", 3, 4]: a text is the file of the line numbers after it. A row, from 1, is that
 * of the function's listing. */
function decodePlaces(list, rows) {
    const places = [];
    let file = '';
    for (const item of list) {
        if (typeof item === 'string')
            file = harmless(item);
        else
            places.push({ file, line: item, row: rows?.[places.length] ?? 0 });
    }
    return places;
}

function decodeProfile(meta, data) {
    const lines = data.slice(1).split('\n'), readers = [];
    for (let i = 0; i < 4; i++) {
        const bytes = fromBase64(lines[i]);
        if (bytes.length !== meta.bytes[i])
            throw new Error(`part ${i} of the data has ${bytes.length} bytes, not ` +
                meta.bytes[i]);
        readers.push(varintReader(bytes));
    }
    const n = meta.frames.length / 3, frame = { function: new Int32Array(n),
        kind: new Uint8Array(n), origin: new Uint8Array(n) };
    for (let i = 0; i < n; i++) {
        frame.function[i] = meta.frames[3 * i];
        frame.kind[i] = meta.frames[3 * i + 1];
        frame.origin[i] = meta.frames[3 * i + 2];
    }
    return {
        meta, frame, nodes: meta.nodes,
        names: meta.names.map(harmless), modules: meta.modules.map(harmless),
        places: decodePlaces(meta.places), vmPlaces: decodePlaces(meta.vmPlaces, meta.rows),
        tree: decodeTree(readers[0], meta.nodes, n),
        stack: decodeStacks(readers[1], meta.stacks, meta), labels: decodeLabels(meta),
        time: decodeTime(readers[2], meta),
        spans: meta.runs ? new Spans(meta.runs, readers[3]) : null,
    };
}
