import type { Client } from '@svc/client';
import { routes } from '@svc/contract';

/** A new link that signs a browser in to the console of this server, once. */
export async function createSignInLink(client: Client): Promise<string> {
  const { code } = await client.call(routes.createSignInLink);
  return `${client.connection.url}/#signin=${code}`;
}
