import http, { type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Row } from '../row.js';

const PATIENCE_MS = 30_000;

/** What a server may answer that is none of ours, or has been broken into. */
const ANSWERS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'a page instead of JSON': (response) => response.end('<html>'.repeat(1_000)),
  nothing: (response) => response.end(),
  'half an answer': (response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('{"items":[', () => response.destroy());
  },
  'an error of 10 MiB': (response) => response.writeHead(500).end('x'.repeat(10 * 1024 * 1024)),
  'lists in lists, 10 MiB': (response) => response.end('['.repeat(10 * 1024 * 1024)),
};

export const COMMAND_ROWS: readonly Row[] = Object.entries(ANSWERS).map(([what, answer]) => ({
  input: `command: svc jobs, answered by ${what}`,
  who: 'whoever runs the server that is asked',
  limit: 'the memory of the command',
  others: 'nothing: the command ends with a sentence',
  async send({ workplace }) {
    const hostile = http.createServer((_request, response) => answer(response)).listen(0, '127.0.0.1');
    await once(hostile, 'listening');
    const url = `http://127.0.0.1:${(hostile.address() as AddressInfo).port}`;
    const program = workplace.start(['jobs'], { SVC_URL: url, SVC_TOKEN: 'svc_read_none' });
    const timer = setTimeout(() => program.kill('SIGKILL'), PATIENCE_MS);
    const { status, stderr } = await program.ended;
    clearTimeout(timer);
    hostile.closeAllConnections();
    hostile.close();
    expect(status, stderr.slice(0, 500)).to.be.a('number').and.not.equal(0);
    expect(stderr.length, 'what is said of it').to.be.within(1, 4_000);
    expect(stderr).to.not.match(/^ +at /m);
  },
}));
