import { MIB, SCOPES, sizeText, type RouteSpec } from '@svc/contract';
import { expect } from 'chai';
import { toPath } from '@svc/client';
import { ALL_ROUTES } from '../contract-routes.js';
import { HOSTILE_QUERIES, HOSTILE_SEGMENTS, hostileBodies } from '../hostile-bodies.js';
import { hostileUploads } from '../hostile-uploads.js';
import type { Lab } from '../lab.js';
import type { Row } from '../row.js';
import { faultOf, type Sent } from '../send.js';

/** Where a body is hostile: a field of the route, and a list of it. Left out: it takes neither. */
const FIELDS: Readonly<Record<string, { readonly field: string; readonly list?: string }>> = {
  'tokens.create': { field: 'name' },
  'auth.redeemSignInLink': { field: 'code' },
  'projects.create': { field: 'description' },
  'projects.update': { field: 'description' },
  'experiments.create': { field: 'description' },
  'experiments.update': { field: 'description' },
  'jobs.submit': { field: 'env', list: 'command' },
  'runs.create': { field: 'name', list: 'tags' },
  'runs.finish': { field: 'status' },
  'runs.update': { field: 'notes', list: 'tags' },
  'metrics.batch': { field: 'points', list: 'points' },
  'metrics.query': { field: 'names', list: 'run_ids' },
  'metricDefinitions.put': { field: 'description' },
  'metricDefinitions.define': { field: 'description' },
  'metricDefinitions.update': { field: 'description' },
  'metricDefinitions.setPrimary': { field: 'name' },
  'events.create': { field: 'title' },
  'admin.gc': { field: 'project', list: 'states' },
  'checkpoints.create': { field: 'path' },
  'evaluations.create': { field: 'suite', list: 'command' },
  'detectors.replay': { field: 'settings' },
};

/** One for each route of the contract: a new one comes by itself. */
export const ROUTE_ROWS: readonly Row[] = ALL_ROUTES.map((route) => ({
  input: `${route.method} ${route.path}`,
  who: toWho(route),
  limit: toLimit(route),
  others: 'nothing',
  send: (lab) => sendHostile(route, lab),
  timeoutMs: 300_000,
}));

function toWho({ scope }: RouteSpec): string {
  if (scope === 'none') return 'anyone';
  if (scope === 'any') return 'any token';
  if (scope === 'ingest') return 'run ingest, sdk, write';
  if (scope === 'read-or-agent') return 'read, agent, write';
  return scope === 'write' ? 'write' : `${scope}, write`;
}

function toLimit({ method, body, upload, bodyLimitBytes = MIB }: RouteSpec): string {
  if (method === 'GET') return 'head 16 KiB';
  if (upload)
    return `100 000 files, 2 GiB unpacked; not reached: body ${sizeText(bodyLimitBytes)}, 16 KiB/s over 30 s, 2 inspections at once, 8 uploads at once of a token and 32 in all`;
  return `body ${body ? `${sizeText(bodyLimitBytes)}, 64 levels` : 'empty'}`;
}

/** 429 is a fault too: what it refuses was not looked at. */
async function sendHostile(route: RouteSpec, lab: Lab): Promise<void> {
  for (const { label, sent } of [...hostileRequests(route, lab), ...strangers(route, lab)]) {
    const answer = await lab.sender.send({ ...sent, from: toSender(route) });
    const isFault = answer.status < 400 || answer.status === 429;
    const fault = faultOf(answer) ?? (isFault ? `answered ${answer.status}` : null);
    expect(fault, `${route.id}, ${label}`).to.equal(null);
  }
}

let senders = 0;

/** Signing in is limited by address: there each request comes from an address of its own. */
function toSender({ id }: RouteSpec): string | undefined {
  if (id !== 'auth.redeemSignInLink') return undefined;
  senders += 1;
  return `127.1.${senders >> 8}.${senders & 255}`;
}

type Labelled = { readonly label: string; readonly sent: Sent };

function hostileRequests(route: RouteSpec, { ids, tokens }: Lab): Labelled[] {
  const { method, bodyLimitBytes = MIB } = route;
  const path = `/api/v1${toPath(route.path, ids)}`;
  const base = { method, path, token: tokens.write };
  const queries = HOSTILE_QUERIES.map((query) => ({
    label: `?${query.slice(0, 40)}`,
    sent: { ...base, path: `${path}?${query}` },
  }));
  if (method === 'GET' || !takesBody(route)) return [...queries, ...(method === 'GET' ? [] : bodies())];
  return [...queries, ...bodies()];

  function bodies(): Labelled[] {
    const { field = 'no_such', list = field } = FIELDS[route.id] ?? {};
    const hostile = route.upload ? hostileUploads() : hostileBodies(bodyLimitBytes, field, list);
    return hostile.map(({ label, body, headers = {} }) => ({
      label,
      sent: { ...base, body, headers },
    }));
  }
}

const takesBody = ({ body }: RouteSpec): boolean => body !== undefined;

/** Identifiers that are none, and tokens that are no good for this route. */
function strangers(route: RouteSpec, { tokens }: Lab): Labelled[] {
  const { method, scope } = route;
  const names = [...route.path.matchAll(/\{(\w+)(:path)?\}/g)].filter(([, , isPath]) => !isPath);
  const paths = names.length === 0 ? [] : HOSTILE_SEGMENTS;
  const wrongIds = paths.map((segment) => ({
    label: `the identifier ${segment.slice(0, 40)}`,
    sent: {
      method,
      token: tokens.write,
      path: `/api/v1${route.path.replace(/\{\w+\}/, segment).replace(/\{\w+\}/g, 'x')}`,
    },
  }));
  const body = takesBody(route) ? Buffer.alloc(route.bodyLimitBytes ?? MIB, '[') : undefined;
  const held = SCOPES.filter((each) => !isPermitted(each, route)).map((each) => tokens[each]);
  const wrongTokens = scope === 'none' ? [] : ['x'.repeat(8000), 'svc_write_none', ...held];
  return [
    ...wrongIds,
    ...wrongTokens.map((token) => ({
      label: `the token ${token.slice(0, 12)}`,
      sent: { method, token, body, path: `/api/v1${toPath(route.path, {})}` },
    })),
  ];
}

function isPermitted(scope: string, { scope: needed }: RouteSpec): boolean {
  if (needed === 'any' || scope === 'write') return true;
  if (needed === 'read-or-agent') return scope !== 'sdk';
  return scope === (needed === 'ingest' ? 'sdk' : needed);
}

/** Routes that take a body, and whose fields the cases do not know yet. */
export const UNKNOWN_FIELDS: readonly string[] = ALL_ROUTES.filter(
  (route) => takesBody(route) && !Object.hasOwn(FIELDS, route.id),
).map(({ id }) => id);
