// `npm run docs`: writes docs/cli.md from the commands; with --check it only says whether the page is up to date.
import { createProgram } from '../cli/src/main.ts';
import { writePage } from './docs-page.mjs';

const program = createProgram();
const help = program.createHelp();
const SERVER_OPTIONS = 'Server options:';
const INTRODUCTION = `# Commands

This page is made from the commands by \`npm run docs\`. \`svc COMMAND --help\` shows the same in a terminal.

- The exit status is 0 for success, 1 for a failure and 2 for wrong usage. \`svc submit --follow\` exits with the exit code of the job.
- Results go to standard output, and messages for people go to standard error. With \`--json\` a command prints its result as
  JSON, which is the answer of the REST API to its request, with these exceptions: \`svc status\` and \`svc top\` print what they make from several answers, \`svc run\` adds
  the \`summary\` of the metrics to the run, \`svc cancel\` with several jobs prints the list of their answers, \`svc logs -f\` and \`svc events watch\` print one object
  in each line, and \`svc profile list\` and \`svc restore\` ask no server.
- A job or a run is named by its id, by the beginning or end of its id (at least 4 characters), or by its name, which stands for the newest of that name.
`;

function renderPage() {
  const commands = leavesBelow(program);
  const [withServer] = commands
    .map((command) => serverOptions(command))
    .filter((options) => options.length > 0);
  return [
    INTRODUCTION,
    table(['command', 'what it does'], commands.map(toRow)),
    `## Server options\n\nThe commands that talk to a server take these options too:\n`,
    optionTable(withServer),
    ...commands.map(toSection),
  ].join('\n');
}

/** The commands that do something, and not those that only have others below them. */
function leavesBelow(command) {
  const children = command.commands.filter((child) => !child._hidden && child.name() !== 'help');
  return children.flatMap((child) => {
    const below = leavesBelow(child);
    return child._actionHandler || below.length === 0 ? [child, ...below] : below;
  });
}

function toRow(command) {
  const name = nameOf(command);
  return [`[${code(name)}](#${name.replaceAll(' ', '-')})`, sentence(command.description())];
}

function toSection(command) {
  const name = nameOf(command);
  const options = optionsOf(command).filter((option) => !isServerOption(option));
  const given = help.visibleArguments(command);
  const { notes, examples } = textAfterHelp(command);
  return [
    `## ${name}\n`,
    `${sentence(command.description())}\n`,
    `\`\`\`text\n${name} ${command.usage()}\n\`\`\`\n`,
    ...(given.length > 0 ? [table(['argument', 'meaning'], given.map(toArgumentRow))] : []),
    ...(options.length > 0 ? [optionTable(options)] : []),
    ...(serverOptions(command).length > 0 ? ['It takes the [server options](#server-options) too.\n'] : []),
    ...(notes ? [`${notes}\n`] : []),
    ...(examples ? [`\`\`\`sh\n${examples}\n\`\`\`\n`] : []),
  ].join('\n');
}

/** What a command adds to its help: paragraphs, and the examples. */
function textAfterHelp(command) {
  const added = fullHelp(command).slice(command.helpInformation().length);
  const [notes = '', examples = ''] = added.split(/^Examples?:\n/m);
  return { notes: notes.trim(), examples: examples.replace(/^ {2}/gm, '').trim() };
}

function fullHelp(command) {
  let text = '';
  const writeOut = (piece) => (text += piece);
  command.configureOutput({ writeOut, writeErr: writeOut }).outputHelp();
  return text;
}

function nameOf(command) {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : command.name();
}

function optionsOf(command) {
  return help.visibleOptions(command).filter(({ long }) => long !== '--help');
}

const isServerOption = (option) => option.helpGroupHeading === SERVER_OPTIONS;
const serverOptions = (command) => optionsOf(command).filter(isServerOption);

function optionTable(options) {
  return table(
    ['option', 'meaning'],
    options.map((option) => [code(option.flags), help.optionDescription(option)]),
  );
}

function toArgumentRow(argument) {
  return [code(argument.name()), help.argumentDescription(argument)];
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(escape).join(' | ')} |`);
  return `${lines.map((line) => line.replace('| --- | --- |', '|---|---|')).join('\n')}\n`;
}

const code = (text) => `\`${text}\``;
const escape = (text) => text.replaceAll('|', '\\|');
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;

await writePage('cli.md', renderPage);
