import { expect } from 'chai';
import fc from 'fast-check';
import { SseParser, type SseEvent } from '../src/sse-parser.js';

function parse(...chunks: string[]): SseEvent[] {
  const parser = new SseParser();
  return chunks.flatMap((chunk) => parser.push(chunk));
}

describe('SseParser', () => {
  it('reads id, event and data', () => {
    expect(parse('id: 7\nevent: end\ndata: {}\n\n')).to.deep.equal([{ id: '7', event: 'end', data: '{}' }]);
  });

  it('names an event message when the stream does not, and keeps the last id', () => {
    expect(parse('id: 1\ndata: a\n\ndata: b\n\n')).to.deep.equal([
      { id: '1', event: 'message', data: 'a' },
      { id: '1', event: 'message', data: 'b' },
    ]);
  });

  it('skips comments and events without data', () => {
    expect(
      parse(': heartbeat\n\nevent: x\n\ndata: a\n\n').map(({ event, data }) => [event, data]),
    ).to.deep.equal([['message', 'a']]);
  });

  it('joins data lines, and takes off one leading space only', () => {
    expect(parse('data:  a\ndata:b\n\n')[0]?.data).to.equal(' a\nb');
  });

  it('waits for the end of an event', () => {
    expect(parse('data: a\n')).to.deep.equal([]);
    expect(parse('data: a\n', '\n')).to.have.length(1);
  });

  it('starts from the id of the connection before', () => {
    expect(new SseParser('41').push('data: a\n\n')[0]?.id).to.equal('41');
  });

  it('reads the retry time, and refuses one that is no number', () => {
    const parser = new SseParser();
    parser.push('retry: 2500\n\nretry: soon\n\n');
    expect(parser.retryMs).to.equal(2500);
  });

  it('gives the same events however the text is cut, with LF, CR or CRLF', () => {
    const text = '\uFEFFid: 1\ndata: ä\n\n: c\n\ndata: x\ndata: y\n\nid: 2\nevent: end\ndata: {}\n\n';
    const whole = parse(text);
    expect(whole).to.have.length(3);
    fc.assert(
      fc.property(
        fc.constantFrom('\n', '\r', '\r\n'),
        fc.array(fc.nat(80), { maxLength: 12 }),
        (newline, cuts) => {
          const full = `${text.replaceAll('\n', newline)}data: last\n`;
          const edges = [0, ...cuts.filter((cut) => cut < full.length).sort((a, b) => a - b), full.length];
          const chunks = edges.slice(1).map((edge, at) => full.slice(edges[at], edge));
          expect(parse(...chunks)).to.deep.equal(whole);
        },
      ),
    );
  });
});
