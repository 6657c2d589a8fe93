import type { NodeMetricsFrame } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { insertChunk, newestStored, storedTimes } from './chunk-store.js';
import { samplesReceived } from './hooks.js';
import { NodeBuffer } from './node-buffer.js';
import { toMinute } from './rollup.js';
import { pickSamples } from './samples.js';

const WRITE_EVERY_MS = 10_000;
/** The approximate length of a chunk. */
const CHUNK_MS = 5 * 60_000;
/** Chunks per transaction: other requests can use the database in between. */
const CHUNKS_PER_WRITE = 20;

/** Buffers the frames of agents and writes them in chunks of some minutes. */
export class NodeMetricsIntake {
  readonly #buffers = new Map<string, NodeBuffer>();
  /** Nodes whose full minutes are written at the next write, whatever their age. */
  readonly #urgent = new Set<string>();
  #writing: Promise<void> | null = null;

  constructor(
    private readonly ctx: PluginContext,
    private readonly nodes: Nodes,
  ) {}

  start(): void {
    const timer = this.ctx.clock.setInterval(() => void this.write(CHUNK_MS), WRITE_EVERY_MS);
    this.ctx.onClose(async () => {
      timer.clear();
      await this.#writing;
      await this.write(0);
    });
  }

  buffer(nodeId: string): NodeBuffer | null {
    return this.#buffers.get(nodeId) ?? null;
  }

  /** Drops the buffer of a removed node, whose samples could not be stored. */
  forget(nodeId: string): void {
    this.#buffers.delete(nodeId);
  }

  async frame(frame: NodeMetricsFrame, { id }: AgentNode): Promise<void> {
    const isSound = Object.values(frame.values).every(({ length }) => length === frame.ts.length);
    if (!isSound)
      return this.ctx.log.warn({ node_id: id }, 'node metrics with columns of unequal length were ignored');
    if (frame.late === true) return this.#late(frame, id);
    const buffer = this.#buffers.get(id) ?? new NodeBuffer(await newestStored(this.ctx.db, id));
    this.#buffers.set(id, buffer);
    const fresh = buffer.add(frame, this.ctx.clock.now());
    if (fresh.ts.length > 0) void this.ctx.fire(samplesReceived, { node_id: id, ...fresh });
    // Everything in the frame was stored before: acknowledge it at once.
    if (buffer.waitingSince === null) this.#acknowledge(id, frame.ts.at(-1) as number);
  }

  /** Stores what a node measured while it was disconnected. Without an acknowledgement the agent retries later. */
  async #late(frame: NodeMetricsFrame, nodeId: string): Promise<void> {
    try {
      if (this.#holdsAny(frame, nodeId)) await this.#writeNow(nodeId);
      await this.#storeMissing(frame, nodeId);
      if (this.#holdsAny(frame, nodeId)) return;
    } catch (err) {
      return this.ctx.log.error({ err, node_id: nodeId }, 'late node metrics cannot be stored now');
    }
    this.nodes.send(nodeId, { type: 'node_metrics_ack', ts: frame.ts.at(-1) as number, late: true });
  }

  /** Whether the buffer has some of these samples, which are not stored yet. */
  #holdsAny({ ts }: NodeMetricsFrame, nodeId: string): boolean {
    const held = new Set(this.buffer(nodeId)?.samples.ts);
    return ts.some((at) => held.has(at));
  }

  async #writeNow(nodeId: string): Promise<void> {
    this.#urgent.add(nodeId);
    await this.write(CHUNK_MS);
    this.#urgent.delete(nodeId);
  }

  /**
   * Must hold: the buffer is read first, then raw chunks, then minute means, as samples move in that order. Samples of a minute that has its
   * mean are ignored.
   */
  async #storeMissing(frame: NodeMetricsFrame, nodeId: string): Promise<void> {
    const [from, to] = [frame.ts[0] as number, frame.ts.at(-1) as number];
    const held = new Set(this.buffer(nodeId)?.samples.ts);
    const stored = await storedTimes(this.ctx.db, nodeId, 'raw', from, to);
    const means = await storedTimes(this.ctx.db, nodeId, 'minute', toMinute(from), to);
    const late = new NodeBuffer(null);
    late.add(frame, this.ctx.clock.now());
    const isMissing = (at: number) => !held.has(at) && !stored.has(at) && !means.has(toMinute(at));
    const samples = pickSamples(late.samples, isMissing);
    if (samples.ts.length > 0) await insertChunk(this.ctx.db, nodeId, 'raw', samples);
  }

  /** Writes what has waited for this long; 0: everything. What cannot be written stays in the buffer and is retried. */
  write(waitedMs: number): Promise<void> {
    return (this.#writing ??= this.#write(waitedMs)
      .catch((err: unknown) =>
        this.ctx.log.error({ err }, 'node metrics cannot be stored; they are kept and tried again'),
      )
      .finally(() => (this.#writing = null)));
  }

  async #write(waitedMs: number): Promise<void> {
    const due = [...this.#buffers].filter(
      ([id, buffer]) => this.#urgent.has(id) || this.#isDue(buffer, waitedMs),
    );
    for (let first = 0; first < due.length; first += CHUNKS_PER_WRITE)
      await this.#writeChunks(due.slice(first, first + CHUNKS_PER_WRITE), waitedMs === 0);
  }

  #isDue({ waitingSince }: NodeBuffer, waitedMs: number): boolean {
    return waitingSince !== null && this.ctx.clock.now() - waitingSince >= waitedMs;
  }

  async #writeChunks(due: readonly [string, NodeBuffer][], all: boolean): Promise<void> {
    const parts = due.map(([id, buffer]) => ({ id, buffer, samples: buffer.full(all) }));
    const filled = parts.filter(({ samples }) => samples.ts.length > 0);
    await this.ctx.db.transaction(async (trx) => {
      for (const { id, samples } of filled) await insertChunk(trx, id, 'raw', samples);
    });
    for (const { id, buffer, samples } of filled) {
      buffer.drop(samples.ts.length, this.ctx.clock.now());
      this.#acknowledge(id, samples.ts.at(-1) as number);
    }
  }

  #acknowledge(nodeId: string, ts: number): void {
    this.nodes.send(nodeId, { type: 'node_metrics_ack', ts });
  }
}
