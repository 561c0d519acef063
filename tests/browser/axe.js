/* axe.js - what axe-core finds: nothing, of any weight, in any view, light, dark and compared.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const fs = require('node:fs');
const { isFirefox, check, withBrowser, settled } = require('./lib.js');
const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/* The rules that ask for a person are questions, not violations. */
async function look(page, what) {
    await settled(page);
    const found = await page.evaluate(async () => (await window.axe.run(document, {
        resultTypes: ['violations'] })).violations.flatMap(v => v.nodes.map(n =>
            `${v.id} (${v.impact}): ${n.target} ${n.any.map(a => a.message)}`)));
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

withBrowser(async open => {
    const [,, known, change, listing, labels] = process.argv;
    /* Firefox emulates no media: its pages are light, and one becomes dark by its own key. */
    const all = isFirefox ? [{}] : [{ colorScheme: 'light' }, { colorScheme: 'dark' },
        { colorScheme: 'light', viewport: { width: 390, height: 844 } },
        { forcedColors: 'active' }];
    for (const [name, file] of [['one', known], ['compared', change]])
        for (const options of all) {
            const page = await open(file, { ...options, bypassCSP: !isFirefox });
            if (isFirefox && file === change)
                await page.keyboard.press('d');
            await page.evaluate(axe);
            await views(page, `${name}, ${JSON.stringify(options)}`);
        }
    for (const options of all) {
        const page = await open(listing, { ...options, bypassCSP: !isFirefox });
        await page.evaluate(axe);
        await page.click('#tab-source');
        await look(page, `operations, ${JSON.stringify(options)}`);
    }
    for (const options of all) {
        const page = await open(labels, { ...options, bypassCSP: !isFirefox });
        await page.evaluate(axe);
        await page.click('#labels');
        await look(page, `labels, ${JSON.stringify(options)}`);
    }
});
