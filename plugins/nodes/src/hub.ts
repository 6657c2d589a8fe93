import { AGENT_PROTOCOL, CLOSE, type Hello, type NodeRecord, type ServerFrame } from '@svc/contract';
import type { Db, PluginContext } from '@svc/kernel';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Channels } from './channels.js';
import { Connections } from './connections.js';
import type { DisconnectNotices } from './disconnect-notices.js';
import { enrol } from './enrol.js';
import { limitFirstFrame } from './first-frame-limit.js';
import { frameReceived, helloReceived, nodeChanged } from './hooks.js';
import { confirmSecret, getNode, setDisconnected, setHeartbeat, setRunners } from './node-store.js';
import { OrderedWork } from './ordered-work.js';
import { reconcileSlots } from './slot-store.js';
import { Session, type NonHelloFrame, type SessionHost } from './session.js';
import { SERVER_VERSION } from './version.js';

/** The heartbeat of a node is written to the database at most this often. */
const HEARTBEAT_STORED_EVERY_MS = 5000;

interface Enrolled {
  readonly before: NodeRecord | null;
  readonly connectedAt: number;
  unconfirmed: boolean;
  heartbeatStoredAt: number;
}

/** All agent connections: accepts hellos, hands received frames on, and sends frames. */
export class AgentHub implements SessionHost {
  readonly connections = new Connections();
  readonly #sessions = new Set<Session>();
  readonly #enrolled = new WeakMap<Session, Enrolled>();
  readonly #hellos = new OrderedWork();

  constructor(
    private readonly ctx: PluginContext,
    private readonly notices: DisconnectNotices,
    private readonly channels: Channels,
    private readonly heartbeatMs: number,
  ) {}

  open(socket: WebSocket, connection: Socket): void {
    const { clock, log } = this.ctx;
    limitFirstFrame(socket, connection);
    this.#sessions.add(new Session(this.connections.nextNumber(), socket, this, clock, log));
  }

  send(nodeId: string, frame: ServerFrame): boolean {
    return this.connections.get(nodeId)?.send(frame) ?? false;
  }

  /** Runs the work while no hello of that node is processed, so that the node cannot become connected. */
  whileNoHello<T>(nodeId: string, work: () => Promise<T>): Promise<T> {
    return this.#hellos.run(nodeId, 1, work);
  }

  welcome(hello: Hello, session: Session): Promise<ServerFrame> {
    return this.#hellos.run(hello.node_id, 1, () => this.#welcome(hello, session));
  }

  async opened(session: Session): Promise<void> {
    const { id, name } = session.node!;
    this.ctx.log.info({ node_id: id, name, connection: session.number }, 'agent connected');
    await this.#fireChanged(id, this.#enrolled.get(session)?.before ?? null);
  }

  async frame(frame: NonHelloFrame, session: Session): Promise<void> {
    const node = session.node!;
    // The hello that replaced this connection has repeated everything that is still to be processed here.
    if (this.connections.isReplaced(node.id, session)) return;
    await this.#noteAlive(session, node.id);
    if (frame.type === 'channel') return void this.send(node.id, await this.channels.take(frame, node));
    if (frame.type === 'runners')
      return session.runners.make((runners) =>
        this.#changeNode(node.id, session, (db) => setRunners(db, node.id, runners)),
      );
    if (frame.type === 'slots')
      return session.slots.make((slots) =>
        this.#changeNode(node.id, session, (db) =>
          db.transaction((trx) => reconcileSlots(trx, node.id, slots)),
        ),
      );
    if (frame.type !== 'heartbeat') await this.ctx.fire(frameReceived[frame.type], frame as never, node);
  }

  async closed(session: Session, reason: string): Promise<void> {
    const { node } = session;
    try {
      const isPresent = node !== null && this.connections.detach(node.id, session);
      if (isPresent && !this.ctx.signal.aborted) await this.#noteDisconnected(session, node, reason);
    } catch (err) {
      this.ctx.log.error({ err, node_id: node?.id }, 'the end of an agent connection could not be stored');
    } finally {
      this.#sessions.delete(session);
    }
  }

  /** Closes every connection; resolves once all received frames have been processed. */
  async close(): Promise<void> {
    for (const session of this.#sessions) session.close(CLOSE.goingAway, 'the server closes');
    await Promise.all([...this.#sessions].map((session) => session.settle()));
  }

  async #welcome(hello: Hello, session: Session): Promise<ServerFrame> {
    const { db, clock } = this.ctx;
    const connectedAt = clock.now();
    const before = await getNode(db, hello.node_id);
    const { id, secret, unconfirmed, rebooted } = await enrol(db, hello, connectedAt);
    session.node = { id, name: hello.name };
    session.slots.begin(hello.slots);
    session.runners.begin(hello.runners);
    this.#enrolled.set(session, { before, connectedAt, unconfirmed, heartbeatStoredAt: connectedAt });
    this.connections
      .attach(id, session)
      ?.close(CLOSE.replaced, 'a newer connection of the same node replaces this one');
    const context = { hello: { ...hello, node_id: id }, connection: session.number, rebooted };
    const parts = await this.ctx.fire(helloReceived, context);
    return {
      type: 'welcome',
      protocol: AGENT_PROTOCOL,
      node_id: id,
      node_secret: secret,
      server_version: SERVER_VERSION,
      heartbeat_ms: this.heartbeatMs,
      verdicts: parts.flatMap(({ verdicts = [] }) => verdicts),
      log_positions: parts.flatMap(({ log_positions = [] }) => log_positions),
      channels: this.channels.names,
    };
  }

  async #noteAlive(session: Session, nodeId: string): Promise<void> {
    const { db, clock } = this.ctx;
    const enrolled = this.#enrolled.get(session)!;
    if (enrolled.unconfirmed) {
      enrolled.unconfirmed = false;
      await confirmSecret(db, nodeId);
    }
    const now = clock.now();
    if (now - enrolled.heartbeatStoredAt < HEARTBEAT_STORED_EVERY_MS) return;
    enrolled.heartbeatStoredAt = now;
    await setHeartbeat(db, nodeId, now);
  }

  /** `nodeChanged` is fired as for every other change, so that the scheduler makes a pass. */
  async #changeNode(nodeId: string, session: Session, change: (db: Db) => Promise<void>): Promise<void> {
    // It may have waited until its turn.
    if (this.connections.isReplaced(nodeId, session)) return;
    const { db } = this.ctx;
    const before = await getNode(db, nodeId);
    await change(db);
    await this.#fireChanged(nodeId, before);
  }

  async #noteDisconnected(
    session: Session,
    node: { id: string; name: string },
    reason: string,
  ): Promise<void> {
    const before = await getNode(this.ctx.db, node.id);
    await setDisconnected(this.ctx.db, node.id, this.#enrolled.get(session)?.connectedAt ?? 0);
    this.ctx.log.warn(
      { node_id: node.id, name: node.name, connection: session.number },
      `agent disconnected: ${reason}`,
    );
    await this.notices.add(node, `The connection ended: ${reason}`);
    await this.#fireChanged(node.id, before);
  }

  async #fireChanged(nodeId: string, before: NodeRecord | null): Promise<void> {
    const after = await getNode(this.ctx.db, nodeId);
    if (after) await this.ctx.fire(nodeChanged, { before, after });
  }
}
