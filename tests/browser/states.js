/* states.js - what threads were doing: the switch, its address, and the band in the timeline;
 * and neither where a capture does not have it.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, text } = require('./lib.js');

const whole = page => text(page, '#status');
const only = (page, name) => page.evaluate(wanted => {
    app.state.states = STATES.map(s => s.name === wanted);
    app.update();
}, name);

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2]);
    check('everything but idle time', /100% is 1\.10 s/.test(await whole(page)), await whole(page));
    await page.click('#states');
    for (const name of ['not known', 'running', 'asleep', 'in a wait of the host'])
        await page.getByLabel(name).uncheck();
    same('the button', await text(page, '#states'), 'waiting for a processor');
    check('200 ms wait', /100% is 200 ms/.test(await whole(page)), await whole(page));
    same('in the address', await page.evaluate(() => location.hash.includes('states=2')), true);
    await only(page, 'in a wait of the host');
    check('80 ms in the lock', /100% is 80\.0 ms/.test(await whole(page)), await whole(page));
    same('a band for each thread', await page.evaluate(() => {
        const colors = new Set(), t = app.timeline, context = t.context;
        for (const lane of t.lanes.filter(l => l.kind === 'thread'))
            drawStates({ context: { set fillStyle(c) { this.color = c; },
                fillRect() { colors.add(lane.label + ' ' + this.color); } },
                bins: t.bins, span: t.span, profile: t.profile, sums: t.sums,
                x: ns => t.x(ns) }, lane);
        return [colors.has('main #d1495b'), colors.has('main #9aa5b1'),
                colors.has('helper #4f9d69'), colors.has('helper #d1495b'), !!context];
    }), [true, true, true, false, true]);

    same('no request', page.asked(), []);
    await page.leave();
    const other = await open(process.argv[3]);
    same('no switch', await other.isVisible('#states'), false);
    same('no request of the other', other.asked(), []);
});
