import { toId, type Hello } from '@svc/contract';
import type { Db } from '@svc/kernel';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { toHelloColumns, type NodeRow } from './node-row.js';
import { getRow } from './node-store.js';
import { reconcileSlots } from './slot-store.js';

/** Why a hello is refused; the agent gets code and message in a `refused` frame. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Enrolment {
  readonly id: string;
  /** Sent to the agent in the welcome. */
  readonly secret: string;
  /** The agent has not shown yet that it kept the secret. */
  readonly unconfirmed: boolean;
  readonly rebooted: boolean;
}

/**
 * Stores a hello. The answer to a node's first hello contains a secret, which authenticates the node from then on; only its SHA-256 is
 * stored. Until the agent has sent a frame after the welcome, a hello without a secret gets a new one: otherwise an agent that stops before
 * it has stored the secret would be locked out for good.
 */
export async function enrol(db: Db, hello: Hello, at: number): Promise<Enrolment> {
  const id = toId('node', hello.node_id);
  if (id === null)
    throw new Refusal('node_id', `"${hello.node_id}" is no node id: it must be node_ and a ULID`);
  return db.transaction(async (trx) => {
    const known = await getRow(trx, id);
    if (known) checkSecret(known, hello.node_secret);
    const isNew = !known || hello.node_secret === null;
    const secret = isNew ? randomBytes(32).toString('base64url') : hello.node_secret;
    const columns = {
      ...toHelloColumns(hello),
      online: true,
      offline_at: null,
      connected_at: at,
      last_heartbeat_at: at,
    };
    if (known) {
      await trx<NodeRow>('nodes')
        .where({ id })
        .update({ ...columns, secret_hash: hash(secret) });
    } else {
      await trx<NodeRow>('nodes').insert({ id, ...columns, secret_hash: hash(secret), created_at: at });
    }
    await reconcileSlots(trx, id, hello.slots);
    const rebooted = known !== null && known.boot_id !== hello.boot_id;
    return { id, secret, unconfirmed: isNew || !known.secret_confirmed, rebooted };
  });
}

function checkSecret(known: NodeRow, secret: string | null): void {
  if (secret === null) {
    if (!known.secret_confirmed) return;
    throw new Refusal(
      'node_secret',
      `${known.id} (${known.name}) is known here and has a secret, which this hello lacks: start the agent on its old state directory, or on a fresh one to become a new node`,
    );
  }
  if (timingSafeEqual(Buffer.from(hash(secret)), Buffer.from(known.secret_hash))) return;
  throw new Refusal(
    'node_secret',
    `the secret is not that of ${known.id} (${known.name}): another agent has this node id`,
  );
}

function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
