/* axe.js - what axe-core finds: nothing, of any weight, in any view, light, dark and compared.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const fs = require('node:fs');
const { isFirefox, check, withBrowser, settled } = require('./lib.js');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/* What other colours and another width change; Chromium's light pages are asked for all
 * rules. */
const SEEN = ['color-contrast', 'target-size', 'scrollable-region-focusable', 'meta-viewport'];

/* The rules that ask for a person are questions, not violations. */
async function look(page, what) {
    await settled(page);
    const found = await page.evaluate(async only => (await window.axe.run(document, {
        ...only, resultTypes: ['violations'] })).violations.flatMap(v => v.nodes.map(n =>
            `${v.id} (${v.impact}): ${n.target} ${n.any.map(a => a.message)}`)),
    page.hasAllRules ? {} : { runOnly: { type: 'rule', values: SEEN } });
    check(`${what}: no violation`, !found.length, found.slice(0, 2));
}

async function views(page, what) {
    const tabs = await page.locator('#tabs [role=tab]:visible').evaluateAll(t =>
        t.map(x => x.dataset.view));
    check(`${what}: has views`, tabs.length >= 5, tabs);
    for (const view of tabs) {
        await page.click('#tab-' + view);
        await look(page, `${what}, ${view}`);
    }
    await page.click('#kinds');
    await look(page, `${what}, a menu`);
    await page.keyboard.press('Escape');
    await page.click('#tab-graph');
    await page.evaluate(() => {
        app.hide(0);
        app.focus(app.graph.root.children()[0].fn);
        app.timeline.setRange({ from: 0, to: 1 });
        app.tip(['a', 'b'], { clientX: 300, clientY: 300 });
    });
    await page.fill('#search', 'a');
    await look(page, `${what}, chosen`);
    await page.click('#tab-heat');
    await look(page, `${what}, chosen cells`);
    await page.click('#tab-graph');
    await page.evaluate(() => app.tip(null));
    await page.click('#help-button');
    await look(page, `${what}, the help`);
}

module.exports = withBrowser(async open => {
    const [,, known, change, listing, labels] = process.argv;
    /* Firefox emulates no media: its pages are light, and one becomes dark by its own key. */
    const all = isFirefox ? [{}] : [{ colorScheme: 'light' }, { colorScheme: 'dark' },
        { colorScheme: 'light', viewport: { width: 390, height: 844 } },
        { forcedColors: 'active' }];
    const opened = async (file, options) => {
        const page = await open(file, { ...options, bypassCSP: !isFirefox });
        page.hasAllRules = !isFirefox && options === all[0];
        if (isFirefox && file === change)
            await page.keyboard.press('d');
        await page.evaluate(axe);
        return page;
    };
    for (const options of all) {
        for (const [name, file] of [['one', known], ['compared', change]]) {
            const page = await opened(file, options);
            await views(page, `${name}, ${JSON.stringify(options)}`);
            await page.leave();
        }
        for (const [what, file, button] of [['operations', listing, '#tab-source'],
            ['labels', labels, '#labels']]) {
            const page = await opened(file, options);
            await page.click(button);
            await look(page, `${what}, ${JSON.stringify(options)}`);
            await page.leave();
        }
    }
});
