import type { Client } from '@svc/client';
import { routes } from '@svc/contract';

/** The names of the nodes of these records, by id; asks the server only when one has a node. */
export async function readNodeNames(
  client: Client,
  records: readonly { readonly node_id: string | null }[],
): Promise<ReadonlyMap<string, string>> {
  if (records.every(({ node_id }) => node_id === null)) return new Map();
  const { items } = await client.call(routes.listNodes, { query: { limit: 1000 } });
  return new Map(items.map(({ id, name }) => [id, name]));
}
