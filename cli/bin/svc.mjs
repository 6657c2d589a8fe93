#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';

const program = new URL('../dist/main.js', import.meta.url);
if (existsSync(program)) {
  module.enableCompileCache?.();
  const { main } = await import(program.href);
  await main(process.argv);
} else {
  console.error('svc is not built yet; in the repository run: npm run setup');
  process.exitCode = 1;
}
