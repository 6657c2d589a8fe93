#!/usr/bin/env node
import { existsSync } from 'node:fs';
import module from 'node:module';
import v8 from 'node:v8';

// The agent lives long and must stay lean, so it has a program of its own.
const entry = process.argv[2] === 'agent' ? 'agent-main.js' : 'main.js';
const program = new URL(`../dist/${entry}`, import.meta.url);
if (existsSync(program)) {
  // Node would not end before V8 has optimized the WebAssembly parser of fetch, which takes a third of a short command's time.
  v8.setFlagsFromString('--liftoff-only');
  module.enableCompileCache?.();
  const { main } = await import(program.href);
  await main(process.argv);
} else {
  console.error('svc is not built yet; in the repository run: npm run setup');
  process.exitCode = 1;
}
