/* heat.js - cost over time as a map: its cells and figures; chosen by mouse, by keys, by a link.
 *
 * SPDX-License-Identifier: MIT
 *
 * The capture has 12 columns of a second: scan runs from 300 to 400 ms of each, nothing from 5 s to
 * 7 s.
 */
'use strict';
const { check, same, withBrowser, settled, text, back } = require('./lib.js');

const cells = (page, id) => page.locator(`#${id} tbody tr`).evaluateAll(rows =>
    rows.map(r => [...r.cells].map(c => c.innerText.trim())));

/* The middle of a cell, in the page's coordinates. */
const cellAt = (page, column, row) => page.evaluate(([c, r]) => {
    app.heat.drawNow();
    const { w, h, maps: [{ y }], canvas } = app.heat, area = canvas.getBoundingClientRect();
    return { x: area.left + HEAT_GUTTER + (c + 0.5) * w, y: area.top + y + (r + 0.5) * h };
}, [column, row]);

const range = page => page.evaluate(() => [app.state.from, app.state.to].map(n =>
    n * app.profile.meta.span / 1e6));

async function showsCells(page) {
    await page.click('#tab-heat');
    same('the cells', await page.evaluate(() => {
        const { grid: { columns, rows, column }, maps: [{ cells: all }] } = app.heat;
        const sum = (from, to) => all.slice(from, to).reduce((a, b) => a + b, 0) / 1e6;
        return { columns, rows, column, all: sum(0, Infinity), first: sum(0, rows),
                 gap: sum(5 * rows, 7 * rows), most: app.heat.hottest / 1e6 };
    }), { columns: 12, rows: 50, column: 1e9, all: 10000, first: 1000, gap: 0, most: 20 });
    same('told', await text(page, '#heat-text'), 'A column is 1.00 s, a cell 20.0 ms; the ' +
        'strongest has 20.0 ms of CPU time. Choose cells to compare them with the rest.');
    const rows = await cells(page, 'heat-columns');
    same('columns as a table', [rows.length, rows[4], rows[5]],
        [12, ['4.00 s', '1.00 s', '20.0 ms', '4.00 s'], ['5.00 s', '0 ns', '0 ns', '']]);
    const at = await cellAt(page, 2, 15);
    await page.mouse.move(at.x, at.y);
    same('the tooltip', await text(page, '#tooltip'), '2.30 s to 2.32 s\n20.0 ms');
    same('drawn: a gap is empty, the rest has a colour', await page.evaluate(() => {
        const { data } = app.heat.canvas.getContext('2d').getImageData(0, 0,
            app.heat.canvas.width, app.heat.canvas.height), { width } = app.heat.canvas;
        const { w, h, maps: [{ y }] } = app.heat, at = (c, r) => {
            const px = HEAT_GUTTER + Math.round((c + 0.5) * w), py = Math.round(y + (r + 0.4) * h);
            return [...data.slice(4 * (width * py + px)).slice(0, 3)];
        };
        return [at(5, 10).join() === at(6, 40).join(), at(4, 10).join() === at(5, 10).join()];
    }), [true, false]);
}

async function choosesByMouse(page) {
    const from = await cellAt(page, 2, 15), to = await cellAt(page, 2, 19);
    await page.mouse.move(from.x, from.y);
    await page.mouse.down();
    await page.mouse.move(to.x, to.y, { steps: 3 });
    await page.mouse.up();
    same('dragged over five cells', await range(page), [2300, 2400]);
    const rows = await cells(page, 'heat-functions');
    same('scan is all there, a tenth of the rest', rows.map(r =>
        [r[7].split(' ')[0], ...r.slice(0, 3)]),
        [['scan', '+90.9%', '9.1%', '100.0%'], ['main', '+0.0%', '0.0%', '0.0%'],
         ['print', '−90.9%', '90.9%', '0.0%']]);
    await page.click('#against');
    await page.click('#tab-graph');
    same('the graph compares too', await text(page, '#status'),
        '100% is 9.90 s in the rest, 100 ms chosen');
    same('in colours', await page.evaluate(() => {
        app.graph.drawNow();
        return app.graph.drawn.filter(d => d.box.depth === 2).map(d =>
            [splitName(d.box.name).name, app.colors.of(d.box).split(' ').at(-1)]).sort();
    }), [['print', '245)'], ['scan', '48)']]);
    await page.evaluate(() => app.tip(app.describe(app.graph.drawn.find(d =>
        d.box.name.startsWith('scan')).box), { clientX: 9, clientY: 9 }));
    check('in words', (await text(page, '#tooltip')).includes(
        '9.1% in the rest, 100.0% chosen: +90.9%'), await text(page, '#tooltip'));
    await page.click('#tab-tree');
    same('the tree, too', (await page.locator('#tree th').allInnerTexts()).slice(1, 3),
        ['In the rest', 'Chosen']);
    await page.click('#tab-heat');
    const shifted = await cellAt(page, 3, 19);
    await page.keyboard.down('Shift');
    await page.mouse.click(shifted.x, shifted.y);
    await page.keyboard.up('Shift');
    same('Shift and a click: up to there', await range(page), [2300, 3400]);
    await page.click('#range-all');
    same('everything again', await text(page, '#status'), '100% is 10.0 s');
    check('nothing to compare', await page.locator('#against').isDisabled());
    same('nor a table', await page.locator('#heat-functions').isHidden(), true);
    await page.locator('#heat-columns tbody tr').nth(4).click();
    same('a row chooses its column', await range(page), [4000, 5000]);
    await page.click('#range-all');
}

async function choosesByKeys(page) {
    await page.evaluate(() => { app.heat.cursor = app.heat.anchor = -1; });
    await page.focus('#heat');
    await page.keyboard.press('Home');
    await page.keyboard.press('Home');
    for (let i = 0; i < 15; i++)
        await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    same('said', await page.locator('#live').textContent(), '1.30 s to 1.32 s, 20.0 ms');
    await page.keyboard.press('Enter');
    same('Enter chooses a cell', await range(page), [1300, 1320]);
    for (let i = 0; i < 4; i++)
        await page.keyboard.press('Shift+ArrowDown');
    same('Shift and arrows choose more', await range(page), [1300, 1400]);
    const said = await page.locator('#live').textContent();
    check('said what', said.endsWith('Chosen: 1.30 s to 1.40 s.'), said);
    await page.keyboard.press('c');
    same('C compares', await text(page, '#status'), '100% is 9.90 s in the rest, 100 ms chosen');
    await page.keyboard.press('Escape');
    same('Escape drops it', await text(page, '#status'), '100% is 10.0 s');
}

async function filters(page, file, open) {
    await page.evaluate(() => {
        app.focus(app.profile.names.findIndex(n => n.startsWith('scan')));
        app.timeline.setRange({ from: 230, to: 340 });
    });
    await page.click('#against');
    same('only scan counts in focus', await page.evaluate(() =>
        app.heat.maps[0].cells.reduce((a, b) => a + b, 0) / 1e6), 1000);
    const other = await open(file + await page.evaluate(() => location.hash));
    check('a link has the view', await other.locator('#view-heat').isVisible());
    same('and what is compared', [await range(other), await text(other, '#status')],
        [await range(page), await text(page, '#status')]);
    await other.leave();
    await back(page);
    same('back', await page.getAttribute('#against', 'aria-pressed'), 'false');
    await page.evaluate(() => {
        app.focus(-1);
        app.timeline.setRange(null);
    });
    await page.selectOption('#metric', 'samples');
    check('samples', (await text(page, '#heat-text')).includes('has 2 of samples'),
        await text(page, '#heat-text'));
    await page.evaluate(() => { app.state.threads[0] = false; app.update(); });
    same('no thread, no heat', await page.evaluate(() => app.heat.hottest), 0);
}

/* Captures of all lengths have few enough columns, of equal cells, that cover them. */
async function fits(page) {
    const bad = await page.evaluate(() => {
        const wrong = [];
        for (const span of [1e6, 2e6, 4e6, 5e6, 16e6, 50e6, 64e6, 1e9, 20e9, 128e9])
            for (const spans of [1, 2, 30, 301, 1000, 4093, 8192])
                for (const apart of [0, 1e6, 1e7, 6e7])
                    for (const most of [30, 160, 600]) {
                        const g = heatGrid({ span, spans }, apart, most);
                        const cell = g.spans * span, all = g.columns * g.column;
                        if (!(g.columns >= 1 && g.columns <= most && g.rows >= 1 && g.rows <= 50 &&
                              Number.isInteger(g.spans) && g.spans >= 1 &&
                              g.rows * cell === g.column && all >= span * spans &&
                              all - g.column < span * spans))
                            wrong.push([span, spans, apart, most, g]);
                    }
        const column = (seconds, span) => heatGrid({ span: span * 1e6,
            spans: seconds * 1e3 / span }, 1e6, 600).column / 1e9;
        return { wrong, columns: [column(0.3, 1), column(1, 1), column(8, 1), column(60, 10),
            column(600, 100), column(3600, 500), column(86400, 20000)] };
    });
    same('each length fits', bad, { wrong: [], columns: [0.02, 0.1, 1, 1, 1, 10, 300] });
}

async function draws(open, file) {
    const page = await open(file, { viewport: { width: 390, height: 844 } });
    await page.click('#tab-heat');
    await page.evaluate(() => app.timeline.setRange({ from: 230, to: 340 }));
    await settled(page);
    const names = await page.locator('#heat-functions td.name').evaluateAll(c =>
        c.map(x => x.getBoundingClientRect()).map(r => [r.left, r.width]));
    check('names have room on a phone', names.length === 3 && names.every(([x, w]) =>
        x + w <= 391 && w > 80), names);
    check('not wider than the screen', await page.evaluate(() =>
        document.documentElement.scrollWidth) <= 390);
    same('a picture of all cells, and an outline', await page.evaluate(() => {
        const before = app.heat.w;
        const svg = new DOMParser().parseFromString(graphSvg(app.picture), 'image/svg+xml');
        return [!!svg.querySelector('parsererror'), svg.querySelectorAll('rect').length > 600,
                [...svg.querySelectorAll('text')].at(-1).textContent, app.heat.w === before];
    }), [false, true, '+1.00 s', true]);
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
    same('on paper', await page.locator('#heat-paper svg').count(), 1);
    await page.evaluate(() => dispatchEvent(new Event('afterprint')));
    same('not on the screen', await page.locator('.paper svg').count(), 0);
}

async function comparesCaptures(open, file) {
    const page = await open(file);
    await page.click('#tab-heat');
    same('a map each', await page.evaluate(() => app.heat.maps.map(m =>
        m.cells.reduce((a, b) => a + b, 0) / 1e6)), [1200, 600]);
    await page.evaluate(() => app.timeline.setRange({ from: 0, to: 200 }));
    same('before and after', (await page.locator('#heat-functions th').allInnerTexts()).slice(1, 3),
        ['before', 'after']);
    check('the rest waits for one capture', await page.locator('#against').isDisabled());
    await page.selectOption('#capture', '1');
    await page.click('#against');
    check('of one', (await text(page, '#status')).endsWith(' chosen'), await text(page, '#status'));
    await page.selectOption('#capture', '0,1');
    check('of two again', (await text(page, '#status')).endsWith(' after'));
}

module.exports = withBrowser(async open => {
    const [,, pulse, change] = process.argv, page = await open(pulse);
    await showsCells(page);
    await choosesByMouse(page);
    await choosesByKeys(page);
    await filters(page, pulse, open);
    await fits(page);
    same('requests', page.asked(), []);
    await page.leave();
    await draws(open, pulse);
    await comparesCaptures(open, change);
});
