/* timeline.js - a range of time, dragged, typed or by keys, filters every view.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, text, settled } = require('./lib.js');

/* Where a moment (s) of the timeline is on the screen, in the lane of a label. */
const place = (page, seconds, label) => page.evaluate(([s, l]) => {
    const t = app.timeline, area = t.canvas.getBoundingClientRect();
    t.drawNow();
    const lane = t.lanes.find(x => x.label === l);
    return { x: area.left + t.x(s * 1e9), y: area.top + lane.y + lane.height / 2 };
}, [seconds, label]);

async function drag(page, from, to) {
    const a = await place(page, from, 'main'), b = await place(page, to, 'main');
    await page.mouse.move(a.x, a.y);
    await page.mouse.down();
    await page.mouse.move((a.x + b.x) / 2, a.y, { steps: 4 });
    await page.mouse.move(b.x, b.y);
    await page.mouse.up();
}

const names = page => page.evaluate(() => {
    app.graph.drawNow();
    return [...new Set(app.graph.drawn.map(d => splitName(d.box.name).name))].sort();
});

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2]);
    same('lanes', await page.evaluate(() => app.timeline.lanes.map(l => l.label)),
        ['main', 'helper', 'phases', 'heap']);

    await drag(page, 0.7, 0.95);
    same('only print is left', await names(page), ['all', 'main', 'print']);
    const status = await text(page, '#status');
    check('about 250 ms', /100% is 2[4-6]0 ms/.test(status), status);
    await page.click('#tab-functions');
    same('functions too', await page.locator('#functions tbody tr').count(), 2);
    await page.click('#tab-marks');
    const rows = await page.locator('#marks tbody tr').allInnerTexts();
    check('and marks', rows.some(r => r.includes('printing')) &&
        !rows.some(r => r.includes('parsing')), rows);
    await page.click('#range-all');
    await page.click('#tab-graph');
    same('everything again', (await names(page)).length, 6);

    await page.fill('#range-from', '0.2');
    await page.fill('#range-to', '0.405');
    await settled(page);
    check('typed: collect and parse', (await names(page)).join() === 'all,collect,main,parse,scan',
        await names(page));
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Escape');
    same('Escape drops it', (await names(page)).length, 6);

    await page.evaluate(() => app.onlyThread(1));
    await page.fill('#range-from', '0.5');
    await page.fill('#range-to', '0.6');
    await settled(page);
    same('an empty range says so', await text(page, '#nothing'),
        'No samples in the chosen time under these switches.');
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('Escape');
    check('no longer', await page.locator('#nothing').isHidden());
    await page.evaluate(() => app.onlyThread(1));

    await page.focus('#lanes');
    await page.keyboard.press('ArrowRight');
    const first = await page.getAttribute('#lanes', 'aria-valuetext');
    await page.keyboard.press('ArrowRight');
    const second = await page.getAttribute('#lanes', 'aria-valuetext');
    check('arrows move it', / to .*seconds/.test(first) && first !== second, [first, second]);
    await page.keyboard.press('Escape');
    same('all of it', await page.getAttribute('#lanes', 'aria-valuetext'), 'everything');

    const helper = await place(page, 0, 'helper');
    await page.mouse.click(helper.x - 100, helper.y);
    same('a click on its name: this thread alone', await names(page), ['all', 'collect']);
    await page.mouse.click(helper.x - 100, helper.y);
    same('and all again', (await names(page)).length, 6);

    const mark = await place(page, 0.3, 'phases');
    await page.mouse.move(mark.x, mark.y);
    const tip = await text(page, '#tooltip');
    check('a mark tells itself, as text', tip.includes('parsing 600 ms: a <b>message</b>'), tip);
    same('requests', page.asked(), []);
});
