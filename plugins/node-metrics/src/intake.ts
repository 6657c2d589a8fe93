import type { NodeMetricsFrame } from '@svc/contract';
import type { PluginContext } from '@svc/kernel';
import type { AgentNode, Nodes } from '@svc/plugin-nodes';
import { insertChunk, newestStored } from './chunk-store.js';
import { NodeBuffer } from './node-buffer.js';

const WRITE_EVERY_MS = 10_000;
/** A chunk holds about so much. */
const CHUNK_MS = 5 * 60_000;
/** Chunks written in one transaction: others get at the database in between. */
const CHUNKS_PER_WRITE = 20;

/** Takes the frames of agents and writes them in chunks of some minutes. */
export class NodeMetricsIntake {
  readonly #buffers = new Map<string, NodeBuffer>();
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

  async frame(frame: NodeMetricsFrame, { id }: AgentNode): Promise<void> {
    const isSound = Object.values(frame.values).every(({ length }) => length === frame.ts.length);
    if (!isSound)
      return this.ctx.log.warn({ node_id: id }, 'node metrics with columns of unequal length were ignored');
    const buffer = this.#buffers.get(id) ?? new NodeBuffer(await newestStored(this.ctx.db, id));
    this.#buffers.set(id, buffer);
    buffer.add(frame, this.ctx.clock.now());
    // What came again and is stored already waits for nothing.
    if (buffer.waitingSince === null) this.#acknowledge(id, frame.ts.at(-1) as number);
  }

  /** Writes what has waited for so long; 0: everything. What cannot be written stays and is tried again. */
  write(waitedMs: number): Promise<void> {
    return (this.#writing ??= this.#write(waitedMs)
      .catch((err: unknown) =>
        this.ctx.log.error({ err }, 'node metrics cannot be stored; they are kept and tried again'),
      )
      .finally(() => (this.#writing = null)));
  }

  async #write(waitedMs: number): Promise<void> {
    const due = [...this.#buffers].filter(([, buffer]) => this.#isDue(buffer, waitedMs));
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
