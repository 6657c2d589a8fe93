// `npm run docs`: writes docs/failures.md from the rules; with --check it only says whether the page is up to date.
import { FAILURE_RULES, RUN_RULES } from '../plugins/failures/src/rules/index.ts';
import { writePage } from './docs-page.mjs';

const INTRODUCTION = `# Why a job failed

This page is made from the rules by \`npm run docs\`. \`svc explain JOB\` and \`GET /jobs/{job_id}/failure\` apply them to a failed attempt; \`svc explain RUN\` and
\`GET /runs/{run_id}/failure\` to the attempt of a run, with the metrics and events of that run. When none matches, the answer says so and has the last error lines of the log.

- The confidence is that of clear evidence. It is lower for an error line behind which the process went on, which 10 ordinary lines of the same stream and rank show, or 30 of any (0.5 of it;
  0.6 for a Python error), when another rank ended with a later Python error (0.8 of it), when the same process did (0.5 of it), for a warning, and for an error that the program says it got over, as by
  \`falling back\` or \`retrying\` (0.5 of it), and when the process was killed from outside (0.5 of it), unless the rule explains that. Below 0.5 it is a possibility and not the likely cause.
- Rules are in order, the most specific first: among equal confidence the first counts.
- "Another command" means that the same one fails identically: the first next action is \`submit_job\` with the original command as the base
  (\`evaluate_checkpoint\` for the job of an evaluation). Where the command has an argument for the batch size (out of memory) or the learning rate (NaN), the
  second one has half of it, or a tenth of it, and can be submitted as it stands. "A repair" means that the same command can succeed when the host, the environment or the code
  has been put right, and "a retry" that it can succeed as it is.
- A plugin adds [rules of its own](plugins.md#a-semantic-rule).
`;

const REMEDIES = { change: 'another command', repair: 'a repair', retry: 'a retry' };

const OF_RUNS = `These rules read the metrics and the events of a run. They explain a run without a job, which has no log and no end of a process, and the diagnosis of every run has their advice.

| rule | says | confidence |
|---|---|---|
`;

function renderPage() {
  const definitions = FAILURE_RULES.map(({ definition }) => definition);
  const ofRuns = RUN_RULES.map(({ name, definition }) => ({ ...definition, name }));
  const rows = definitions.map(
    ({ name, title, confidence, remedy }) =>
      `| [\`${name}\`](#${name}) | ${title} | ${confidence} | ${REMEDIES[remedy]} |`,
  );
  return [
    INTRODUCTION,
    ['| rule | says | confidence | what helps |', '|---|---|---|---|', ...rows].join('\n') + '\n',
    OF_RUNS +
      ofRuns
        .map(({ name, title, confidence }) => `| [\`${name}\`](#${name}) | ${title} | ${confidence} |\n`)
        .join(''),
    ...[...definitions, ...ofRuns].map(toSection),
  ].join('\n');
}

function toSection({ name, title, cause, fixes, patterns = [], applies, explainsKill }) {
  const evidence = [
    ...(applies ? ['The end of the attempt, its metrics or its events tell it.'] : []),
    ...(explainsKill ? ['It also explains an end by a signal.'] : []),
  ];
  return [
    `## ${name}\n`,
    `${title}. ${cause}\n`,
    ...(evidence.length > 0 ? [`${evidence.join(' ')}\n`] : []),
    `${fixes.map((fix) => `- ${fix}`).join('\n')}\n`,
    ...(patterns.length > 0
      ? [`\`\`\`text\n${patterns.map(({ source }) => source).join('\n')}\n\`\`\`\n`]
      : []),
  ].join('\n');
}

await writePage('failures.md', renderPage);
