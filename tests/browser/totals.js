/* totals.js - what the page adds up, beside what `jsprof report --csv` says.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const fs = require('node:fs');
const { check, same, withBrowser } = require('./lib.js');

/* function,kind,self,total,... or group,self,total,...: {name -> [self, total]}; names may hold
 * quotes. */
function readReport(file) {
    const rows = new Map();
    for (const line of fs.readFileSync(file, 'utf8').trim().split('\n').slice(1)) {
        const m = /^(?:"((?:[^"]|"")*)"|([^,]*)),(?:[^,\d][^,]*,)?(\d+),(\d+)/.exec(line);
        const name = (m[1] ?? m[2]).replace(/""/g, '"'), was = rows.get(name) ?? [0, 0];
        rows.set(name, [was[0] + +m[3], was[1] + +m[4]]);
    }
    return rows;
}

const readPage = (page, change) => page.evaluate(source => {
    app.group('function', false);
    Object.assign(app.state, { hiddenKinds: 1 << 8, from: 0, to: app.profile.meta.spans,
        hidden: [], focus: -1, isCollapsed: false });
    (0, eval)('(' + source + ')')(app);
    app.update();
    const [f] = functionFigures(app.view), rows = {};
    app.profile.names.forEach((name, fn) => {
        const was = rows[name] ?? [0, 0];
        if (f.total[fn])
            rows[name] = [was[0] + f.self[fn], was[1] + f.total[fn]];
    });
    const root = app.view.figures[0].self[0];
    return { rows, root: [root, root], all: app.view.wholes[0], stacks: app.profile.meta.stacks };
}, String(change));

/* Stacks of which nothing is shown: the report has a name for them, the page's root has them. */
const ofRoot = name => name === '[no VM frame]' || name === '[interpreter]';

/* Values are in microseconds: each stack may be off by half of one. */
function compare(what, page, report) {
    const most = 1000 * page.stacks, off = [];
    for (const [name, [self, total]] of report) {
        const seen = page.rows[name] ?? (ofRoot(name) ? page.root : [0, 0]);
        if (Math.abs(seen[0] - self) > most || Math.abs(seen[1] - total) > most)
            off.push([name, seen, [self, total]]);
    }
    for (const name of Object.keys(page.rows))
        if (!report.has(name) && !name.startsWith('['))
            off.push([name, page.rows[name], 'not in the report']);
    check(`${what}: the page says what the report says`, !off.length, off.slice(0, 3));
    check(`${what}: there is something to compare`, report.size > 2, report.size);
    const sum = [...report.values()].reduce((s, r) => s + r[0], 0);
    check(`${what}: selfs add up to all`, Math.abs(sum - page.all) < most, [sum, page.all]);
}

module.exports = withBrowser(async open => {
    const dir = process.argv[2] + '/';
    const page = await open(dir + 'lark.html', { bypassCSP: true });
    const cases = {
        '': () => {},
        '--vm': app => { app.state.hiddenKinds = 336; },
        '--native': app => { app.state.hiddenKinds = 0; },
        '--hide ^(inline|span)': app => {
            app.profile.names.forEach((name, fn) => {
                if (/^(inline|span)/.test(name))
                    app.state.hidden.push(fn);
            });
        },
        '--under inline': app => {
            app.state.focus = app.profile.names.findIndex(name => name.startsWith('inline'));
        },
        '--collapse-recursion': app => { app.state.isCollapsed = true; },
        '--native --by module': app => {
            app.group('module', false);
            app.state.hiddenKinds = 0;
        },
        '--native --by file': app => {
            app.group('file', false);
            app.state.hiddenKinds = 0;
        },
    };
    for (const [options, change] of Object.entries(cases))
        compare(options || 'as it is', await readPage(page, change),
            readReport(`${dir}report${options}.csv`));
    const half = process.argv[3];
    compare('its first half',
        await readPage(page, `app => {
            app.state.to = Math.round(${half} * 1e9 / app.profile.meta.span);
        }`),
        readReport(`${dir}report--time 0s..${half}s.csv`));

    await page.leave();
    const bare = await open(dir + 'bare.html', { bypassCSP: true });
    for (const [options, name] of [['', '[interpreter]'], ['--vm', '[no VM frame]']]) {
        const report = readReport(`${dir}bare${options}.csv`);
        check(`${options}: nothing is shown of a stack`, report.has(name), [...report.keys()]);
        compare(`bare ${options}`, await readPage(bare, cases[options]), report);
    }

    await bare.leave();
    for (const [file, options] of [['only', '--only escape'], ['under', '--under inline']]) {
        const part = await open(`${dir}${file}.html`, { bypassCSP: true });
        compare(options, await readPage(part, () => {}),
            readReport(`${dir}report${options}.csv`));
        await part.leave();
    }

    const other = await open(dir + 'random.html', { bypassCSP: true });
    const random = await readPage(other, () => {});
    await other.leave();
    check('nothing is lost of random stacks', random.all === 1e6, random.all);
    check('nor their roots', random.rows['function1 (/srv/app/lib/module1.js:1:1)'][1] === 1e6);

    const many = await open(dir + 'many.html', { bypassCSP: true });
    const seen = await readPage(many, () => {}), report = readReport(dir + 'many.csv');
    const notice = await many.locator('#notice').innerText();
    check('small branches are put together, which is told',
        /^Branches of fewer than \d+ samples/.test(notice), notice);
    check('nothing is lost', seen.all === 30000, seen.all);
    const main = 'function1 (/srv/app/lib/module1.js:1:1)';
    check('its root has all', seen.rows[main]?.[1] === report.get(main)[1],
        [seen.rows[main], report.get(main)]);
    const selfs = Object.values(seen.rows).reduce((s, r) => s + r[0], 0);
    check('selfs add up', selfs === 30000, selfs);

    await many.leave();
    const long = await open(dir + 'long.html', { bypassCSP: true });
    const { all } = await readPage(long, () => {});
    same('longer spans lose nothing', all, 700000);
    const spans = await long.evaluate(() => app.profile.meta.spans);
    check('spans are longer, and still some', spans > 20 && spans < 4000, spans);
});
