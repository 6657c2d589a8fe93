export { until } from '@svc/hooks/testing';
export { AgentProcess } from './agent-process.js';
export { FakeAgent, toReport, virtualSlots, type FakeAgentOptions } from './fake-agent.js';
export { FakeServer, TOKEN } from './fake-server.js';
export { LogBook } from './log-book.js';
export { isAlive, killProcessesOf } from './processes.js';
export { runnerConformance, type RunnerUnderTest } from './runner-conformance.js';
export { runnerPlugin, ScriptedRunner, type Script } from './scripted-runner.js';
export { TestHost, type TestHostOptions } from './test-host.js';
