/* interactive.js - how long a page takes until it answers, for the bench: prints ms.
 *
 * SPDX-License-Identifier: MIT
 *
 *     interactive.js PAGE TIMES      one line each: ms until it is drawn and free, and
 *                                    ms from a click to the picture of what was clicked
 */
'use strict';
const { launch } = require('./lib.js');

async function once(browser, file) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 },
        reducedMotion: 'reduce' });
    await page.goto('file://' + file);
    await page.waitForFunction('performance.getEntriesByName("interactive").length');
    const times = await page.evaluate(() => new Promise(done => {
        const drawn = performance.getEntriesByName('interactive')[0].startTime;
        const [child] = app.graph.root.children(), began = performance.now();
        app.graph.zoom(child.children()[0] ?? child);
        app.state.isBottomUp = true;
        app.update();
        requestAnimationFrame(() => requestAnimationFrame(() =>
            done([drawn, performance.now() - began])));
    }));
    await page.close();
    return times;
}

(async () => {
    const [,, file, times] = process.argv;
    const browser = await launch();
    await once(browser, file); /* what is loaded once for all pages */
    for (let i = 0; i < +times; i++)
        console.log((await once(browser, file)).map(ms => ms.toFixed(0)).join(' '));
    await browser.close();
})();
