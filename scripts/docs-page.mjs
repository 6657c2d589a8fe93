// Writes a page of docs/ that is made from the code; with --check it only says whether the page is up to date.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './fingerprint.mjs';
import { Explained, main } from './processes.mjs';

export async function writePage(name, renderPage) {
  await main(async () => {
    const file = path.join(ROOT, 'docs', name);
    const page = renderPage();
    if (!process.argv.includes('--check')) return writeFileSync(file, page);
    if (readFileSync(file, 'utf8') !== page)
      throw new Explained(`docs/${name} is out of date: renew it with npm run docs`);
  });
}
