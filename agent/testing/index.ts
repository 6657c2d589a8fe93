export { until } from '@svc/hooks/testing';
export { FakeAgent, toReport, virtualSlots, type FakeAgentOptions } from './fake-agent.js';
export { FakeServer, TOKEN } from './fake-server.js';
export { LogBook } from './log-book.js';
export { runnerPlugin, ScriptedRunner, type Script } from './scripted-runner.js';
