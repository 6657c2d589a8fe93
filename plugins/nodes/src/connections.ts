import type { ServerFrame } from '@svc/contract';

/** An agent's connection, from its accepted hello on. */
export interface Connection {
  /** Rises with each connection of this server. */
  readonly number: number;
  /** Its welcome has been sent, and neither side has begun to close it: a peer that stands still may take its time over that. */
  readonly isOpen: boolean;
  /** When the agent was last heard of, in ms. */
  readonly lastSeenAt: number;
  /** Frames handed over before the welcome follow it. False: it is being closed, and takes none any more. */
  send(frame: ServerFrame): boolean;
  close(code: number, reason: string): void;
  /** For a peer that does not listen any more. */
  cut(reason: string): void;
}

/** The one present connection of each node: a newer one replaces the older. */
export class Connections {
  readonly #byNode = new Map<string, Connection>();
  #last = 0;

  nextNumber(): number {
    return ++this.#last;
  }

  get(nodeId: string): Connection | undefined {
    return this.#byNode.get(nodeId);
  }

  /** Makes it the node's connection and gives back the one that it replaces. */
  attach(nodeId: string, connection: Connection): Connection | undefined {
    const older = this.#byNode.get(nodeId);
    this.#byNode.set(nodeId, connection);
    return older;
  }

  isReplaced(nodeId: string, connection: Connection): boolean {
    const present = this.#byNode.get(nodeId);
    return present !== undefined && present !== connection;
  }

  /** False when another has replaced it. */
  detach(nodeId: string, connection: Connection): boolean {
    return this.#byNode.get(nodeId) === connection && this.#byNode.delete(nodeId);
  }
}
