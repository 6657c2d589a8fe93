import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { CommanderError, type Command } from 'commander';
import { expect } from 'chai';
import { createProgram } from '../../cli/src/main.js';
import { readCommands, readMentions, toWords } from '../support/page.js';
import { ROOT } from '../support/program.js';

const PAGES = [
  'README.md',
  ...readdirSync(path.join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];
/** Commands that the README says are not implemented yet. */
const NOT_THERE_YET = ['svc doctor'];
/** A sentence may leave out what a command needs, as in "after `svc restore`". */
const IS_SHORT = [
  'commander.help',
  'commander.missingArgument',
  'commander.missingMandatoryOptionValue',
  'commander.optionMissingArgument',
];

describe('the commands that the docs name', () => {
  for (const [page, script] of [
    ['docs/cli.md', 'cli-docs.mjs'],
    ['docs/failures.md', 'failure-docs.mjs'],
    ['docs/events.md', 'event-docs.mjs'],
  ] as const)
    it(`${page} is made from the code as it is`, () => {
      const file = path.join(ROOT, 'scripts', script);
      const args = ['--import=tsx', '--conditions=svc-source', file, '--check'];
      expect(() => execFileSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' })).to.not.throw();
    });

  it('the README names each command that is not implemented yet, and no command that is', async () => {
    const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
    const [, section = ''] = readme.split('## Not implemented yet\n');
    const named = [...section.matchAll(/`(svc [^`]+)`/g)].map(([, command]) => command);
    expect(named).to.deep.equal(NOT_THERE_YET);
    for (const command of NOT_THERE_YET) expect(await parse(command), command).to.not.equal(null);
  });

  it('are never run by npx, which would fetch the package of another project', () => {
    for (const page of PAGES)
      expect(readFileSync(path.join(ROOT, page), 'utf8'), page).not.to.match(/\bnpx svc\b/);
  });

  for (const page of PAGES) {
    it(`${page}: the command line takes each of them`, async () => {
      const refused = [];
      for (const command of readCommands(page)) {
        const error = await parse(command);
        if (error !== null) refused.push(`${command}: ${error.message}`);
      }
      for (const mention of readMentions(page)) {
        if (NOT_THERE_YET.includes(mention)) continue;
        const error = await parse(mention);
        if (error !== null && !IS_SHORT.includes(error.code)) refused.push(`${mention}: ${error.message}`);
      }
      expect(refused).to.deep.equal([]);
    });
  }
});

/** What the command line says against it; null: it would carry it out. */
async function parse(command: string): Promise<CommanderError | null> {
  const program = createProgram();
  carryNothingOut(program);
  try {
    await program.parseAsync(['node', ...toWords(command)]);
    return null;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : error;
  }
}

function carryNothingOut(command: Command): void {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {} }).exitOverride();
  if ('_actionHandler' in command && command._actionHandler !== null) command.action(() => {});
  for (const child of command.commands) carryNothingOut(child);
}
