import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './program.js';

/** A block of code of a page. */
export interface Block {
  readonly language: string;
  /** That its first line names, in a comment; null: none. */
  readonly file: string | null;
  /** The heading above it. */
  readonly heading: string;
  /** Without the line that names the file. */
  readonly text: string;
}

const BLOCK_OR_HEADING = /^(?:#+ (?<heading>.+)|```(?<language>\w+)\n(?<text>[^]*?)^```)$/gm;
const NAMES_FILE = /^(?:\/\/|#) (?<file>\S+\.\w+|\S*Caddyfile)\n/;

/** The blocks of a page, such as `docs/plugins.md`, in their order. */
export function readBlocks(page: string): Block[] {
  const markdown = readFileSync(path.join(ROOT, page), 'utf8');
  const blocks: Block[] = [];
  let heading = '';
  for (const { groups = {} } of markdown.matchAll(BLOCK_OR_HEADING)) {
    const { text, language = '' } = groups;
    if (groups['heading'] !== undefined) heading = groups['heading'];
    if (text === undefined) continue;
    const file = NAMES_FILE.exec(text)?.groups?.['file'] ?? null;
    blocks.push({ language, file, heading, text: file === null ? text : text.replace(NAMES_FILE, '') });
  }
  return blocks;
}

/** The files that a page shows, as they stand there. */
export function readFiles(page: string): ReadonlyMap<string, string> {
  return new Map(readBlocks(page).flatMap(({ file, text }) => (file === null ? [] : [[file, text]])));
}

export function writeFiles(dir: string, files: ReadonlyMap<string, string>): void {
  for (const [file, text] of files) {
    mkdirSync(path.dirname(path.join(dir, file)), { recursive: true });
    writeFileSync(path.join(dir, file), text);
  }
}

/** The commands of `svc` in the blocks of a page for a shell. */
export function readCommands(page: string): string[] {
  const lines = readBlocks(page)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.replaceAll('\\\n', ' ').split('\n'));
  return lines.map(withoutRest).filter((line) => /^svc( |$)/.test(line));
}

/** Those that it names in code style within a sentence or a table. */
export function readMentions(page: string, program = 'svc'): string[] {
  const markdown = readFileSync(path.join(ROOT, page), 'utf8').replaceAll(/^```[^]*?^```$/gm, '');
  const mentions = markdown.matchAll(/`([^`\n]+)`/g);
  return [...mentions].flatMap(([, text = '']) => (text.startsWith(`${program} `) ? [text.trim()] : []));
}

/** What stands before a comment, a pipe or a redirection. */
function withoutRest(line: string): string {
  return line.replace(/ +(?:#|\||<|>|&&).*$/, '').trim();
}

/** The words of a command, as a shell splits it where nothing is expanded. */
export function toWords(command: string): string[] {
  const words = command.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...words].map(([word]) => word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}
