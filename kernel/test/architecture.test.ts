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

  const allowed: [string, RegExp, RegExp][] = [
    ['the contract nothing of ours', /^contract\//, /^$/],
    ['the validation the contract', /^validation\//, /^contract$/],
    ['the hooks the validation', /^hooks\//, /^validation(\/did-you-mean)?$/],
    ['HTTP contract, validation and hooks', /^http\//, /^(contract|validation|hooks)$/],
    ['the kernel contract, validation, hooks and HTTP', /^kernel\//, /^(contract|validation|hooks|http)$/],
    ['the agent contract and hooks', /^agent\//, /^(contract(\/protocol)?|hooks)$/],
    ['the signals nothing of ours', /^signals\//, /^$/],
    ['the client the contract', /^client\//, /^contract(\/protocol)?$/],
    ['the console contract and client', /^ui\//, /^(contract(\/protocol)?|client)$/],
    ['the SDK contract and client', /^sdk\//, /^(contract(\/protocol)?|client)$/],
    [
      'the command line contract, client, kernel, agent and plugins',
      /^cli\//,
      /^(contract(\/protocol)?|client|kernel|agent|plugin-[\w-]+(\/agent)?)$/,
    ],
    [
      'server halves contract, kernel, signals and other plugins',
      /^plugins\/[\w-]+\/src\/(?!agent)/,
      /^(contract|kernel|signals|plugin-[\w-]+)$/,
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

  it('lets a plugin reach another by service references and types alone', () => {
    const wrong = sources
      .filter(({ folder }) => folder.startsWith('plugins/'))
      .flatMap(({ file, imports }) =>
        imports
          .filter(({ specifier, isType }) => specifier.startsWith('@svc/plugin-') && !isType)
          .flatMap(({ specifier, names }) =>
            names.filter((name) => !name.endsWith('Ref')).map((name) => `${specifier}: ${name}`),
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

  it('keeps processes and containers out of server halves, and kernel and database out of agent halves', () => {
    const isAgentHalf = ({ file }: { file: string }) =>
      /^(agent|plugins\/[\w-]+)\/src\/agent/.test(relativePath(file));
    const isServerHalf = ({ folder, file }: { folder: string; file: string }) =>
      ['validation', 'hooks', 'http', 'kernel'].includes(folder) ||
      (folder.startsWith('plugins/') && !isAgentHalf({ file }));
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

  it('keeps schemas and all that a browser lacks out of client and console', () => {
    const inBrowsers = sources.filter(({ folder }) => folder === 'client' || folder === 'ui');
    expect(reachedFrom(inBrowsers, /^@svc\/contract$|^typebox|^node:/)).to.deep.equal([]);
  });

  it('has one importer of the stream class with its defects', () => {
    const importers = sources.filter(({ imports }) =>
      imports.some(({ specifier }) => specifier.startsWith('koa-sse-stream')),
    );
    expect(importers.map(({ file }) => relativePath(file))).to.deep.equal(['http/src/sse.ts']);
  });
});

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
