import type { AgentFrame, NodeRecord } from '@svc/contract';
import { definePlugin, type Change, type Plugin } from '@svc/kernel';
import {
  frameReceived,
  helloReceived,
  nodeChanged,
  type AgentNode,
  type HelloContext,
  type WelcomePart,
} from '../../src/index.js';

export interface FrameProbe {
  readonly plugin: Plugin;
  readonly frames: { frame: AgentFrame; from: AgentNode }[];
  readonly changes: Change<NodeRecord>[];
  /** What the listener does with the next frames, after noting them. */
  hold: (() => Promise<void>) | null;
  onHello: ((context: HelloContext) => Promise<WelcomePart>) | null;
}

/** A plugin that taps everything the nodes plugin tells. */
export function frameProbe(): FrameProbe {
  const probe: Omit<FrameProbe, 'plugin'> = { frames: [], changes: [], hold: null, onHello: null };
  const plugin = definePlugin({
    name: 'frame-probe',
    requires: ['nodes'],
    setup(ctx) {
      const note = async (frame: AgentFrame, from: AgentNode) => {
        probe.frames.push({ frame, from });
        await probe.hold?.();
      };
      ctx.tap(frameReceived.accepted, note);
      ctx.tap(frameReceived.attempt, note);
      ctx.tap(helloReceived, (context) => probe.onHello?.(context));
      ctx.tap(nodeChanged, (change) => void probe.changes.push(change));
    },
  })();
  return Object.assign(probe, { plugin });
}
