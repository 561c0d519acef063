/* compare.js - two captures on a page: shares of both, their difference, and chance.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, boxOf, text } = require('./lib.js');

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2]);
    same('100%', await text(page, '#status'), '100% is 1.20 s before, 600 ms after');
    const parse = await boxOf(page, 'parse');
    await page.mouse.move(parse.x, parse.y);
    const tip = await text(page, '#tooltip');
    check('parse had half, has a third', tip.includes('50.0% before, 33.3% after: −16.7%'), tip);
    const color = name => page.evaluate(n => {
        app.graph.drawNow();
        return app.colors.of(app.graph.drawn.find(d => d.box.name.startsWith(n)).box);
    }, name);
    const less = await page.evaluate(() => app.colors.of(
        app.graph.drawn.find(d => d.box.name.startsWith('collect')).box));
    check('collect, gone, is blue', / 245\)$/.test(less), less);
    const more = await color('print');
    check('print, from a third to two, is orange', / 48\)$/.test(more), more);

    await page.click('#tab-functions');
    const rows = await page.evaluate(() => [...document.querySelectorAll(
        '#functions tbody tr')].map(r => [...r.cells].map(c => c.innerText.trim())));
    const print = rows.find(r => r[7].startsWith('print'));
    same('print', print.slice(0, 6), ['+33.3%', '33.3%', '66.7%', '+33.3%', '33.3%', '66.7%']);
    check('scan, within chance, is grey', await page.locator('#functions tr.dim',
        { hasText: 'scan' }).count());
    check('print is not', !await page.locator('#functions tr.dim', { hasText: 'print' }).count());

    await page.selectOption('#capture', '1');
    same('the second alone', await text(page, '#status'), '100% is 600 ms');
    await page.click('#tab-tree');
    check('without collect', !(await text(page, '#tree')).includes('collect'));
    await page.selectOption('#capture', '0,1');
    check('both', (await text(page, '#tree')).includes('collect'));
    same('requests', page.asked(), []);
});
