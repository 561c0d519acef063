/* labels.js - the labels of samples on the page, beside what `jsprof report --csv` says: costs of
 * values, the switch by mouse and keyboard, its address; and nothing where a capture has none.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const fs = require('node:fs');
const { check, same, withBrowser, text } = require('./lib.js');

const dir = process.argv[2] + '/';

/* [name, self] of each row, by name. */
const readReport = file => fs.readFileSync(dir + file, 'utf8').trim().split('\n').slice(1)
    .map(line => /^(?:"((?:[^"]|"")*)"|([^,]*)),(?:[^,\d][^,]*,)?(\d+),/.exec(line))
    .map(m => [(m[1] ?? m[2]).replace(/""/g, '"'), +m[3]])
    .filter(row => row[1]).sort();

/* The same of the values of a key: what the menu says, and what the page has if only they count. */
const readPage = (page, key) => page.evaluate(wanted => {
    const { choices } = app.profile.labels, sums = labelSums(app), rows = [[], []];
    choices.forEach((choice, c) => {
        if (choice.key !== wanted || !sums[c])
            return;
        app.state.labels = choices.map((other, i) => other.key !== wanted || i === c);
        app.update();
        rows[0].push([choice.text, sums[c]]);
        rows[1].push([choice.text, app.view.wholes[0]]);
    });
    app.state.labels.fill(true);
    app.update();
    return rows.map(r => r.sort());
}, key);

/* Values are in microseconds: each stack may be off by half of one. */
async function compare(what, page, key, file) {
    const report = readReport(file);
    const most = 1000 * await page.evaluate(() => app.profile.meta.stacks);
    check(`${what} ${key}: there is something to compare`, report.length > 1, report);
    for (const rows of await readPage(page, key))
        check(`${what} ${key}: the page says what the report says`,
            rows.length === report.length && rows.every(([name, value], i) =>
                name === report[i][0] && Math.abs(value - report[i][1]) <= most),
            [rows, report]);
}

async function choose(page) {
    await page.click('#labels');
    same('the menu', await page.locator('#popup').getAttribute('aria-label'), 'Labels');
    same('its groups', await page.locator('#popup [role=group]').evaluateAll(list =>
        list.map(g => g.getAttribute('aria-label'))), ['route', 'tenant']);
    check('a key with too many values is named', (await text(page, '#popup'))
        .includes('request: 120 values, too many'), await text(page, '#popup'));
    check('a value is text', (await text(page, '#popup')).includes('<img src=x onerror="x()">'));
    await page.getByRole('button', { name: 'only route=/b' }).click();
    same('the button', await text(page, '#labels'), 'route=/b');
    check('a quarter', /100% is 300 ms/.test(await text(page, '#status')),
        await text(page, '#status'));
    same('in the address', await page.evaluate(() =>
        new URLSearchParams(location.hash.slice(1)).getAll('label')), ['route=/b']);
    const rows = await page.evaluate(() => {
        const [f] = functionFigures(app.view);
        return app.profile.names.map((name, fn) => [name, f.self[fn]]).filter(r => r[1]).sort();
    });
    same('its functions', rows, readReport('chosen.csv'));
    await page.reload();
    await page.waitForFunction('performance.getEntriesByName("interactive").length');
    same('after a reload', await text(page, '#labels'), 'route=/b');
}

async function keyboard(page) {
    await page.focus('#labels');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter'); /* all labels */
    same('all again', await text(page, '#labels'), 'all');
    await page.focus('#labels');
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate(() => document.activeElement.closest('label')?.textContent);
    for (let i = 0; i < 20 && await focused() !== '[no tenant]'; i++)
        await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    same('the focus stays', await focused(), '[no tenant]');
    check('half', /100% is 600 ms/.test(await text(page, '#status')), await text(page, '#status'));
    await page.keyboard.press('Escape');
    same('back at the button', await page.evaluate(() => document.activeElement.id), 'labels');
    await page.evaluate(() => app.show('heat'));
    same('in the heat', await page.evaluate(() =>
        heatCells(app.view, 0, { spans: app.profile.meta.spans })[0]), 600e6);
}

module.exports = withBrowser(async open => {
    const page = await open(dir + 'labels.html');
    await compare('known', page, 'route', 'labels.route.csv');
    await compare('known', page, 'tenant', 'labels.tenant.csv');
    await choose(page);
    await keyboard(page);
    const tasks = await open(dir + 'tasks.html');
    await compare('tasks', tasks, 'route', 'tasks.route.csv');
    const change = await open(dir + 'change.html');
    await change.click('#labels');
    await change.getByRole('button', { name: 'only route=/b' }).click();
    same('only the later capture has labels', await change.evaluate(() => app.view.wholes),
        [0, 300e6]);
    const other = await open(dir + 'before.html');
    same('no switch', await other.isVisible('#labels'), false);
    same('no request', [page, tasks, change, other].flatMap(p => p.asked()), []);
});
