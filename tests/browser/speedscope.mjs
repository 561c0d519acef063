// speedscope.mjs FILE NAME [PROFILES] - what speedscope's own page, in Chromium, shows in
// its table when it opens FILE under this NAME: for each thread (or so many of them) a
// line, then "total self name".
//
// SPDX-License-Identifier: MIT
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const { chromium } = require('playwright-core');
const folder = dirname(require.resolve('speedscope/package.json'));
const page_url = pathToFileURL(join(folder, 'dist/release/index.html'));
const [file, name, most] = process.argv.slice(2);
const bytes = readFileSync(file);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-quic', '--no-first-run', '--use-angle=swiftshader',
         '--enable-unsafe-swiftshader', '--disable-background-networking',
         '--disable-component-update', '--disable-sync',
         '--allow-file-access-from-files'],
});

async function show(data) {
  const page = await browser.newPage({ viewport: { width: 1400, height: 3000 } });
  page.on('pageerror', (error) => console.log('ERROR', error.message));
  page.on('dialog', (dialog) => { console.log('ERROR', dialog.message()); dialog.dismiss(); });
  // The page itself loads a script that hands it the file.
  const script = resolve('speedscope-profile.js');
  writeFileSync(script, `speedscope.loadFileFromBase64(${JSON.stringify(name)}, ` +
                        `${JSON.stringify(data.toString('base64'))})`);
  await page.goto(`${page_url}#localProfilePath=${script}&view=sandwich`);
  // The table of functions has shares; a smaller one of totals, which is hidden, none.
  await page.waitForFunction(
    () => [...document.querySelectorAll('table td')].some((td) => /\(.*%\)/.test(td.textContent)),
    null, { timeout: 15000 });
  const rows = await page.$$eval('table tr', (list) =>
    list.map((tr) => [...tr.querySelectorAll('td')].map((td) => td.textContent.trim())));
  for (const row of rows)
    if (row.length)
      console.log(row.join('\t'));
  await page.close();
}

try {
  const isOurs = name.endsWith('.speedscope.json');
  const profiles = most ?? (isOurs ? JSON.parse(bytes).profiles.length : 1);
  for (let i = 0; i < profiles; i++) {
    const data = isOurs ? { ...JSON.parse(bytes), activeProfileIndex: i } : null;
    console.log('profile', i);
    await show(data ? Buffer.from(JSON.stringify(data)) : bytes);
  }
} finally {
  await browser.close();
}
