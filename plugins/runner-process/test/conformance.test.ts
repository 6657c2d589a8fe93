import { runnerConformance } from '@svc/agent/testing';

runnerConformance({ runner: 'process', config: new URL('./support/agent-config.ts', import.meta.url) });
