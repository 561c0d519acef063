/* tasks.js - questions of a new user, answered with the keyboard alone and the mouse alone.
 *
 * SPDX-License-Identifier: MIT
 *
 *     tasks.js KNOWN CHANGE PULSE
 *
 * Which function takes the most time, which line of it, who calls another, since when does a third
 * one run, what is different in a later capture, and in a slow moment. An answer is read from the
 * page.
 */
'use strict';
const { check, same, withBrowser, boxOf, settled, text } = require('./lib.js');

const active = page => page.evaluate(() => (document.activeElement.innerText ?? '').trim());

/* Press Tab until an element that matches has the focus. */
async function tabTo(page, selector) {
    for (let i = 0; i < 60; i++) {
        if (await page.evaluate(s => document.activeElement.matches(s), selector))
            return;
        await page.keyboard.press('Tab');
    }
    check(`Tab reaches ${selector}`, false);
}

/* Open a view by the keys of tabs. */
async function tabView(page, name) {
    await tabTo(page, '[role=tab]');
    for (let i = 0; i < 9 && (await active(page)) !== name; i++)
        await page.keyboard.press('ArrowRight');
    same('the tab', await active(page), name);
}

/* Search, and go from the search to the match in the graph. */
async function searchFor(page, name) {
    await page.keyboard.press('/');
    await page.keyboard.type(name);
    await settled(page);
    await page.keyboard.press('Enter');
    await tabTo(page, '#graph');
}

const isSeen = (page, selector) => page.locator(selector).evaluate(e => {
    const { top, bottom, height } = e.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
});

async function seesHottest(page) {
    check('the line is on the screen', await isSeen(page, '#line-11'));
    same('with its share and its text',
        (await text(page, '#line-11')).split(/\s*\t\s*/).slice(0, 4),
        ['16.7%', '200 ms', '11', 'line 11 </script><script>alert(1)</script>']);
}

async function seesCaller(page) {
    const side = await text(page, '#sandwich-side');
    check('parse calls scan', /Called by\s+parse\s+100\.0%/.test(side), side);
}

/* print begins at 0.61 s, in a column from 0.6 s. */
const firstColumn = page => page.locator('#heat-columns tbody tr').evaluateAll(rows =>
    rows.findIndex(r => r.cells[1].innerText !== '0 ns'));
const seesSince = async page => same('since', await page.inputValue('#range-from'), '0.600');

const byKeys = {
    async function(page) {
        await tabView(page, 'Functions');
        await tabTo(page, '#functions tbody tr');
        const row = await active(page);
        check('parse, a third', /^33\.3%/.test(row) && row.includes('parse'), row);
    },
    async line(page) {
        await page.keyboard.press('Enter');
        await tabTo(page, '#sandwich-head button:last-child');
        await page.keyboard.press('Enter');
        await seesHottest(page);
    },
    async caller(page) {
        await page.keyboard.press('1');
        await searchFor(page, 'scan');
        await page.keyboard.press('s');
        await seesCaller(page);
    },
    async since(page) {
        await page.keyboard.press('1');
        await searchFor(page, 'print');
        await page.keyboard.press('f');
        await tabView(page, 'Heat');
        await tabTo(page, '#heat-columns tbody tr');
        for (let i = await firstColumn(page); i > 0; i--)
            await page.keyboard.press('ArrowDown');
        await page.keyboard.press('Enter');
        await seesSince(page);
    },
    async change(page) {
        await tabView(page, 'Functions');
        await tabTo(page, '#functions tbody tr');
        const row = await active(page);
        check('print grew the most', /^\+33\.3%/.test(row) && row.includes('print'), row);
    },
    async moment(page) {
        await tabView(page, 'Heat');
        await tabTo(page, '#heat');
        await page.keyboard.press('Home');
        await page.keyboard.press('Home');
        for (let i = 0; i < 15; i++)
            await page.keyboard.press('ArrowDown');
        for (let i = 0; i < 4; i++)
            await page.keyboard.press('Shift+ArrowDown');
        await tabTo(page, '#heat-functions tbody tr');
        const slow = await active(page);
        check('scan', /^\+90\.9%/.test(slow) && slow.includes('scan'), slow);
    },
};

/* Choose from the menu of a function in the graph. */
async function choose(page, name, item) {
    const box = await boxOf(page, name);
    await page.mouse.click(box.x, box.y, { button: 'right' });
    await page.getByRole('button', { name: item }).click();
}

const byMouse = {
    async function(page) {
        await page.click('#tab-functions');
        const row = await page.locator('#functions tbody tr').first().innerText();
        check('parse, a third', /^33\.3%/.test(row) && row.includes('parse'), row);
    },
    async line(page) {
        await page.locator('#functions tbody tr').first().click();
        await page.click('#sandwich-head button:last-child');
        await seesHottest(page);
    },
    async caller(page) {
        await page.click('#tab-graph');
        await choose(page, 'scan', 'Callers and callees');
        await seesCaller(page);
    },
    async since(page) {
        await page.click('#tab-graph');
        await choose(page, 'print', 'Focus: only stacks with it');
        await page.click('#tab-heat');
        await page.locator('#heat-columns tbody tr').nth(await firstColumn(page)).click();
        await seesSince(page);
    },
    async change(page) {
        const print = await boxOf(page, 'print');
        await page.mouse.move(print.x, print.y);
        const tip = await text(page, '#tooltip');
        check('print grew', tip.includes('33.3% before, 66.7% after: +33.3%'), tip);
    },
    async moment(page) {
        await page.click('#tab-heat');
        const at = await page.evaluate(() => {
            const { w, h, maps: [{ y }], canvas } = app.heat;
            const area = canvas.getBoundingClientRect(), x = area.left + HEAT_GUTTER + w / 2;
            return [15.5, 19.5].map(row => ({ x, y: area.top + y + row * h }));
        });
        await page.mouse.move(at[0].x, at[0].y);
        await page.mouse.down();
        await page.mouse.move(at[1].x, at[1].y, { steps: 3 });
        await page.mouse.up();
        const slow = await page.locator('#heat-functions tbody tr').first().innerText();
        check('scan', /^\+90\.9%/.test(slow) && slow.includes('scan'), slow);
    },
};

module.exports = withBrowser(async open => {
    const [,, known, change, pulse] = process.argv;
    for (const way of [byKeys, byMouse]) {
        const page = await open(known);
        for (const task of ['function', 'line', 'caller', 'since'])
            await way[task](page);
        await page.leave();
        for (const [task, file] of [['change', change], ['moment', pulse]]) {
            const other = await open(file);
            await way[task](other);
            await other.leave();
        }
    }
});
