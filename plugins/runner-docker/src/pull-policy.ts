/** `always`: asks the registry at each start. `missing`: pulls what the engine does not have. `never`: uses only what the engine has. */
export const PULL_POLICIES = ['always', 'missing', 'never'] as const;
export type PullPolicy = (typeof PULL_POLICIES)[number];
