// `npm run docs`: writes docs/events.md from the types and the detectors; with --check it only says whether the page is up to date.
import { EVENT_NOTES } from '../contract/src/protocol/event-notes.ts';
import { DETECTORS } from '../plugins/detectors/src/built-in/index.ts';
import { settingsSchema } from '../plugins/detectors/src/engine/settings.ts';
import { writePage } from './docs-page.mjs';

const INTRODUCTION = `# Events

This page is made from the code by \`npm run docs\`. Events are a list (\`GET /api/v1/events\`) and a stream (\`GET /api/v1/events/stream\`, \`svc events\`, \`svc events watch\`), each with
filters by run, job, node, type and severity. A stream that resumes by \`Last-Event-ID\` gets every later event once.

## Types

A plugin may add types of its own.
`;

const DETECTORS_INTRODUCTION = `## Detectors

Detectors read metric points, log lines, states of jobs and runs, and figures of hosts as they arrive, behind the answers to those who send them. Each has one memory for a run, an attempt
of a job or a node. Their windows are in memory, and empty after a start of the server; what was told before is not told again. Time in which the server stood still, or
that its clock was set by, does not count. A point that arrives behind newer ones (a lower \`seq\` and a lower step) is not looked at.

Trouble is *pending* from its first sign, *firing* once it has lasted for \`hold_s\`, when it becomes an event, and *resolved* when it is over. The same trouble is told again after \`cooldown_s\` at the
earliest. Imported runs raise no events of detectors.

\`svc.config.ts\` sets their options by name. Every detector also has \`enabled\` (true):

\`\`\`js
detectors({ settings: { 'loss-spike': { factor: 5 }, 'gpu-underutilized': { enabled: false }, 'disk-low': { free_gb: 50 } } })
\`\`\`

\`svc detectors replay --run RUN --set loss-spike.factor=5\` runs them over what is stored of a run and prints what they would have told: try a threshold there before you set it.
The settings are those of the events alone. The health and the diagnosis of a run have fixed limits.

A plugin adds [detectors of its own](plugins.md#a-detector).
`;

function renderPage() {
  const found = DETECTORS.flatMap(({ finds, name }) => finds.map((note) => ({ ...note, name })));
  const rows = [
    ...Object.entries(EVENT_NOTES).map(([type, { severities, when }]) =>
      toRow(type, severities.join(', '), when),
    ),
    ...found.map(({ type, severity, when, name }) => toRow(type, severity, `${when} ([${name}](#${name}))`)),
  ];
  return [
    INTRODUCTION,
    ['| type | severity | published when |', '|---|---|---|', ...rows].join('\n') + '\n',
    DETECTORS_INTRODUCTION,
    ...DETECTORS.map(toSection),
  ].join('\n');
}

function toRow(type, severity, when) {
  return `| \`${type}\` | ${severity} | ${when} |`;
}

function toSection(detector) {
  const { name, of, takes, finds } = detector;
  const options = Object.entries(settingsSchema(detector).properties).filter(
    ([option]) => option !== 'enabled',
  );
  const types = [...new Set(finds.map(({ type }) => `\`${type}\``))].join(', ');
  const rows = options.map(
    ([option, { default: value, description }]) =>
      `| \`${option}\` | ${JSON.stringify(value)} | ${description} |`,
  );
  return [
    `### ${name}\n`,
    `Finds ${types}. One memory for each ${of}; it reads ${takes.map((kind) => `\`${kind}\``).join(', ')}.\n`,
    ['| option | default | meaning |', '|---|---|---|', ...rows].join('\n') + '\n',
  ].join('\n');
}

await writePage('events.md', renderPage);
