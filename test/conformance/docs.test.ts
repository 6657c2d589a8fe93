import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS, EVENT_TYPES, TOOL_NAMES, routes } from '@svc/contract';
import { ENVIRONMENT } from '@svc/kernel';
import { expect } from 'chai';
import config from '../../svc.config.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const HOOKS = /^export const (\w+) =\s+(?:decision|observation|\{)/gm;

/** Of every table row, the words in code style in its cells, by column. */
function rows(markdown: string): string[][] {
  const lines = markdown.split('\n').filter((line) => line.startsWith('| `'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  );
}

describe('docs against the code', () => {
  it('errors.md has every error code with its status, and no other', () => {
    const documented = rows(read('docs/errors.md')).map(([code, status]) => `${code} ${status}`);
    expect(documented).to.have.members(
      Object.entries(ERRORS).map(([code, { status }]) => `${code} ${status}`),
    );
  });

  it('events.md has every type of event, and no other', () => {
    const section = between(read('docs/events.md'), '## Types', '## Detectors');
    expect(new Set(rows(section).map(([type]) => type))).to.deep.equal(new Set(EVENT_TYPES));
    expect(EVENT_TYPES).to.include.members(['JOB_LOST', 'JOB_FOUND', 'RUN_STALLED', 'GPU_UNHEALTHY']);
  });

  it('plugins.md has every hook, and no other', () => {
    const section = between(
      read('docs/plugins.md'),
      '## Hooks of the server',
      '## The context of an agent plugin',
    );
    const documented = rows(section).map(([hook]) => hook);
    expect(documented).to.have.members(hookNames());
  });

  it('plugins.md has every hook of the agent, and no other', () => {
    const section = between(read('docs/plugins.md'), '## Hooks of the agent', '## Testing');
    const registrations = /interface AgentRegistrations \{([^]*?)\n\}/.exec(
      read('agent/src/core/plugin.ts'),
    )?.[1];
    expect(rows(section).map(([hook]) => hook)).to.have.members([
      ...namesIn(registrations ?? '', /readonly (\w+):/g),
      ...namesIn(read('agent/src/core/attempt-hooks.ts'), HOOKS),
    ]);
  });

  it('plugins.md has every member of what a plugin gets, and no other', () => {
    const page = read('docs/plugins.md');
    const toMembers = (section: string) => rows(section).flatMap(([members = '']) => members.split(', '));
    const server = between(page, '## The context of a server plugin', '## Hooks of the server');
    const agent = between(page, '## The context of an agent plugin', '## Hooks of the agent');
    expect(toMembers(server)).to.have.members(membersOf('PluginContext', 'kernel/src/plugin.ts'));
    expect(toMembers(agent)).to.have.members(membersOf('AgentPluginContext', 'agent/src/core/plugin.ts'));
  });

  it('configuration.md has every option of every plugin with its default, and no other', () => {
    const section = between(
      read('docs/configuration.md'),
      '## Options of the plugins',
      '## Environment of the server',
    );
    const documented = rows(section).map(([plugin, option]) => `${plugin}.${option}`);
    const real = config.plugins.flatMap(({ name, optionsSchema }) =>
      Object.keys(optionsSchema.properties).map((option) => `${name}.${option}`),
    );
    expect(documented).to.have.members(real);
    for (const [plugin = '', option = '', shown] of rows(section)) {
      const schema = config.plugins.find(({ name }) => name === plugin)?.optionsSchema.properties[option];
      const { default: real } = schema as { default?: unknown };
      if (real !== undefined) expect(shown, `${plugin}.${option}`).to.equal(String(real));
    }
  });

  it('configuration.md has every environment variable of the server, and no other', () => {
    const section = between(
      read('docs/configuration.md'),
      '## Environment of the server',
      '## Environment of clients',
    );
    expect(rows(section).map(([name]) => name)).to.have.members(ENVIRONMENT.map(({ name }) => name));
  });

  it('configuration.md names every variable that agent, CLI and SDK read or set', () => {
    const page = read('docs/configuration.md');
    const sources = ['agent/src', 'cli/src', 'sdk/python/svc']
      .flatMap((folder) => filesBelow(folder))
      .map(read);
    const used = new Set(sources.flatMap((source) => source.match(/\bSVC_[A-Z][A-Z_]+\b/g) ?? []));
    for (const name of used) expect(page, name).to.include(name);
  });

  it('api.md has a request for every tool of next_actions, and only requests that there are', () => {
    const section = between(read('docs/api.md'), '## Next actions', '## Limits');
    expect(rows(section).map(([tool]) => tool)).to.have.members([...TOOL_NAMES]);
    const known = Object.values(routes).flatMap((route) =>
      'method' in route ? [`${route.method} ${route.path}`] : [],
    );
    const requests = [...section.matchAll(/`((?:GET|POST) [^`]+)`/g)].map(([, request = '']) => request);
    expect(known).to.include.members(requests);
    expect(requests).to.have.length.above(TOOL_NAMES.length - 2);
  });

  it('sdk.md has every call of the SDKs', () => {
    const [python = '', typescript = ''] = read('docs/sdk.md').split('\n## TypeScript\n');
    const calls = namesIn(read('sdk/python/svc/run.py'), /(?<!@property\n)^ {4}def ([a-z]\w*)\(/gm);
    const notForUsers = ['end', 'report_failure', 'restart_after_fork'];
    for (const name of calls.filter((name) => !notForUsers.includes(name)))
      expect(python, name).to.include(`run.${name}(`);
    for (const name of membersOf('Run', 'sdk/typescript/src/run-interface.ts'))
      expect(typescript, name).to.include(`run.${name}`);
  });

  it('security.md names tests that there are', () => {
    const named = [...read('docs/security.md').matchAll(/`([\w./-]+(?:\.test\.ts|\.py))`/g)].map(
      ([, file = '']) => file,
    );
    expect(named).to.have.length.above(20);
    expect(named.filter((file) => !existsSync(path.join(ROOT, file)))).to.deep.equal([]);
  });

  it('every link between the pages leads somewhere', () => {
    for (const page of [
      'README.md',
      'CONTRIBUTING.md',
      ...filesBelow('docs').filter((file) => file.endsWith('.md')),
    ]) {
      const targets = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target = '']) => target);
      for (const target of targets)
        expect(
          () => readFileSync(path.join(ROOT, path.dirname(page), target)),
          `${page} -> ${target}`,
        ).not.to.throw();
    }
  });
});

function between(text: string, from: string, to: string): string {
  return text.slice(text.indexOf(from), text.indexOf(to));
}

/** Every registration of the kernel, and every hook that it or a plugin exports. */
function hookNames(): string[] {
  const owners = ['kernel', ...readdirSync(path.join(ROOT, 'plugins')).map((name) => `plugins/${name}`)];
  const files = owners
    .map((owner) => `${owner}/src/hooks.ts`)
    .filter((file) => existsSync(path.join(ROOT, file)));
  return [
    ...namesIn(read('kernel/src/registrations.ts'), /^ {2}(\w+): new Registration</gm),
    ...files.flatMap((file) => namesIn(read(file), HOOKS)),
  ];
}

/** What the interface declares. */
function membersOf(name: string, file: string): string[] {
  const [, body = ''] = new RegExp(`interface ${name} \\{([^]*?)\\n\\}`).exec(read(file)) ?? [];
  return namesIn(body, /^ {2}(?:readonly )?(\w+)[(<:]/gm);
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, name = '']) => name);
}

function filesBelow(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.pyc'))
    .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)));
}
