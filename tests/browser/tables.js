/* tables.js - the same figures as tables: functions, call tree, sandwich, marks; by keys.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, boxOf, text, settled } = require('./lib.js');

const cells = (page, id) => page.evaluate(i => [...document.querySelectorAll(
    `#${i} tbody tr`)].map(r => [...r.cells].map(c => c.innerText.trim())), id);

async function listsFunctions(page) {
    await page.click('#tab-functions');
    const rows = await cells(page, 'functions');
    same('functions', rows.map(r => r[7].split(' ')[0]).sort(),
        ['collect', 'main', 'parse', 'print', 'scan']);
    const parse = rows.find(r => r[7].startsWith('parse'));
    same('parse', parse.slice(0, 6), ['33.3%', '4.3', '400 ms', '50.0%', '600 ms', '40']);
    const scan = rows.find(r => r[7].startsWith('scan'));
    same('scan, in itself, counts once', scan.slice(3, 5), ['16.7%', '200 ms']);
    await page.locator('#functions th button', { hasText: 'Function' }).click();
    same('sorted by name', (await cells(page, 'functions')).map(r => r[7].split(' ')[0]),
        ['collect', 'main', 'parse', 'print', 'scan']);
    same('told', await page.locator('#functions th[aria-sort=ascending]').innerText(),
        'Function ▴');
    await page.locator('#functions tbody tr').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    check('Enter shows callers and callees', await page.locator('#view-sandwich').isVisible());
}

async function showsSandwich(page) {
    const head = await text(page, '#sandwich-head'), side = await text(page, '#sandwich-side');
    check('parse with its figures', /parse.*\n.*33\.3%.*50\.0%/s.test(head), head);
    check('callers and callees', /Called by\s+main\s+100\.0%\s+Calls\s+scan\s+33\.3%/.test(side),
        side);
    check('lines', /:11\s+50\.0%\s+:12\s+50\.0%/.test(side), side);
    await boxOf(page, 'main', 'callers');
    const scan = await boxOf(page, 'scan', 'callees');
    await page.mouse.dblclick(scan.x, scan.y);
    check('double click goes on to scan',
        (await text(page, '#sandwich-head')).startsWith('scan'));
    await page.locator('#sandwich-side button', { hasText: 'parse' }).click();
    check('the list goes back', (await text(page, '#sandwich-head')).startsWith('parse'));
    await page.click('#tab-graph');
    await page.mouse.move(...Object.values(await boxOf(page, 'print')).slice(0, 2));
    await page.keyboard.press('s');
    check('S shows the one under the mouse',
        (await text(page, '#sandwich-head')).startsWith('print'));
}

async function hasTreeGrid(page) {
    await page.click('#tab-tree');
    const names = async () => (await cells(page, 'tree')).map(r => r[0].replace(/^[▸▾]\s*/, '')
        .split(' ')[0]);
    same('role', await page.locator('#tree table').getAttribute('role'), 'treegrid');
    same('the way of most time is open', await names(),
        ['main', 'parse', 'scan', 'print', 'collect']);
    const read = { name: /^main.*1\.00 s 83\.3%/, level: 1, expanded: true };
    same('read by a screen reader', await page.getByRole('treegrid', { name: 'Call tree' })
        .getByRole('row', read).count(), 1);
    same('the tab, too', await page.getByRole('tab', { selected: true }).allInnerTexts(),
        ['Tree']);
    const first = page.locator('#tree tbody tr').first();
    same('level, set', await first.evaluate(r => ['aria-level', 'aria-setsize',
        'aria-posinset', 'aria-expanded'].map(a => r.getAttribute(a))),
        ['1', '2', '1', 'true']);
    await first.focus();
    await page.keyboard.press('ArrowLeft');
    same('closed', await names(), ['main', 'collect']);
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight'])
        await page.keyboard.press(key);
    same('opened again, level by level', await names(),
        ['main', 'parse', 'scan', 'print', 'collect'].toSpliced(3, 0,
            ...(await names()).length === 6 ? ['scan'] : []));
    const row = (await cells(page, 'tree'))[1];
    same('figures', row.slice(1), ['600 ms', '50.0%', '400 ms', '33.3%', '60']);
    await page.keyboard.press('End');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    same('Enter goes to the graph', await page.evaluate(() =>
        splitName(app.graph.zoomed.name).name), 'parse');
    await page.keyboard.press('Escape');
}

async function listsMarks(page) {
    await page.click('#tab-marks');
    const rows = await cells(page, 'marks');
    same('a mark', rows.find(r => r[9] === 'parsing').slice(0, 4),
        ['mark', 'phases', '1', '600 ms']);
    same('a counter', rows.find(r => r[9] === 'heap').slice(0, 9),
        ['counter', 'memory', '50', '', '1,000', '1,180', '1,160', '1,360', '1,360']);
    check('no single marks at first', await page.locator('#marks-each').isHidden());
    await page.locator('#marks tbody tr', { hasText: 'printing' }).click();
    same('whose', await text(page, '#marks-each-title'), 'phases / printing: 1 of 1');
    same('the single mark', await cells(page, 'marks-each'),
        [['0.610 s', '400 ms', 'a <b>message</b>']]);
    await page.locator('#marks-each tbody tr').click();
    check('it leads to the graph', await page.locator('#view-graph').isVisible());
    same('of its time', await page.inputValue('#range-from'), '0.610');
    same('100% is print', await text(page, '#status'), '100% is 400 ms');
    await page.click('#range-all');
}

async function listsCalls(open, file) {
    const page = await open(file);
    check('a capture with calls alone begins there', await page.locator('#calls').isVisible());
    same('functions', await cells(page, 'calls'), [
        ['1,000', '180 ms', '190 ms', '190 µs', '4.79 KiB', '4.79 KiB', 'interpreted',
         'fib\\x1b[31m, "x" /srv/a.js:5'],
        ['1', '10.0 ms', '200 ms', '200 ms', '100 B', '4.88 KiB', 'interpreted',
         'main /srv/a.js:1'],
        ['2', '10.0 ms', '10.0 ms', '5.00 ms', '', '', 'garbage collection', 'collector']]);
    const edges = await cells(page, 'calls-edges');
    same('an edge', edges.find(r => r[0] === '999').slice(0, 3), ['999', '185 ms', '185 µs']);
    check('those beyond the table', edges.some(r => r[3] === '[edges beyond the table]'), edges);
    const notes = await text(page, '#calls-notes');
    check('limits are told', notes.includes('leaves without an enter: 2'), notes);
    await page.fill('#search', 'main');
    await settled(page);
    same('search', (await cells(page, 'calls')).length, 1);
    await page.leave();
}

async function comparesCalls(open, file) {
    const page = await open(file), rows = await cells(page, 'calls');
    same('fib in both, whatever its line', rows.find(r => r.at(-1).startsWith('fib')).slice(0, 6),
        ['1,000', '2,000', '180 ms', '300 ms', '190 ms', '380 ms']);
    await page.leave();
}

/* More marks and values than a page gets: the sums are of all of them. */
async function sumsMarks(open, file) {
    const page = await open(file);
    check('a capture of marks begins there', await page.locator('#marks').isVisible());
    same('all of them', await cells(page, 'marks'), [
        ['mark', 'phases', '12,000', '179 ms', '100 ns', '14.9 µs', '14.8 µs', '28.3 µs',
         '29.8 µs', 'parsing'],
        ['counter', 'memory', '12,000', '', '0', '5,999.5', '5,999', '11,399', '11,999', 'heap']]);
    check('no note', await page.locator('#marks-note').isHidden());
    await page.fill('#range-from', '0.2');
    await page.fill('#range-to', '0.4');
    await page.press('#range-to', 'Enter');
    await settled(page);
    await page.locator('#marks tbody tr', { hasText: 'parsing' }).click();
    same('those on the page', await text(page, '#marks-each-title'),
        'phases / parsing: 5,000 of 12,000');
    const note = await text(page, '#marks-note');
    check('a part has a note', note.includes('only the 5,000 longest marks'), note);
    await page.leave();
}

/* Lines 11 and 12 of parse.js have 200 ms each, line 41 the 200 ms of scan. */
async function showsSource(open, file, none) {
    const page = await open(file);
    await page.click('#tab-source');
    check('which file', (await text(page, '#source-title')).endsWith('/lib/parse.js'));
    const rows = await cells(page, 'source');
    same('its lines', rows.length, 62);
    same('those with time', rows.filter(r => r[0]), [
        ['16.7%', '200 ms', '11', 'line 11 </script><script>alert(1)</script>'],
        ['16.7%', '200 ms', '12', 'line 12 </script><script>alert(1)</script>'],
        ['16.7%', '200 ms', '41', 'line 41 </script><script>alert(1)</script>']]);
    check('the hottest is visible', await page.locator('#line-11').evaluate(row => {
        const { top, bottom } = row.getBoundingClientRect();
        return top > 0 && bottom < innerHeight;
    }));
    await page.click('#tab-functions');
    await page.locator('#functions tbody tr', { hasText: 'scan' }).click();
    await page.getByRole('button', { name: 'Source' }).click();
    check('from the sandwich', await page.locator('#source').isVisible());
    check('the address names it', (await page.evaluate(() => location.hash)).includes('scan'));
    await page.leave();
    const other = await open(none);
    check('a page that was not asked has none', await other.locator('#tab-source').isHidden());
    await other.leave();
}

/* A third of the time is in the interpreter's own code, below line 12. */
async function keepsLines(open, file) {
    const page = await open(file);
    const hot = async () => (await cells(page, 'source')).filter(r => r[0]).map(r => r.slice(0, 3));
    await page.click('#tab-source');
    same('hidden frames of the interpreter count in the line that they run', await hot(),
        [['33.3%', '100 ms', '11'], ['66.7%', '200 ms', '12']]);
    await page.evaluate(() => {
        app.state.hiddenKinds = 0;
        app.update();
    });
    same('shown ones do not', await hot(), [['33.3%', '100 ms', '11'], ['33.3%', '100 ms', '12']]);
    await page.leave();
}

/* Operations of parse below their lines; a page without the source has them, too. */
async function showsOperations(open, file, bare) {
    const page = await open(file);
    const shown = async (p, first, last) => (await cells(p, 'source')).slice(first, last).map(r =>
        [r[0], r[1], r[2], r[3].replace(/^(line \d+).*/, '$1')]);
    await page.click('#tab-source');
    const operations = [['33.3%', '100 ms', '', '10  push 1'],
        ['33.3%', '100 ms', '', '12  call <b>x</b>'], ['', '', '', '16  return']];
    same('each with its share', await shown(page, 10, 16), [
        ['33.3%', '100 ms', '11', 'line 11'], operations[0],
        ['66.7%', '200 ms', '12', 'line 12'], operations[1], operations[2],
        ['', '', '13', 'line 13']]);
    await page.evaluate(() => app.timeline.setRange({ from: 0, to: 21 }));
    same('of the chosen time', (await shown(page, 11, 12))[0].slice(0, 2), ['100.0%', '100 ms']);
    await page.click('#range-all');
    await page.getByRole('button', { name: 'Operations of parse' }).click();
    same('lines alone', (await shown(page, 11, 12))[0][2], '12');
    const other = await open(file + await page.evaluate(() => location.hash));
    same('a link shows the same', await shown(other, 10, 13), await shown(page, 10, 13));
    await page.leave();
    await other.leave();
    const alone = await open(bare);
    await alone.click('#tab-source');
    same('without the source', [await text(alone, '#source-title'), await shown(alone, 0, 9)],
        ['The source of parse (/srv/app/lib/parse.js:10:1) is not on the page.', operations]);
    await alone.leave();
}

module.exports = withBrowser(async open => {
    const [,, known, calls, both, marks, source, loop, listing, bare] = process.argv;
    await listsCalls(open, calls);
    await comparesCalls(open, both);
    await sumsMarks(open, marks);
    await showsSource(open, source, known);
    await keepsLines(open, loop);
    await showsOperations(open, listing, bare);
    const page = await open(known);
    for (const part of [listsFunctions, showsSandwich, hasTreeGrid, listsMarks])
        await part(page);
    same('requests', page.asked(), []);
});
