import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { EVENT_TYPES } from '@svc/contract';
import { expect } from 'chai';
import ts from 'typescript';

const PLUGINS = fileURLToPath(new URL('../../plugins', import.meta.url));

/** The titles of the tests of the plugins, each behind the titles of the suites that it is in. */
function titlesOfTests(): string[] {
  const files = readdirSync(PLUGINS, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.test.ts') && !file.includes('node_modules'),
  );
  return files.flatMap((file) => {
    const text = readFileSync(path.join(PLUGINS, file), 'utf8');
    return titlesIn(ts.createSourceFile(file, text, ts.ScriptTarget.Latest), '');
  });
}

function titlesIn(node: ts.Node, suite: string): string[] {
  const titles: string[] = [];
  node.forEachChild((child) => {
    const [kind, title] = titled(child);
    if (kind === 'it') titles.push(`${suite} ${title}`);
    else titles.push(...titlesIn(child, kind === 'describe' ? `${suite} ${title}` : suite));
  });
  return titles;
}

/** Of a call such as `it('title', ...)`: the name of the function and the title, as it is written. */
function titled(node: ts.Node): readonly [kind: string | null, title: string] {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return [null, ''];
  const [title] = node.arguments;
  const isText = title && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title));
  if (!isText) return [null, ''];
  const text = ts.isTemplateExpression(title)
    ? title.head.text + title.templateSpans.map(({ literal }) => literal.text).join('...')
    : title.text;
  return [node.expression.text, text];
}

describe('the types of events against the tests', () => {
  const titles = titlesOfTests();

  for (const type of EVENT_TYPES)
    it(`${type} has a test in which it fires, and one in which it does not`, () => {
      for (const words of ['fires', 'does not fire'])
        expect(titles.filter((title) => title.includes(` ${type} ${words}`))).to.not.deep.equal([], words);
    });
});
