import { FakeAgent } from '@svc/agent/testing';
import { MAX_LINE_BYTES } from '@svc/contract';
import { expect } from 'chai';
import { MalformedFrame, ProtocolMismatch, parseFrame as parseFrameBytes } from '../src/frames.js';

const parseFrame = (text: string) => parseFrameBytes(Buffer.from(text));

describe('agent frames', () => {
  const hello = new FakeAgent({ url: '' }).toHello();

  it('takes what the protocol allows', () => {
    expect(parseFrame(JSON.stringify(hello))).to.deep.equal(hello);
    expect(parseFrame('{"type":"heartbeat","ts":5}')).to.deep.equal({ type: 'heartbeat', ts: 5 });
  });

  it('ignores a type that it does not know', () => {
    expect(parseFrame('{"type":"from-the-future","x":1}')).to.equal(null);
  });

  const malformed: [string, string, RegExp][] = [
    ['no JSON', '{', /must be JSON/],
    ['no object', '[]', /JSON object/],
    ['null', 'null', /JSON object/],
    ['no type', '{"ts":1}', /"type"/],
    ['a missing field', '{"type":"heartbeat"}', /heartbeat frame: ts is required/],
    ['an unknown field', '{"type":"heartbeat","ts":1,"extra":1}', /extra unknown field/],
    ['an attempt below 1', '{"type":"accepted","job_id":"j","attempt":0}', /attempt must be at least 1/],
    [
      'an unknown exit',
      '{"type":"attempt","job_id":"j","attempt":1,"state":"ended","pid":null,"started_at":null,"exit":{"kind":"x"},"finished_at":null}',
      /exit/,
    ],
  ];
  for (const [what, text, message] of malformed) {
    it(`refuses ${what} with a sentence`, () => {
      expect(() => parseFrame(text)).to.throw(MalformedFrame, message);
    });
  }

  it('refuses what would take long to parse or to check', () => {
    const frame = (values: string) =>
      `{"type":"node_metrics","ts":[1],"processes":[],"values":{"a":${values}}}`;
    expect(() => parseFrame(frame(`[${'{},'.repeat(200_000)}{}]`))).to.throw(
      MalformedFrame,
      /more than 200000/,
    );
    expect(() => parseFrame(frame('['.repeat(70) + ']'.repeat(70)))).to.throw(MalformedFrame, /levels deep/);
    expect(() => parseFrame(frame(`[${'{},'.repeat(50_000)}{}]`))).to.throw(MalformedFrame, /values.a\[0\]/);
  });

  it('takes log lines of up to MAX_LINE_BYTES characters, into which an agent splits longer ones', () => {
    const frame = (line: string) =>
      JSON.stringify({
        type: 'logs',
        job_id: 'j',
        attempt: 1,
        stream: 'stdout',
        from: 0,
        to: 1,
        ts: 1,
        lines: ['', line],
        dropped: 0,
        end: false,
      });
    for (const longest of ['x'.repeat(MAX_LINE_BYTES), '漢'.repeat(MAX_LINE_BYTES / 3)])
      expect(parseFrame(frame(longest)))
        .to.have.property('lines')
        .deep.equal(['', longest]);
    expect(() => parseFrame(frame('x'.repeat(MAX_LINE_BYTES + 1)))).to.throw(
      MalformedFrame,
      'logs frame: lines[1] must have at most 16384 characters',
    );
  });

  it('refuses a hello with text that not every database can store', () => {
    expect(() => parseFrame(JSON.stringify({ ...hello, name: 'a\u0000b' }))).to.throw(MalformedFrame, /NUL/);
  });

  it('tells another protocol version apart from a malformed hello', () => {
    expect(() => parseFrame('{"type":"hello","protocol":2,"brand_new":true}')).to.throw(
      ProtocolMismatch,
      /agent protocol 1, the agent 2/,
    );
  });
});
