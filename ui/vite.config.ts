import { readFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

// Pages are served from nested paths (/jobs/…), so asset addresses must be absolute.
export default defineConfig({
  base: '/',
  resolve: { conditions: ['svc-source', 'module', 'browser', 'development|production'] },
  plugins: [compressedCopies()],
  build: {
    target: 'es2022',
    cssTarget: ['chrome123', 'safari17.5', 'firefox121'],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    // What six and more pages and tabs import is one file, loaded with the first page: dozens of small ones are slower.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 6 }] } },
      checks: { pluginTimings: false },
    },
  },
  server: { proxy: { '^/(api|extensions)': 'http://127.0.0.1:8600' } },
});

/** Writes `FILE.br` and `FILE.gz` beside each text file that they make smaller; the plugin `console` sends them instead of it. */
function compressedCopies(): Plugin {
  let folder = '';
  return {
    name: 'compressed-copies',
    apply: 'build',
    configResolved: ({ root, build }) => {
      folder = path.resolve(root, build.outDir);
    },
    async closeBundle(error) {
      if (error) return;
      const entries = await readdir(folder, { recursive: true });
      const files = entries.filter((name) => /\.(css|html|js|svg)$/.test(name));
      await Promise.all(files.map((name) => writeCompressed(path.join(folder, name))));
    },
  };
}

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

async function writeCompressed(file: string): Promise<void> {
  const text = await readFile(file);
  const copies = {
    br: await brotli(text),
    gz: await gzip(text, { level: zlib.constants.Z_BEST_COMPRESSION }),
  };
  for (const [ending, copy] of Object.entries(copies))
    if (copy.length < text.length) await writeFile(`${file}.${ending}`, copy);
}
