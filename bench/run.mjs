// npm run bench -- NAME [ARGS]: runs bench/NAME.ts from source against the built programs.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const [name = '', ...args] = process.argv.slice(2);
const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
if (!/^[a-z-]+$/.test(name) || !existsSync(file)) {
  console.error('usage: npm run bench -- NAME [ARGS], where NAME is a file in bench/ without .ts');
  process.exit(2);
}
const flags = ['--import', 'tsx', '--conditions', 'svc-source'];
spawn(process.execPath, [...flags, file, ...args], { stdio: 'inherit' }).on('exit', (code) =>
  process.exit(code ?? 1),
);
