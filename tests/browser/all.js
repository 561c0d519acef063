/* all.js - runs scripts of tests one after another in one browser:
 *
 *     all.js SCRIPT ARGUMENT... [-- SCRIPT ARGUMENT...]...
 *
 * SPDX-License-Identifier: MIT
 */
'use strict';
const { shareBrowser } = require('./lib.js');

(async () => {
    const [node, , ...words] = process.argv, close = await shareBrowser();
    try {
        while (words.length) {
            const end = words.indexOf('--');
            const [script, ...args] = words.splice(0, end < 0 ? words.length : end);
            words.shift();
            process.argv = [node, script, ...args];
            await require('./' + script);
        }
    } finally {
        await close();
    }
})();
