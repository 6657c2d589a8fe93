import { TestHost } from '@svc/agent/testing';

export { isAlive } from '@svc/agent/testing';

const config = new URL('./agent-config.ts', import.meta.url);

/** A host whose agents have the plugins of an agent as it comes. */
export type Host = TestHost;
export const createHost = (): Promise<Host> => TestHost.create({ config });
