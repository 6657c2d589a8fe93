/** The same in CI each time; another one by SVC_FUZZ_SEED. */
export const SEED = Number(process.env['SVC_FUZZ_SEED'] ?? 20_240_611);
