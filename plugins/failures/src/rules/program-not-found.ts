import { failureRule } from '../failure-rule.js';

export const programNotFound = failureRule({
  name: 'program-not-found',
  title: 'A program was not found',
  cause: 'There is no program `<program>` on the PATH of the job.',
  fixes: [
    'Check the spelling, and that the program is installed on the node and on the PATH of the job.',
    'Submit from the environment that has it, or give its whole path.',
  ],
  confidence: 0.93,
  remedy: 'repair',
  patterns: [
    /^\S{0,200}sh: (?:line )?(?:\d+: )?(?<program>.{1,200}?): (?:command )?not found$/,
    /^(?:\/usr\/bin\/)?env: \W?(?<program>.{1,200}?)\W?: No such file or directory/,
  ],
});
