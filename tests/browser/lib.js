/* lib.js - a page of `jsprof html` in headless Chromium or Firefox, and checks.
 *
 * SPDX-License-Identifier: MIT
 *
 * BROWSER=firefox in the environment chooses Firefox, which is driven by WebDriver BiDi. It can not
 * emulate media features: preferences set them for all pages.
 */
'use strict';
const { chromium, firefox } = require('playwright-core');

const isFirefox = process.env.BROWSER === 'firefox';

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

/* Playwright emulates media in each context, with a command that Firefox ESR may not have: count
 * it as done. */
function forgiveEmulation() {
    const { ws } = require('playwright-core/lib/utilsBundle'), { emit } = ws.prototype;
    ws.prototype.emit = function (event, data, ...rest) {
        if (event === 'message' && String(data).includes('emulation.')) {
            const { id, error } = JSON.parse(data);
            if (error === 'unknown command')
                data = Buffer.from(JSON.stringify({ type: 'success', id, result: {} }));
        }
        return emit.call(this, event, data, ...rest);
    };
}
if (isFirefox)
    forgiveEmulation();

const launch = () => isFirefox
    ? firefox.launch({ executablePath: process.env.FIREFOX, channel: 'moz-firefox',
        firefoxUserPrefs: { 'ui.prefersReducedMotion': 1 } })
    : chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

/* The browser of all scripts of one process, where all.js has begun it; and pages that nobody uses,
 * by the options of their context: to load a file into one of them takes a third of what a new page
 * takes. */
let shared;
const unused = new Map();

async function shareBrowser() {
    shared = await launch();
    return () => shared.close();
}

async function blankPage(browser, options) {
    const key = JSON.stringify(options), pages = unused.get(key) ?? [];
    unused.set(key, pages);
    const page = pages.pop() ?? await (await browser.newContext({
        viewport: { width: 1280, height: 800 }, ...isFirefox ? {} : { reducedMotion: 'reduce' },
        ...options })).newPage();
    page.leave = async () => {
        await page.mouse.move(0, 0);
        await page.goto('about:blank');
        for (const event of ['request', 'pageerror', 'console'])
            page.removeAllListeners(event);
        if (!isFirefox)
            await page.emulateMedia({ media: null });
        pages.push(page);
    };
    return page;
}

/* Open files one after another, each in a page of its own until its `leave` is called; whatever one
 * asks of a network, and every error, fails. */
async function withBrowser(run) {
    const browser = shared ?? await launch(), used = new Set();
    const open = async (file, options = {}) => {
        const page = await blankPage(browser, options), asked = [], { leave } = page;
        used.add(page);
        page.leave = () => used.delete(page) && leave();
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
        if (shared)
            for (const page of used)
                await page.leave();
        else
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

/* Go back in the history of one page: no document is loaded. */
const back = (page, steps = -1) => page.evaluate(n => new Promise(done => {
    addEventListener('hashchange', done, { once: true });
    history.go(n);
}).then(() => {}), steps);

const text = (page, selector) => page.locator(selector).innerText();

module.exports = { isFirefox, launch, shareBrowser, check, same, withBrowser, boxOf, settled, text,
    back };
