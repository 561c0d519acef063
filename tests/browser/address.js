/* address.js - a link shows what its sender saw; back; pictures and print.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const fs = require('node:fs');
const { check, same, withBrowser, boxOf, settled, back } = require('./lib.js');

const state = page => page.evaluate(() => {
    app.graph.drawNow();
    const { view, isBottomUp, isFlame, threads, from, to, hiddenKinds, metric, search, fn, hidden,
            focus, isCollapsed, isFolded } = app.state;
    return { view, isBottomUp, isFlame, threads, from, to, hiddenKinds, metric, search, fn, hidden,
        focus, isCollapsed, isFolded, zoomed: app.graph.zoomed.name,
        drawn: app.graph.drawn.map(d => d.box.name), status: byId('status').textContent };
});
const hash = page => page.evaluate(() => location.hash);

async function goesBack(page) {
    same('no address at first', await hash(page), '');
    const parse = await boxOf(page, 'parse');
    await page.mouse.click(parse.x, parse.y);
    await page.click('#tab-functions');
    await page.click('#tab-tree');
    check('the view is in the address', (await hash(page)).includes('view=tree'));
    await back(page);
    check('back to the functions', await page.locator('#view-functions').isVisible());
    await back(page);
    same('back to the graph, zoomed', (await state(page)).zoomed.split(' ')[0], 'parse');
    await back(page);
    same('and to all of it', (await state(page)).zoomed, 'all');
    same('the first address', await hash(page), '');
    await back(page, 1);
    same('forward', (await state(page)).zoomed.split(' ')[0], 'parse');
    await back(page);
    const before = await page.evaluate(() => history.length);
    await page.fill('#search', 'p');
    await page.fill('#search', 'pa');
    await page.fill('#search', 'par');
    await settled(page);
    check('letters of a search are one step',
        await page.evaluate(() => history.length) <= before + 1);
    await back(page);
    same('no search again', await page.inputValue('#search'), '');
}

async function links(open, page, file) {
    await page.evaluate(() => {
        const fn = name => app.profile.names.findIndex(n => n.startsWith(name));
        Object.assign(app.state, { isFlame: true, metric: 'samples', hidden: [fn('scan')],
            focus: fn('main'), isCollapsed: true, isFolded: false, search: 'pri',
            threads: [true, false] });
        app.timeline.setRange({ from: 2, to: 60 });
        app.graph.zoom(app.graph.root.children()[0].children()[0], false);
    });
    const sent = await state(page), words = await hash(page);
    for (const word of ['flames=1', 'measure=samples', 'hide=scan', 'focus=main', 'collapsed=1',
                        'unfolded=1', 'search=pri', 'threads=0', 'from=0.0', 'zoom='])
        check(`the address has ${word}`, words.includes(word), words);
    const other = await open(file + words);
    same('another page shows the same', await state(other), sent);
    same('its search box', await other.inputValue('#search'), 'pri');
    await other.evaluate(() => { location.hash = '#view=sandwich&function=nowhere&without=x' +
        '&from=99&to=-1&zoom=1.2.99&threads=7&show=5&measure=wheels&focus=%00'; });
    await settled(other);
    check('what does not fit is ignored', await other.locator('#view-sandwich').isVisible());
    same('all threads', (await state(other)).threads, [true, true]);
    await page.leave();
    await other.leave();
}

const drawing = page => page.evaluate(() => {
    const svg = new DOMParser().parseFromString(graphSvg(app.graph), 'image/svg+xml');
    return { isBad: !!svg.querySelector('parsererror'), rects: svg.querySelectorAll('rect').length,
        texts: [...svg.querySelectorAll('text')].map(t => t.textContent),
        others: [...svg.querySelectorAll('*')].filter(e =>
            !['svg', 'rect', 'text'].includes(e.localName)).length };
});

async function saves(open, file, evil) {
    const page = await open(file), svg = await drawing(page);
    same('the picture is XML', svg.isBad, false);
    same('a box each, and the paper', svg.rects, 8);
    check('with names', svg.texts.some(t => t.startsWith('parse')), svg.texts);
    same('nothing has moved', (await state(page)).drawn.length, 7);
    const other = await open(evil), bad = await drawing(other);
    await other.leave();
    check('names stay text', !bad.isBad && bad.others === 0 &&
        bad.texts.some(t => t.includes('<script>')), bad);
    for (const [name, magic] of [['SVG picture', '<svg '], ['PNG picture', '\u0089PNG']]) {
        await page.click('#save');
        const [download] = await Promise.all([page.waitForEvent('download'),
            page.getByRole('button', { name }).click()]);
        const bytes = fs.readFileSync(await download.path());
        check(`${name}: its file`, /^before\.(svg|png)$/.test(download.suggestedFilename()),
            download.suggestedFilename());
        check(`${name}: its bytes`, bytes.toString('latin1').startsWith(magic));
    }
}

async function prints(open, file) {
    const page = await open(file, { colorScheme: 'dark' });
    await page.evaluate(() => addEventListener('beforeprint', () => {
        window.printed = { isDark, boxes: byId('paper').querySelectorAll('rect').length };
    }));
    await page.pdf();
    same('on paper: light, and a box each', await page.evaluate(() => window.printed),
        { isDark: false, boxes: 8 });
    same('nothing stays', await page.locator('#paper svg').count(), 0);
    same('dark again', await page.evaluate(() => isDark), true);
    await page.click('#tab-functions');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    check('the table is not cut', await page.evaluate(() => {
        const { scrollHeight, clientHeight } = byId('functions');
        return scrollHeight <= clientHeight;
    }));
    check('no switches', await page.locator('nav.bar').isHidden());
    same('requests', page.asked(), []);
}

module.exports = withBrowser(async open => {
    const [,, known, evil] = process.argv, page = await open(known);
    await goesBack(page);
    await links(open, page, known);
    await saves(open, known, evil);
    await prints(open, known);
});
