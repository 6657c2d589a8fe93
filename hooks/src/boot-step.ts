import { failBoot, isAnswerable } from './boot-error.js';
import { withLimit } from './with-limit.js';

/** A step that takes longer counts as hanging. */
export const BOOT_STEP_MS = 60_000;

/** Runs what a plugin does at boot; a failure names the plugin and the phase. */
export async function bootStep(
  plugin: string,
  phase: string,
  work: () => unknown,
  limitMs = BOOT_STEP_MS,
): Promise<void> {
  try {
    await withLimit(limitMs, async () => work());
  } catch (error) {
    if (isAnswerable(error)) throw error;
    failBoot(`plugin "${plugin}" failed in ${phase}: ${String(error)}`, plugin, error);
  }
}
