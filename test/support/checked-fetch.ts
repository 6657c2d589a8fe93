import { routes, type RouteSpec } from '@svc/contract';
import { createAnswerCheck } from '@svc/kernel/testing';

/** Those whose answers have `next_actions`. */
const SUGGESTING = (Object.values(routes) as object[]).filter(
  (each): each is RouteSpec => 'answers' in each && hasActions((each as RouteSpec).answers?.[200]),
);
const PATH = new RegExp(
  `^/api/v1(?:${SUGGESTING.map(({ path }) => path.replace(/\{\w+\}/g, '[^/]+')).join('|')})$`,
);
const check = createAnswerCheck(SUGGESTING);

/** `fetch` that refuses next actions whose arguments do not pass the input schema of their tool, as the test kernel does. */
export async function checkedFetch(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { pathname } = new URL(url);
  if (response.ok && PATH.test(pathname))
    check('GET', pathname.replace('/api/v1', ''), response.status, await response.clone().json());
  return response;
}

function hasActions(schema: object = {}): boolean {
  return 'next_actions' in ((schema as { properties?: object }).properties ?? {});
}
