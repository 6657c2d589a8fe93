import type { RouteSpec } from '@svc/contract';
import { compileCheck } from '@svc/validation';

export type AnswerCheck = (method: string, path: string, status: number, body: unknown) => void;

/** Throws when a 2xx answer is not what the data of its route promises. */
export function createAnswerCheck(specs: readonly RouteSpec[]): AnswerCheck {
  const routes = specs.map((spec) => ({ spec, pattern: toPattern(spec.path) }));
  // The longer pattern is the more literal one: `/runs/compare` is not `/runs/{run_id}`.
  routes.sort((a, b) => countLiteral(b.spec) - countLiteral(a.spec));
  return (method, path, status, body) => {
    const { pathname } = new URL(path, 'http://localhost');
    const route = routes.find(({ spec, pattern }) => spec.method === method && pattern.test(pathname));
    if (!route?.spec.answers || status >= 300) return;
    const schema = route.spec.answers[status];
    if (!schema) throw new Error(`${route.spec.id} answers ${status}, which its route does not list`);
    const [issue] = compileCheck(schema, 'leave')(body);
    if (issue) throw new Error(`${route.spec.id} answers ${status} with ${issue.path}: ${issue.message}`);
  };
}

function toPattern(path: string): RegExp {
  const parts = path.split(/(\{[^}]*\})/).map((part) => {
    if (!part.startsWith('{')) return part.replace(/[.:]/g, '\\$&');
    return part.endsWith(':path}') ? '.+' : '[^/]+';
  });
  return new RegExp(`^${parts.join('')}$`);
}

function countLiteral({ path }: RouteSpec): number {
  return path.replace(/\{[^}]*\}/g, '').length;
}
