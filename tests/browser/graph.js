/* graph.js - the graph of a known capture: what it draws, clicks, keys, search, switches.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, boxOf, text, settled, back } = require('./lib.js');

const drawn = page => page.evaluate(() => {
    app.graph.drawNow();
    return app.graph.drawn.map(d => `${d.box.depth} ${splitName(d.box.name).name} ` +
        (100 * d.w / app.graph.width).toFixed(0));
});
const zoomed = page => page.evaluate(() => splitName(app.graph.zoomed.name).name);
const selected = page => page.evaluate(() => splitName(app.graph.selected.name).name);

async function showsFigures(page) {
    same('the whole', await drawn(page), ['0 all 100', '1 main 83', '2 parse 50', '3 scan 17',
        '4 scan 17', '2 print 33', '1 collect 17']);
    same('100%', await text(page, '#status'), '100% is 1.20 s');
    check('title names the file', (await page.title()).startsWith('before.cap'));
    check('command is told', (await text(page, '#summary')).includes('host script.x'));
}

async function zoomsByClick(page) {
    const parse = await boxOf(page, 'parse');
    await page.mouse.click(parse.x, parse.y);
    same('zoomed', await zoomed(page), 'parse');
    check('parse fills the width', (await drawn(page)).includes('2 parse 100'));
    check('its caller stays', (await drawn(page)).includes('1 main 100'));
    await page.keyboard.press('Escape');
    same('zoomed out', await zoomed(page), 'all');
    await page.mouse.click(parse.x, parse.y);
    await page.click('#crumbs button:first-child');
    same('by the way back', await zoomed(page), 'all');
}

async function movesByKeys(page) {
    await page.evaluate(() => { app.graph.selected = null; });
    await page.focus('#graph');
    const way = [];
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowLeft',
                       'ArrowDown', 'ArrowUp', 'Home']) {
        await page.keyboard.press(key);
        way.push(await selected(page));
    }
    same('the way of the arrows', way,
        ['all', 'main', 'parse', 'print', 'parse', 'scan', 'parse', 'all']);
    for (const key of ['ArrowDown', 'ArrowDown', 'Enter'])
        await page.keyboard.press(key);
    same('Enter zooms', await zoomed(page), 'parse');
    const said = await page.locator('#live').textContent();
    check('said for screen readers', said.includes('parse') && said.includes('50.0%'), said);
    await page.keyboard.press('Backspace');
    same('Backspace zooms to the caller', await zoomed(page), 'main');
    await page.keyboard.press('Escape');
}

async function searches(page) {
    await page.keyboard.press('/');
    await page.keyboard.type('sc.n|^print');
    await settled(page);
    same('share of stacks with a match', await text(page, '#matched'), '50.0% matched');
    same('drawn as matches', await page.evaluate(() => app.graph.drawn.filter(
        d => app.graph.matches[d.box.fn]).length), 3);
    await page.keyboard.press('Enter');
    same('the first match is the largest', await selected(page), 'print');
    await page.keyboard.press('Enter');
    same('the next one', await selected(page), 'scan');
    await page.fill('#search', 'parse$|^parse');
    await settled(page);
    same('what a match called is matched', await text(page, '#matched'), '50.0% matched');
    await page.fill('#search', '(');
    await settled(page);
    same('a bad pattern', await text(page, '#matched'), 'not a pattern');
    await page.fill('#search', 'SCAN');
    await settled(page);
    same('capitals mean themselves', await text(page, '#matched'), '0.0% matched');
    await page.fill('#search', '');
    await settled(page);
    same('no search', await text(page, '#matched'), '');
    await page.evaluate(() => document.activeElement.blur());
}

async function turnsAround(page) {
    await page.keyboard.press('b');
    same('bottom-up', (await drawn(page)).filter(d => d.startsWith('1 ')),
        ['1 parse 33', '1 print 33', '1 scan 17', '1 collect 17']);
    check('callers below', (await drawn(page)).includes('3 parse 17'));
    await page.click('#direction');
    await page.keyboard.press('i');
    same('roots at the bottom', await page.evaluate(() => {
        app.graph.drawNow();
        const y = n => app.graph.drawn.find(d => d.box.name.startsWith(n)).y;
        return y('all') > y('main') && y('main') > y('parse');
    }), true);
    await page.keyboard.press('i');
}

async function switches(page) {
    await page.click('#threads');
    await page.getByRole('checkbox', { name: 'main (' }).uncheck();
    same('one thread', await drawn(page), ['0 all 100', '1 collect 100']);
    same('each with its cost, the busiest first', await page.locator('#popup .thread output')
        .allInnerTexts(), ['1.00 s', '200 ms']);
    await page.getByRole('button', { name: 'only main' }).click();
    same('only main', (await drawn(page)).slice(0, 2), ['0 all 100', '1 main 100']);
    same('the button keeps the focus', await page.evaluate(() =>
        document.activeElement.getAttribute('aria-label')), 'only main (100)');
    await page.selectOption('#popup select', 'name');
    same('sorted by name', await page.locator('#popup .thread output').allInnerTexts(),
        ['200 ms', '1.00 s']);
    await page.getByRole('button', { name: 'only helper' }).click();
    same('told', await text(page, '#threads'), 'helper');
    await page.getByText('all threads').click();
    same('both', (await drawn(page)).length, 7);
    await page.selectOption('#metric', 'samples');
    same('samples', await text(page, '#status'), '100% is 120 samples');
    await page.selectOption('#metric', 'value');
    await page.click('#kinds');
    await page.getByLabel('interpreted').uncheck();
    same('nothing but the whole', await drawn(page), ['0 all 100']);
    await page.getByLabel('interpreted').check();
    await page.keyboard.press('Escape');
    check('menu is closed', await page.locator('#popup').isHidden());
}

async function groups(page) {
    await page.selectOption('#group', 'file');
    same('by file, calls within one are one frame', await drawn(page), ['0 all 100',
        '1 /srv/app/start.js 83', '2 /srv/app/lib/parse.js 50', '2 /srv/app/print.js 33',
        '1 [vm] 17']);
    check('in the address', (await page.evaluate(() => location.hash)).includes('by=file'));
    await page.selectOption('#group', 'kind');
    same('by kind', await drawn(page), ['0 all 100', '1 interpreted 100']);
    await back(page);
    same('back: functions', (await drawn(page)).length, 7);
    same('told', await page.inputValue('#group'), 'function');
}

/* Focus, hide and undo: by keys, by the menu of the right button, by the sandwich. */
async function chooses(page) {
    const parse = await boxOf(page, 'parse');
    await page.mouse.click(parse.x, parse.y, { button: 'right' });
    await page.getByRole('button', { name: 'Focus: only stacks with it' }).click();
    same('only parse, from it on', await drawn(page), ['0 all 100', '1 parse 100', '2 scan 33',
        '3 scan 33']);
    same('100% is parse', await text(page, '#status'), '100% is 600 ms');
    await page.locator('#kinds').click();
    await page.getByLabel('one frame for recursion').check();
    await page.keyboard.press('Escape');
    same('one scan', await drawn(page), ['0 all 100', '1 parse 100', '2 scan 33']);
    await page.getByRole('button', { name: 'recursion collapsed' }).click();
    await page.getByRole('button', { name: 'focus: parse' }).click();
    const main = await boxOf(page, 'main');
    await page.mouse.click(main.x, main.y);
    await page.keyboard.press('h');
    same('without main', (await drawn(page)).slice(0, 3), ['0 all 100', '1 parse 50',
        '2 scan 17']);
    await page.getByRole('button', { name: 'hidden: main' }).click();
    same('everything again', (await drawn(page)).length, 7);
    await page.keyboard.press('Escape');
}

async function showsTimeOrder(page) {
    await page.keyboard.press('2');
    const at = await page.evaluate(() => {
        app.graph.drawNow();
        return app.graph.drawn.filter(d => [1, 3, 6, 7].includes(d.box.depth)).map(d =>
            [splitName(d.box.name).name, Math.round(d.box.x / 1e7), Math.round(d.box.value / 1e7)]);
    });
    same('a thread below the other; parse, then print, in hundredths', at, [['main', 0, 100],
        ['parse', 1, 60], ['print', 61, 39], ['helper', 0, 100], ['collect', 21, 22]]);
    const collect = await boxOf(page, 'collect');
    await page.mouse.click(collect.x, collect.y);
    same('a click zooms', await zoomed(page), 'collect');
    for (const key of ['ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowRight'])
        await page.keyboard.press(key);
    same('arrows go up to the threads', await selected(page), 'helper');
    await page.keyboard.press('Escape');
    await page.evaluate(() => app.onlyThread(0));
    check('one thread', (await text(page, '#status')).startsWith('Thread main'));
    await page.evaluate(() => app.onlyThread(0));
    await page.keyboard.press('1');
}

async function isDarkAndLight(open, file) {
    const background = page => page.evaluate(() =>
        getComputedStyle(document.body).backgroundColor);
    const dark = await open(file, { colorScheme: 'dark' });
    const light = await open(file, { colorScheme: 'light' });
    const seen = [await background(dark), await background(light)];
    check('dark is not light', seen[0] !== seen[1], seen);
    await dark.click('#theme');
    await light.keyboard.press('d');
    same('switched', [await background(dark), await background(light)], seen.reverse());
    await dark.leave();
    await light.leave();
}

async function survivesDepth(open, file) {
    const page = await open(file);
    await page.evaluate(() => { app.graph.scroll.scrollTop = 2900 * 19; });
    await settled(page);
    check('deep levels are drawn', (await drawn(page)).some(d => d.startsWith('2900 ')));
    await page.evaluate(() => {
        app.flip('isFolded', true);
        let box = app.graph.root;
        while (box.depth < 1500)
            [box] = box.children();
        app.graph.zoom(box, false);
    });
    await settled(page);
    check('a jump scrolls', (await drawn(page)).some(d => d.startsWith('1500 ')));
    await page.keyboard.press('Escape');
    await settled(page);
    check('and back', (await drawn(page)).some(d => d.startsWith('0 all')));
    await page.keyboard.press('i');
    await settled(page);
    check('flames show their roots', (await drawn(page)).some(d => d.startsWith('0 all')));
    await page.leave();
}

/* Of thousands of levels only the visible ones become boxes. */
async function drawsOnlyWhatIsSeen(open, file) {
    const page = await open(file);
    const draw = (view, isBottomUp, level) => page.evaluate(async ([v, up, l]) => {
        let asked = 0;
        const { children } = Box.prototype;
        Box.prototype.children = function () {
            asked++;
            return children.call(this);
        };
        app.state.isBottomUp = up;
        app.show(v);
        app.graph.drawNow();
        app.graph.scroll.scrollTop = (l - 2) * 19;
        app.graph.drawNow();
        Box.prototype.children = children;
        return { asked, deepest: app.graph.deepest, names: app.graph.drawn
            .filter(d => d.box.depth === l).map(d => d.box.name) };
    }, [view, isBottomUp, level]);
    const depths = Array.from({ length: 200 }, (_, s) => 2001 + s * 37 % 100);
    const time = await draw('time', false, 2050);
    const runs = depths.filter((d, s) => d >= 2050 && !(depths[s - 1] >= 2050)).length;
    same('boxes of time order', time.names, Array(runs).fill('level2050'));
    same('its deepest level', time.deepest, 2100);
    check('no box is asked for its children', time.asked === 0, time.asked);
    const up = await draw('graph', true, 1500);
    same('the 1500th caller of each leaf', up.names.toSorted(),
        Array.from({ length: 100 }, (_, i) => `level${2001 + i - 1499}`).toSorted());
    same('the deepest caller', up.deepest, 2100);
    check('few boxes are asked for their children', up.asked < 20000, up.asked);
    const folded = await draw('graph', false, 50);
    same('one callee, of those that not all stacks have', folded.names, ['level2050']);
    same('the others are one frame', await page.evaluate(() => app.graph.root.name),
        'all: 2000 frames to level2001');
    await page.evaluate(() => app.flip('isFolded', true));
    const down = await draw('graph', false, 2050);
    same('one callee', down.names, ['level2050']);
    await page.mouse.click(100, 500);
    same('a click zooms', await page.evaluate(() => app.graph.zoomed.depth > 2000), true);
    await page.leave();
}

async function choosesAmongMany(open, file) {
    const page = await open(file);
    await page.click('#threads');
    const lines = await page.locator('#popup .thread:has(output)').evaluateAll(l =>
        l.map(x => x.innerText.replace(/\s+/g, ' ').trim()));
    same('threads and processes', lines.length, 204);
    same('by process, the busiest first', [lines[0], lines[1], lines[51]], [
        'process 4001 (50 threads) 9.00 s only', 'thread 4041 (4001/4041) 200 ms only',
        'process 3001 (50 threads) 6.50 s only']);
    await page.getByRole('button', { name: 'only process 3001' }).click();
    same('one process', [await text(page, '#threads'), await text(page, '#status')],
        ['50 of 200', '100% is 6.50 s']);
    await page.keyboard.press('Escape');
    await page.click('#tab-time');
    same('time order has bounds', await text(page, '#status'),
        'The 16 busiest of 50 threads');
    same('a row each', await page.evaluate(() => app.graph.root.order.deepest()), 48);
}

module.exports = withBrowser(async open => {
    const [,, known, deep, stairs, many] = process.argv, page = await open(known);
    for (const part of [showsFigures, zoomsByClick, movesByKeys, searches, turnsAround,
                        switches, groups, chooses,
                        showsTimeOrder])
        await part(page);
    same('requests', page.asked(), []);
    await page.leave();
    await isDarkAndLight(open, known);
    await survivesDepth(open, deep);
    await drawsOnlyWhatIsSeen(open, stairs);
    await choosesAmongMany(open, many);
});
