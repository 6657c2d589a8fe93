import type { Command } from 'commander';
import { findCandidates } from '../completion/candidates.js';
import { SCRIPTS, SHELLS, type Shell } from '../completion/scripts.js';
import { printLines } from '../output/print.js';
import { toPlainText } from '../output/table.js';
import { parseOneOf } from './parse.js';

export function addCompletionCommand(program: Command): void {
  program
    .command('completion')
    .description('print a script by which a shell completes commands, options, ids and names of svc at Tab')
    .argument('<shell>', `the shell: ${SHELLS.join(', ')}`, parseOneOf(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  svc completion bash >> ~/.bashrc\n  svc completion zsh > "${fpath[1]}/_svc"\n  svc completion fish > ~/.config/fish/completions/svc.fish',
    )
    .action((shell: Shell) => printLines([SCRIPTS[shell]]));

  program
    .command('complete', { hidden: true })
    .description('print what may stand in the place of the last word, for the scripts of svc completion')
    .argument('[words...]', 'the words of a command line after svc')
    .passThroughOptions()
    .addHelpText('after', '\nExample:\n  svc complete -- jobs --st')
    .action(async (words: readonly string[]) => {
      const found = await findCandidates(program, words);
      printLines(found === 'files' ? [':files'] : found.map(toLine));
    });
}

function toLine({ word, description }: { readonly word: string; readonly description: string }): string {
  return description === '' ? word : `${word}\t${toPlainText(description)}`;
}
