import type { AgentFrame, NodeRecord } from '@svc/contract';
import { definePlugin, type Change, type Plugin } from '@svc/kernel';
import { nodesRef, type AgentNode, type HelloListener } from '../../src/index.js';

export interface FrameProbe {
  readonly plugin: Plugin;
  readonly frames: { frame: AgentFrame; from: AgentNode }[];
  readonly changes: Change<NodeRecord>[];
  /** What the listener does with the next frames, after noting them. */
  hold: (() => Promise<void>) | null;
  onHello: HelloListener | null;
}

/** A plugin that listens to everything the nodes plugin tells. */
export function frameProbe(): FrameProbe {
  const probe: Omit<FrameProbe, 'plugin'> = { frames: [], changes: [], hold: null, onHello: null };
  const plugin = definePlugin({
    name: 'frame-probe',
    requires: ['nodes'],
    setup(ctx) {
      const nodes = ctx.use(nodesRef);
      const note = async (frame: AgentFrame, from: AgentNode) => {
        probe.frames.push({ frame, from });
        await probe.hold?.();
      };
      nodes.onFrame('accepted', note);
      nodes.onFrame('attempt', note);
      nodes.onHello((context) => probe.onHello?.(context) ?? Promise.resolve({}));
      ctx.hooks.nodeChanged.tap(ctx.name, (change) => void probe.changes.push(change));
    },
  })();
  return Object.assign(probe, { plugin });
}
