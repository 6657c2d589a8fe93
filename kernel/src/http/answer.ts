import type { RouteSpec } from '@svc/contract';
import { compileCheck } from '../validation.js';

/** Throws when an answer is not what the route's data promises. For tests: it costs a round through JSON. */
export function compileAnswerCheck({
  id,
  answers = {},
}: RouteSpec): (reply: { status: number; body: unknown }) => void {
  const checks = new Map(
    Object.entries(answers).map(([status, schema]) => [Number(status), compileCheck(schema, 'leave')]),
  );
  return ({ status, body }) => {
    const check = checks.get(status);
    if (!check) throw new Error(`${id} answers ${status}, which its route does not list`);
    const [issue] = check(JSON.parse(JSON.stringify(body)));
    if (issue) throw new Error(`${id} answers ${status} with ${issue.path}: ${issue.message}`);
  };
}
