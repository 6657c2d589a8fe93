import type { ServerFrame } from '@svc/contract';

/** The connection of an agent whose hello was accepted. */
export interface Connection {
  /** Rises with each connection of this server. */
  readonly number: number;
  /** Its welcome has been sent, and neither side has begun to close it. A peer that hangs may delay the end of a close. */
  readonly isOpen: boolean;
  /** When the last frame came, in ms. */
  readonly lastSeenAt: number;
  /** Frames before the welcome are sent after it. False when the connection is being closed. */
  send(frame: ServerFrame): boolean;
  close(code: number, reason: string): void;
  /** Ends the connection without waiting for the peer, which no longer answers. */
  terminate(reason: string): void;
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

  /** Makes it the node's connection and returns the one that it replaces. */
  attach(nodeId: string, connection: Connection): Connection | undefined {
    const older = this.#byNode.get(nodeId);
    this.#byNode.set(nodeId, connection);
    return older;
  }

  isReplaced(nodeId: string, connection: Connection): boolean {
    const present = this.#byNode.get(nodeId);
    return present !== undefined && present !== connection;
  }

  /** False when another connection has replaced it. */
  detach(nodeId: string, connection: Connection): boolean {
    return this.#byNode.get(nodeId) === connection && this.#byNode.delete(nodeId);
  }
}
