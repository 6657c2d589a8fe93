import type { HostCollector } from '../core/collector.js';
import type { AgentLog } from '../core/log.js';
import { OtherDisks, StateDisk } from './disks.js';
import { LinuxMeter } from './linux-meter.js';
import { createPortableMeter } from './portable-meter.js';
import { ProcessMeter } from './process-meter.js';

/** What measures every host. `dirs`: the directories whose disks matter beside that of the state directory. */
export function createHostMeters(
  nodeId: string,
  stateDir: string,
  dirs: () => readonly string[],
  log: AgentLog,
): HostCollector[] {
  const ofSystem =
    process.platform === 'linux' ? [new LinuxMeter(), new ProcessMeter(nodeId)] : [createPortableMeter(log)];
  return [...ofSystem, new StateDisk(stateDir), new OtherDisks(stateDir, dirs)];
}
