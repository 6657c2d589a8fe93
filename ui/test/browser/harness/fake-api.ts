import { routes, type RouteSpec } from '@svc/contract';
import { Value } from 'typebox/value';
import type { FakeAnswer, FakeRequest } from './page-fetch.js';

const BASE = '/api/v1';
const SPECS = Object.values(routes) as unknown as RouteSpec[];

export interface ApiRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** What a route answers: a body, or something else than a 2xx answer. */
type Answer = object | Refusal;
type Handler = (request: ApiRequest) => Answer | Promise<Answer>;
/** By `METHOD /path/{param}`, as the contract has it. */
export type ApiTable = Readonly<Record<string, Handler | Answer>>;

export class Refusal {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly message: string,
    readonly details: object = {},
  ) {}
}

/** The server does not answer at all. */
export const OFFLINE = new Refusal(0, 'network', '');

export class Download {
  constructor(readonly text: string) {}
}

/** Plays the server. What it answers is held against the contract, so that a test shows what the real one could send. */
export class FakeApi {
  /** `METHOD /path?query`, in their order. */
  readonly requests: string[] = [];
  readonly bodies: unknown[] = [];
  /** The keys of those that may be sent twice. */
  readonly keys: string[] = [];
  /** What was wrong with requests and answers; a test that leaves something here fails. */
  readonly mistakes: string[] = [];
  #table: ApiTable = {};

  reset(table: ApiTable): void {
    this.#table = table;
    this.requests.length = this.bodies.length = this.keys.length = this.mistakes.length = 0;
  }

  /** From now on, for these routes. */
  change(table: ApiTable): void {
    this.#table = { ...this.#table, ...table };
  }

  /** How often a route was asked. */
  count(start: string): number {
    return this.requests.filter((request) => request.startsWith(start)).length;
  }

  async answer({ method, path, query, body, key: idempotencyKey }: FakeRequest): Promise<FakeAnswer> {
    const route = path.slice(BASE.length);
    this.requests.push(`${method} ${path.startsWith(BASE) ? route : path}${query}`);
    if (body !== null) this.bodies.push(body);
    if (idempotencyKey !== null) this.keys.push(idempotencyKey);
    if (!path.startsWith(BASE)) return this.#answerFile(`${method} ${path}`);
    const found = find(method, route);
    if (!found) return this.#refuse(`${method} ${route} is no route of the contract`);
    const { spec, params } = found;
    const search = new URLSearchParams(query);
    this.#checkQuery(spec, search);
    const key = `${method} ${spec.path}`;
    const handler = this.#table[key];
    if (handler === undefined) return this.#refuse(`the test has no answer for ${key}`);
    const answer =
      typeof handler === 'function' ? await (handler as Handler)({ params, query: search, body }) : handler;
    return this.#toAnswer(spec, answer);
  }

  /** A file of the console, such as /extensions.json. */
  #answerFile(key: string): FakeAnswer {
    const file = this.#table[key];
    return file === undefined ? this.#refuse(`the test has no answer for ${key}`) : toJson(200, file);
  }

  #toAnswer(spec: RouteSpec, answer: Answer): FakeAnswer {
    if (answer instanceof Refusal) {
      const { status, code, message, details } = answer;
      return toJson(status, { error: { code, message, details, request_id: 'req_test' } });
    }
    if (answer instanceof Download) return { status: 200, contentType: 'text/plain', text: answer.text };
    const [status, schema] = Object.entries(spec.answers ?? {})[0] ?? ['200', undefined];
    if (schema && !Value.Check(schema, answer)) {
      const [first] = Value.Errors(schema, answer);
      this.mistakes.push(`${spec.id} never answers this: ${JSON.stringify(first)}`);
    }
    return toJson(Number(status), answer);
  }

  #checkQuery({ id, query }: RouteSpec, search: URLSearchParams): void {
    const known = Object.keys((query as { properties?: object } | undefined)?.properties ?? {});
    for (const name of search.keys()) {
      if (!known.includes(name)) this.mistakes.push(`${id} takes no ?${name}=`);
    }
  }

  #refuse(mistake: string): FakeAnswer {
    this.mistakes.push(mistake);
    return toJson(404, {
      error: { code: 'not_found', message: mistake, details: {}, request_id: 'req_test' },
    });
  }
}

function toJson(status: number, body: unknown): FakeAnswer {
  return { status, contentType: 'application/json', text: JSON.stringify(body) };
}

/** The most literal route that fits. */
function find(method: string, path: string): { spec: RouteSpec; params: Record<string, string> } | null {
  const fitting = SPECS.filter((spec) => spec.method === method).flatMap((spec) => {
    const names = [...spec.path.matchAll(/\{(\w+)(?::path)?\}/g)].map(([, name]) => name!);
    const pattern = spec.path.replace(/\{\w+:path\}/g, '(.+)').replace(/\{\w+\}/g, '([^/]+)');
    const match = new RegExp(`^${pattern}$`).exec(path);
    if (!match) return [];
    const params = Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(match[at + 1]!)]));
    return [{ spec, params }];
  });
  return fitting.sort((a, b) => Object.keys(a.params).length - Object.keys(b.params).length)[0] ?? null;
}
