#!/usr/bin/env gjs-console
// words.js - which words a text uses most, and which look like misspellings.
//
// SPDX-License-Identifier: MIT
//
//     gjs-console examples/gjs/words.js [-n COUNT] FILE...
//     gjs-console --profile-output=words.cap examples/gjs/words.js FILE...
//     jsprof report words.cap

const {Gio, GLib} = imports.gi;
const System = imports.system;
const ByteArray = imports.byteArray;

function readText(path) {
    const [, bytes] = Gio.File.new_for_path(path).load_contents(null);
    return ByteArray.toString(bytes);
}

function splitWords(text) {
    return text.toLowerCase().match(/[a-zà-öø-ÿ]+(?:'[a-z]+)?/g) ?? [];
}

function countWords(texts) {
    const counts = new Map();
    for (const text of texts) {
        for (const word of splitWords(text))
            counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    return counts;
}

// Return how many letters must be inserted, removed or replaced; stop beyond `most`.
function editDistance(a, b, most) {
    if (Math.abs(a.length - b.length) > most)
        return most + 1;

    let row = Array.from({length: b.length + 1}, (_, i) => i);
    for (let i = 1; i <= a.length; i++) {
        const next = [i];
        for (let j = 1; j <= b.length; j++) {
            const swap = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
            next[j] = Math.min(swap, row[j] + 1, next[j - 1] + 1);
        }
        if (Math.min(...next) > most)
            return most + 1;
        row = next;
    }
    return row[b.length];
}

// Find the words that occur once and are one letter away from a common one.
function findMisspellings(counts) {
    const common = [...counts].filter(([word, n]) => n >= 20 && word.length > 4);
    const rare = [...counts].filter(([word, n]) => n === 1 && word.length > 4);
    const found = [];
    for (const [word] of rare) {
        const near = common.find(([other]) => editDistance(word, other, 1) === 1);
        if (near)
            found.push([word, near[0]]);
    }
    return found;
}

function printTable(rows) {
    for (const [left, right] of rows)
        print(`${String(left).padStart(8)}  ${right}`);
}

function main(args) {
    let top = 10;
    if (args[0] === '-n') {
        top = Number(args[1]);
        args = args.slice(2);
    }
    if (args.length === 0 || !(top >= 0)) {
        printerr('usage: words.js [-n COUNT] FILE...');
        return 2;
    }

    const texts = [];
    for (const path of args) {
        try {
            texts.push(readText(path));
        } catch (e) {
            printerr(`words.js: ${path}: ${e.message}`);
            return 1;
        }
    }
    const counts = countWords(texts);
    const byCount = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
    printTable(byCount.slice(0, top).map(([word, n]) => [n, word]));
    for (const [word, meant] of findMisspellings(counts))
        print(`${word}: did you mean ${meant}?`);
    return 0;
}

System.exit(main(ARGV));
