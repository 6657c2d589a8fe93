import { expect } from 'chai';
import { createSseParser, type SseEvent } from '../src/api/sse-parser.js';

const STREAM =
  ': heartbeat\r\nid: 7\r\ndata: {"a":1}\r\n\r\nevent: end\ndata: x\ndata:  y\r\n\r\nid:8\rdata:z\r\rdata\n\n';

function parseAll(pieces: readonly string[]): SseEvent[] {
  const parse = createSseParser();
  return pieces.flatMap((piece) => parse(piece));
}

describe('SSE parser', () => {
  const whole = parseAll([STREAM]);

  it('follows the rules for fields, comments and line ends', () => {
    expect(whole).to.deep.equal([
      { id: '7', event: 'message', data: '{"a":1}' },
      { id: '7', event: 'end', data: 'x\n y' },
      { id: '8', event: 'message', data: 'z' },
      { id: '8', event: 'message', data: '' },
    ]);
  });

  it('gives the same events wherever the stream is cut', () => {
    for (let at = 1; at < STREAM.length; at++) {
      expect(parseAll([STREAM.slice(0, at), STREAM.slice(at)]), `cut at ${at}`).to.deep.equal(whole);
    }
    expect(parseAll([...STREAM])).to.deep.equal(whole);
  });

  it('gives no event without data, and none that is incomplete', () => {
    expect(parseAll(['id: 1\n\nevent: end\n\ndata: unfinished\n'])).to.deep.equal([]);
  });
});
