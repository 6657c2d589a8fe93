import type { LogsFrame, LogStream } from '@svc/contract';
import type { JobAgent } from '../../../runs/test/support/job-agent.js';

/** Ships frames one after the other, as an agent does: 5 bytes for each line. */
export function shipper(agent: JobAgent, job_id: string, attempt = 1) {
  const sent = { stdout: 0, stderr: 0 };

  const frame = (stream: LogStream, lines: string[]): LogsFrame => {
    const from = sent[stream];
    return {
      type: 'logs',
      job_id,
      attempt,
      stream,
      from,
      to: from + 5 * lines.length,
      ts: 1000,
      lines,
      dropped: 0,
      end: false,
    };
  };
  /** The offset of its ack. */
  const send = async (given: LogsFrame): Promise<number> => {
    const from = agent.frames.length;
    agent.send(given);
    const matches = (ack: { job_id: string; stream: string }) =>
      ack.job_id === given.job_id && ack.stream === given.stream;
    const { offset } = await agent.take('logs_ack', matches, from);
    sent[given.stream] = offset;
    return offset;
  };
  const lines = (stream: LogStream, texts: string[], more: Partial<LogsFrame> = {}) =>
    send({ ...frame(stream, texts), ...more });
  const end = async () => {
    for (const stream of ['stdout', 'stderr'] as const) await send({ ...frame(stream, []), end: true });
  };
  return { frame, send, lines, end };
}
