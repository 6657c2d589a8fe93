import { SCOPES, toId, type Scope, type TokenRecord } from '@svc/contract';
import { InvalidArgumentError, type Command } from 'commander';
import { parseDuration, toShownId, toTime } from '../output/format.js';
import { note, print } from '../output/print.js';
import { toTable, type Column } from '../output/table.js';
import { withTokens } from '../tokens/token-store.js';
import { withJson, type JsonOptions } from './connected.js';
import { findIdByPart } from './find-record.js';
import { parseOneOf } from './parse.js';

export function addTokenCommand(program: Command): void {
  const token = program
    .command('token')
    .description('manage tokens, through the server or, while none runs, in its data directory')
    .addHelpText('after', '\nExample:\n  svc token create --name agents --scope agent');

  withJson(token.command('create'))
    .description('create a token and print it; it is not shown again')
    .requiredOption('--name <name>', 'name that says what the token is for')
    .requiredOption('--scope <scope>', `what the token may do: ${SCOPES.join(', ')}`, parseOneOf(SCOPES))
    .option(
      '--expires <time>',
      'time after which the token expires, such as 12h or 30d (default: never)',
      parseLifetime,
    )
    .addHelpText('after', '\nExample:\n  svc token create --name agents --scope agent --expires 365d')
    .action(createToken);

  withJson(token.command('list'))
    .description('list tokens, without their secrets')
    .addHelpText('after', '\nExample:\n  svc token list --json')
    .action(listTokens);

  withJson(token.command('revoke'))
    .description('revoke a token, which is then refused at once')
    .argument('<id>', 'id of a token, or the beginning or end of one')
    .addHelpText('after', '\nExample:\n  svc token revoke X8R2QF')
    .action(revokeToken);
}

interface CreateOptions extends JsonOptions {
  readonly name: string;
  readonly scope: Scope;
  readonly expires?: number;
}

async function createToken({ name, scope, expires, ...options }: CreateOptions): Promise<void> {
  const expires_at = expires === undefined ? null : Date.now() + expires;
  const created = await withTokens(options, (tokens) => tokens.create({ name, scope, expires_at }));
  print(created, options.json, ({ token }) => [token]);
  if (!options.json) note('store this token: it is not shown again');
}

async function listTokens(options: JsonOptions): Promise<void> {
  const items = await withTokens(options, (tokens) => tokens.list());
  print({ items }, options.json, (_list, paint) =>
    items.length > 0 ? toTable(COLUMNS, items, paint) : ['no tokens'],
  );
}

const COLUMNS: readonly Column<TokenRecord>[] = [
  { title: 'ID', cell: (token) => toShownId(token.id) },
  { title: 'NAME', cell: (token) => token.name, shrinks: true },
  { title: 'SCOPE', cell: (token) => token.scope },
  { title: 'CREATED', cell: (token) => toTime(token.created_at), optional: true },
  { title: 'LAST USED', cell: (token) => toTime(token.last_used_at), optional: true },
  { title: 'ENDS', cell: toEnd, style: (token) => (token.revoked_at === null ? null : 'red') },
];

function toEnd({ expires_at, revoked_at }: TokenRecord): string {
  if (revoked_at !== null) return `revoked ${toTime(revoked_at)}`;
  return expires_at === null ? 'never' : toTime(expires_at);
}

async function revokeToken(reference: string, options: JsonOptions): Promise<void> {
  const revoked = await withTokens(options, async (tokens) =>
    tokens.revoke(toId('token', reference) ?? findIdByPart('token', reference, await tokens.list())),
  );
  print(revoked, options.json, ({ name }) => [`${revoked.id} (${name}) revoked`]);
}

function parseLifetime(text: string): number {
  const ms = parseDuration(text);
  if (ms === null || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 90s, 15m, 12h or 30d.');
  return ms;
}
