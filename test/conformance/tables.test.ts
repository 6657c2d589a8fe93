import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import type { OwnedTable } from '@svc/kernel';
import { createTestKernel } from '@svc/kernel/testing';
import { expect } from 'chai';
import ts from 'typescript';
import config from '../../svc.config.js';
import { ROOT } from '../support/program.js';

interface Named {
  readonly table: string;
  readonly line: number;
  /** In a foreign key: `references runs (id)`. */
  readonly isReference: boolean;
}

/** Keys whose values are no tables, though some are called the same. */
const NO_TABLES = ['requires', 'uses', 'noun', 'placement'];
const SQL = /\b(from|join|into|update|table|exists|on|references)\s+["`]?(\w+)|["`]?\b(\w+)["`]?\.\w+/gi;

/** Where the text of a source names a table: to knex, as a value of its own, or in SQL. */
function namedIn(source: string): Named[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const found: Named[] = [];
  const note = (node: ts.Node, text: string) => {
    const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
    if (/^\w+$/.test(text)) found.push({ table: text, line, isReference: isArgumentOf(node, 'inTable') });
    for (const [, keyword = '', table, qualifier = ''] of text.matchAll(SQL)) {
      const isReference = keyword.toLowerCase() === 'references' || isArgumentOf(node, 'references');
      found.push({ table: table ?? qualifier, line, isReference });
    }
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isIndexedAccessTypeNode(node))
      return;
    if (ts.isPropertyAssignment(node) && NO_TABLES.includes(node.name.getText())) return;
    if (ts.isStringLiteralLike(node)) note(node, node.text);
    if (ts.isTemplateExpression(node))
      note(
        node,
        [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join(' ? '),
      );
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function isArgumentOf(node: ts.Node, method: string): boolean {
  const { parent } = node;
  return (
    ts.isCallExpression(parent) &&
    ts.isPropertyAccessExpression(parent.expression) &&
    parent.expression.name.text === method
  );
}

/** A directory may have the name of a table. */
const FOLDER = /^export const \w+_FOLDER = .*$/gm;

function sourcesOf(plugin: string): { file: string; named: Named[] }[] {
  const folder = path.join(ROOT, 'plugins', plugin);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /^(src|worker)\/.*\.m?ts$|^worker\/.*\.mjs$/.test(file))
    .map((file) => ({
      file: `plugins/${plugin}/${file}`,
      named: namedIn(readFileSync(path.join(folder, file), 'utf8').replaceAll(FOLDER, '')),
    }));
}

describe('the tables of the product', () => {
  let tables: readonly OwnedTable[];
  /** A kernel for tests refuses a table that nobody owns. */
  before(async () => {
    const kernel = await createTestKernel({ plugins: config.plugins });
    tables = kernel.ctx.registered.tables;
    await kernel.close();
  });

  const ownerOf = (name: string) => tables.find(({ table }) => table === name)?.plugin;

  /** The MCP adapter is another process, without a database: there these words name lists of its answers. */
  const withDatabase = config.plugins.filter(({ name }) => name !== 'mcp');

  it('are named by the plugin that owns them alone, but for foreign keys to plugins that it requires', () => {
    const wrong = withDatabase.flatMap(({ name: plugin, requires }) =>
      sourcesOf(plugin).flatMap(({ file, named }) =>
        named
          .filter(({ table, isReference }) => {
            const owner = ownerOf(table);
            if (owner === undefined || owner === plugin) return false;
            return !(isReference && file.endsWith('/migrations.ts') && requires.includes(owner));
          })
          .map(({ table, line }) => `${file}:${line} names ${table} of ${ownerOf(table)}`),
      ),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('are each found in the sources of their owner', () => {
    for (const { table, plugin } of tables) {
      const named = sourcesOf(plugin).flatMap((source) => source.named);
      expect(named.filter((found) => found.table === table).length, table).to.be.at.least(2);
    }
  });

  for (const source of [
    `db('runs').where({ id })`,
    `this.ctx.db<RunRow>('runs')`,
    `query.leftJoin('runs', 'runs.id', 'events.run_id')`,
    `newestRows(db, { from: 'runs', limit })`,
    `const HELD = ['slots', 'runs'] as const;`,
    'db.raw(`select 1 from runs where id = ?`)',
    'const sql = `insert into ${table} select id from jobs join runs on true`;',
    `const sql = 'UPDATE "runs" SET step = 1';`,
    `query.whereRaw('runs.id = run_tags.run_id')`,
    'const where = `exists (select 1 from runs where id = ${column})`;',
  ])
    it(`are found in ${source}`, () => {
      expect(namedIn(source).map(({ table }) => table)).to.include('runs');
    });
});
