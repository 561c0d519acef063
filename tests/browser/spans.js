/* spans.js - tasks on the timeline: rows, zoom, the chain of a span, late turns, folded lanes, by
 * the pointer and by keys; and a million of them in no more boxes than a screen has room for.
 *
 * SPDX-License-Identifier: MIT
 *
 *     spans.js TASKS PROCESSES COUNTER
 */
'use strict';
const { check, same, withBrowser, text, settled } = require('./lib.js');

/* Where the middle of a span is on the screen. */
const place = (page, name, nth = 0) => page.evaluate(([wanted, n]) => {
    const t = app.timeline, area = t.canvas.getBoundingClientRect();
    t.drawNow();
    const all = [...Array(t.spans.n).keys()].filter(i => t.spans.name(i).startsWith(wanted));
    const at = t.placeOf(all[n]);
    return { x: area.left + (Math.max(at.x0, t.gutter) + at.x1) / 2, y: area.top + at.y + 6,
        span: all[n] };
}, [name, nth]);
const lit = page => page.evaluate(() => app.timeline.lit.map(i => app.timeline.spans.name(i)));
const length = page => page.evaluate(() => app.timeline.view.to - app.timeline.view.from);

/* Draw the timeline anew: what texts it writes, and how many arrows it draws. */
const drawn = page => page.evaluate(() => {
    const t = app.timeline, { context } = t, seen = { texts: [], arrows: 0 };
    for (const [name, note] of [['fillText', text => seen.texts.push(text)],
        ['bezierCurveTo', () => seen.arrows++]])
        context[name] = (...given) => {
            note(...given);
            CanvasRenderingContext2D.prototype[name].apply(context, given);
        };
    t.drawNow();
    delete context.fillText;
    delete context.bezierCurveTo;
    return seen;
});

async function pointer(page) {
    const show = await place(page, 'show');
    await page.mouse.move(show.x, show.y);
    const tip = await text(page, '#tooltip');
    check('a span tells itself', /promise show[^]*25\.0 ms from 0\.023000 s/.test(tip), tip);
    check('and its cause', /caused by promise load/.test(tip), tip);
    same('its chain', await lit(page), ['show (app.js:30)', 'load (app.js:20)',
        'tick (app.js:10)']);
    same('with an arrow from each cause', (await drawn(page)).arrows, 2);
    const tick = await place(page, 'tick');
    await page.mouse.move(tick.x, tick.y);
    const below = await lit(page);
    check('what a span caused is lit', below[0].startsWith('tick') &&
        ['load', 'show'].every(n => below.some(l => l.startsWith(n))), below);
    const { texts } = await drawn(page);
    check('spans and marks have their text', ['tick', 'show', 'click: the'].every(n =>
        texts.some(t => t.startsWith(n))), texts);
    await page.mouse.move(show.x, show.y);
    const whole = await length(page), before = await page.evaluate(ns => app.timeline.x(ns), 23e6);
    await page.mouse.wheel(0, -240);
    await settled(page);
    same('the wheel zooms', Math.round(await length(page)), whole / 2);
    check('around the pointer', await page.evaluate(() => {
        const t = app.timeline;
        return t.view.from < 36e6 && t.view.to > 36e6;
    }), before);
    for (let i = 0; i < 20; i++)
        await page.mouse.wheel(0, -240);
    await settled(page);
    same('down to two microseconds', await length(page), 2000);
    await page.mouse.dblclick(show.x, show.y - 40);
    await page.click('#tab-graph');
}

async function keys(page) {
    await page.focus('#lanes');
    await page.keyboard.press('0');
    await page.keyboard.press('l');
    check('the late turn', /turn, 30\.0 ms from 0\.020000 s, late: over 16\.7 ms/
        .test(await text(page, '#live')), await text(page, '#live'));
    await page.keyboard.press(']');
    check('the next task', /tick/.test(await text(page, '#live')), await text(page, '#live'));
    await page.keyboard.press('Enter');
    check('its time is chosen', await page.isEnabled('#range-all'));
    await page.keyboard.press('Escape');
    same('nothing is selected', await lit(page), []);
    await page.keyboard.press('Escape');
    check('nor chosen', await page.isDisabled('#range-all'));
    await page.keyboard.press('0');
    const whole = await length(page);
    await page.keyboard.press('w');
    same('W zooms', await length(page), whole / 2);
    await page.keyboard.press('s');
    same('S zooms out', await length(page), whole);
    const high = await page.evaluate(() => app.timeline.height);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press(' ');
    check('a folded lane is lower', await page.evaluate(() => app.timeline.height) < high);
    check('and says so', /folded/.test(await text(page, '#live')), await text(page, '#live'));
    await page.keyboard.press(' ');
    const size = () => page.evaluate(() => byId('lanes-scroll').clientHeight);
    const room = await size();
    await page.focus('#lanes-size');
    await page.keyboard.press('ArrowUp');
    check('the timeline is resized', await size() < room, [room, await size()]);
}

/* A million spans, nested, each with a cause: how many boxes and texts each frame draws. */
const million = page => page.evaluate(() => {
    const n = 1e6, numbers = [];
    for (let i = 0; i < n; i++) {
        numbers.push((1 + i % 7) * 2 + (i > 0), i % 4 ? 10 : 1000, i % 4 ? 700 - i % 4 * 200 : 900);
        if (i > 0)
            numbers.push(2 * (1 + i % 3));
    }
    let at = 0;
    const whats = Array.from({ length: 14 }, (_, i) => 'name ' + i);
    app.timeline.profile.spans = new Spans({ n, step: 100, late: 16.7e6, whats, hasDelays: false,
        lanes: [[0, 100, 100, n]] }, () => numbers[at++] ?? 0);
    app.timeline.setProfile(app.timeline.profile);
    const counts = [], t = app.timeline;
    for (const name of ['fillRect', 'fillText'])
        t.context[name] = () => counts[counts.length - 1]++;
    for (let i = 0; i < 60; i++) {
        const zoom = 2 ** (i % 12);
        counts.push(0);
        t.setView(t.end * i / 90, t.end * i / 90 + t.end / zoom / 3);
        t.drawNow();
    }
    delete t.context.fillRect;
    delete t.context.fillText;
    return counts;
});

/* Processes are groups that fold; a counter has a value with its unit. */
async function groups(page, counter) {
    const count = () => page.evaluate(() => app.timeline.lanes.map(l => l.kind).reduce((n, k) =>
        ({ ...n, [k]: (n[k] ?? 0) + 1 }), {}));
    const all = await count();
    same('processes', all.process, 4);
    await page.focus('#lanes');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press(' ');
    const { process, thread } = await count();
    same('they stay', process, 4);
    same('a folded one shows no threads', all.thread - thread, 50);
    await page.keyboard.press(' ');
    same('it unfolds', await count(), all);
    const { texts } = await drawn(counter);
    check('a counter has its unit', texts.some(t => /^[0-9.]+ KiB$/.test(t)), texts);
}

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2]);
    same('lanes', await page.evaluate(() => app.timeline.lanes.map(l => [l.label, l.rows])),
        [['main', 3], ['thread 200', 1], ['app', null]]);
    same('one late turn', await text(page, '#late'), '1 late');
    await pointer(page);
    await keys(page);
    const counts = await million(page);
    check('a million spans: what a frame draws', counts.every(n => n > 10 && n < 20000), counts);
    same('no request', page.asked(), []);
    await page.leave();
    await groups(await open(process.argv[3]), await open(process.argv[4]));

    const phone = await open(process.argv[2], { viewport: { width: 390, height: 844 } });
    check('390 px are enough', await phone.evaluate(() =>
        document.documentElement.scrollWidth) <= 390);
});
