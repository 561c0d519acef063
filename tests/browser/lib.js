/* lib.js - a page of `jsprof html` in headless Chromium, and checks that say what failed.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { chromium } = require('playwright-core');

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update',
    '--disable-sync'];

let failures = 0;

function check(what, isFine, seen) {
    if (isFine)
        return;
    failures++;
    console.log(`not so: ${what}` + (seen === undefined ? '' : `: ${JSON.stringify(seen)}`));
}

const same = (what, seen, wanted) =>
    check(`${what} is ${JSON.stringify(wanted)}`,
        JSON.stringify(seen) === JSON.stringify(wanted), seen);

/* Open files one after another; whatever one asks of a network, and every error, fails. */
async function withBrowser(run) {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM,
        args: FLAGS });
    const open = async (file, options = {}) => {
        const context = await browser.newContext({ viewport: { width: 1280, height: 800 },
            reducedMotion: 'reduce', ...options });
        const page = await context.newPage(), asked = [];
        page.on('request', r => asked.push(r.url()));
        page.on('pageerror', e => check(`${file}: no error`, false, e.stack));
        page.on('console', m => check(`${file}: nothing on the console`, false, m.text()));
        await page.goto('file://' + file);
        await page.waitForFunction('performance.getEntriesByName("interactive").length');
        page.asked = () => asked.filter(url => url !== 'file://' + file &&
            !/^(data|blob):/.test(url));
        return page;
    };
    try {
        await run(open);
    } finally {
        await browser.close();
    }
    process.exitCode = failures ? 1 : 0;
}

/* The middle of the drawn box of a function, in the page's coordinates. */
async function boxOf(page, name, graph = 'graph') {
    const at = await page.evaluate(([wanted, id]) => {
        const g = id === 'graph' ? app.graph : app.both[id];
        g.drawNow();
        const d = g.drawn.find(b => b.box.fn >= 0 && b.box.name.startsWith(wanted));
        const area = g.canvas.getBoundingClientRect();
        return d && { x: area.left + d.x + d.w / 2, y: area.top + d.y + 9, w: d.w };
    }, [name, graph]);
    check(`${name} is drawn in ${graph}`, at);
    return at;
}

/* What waits for the next picture has happened. */
const settled = page => page.evaluate(() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done))));

const text = (page, selector) => page.locator(selector).innerText();

module.exports = { FLAGS, check, same, withBrowser, boxOf, settled, text };
