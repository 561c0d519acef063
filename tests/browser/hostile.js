/* hostile.js - names that would be HTML, script or tricks of text do nothing on the page.
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { check, same, withBrowser, text, settled } = require('./lib.js');

module.exports = withBrowser(async open => {
    const page = await open(process.argv[2]);
    for (const view of ['graph', 'time', 'functions', 'tree', 'sandwich', 'marks'])
        await page.click('#tab-' + view);
    check('nothing of it ran', !(await page.title()).includes('owned'), await page.title());
    same('no element of theirs', await page.locator('img').count(), 0);
    same('scripts', await page.locator('script').count(), 3);

    await page.click('#tab-functions');
    const table = await text(page, '#functions');
    for (const name of ["</script><script>document.title='owned'</script>",
        '<img src=x onerror="document.title=\'owned\'">', '<!--<script>', ']]>&lt;&amp;',
        '\\x1b[31mred\\x1b[0m\\x0d\\x0a\\x09tabs', 'rtl \\u{202e}evil \\u{2028} line',
        'bad \ufffd\ufffd( utf8 \ufffd', 'café 日本', '__proto__', 'constructor'])
        check(`${name} stands there`, table.includes(name), table);
    await page.fill('#search', '<img');
    await settled(page);
    same('found', await text(page, '#matched'), '9.1% matched');

    same('a picture with characters that XML has not', await page.evaluate(() => {
        const drawing = new Drawing(100, 20);
        drawing.fillStyle = 'red';
        drawing.fillText('a<\uffff\ufffe\ud83d\ud83d\ude00', 0, 0);
        return new DOMParser().parseFromString(String(drawing), 'image/svg+xml').documentElement
            .textContent;
    }), 'a<\ufffd\ufffd\ufffd\ud83d\ude00');

    page.removeAllListeners('console'); /* the browser says there what it refuses */
    const refused = await page.evaluate(() => new Promise(done => {
        document.addEventListener('securitypolicyviolation', e => done(e.effectiveDirective));
        fetch('http://127.0.0.1:1/').catch(() => {});
        setTimeout(() => done('not refused'), 2000);
    })).catch(e => e.message);
    same('a request is refused', refused, 'connect-src');
    same('requests', page.asked(), []);
});
