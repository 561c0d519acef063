/* narrow.js - the page on a phone: nothing is wider than 390 px, names are visible.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { isFirefox, check, same, withBrowser, boxOf, settled } = require('./lib.js');

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2], { viewport: { width: 390, height: 844 },
        hasTouch: true });
    for (const view of ['graph', 'time', 'heat', 'functions', 'tree', 'sandwich', 'marks']) {
        await page.click('#tab-' + view);
        await settled(page);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        check(`${view} is not wider than the screen`, width <= 390, width);
        const tab = await page.locator('#tab-' + view).boundingBox();
        check(`the tab of ${view} is visible`, tab.x >= 0 && tab.x + tab.width <= 391, tab);
        const small = await page.evaluate(() => [...document.querySelectorAll('button, input')]
            .filter(e => e.offsetParent && !e.closest('table') && !e.matches('.link') &&
                e.getBoundingClientRect().height < 24).map(e => e.id || e.textContent));
        same(`targets of ${view} that are too small to touch`, small, []);
    }
    await page.click('#tab-functions');
    const names = await page.locator('#functions td.name').evaluateAll(cells =>
        cells.map(c => c.getBoundingClientRect()).map(r => [r.left, r.width]));
    check('names of functions have room', names.every(([x, w]) => x < 250 && x + w <= 390 &&
        w > 120), names);
    await page.click('#tab-sandwich');
    check('lines and callers are below', await page.locator('#sandwich-side').isVisible());
    await page.click('#tab-graph');
    const parse = await boxOf(page, 'parse');
    await (isFirefox ? page.mouse.click(parse.x, parse.y)
        : page.touchscreen.tap(parse.x, parse.y));
    await settled(page);
    same('a touch, or a click, zooms',
        await page.evaluate(() => splitName(app.graph.zoomed.name).name),
        'parse');
});
