/* picture.js - the picture of a page that the README shows: a range of time is chosen.
 *
 * SPDX-License-Identifier: MIT
 *
 *     picture.js PAGE PNG
 */
'use strict';
const { withBrowser, settled } = require('./lib.js');

module.exports = withBrowser(async open => {
    const [,, file, png] = process.argv;
    const page = await open(file, { viewport: { width: 1280, height: 560 } });
    await page.evaluate(() => {
        const { spans } = app.profile.meta;
        app.timeline.setRange({ from: Math.round(spans * 0.15), to: Math.round(spans * 0.75) });
    });
    await settled(page);
    await page.screenshot({ path: png });
});
