import { expect } from 'chai';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
/** Lines of the kernel that are code: neither blank, nor comment, nor import. */
const KERNEL_BUDGET = 1_200;

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
  /** What is imported by name, as it is called where it comes from. */
  readonly names: readonly string[];
}

const PACKAGES = [
  'contract',
  'validation',
  'hooks',
  'http',
  'kernel',
  'client',
  'signals',
  'agent',
  'cli',
  'ui',
];
const sources = [...PACKAGES, 'sdk/typescript', ...foldersOf('plugins')].flatMap((folder) =>
  filesBelow(join(ROOT, folder, 'src')).map((file) => ({ folder, file, imports: importsOf(file) })),
);

describe('architecture', () => {
  it('has sources to look at', () => {
    expect(sources.length).to.be.greaterThan(50);
    expect(importsOf(join(ROOT, 'kernel/src/kernel.ts')).map(({ specifier }) => specifier)).to.include(
      './db/outage.js',
    );
  });

  it(`keeps the kernel within ${KERNEL_BUDGET} lines of code`, () => {
    const counts = filesBelow(join(ROOT, 'kernel/src')).map((file) => countCode(readFileSync(file, 'utf8')));
    expect(counts.reduce((sum, count) => sum + count)).to.be.at.most(KERNEL_BUDGET);
  });

  it('names no feature in the kernel', () => {
    const named = filesBelow(join(ROOT, 'kernel/src')).flatMap((file) => {
      const words = wordsOf(readFileSync(file, 'utf8'));
      return [...words.matchAll(DOMAIN)].map(([word]) => `${relativePath(file)}: ${word}`);
    });
    expect(named).to.deep.equal([]);
    expect(wordsOf('jobChanged: Change<Job>; run_id').match(DOMAIN)).to.deep.equal(['job', 'job', 'run id']);
  });

  it('has no circle of imports of more than two files', () => {
    const graph = new Map(sources.map(({ file, imports }) => [file, targetsOf(file, imports)]));
    expect(
      circlesOf(graph)
        .filter((files) => files.length > 2)
        .map(toNames),
    ).to.deep.equal([]);
  });

  it('has no circle of imports between the folders of a package', () => {
    const graph = new Map<string, Set<string>>();
    for (const { file, imports } of sources) {
      const from = dirname(file);
      const targets = targetsOf(file, imports).map((target) => dirname(target));
      graph.set(from, new Set([...(graph.get(from) ?? []), ...targets.filter((to) => to !== from)]));
    }
    // The files beside the folders put them together, and share what is small.
    for (const folder of graph.keys()) if (folder.endsWith(`${sep}src`)) graph.delete(folder);
    expect(circlesOf(graph).map(toNames)).to.deep.equal([]);
  });

  const allowed: [string, RegExp, RegExp][] = [
    ['the contract nothing of ours', /^contract\//, /^$/],
    ['the validation the contract', /^validation\//, /^contract$/],
    ['the hooks the validation', /^hooks\//, /^validation(\/did-you-mean)?$/],
    ['HTTP contract, validation and hooks', /^http\//, /^(contract|validation|hooks)$/],
    ['the kernel contract, validation, hooks and HTTP', /^kernel\//, /^(contract|validation|hooks|http)$/],
    ['the agent contract and hooks', /^agent\//, /^(contract(\/protocol)?|hooks)$/],
    ['the signals the contract', /^signals\//, /^contract(\/protocol)?$/],
    ['the client the contract', /^client\//, /^contract(\/protocol)?$/],
    ['the console contract, client and signals', /^ui\//, /^(contract(\/protocol)?|client|signals)$/],
    ['the SDK contract and client', /^sdk\//, /^(contract(\/protocol)?|client(\/find-connection)?)$/],
    [
      'the command line contract, client, kernel, agent and plugins',
      /^cli\//,
      /^(contract(\/protocol)?|client(\/(find-connection|local-server|profiles))?|kernel|agent(\/command-remedy)?|plugin-[\w-]+(\/agent)?|plugin-snapshots\/hashing|plugin-event-files\/reader|plugin-mcp\/adapter)$/,
    ],
    [
      'server halves contract, kernel, signals and other plugins',
      /^plugins\/(?!mcp\/)[\w-]+\/src\/(?!agent)/,
      /^(contract|kernel|signals|plugin-[\w-]+)$/,
    ],
    ['the MCP plugin the kernel', /^plugins\/mcp\/src\/index\.ts$/, /^kernel$/],
    [
      'the MCP adapter contract, client and what checks requests, and no part of the server',
      /^plugins\/mcp\/src\/(?!index\.ts$)/,
      /^(contract|client|signals|validation|http\/origin)$/,
    ],
    [
      'agent halves contract and agent',
      /^plugins\/[\w-]+\/src\/agent/,
      /^(contract(\/protocol)?|agent(\/[\w-]+)?)$/,
    ],
  ];
  for (const [what, where, ours] of allowed) {
    it(`lets ${what} import`, () => {
      const wrong = sources
        .filter(({ file }) => where.test(relativePath(file)))
        .flatMap(({ file, imports }) =>
          imports
            .filter(
              ({ specifier }) => specifier.startsWith('@svc/') && !ours.test(specifier.slice('@svc/'.length)),
            )
            .map(({ specifier }) => `${relativePath(file)} imports ${specifier}`),
        );
      expect(wrong).to.deep.equal([]);
    });
  }

  it('lets a plugin reach another by service references, hooks and types alone', () => {
    const isShared = (specifier: string, name: string) =>
      name.endsWith('Ref') || hooksOf(specifier.slice('@svc/plugin-'.length)).includes(name);
    const wrong = sources
      .filter(({ folder }) => folder.startsWith('plugins/'))
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ specifier, isType }) => specifier.startsWith('@svc/plugin-') && !isType)
          .flatMap(({ specifier, names }) =>
            names.filter((name) => !isShared(specifier, name)).map((name) => `${specifier}: ${name}`),
          )
          .map((found) => `${relativePath(file)} imports from ${found}`),
      );
    expect(wrong).to.deep.equal([]);
  });

  it('keeps relative imports within their package', () => {
    const wrong = sources.flatMap(({ folder, file, imports }) =>
      imports
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => resolve(dirname(file), specifier))
        .filter((target) => !target.startsWith(join(ROOT, folder) + sep))
        // The agent's plugin list is part of the program that runs it.
        .filter((target) => target !== join(ROOT, 'svc.agent.config.js'))
        .map((target) => `${relativePath(file)} imports ${relativePath(target)}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('names in package.json what a package imports', () => {
    const inTesting = [...PACKAGES, ...foldersOf('plugins')].flatMap((folder) =>
      filesBelow(join(ROOT, folder, 'testing')).map((file) => ({ folder, file, imports: importsOf(file) })),
    );
    const wrong = [...sources, ...inTesting].flatMap(({ folder, file, imports }) =>
      imports
        .filter(({ isType }) => !isType)
        .flatMap(({ specifier }) => /^(@[\w-]+\/)?[\w.-]+(?=\/|$)/.exec(specifier)?.[0] ?? [])
        .filter((name) => !name.startsWith('.') && !dependenciesOf(folder).includes(name))
        .map((name) => `${relativePath(file)} imports ${name}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('keeps processes and containers out of server halves, and kernel and database out of agent halves', () => {
    const isAgentHalf = ({ file }: { file: string }) =>
      /^(agent|plugins\/[\w-]+)\/src\/agent/.test(relativePath(file));
    const isServerHalf = ({ folder, file }: { folder: string; file: string }) =>
      ['validation', 'hooks', 'http', 'kernel'].includes(folder) ||
      // The MCP adapter is a process that its plugin starts.
      (folder.startsWith('plugins/') && folder !== 'plugins/mcp' && !isAgentHalf({ file }));
    expect(reachedFrom(sources.filter(isServerHalf), /^(node:)?child_process$|^dockerode$/)).to.deep.equal(
      [],
    );
    const ofAgent = sources.filter((source) => source.folder === 'agent' || isAgentHalf(source));
    expect(reachedFrom(ofAgent, /^@svc\/kernel|^knex$|^better-sqlite3$|^pg$/)).to.deep.equal([]);
  });

  it('keeps the schemas, 15 MB of memory, out of the agent: it imports the types of the contract alone', () => {
    expect(
      reachedFrom(
        sources.filter(({ folder }) => folder === 'agent'),
        /^@svc\/contract$|^typebox/,
      ),
    ).to.deep.equal([]);
  });

  it('keeps schemas and all that a browser lacks out of client, console and signals', () => {
    const OF_NODE = ['find-connection', 'local-server', 'profiles'].map((name) => `client/src/${name}.ts`);
    const inBrowsers = sources.filter(
      ({ folder, file }) =>
        ['client', 'ui', 'signals'].includes(folder) && !OF_NODE.includes(relativePath(file)),
    );
    expect(reachedFrom(inBrowsers, /^@svc\/contract$|^typebox|^node:/)).to.deep.equal([]);
  });

  it('has one importer of the MCP SDK', () => {
    const importers = sources.filter(({ imports }) =>
      imports.some(({ specifier }) => specifier.startsWith('@modelcontextprotocol/')),
    );
    expect([...new Set(importers.map(({ folder }) => folder))]).to.deep.equal(['plugins/mcp']);
  });

  it('has one importer of the stream class with its defects', () => {
    const importers = sources.filter(({ imports }) =>
      imports.some(({ specifier }) => specifier.startsWith('koa-sse-stream')),
    );
    expect(importers.map(({ file }) => relativePath(file))).to.deep.equal(['http/src/sse.ts']);
  });
});

/** What is installed with a package; the console is built, and brings all along that it is made of. */
function dependenciesOf(folder: string): string[] {
  const text = readFileSync(join(ROOT, folder, 'package.json'), 'utf8');
  const { dependencies, peerDependencies, devDependencies } = JSON.parse(text) as Record<string, object>;
  return Object.keys({ ...dependencies, ...peerDependencies, ...(folder === 'ui' && devDependencies) });
}

/** The files of the package that a file imports. */
function targetsOf(file: string, imports: readonly Import[]): string[] {
  const own = imports.filter(({ specifier }) => specifier.startsWith('.'));
  return own.map(({ specifier }) => resolve(dirname(file), specifier).replace(/\.js$/, '.ts'));
}

const toNames = (paths: readonly string[]) => paths.map(relativePath).sort();

/** Those that reach each other, two or more at a time (Tarjan). */
function circlesOf(graph: ReadonlyMap<string, Iterable<string>>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (name: string): void => {
    order.set(name, order.size);
    lowest.set(name, order.get(name)!);
    open.push(name);
    for (const target of graph.get(name) ?? []) {
      if (!graph.has(target)) continue;
      if (!order.has(target)) visit(target);
      if (open.includes(target)) lowest.set(name, Math.min(lowest.get(name)!, lowest.get(target)!));
    }
    if (lowest.get(name) !== order.get(name)) return;
    const circle = open.splice(open.indexOf(name));
    if (circle.length > 1) circles.push(circle);
  };
  for (const name of graph.keys()) if (!order.has(name)) visit(name);
  return circles;
}

/** The words of the domain. The verb to run is none, nor is Node.js. */
const DOMAIN =
  /\b(jobs?|run ids?|run (changed|records?|status)|nodes?|metrics?|checkpoints?|attempts?|slots?|gpus?|experiments?|projects?|epochs?|training|evaluations?|log lines?|heartbeats?)\b/g;

/** Names taken apart: `jobChanged` and `job_changed` are `job changed`. */
function wordsOf(text: string): string {
  const plain = text.replace(/'node:[\w/]+'|\bNode\b/g, '');
  return plain
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
}

/** What a plugin exports from its `hooks.ts`. */
function hooksOf(plugin: string): string[] {
  const file = join(ROOT, 'plugins', plugin, 'src/hooks.ts');
  if (!existsSync(file)) return [];
  return [...readFileSync(file, 'utf8').matchAll(/^export const (\w+)/gm)].map(([, name = '']) => name);
}

/** Who imports such a module as a value, itself or through its own files. */
function reachedFrom(from: readonly { file: string }[], forbidden: RegExp): string[] {
  const wrong: string[] = [];
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file) || !existsSync(file)) return;
    seen.add(file);
    for (const { specifier, isType } of importsOf(file)) {
      if (isType) continue;
      if (forbidden.test(specifier)) wrong.push(`${relativePath(file)} imports ${specifier}`);
      if (specifier.startsWith('.')) visit(resolve(dirname(file), specifier).replace(/\.js$/, '.ts'));
    }
  };
  for (const { file } of from) visit(file);
  return wrong;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(file, 'utf8');
  const statements = [
    ...text.matchAll(/^\s*(?:import|export)\s+(type\s+)?([^;'"]*?)\s*from\s+['"]([^'"]+)['"]/gm),
  ];
  const others = [...text.matchAll(/\bimport\s*\(?\s*['"]([^'"]+)['"]/g)];
  return [
    ...statements.map(([, isType, clause = '', specifier = '']) => {
      const names = clause
        .replace(/[{}]/g, '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean);
      const values = names.filter((name) => !name.startsWith('type '));
      return {
        specifier,
        isType: Boolean(isType) || values.length === 0,
        names: values.map((name) => name.split(' as ')[0]!),
      };
    }),
    ...others.map(([, specifier = '']) => ({ specifier, isType: false, names: ['*'] })),
  ];
}

function countCode(text: string): number {
  const withoutImports = text.replace(/^import\s[^;]*;$/gm, '');
  return withoutImports.split('\n').filter((line) => line.trim() !== '' && !/^\s*(\/\/|\/\*|\*)/.test(line))
    .length;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /(?<!\.d)\.ts$/.test(file),
  );
  return files.map((file) => join(folder, file));
}

function foldersOf(parent: string): string[] {
  return readdirSync(join(ROOT, parent)).map((name) => join(parent, name));
}

function relativePath(file: string): string {
  return relative(ROOT, file).split(sep).join('/');
}
