import type { Stage } from './stage.js';

export async function measureBeside(_stage: Stage, _peers: readonly string[]): Promise<string[][]> {
  return [];
}
