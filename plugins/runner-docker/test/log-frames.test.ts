import { expect } from 'chai';
import { LogFrames } from '../src/agent/log-frames.js';

const SECOND = 1_700_000_000;
const TIME = '2023-11-14T22:13:20.000000005Z';

function frame(stream: 1 | 2, text: string): Buffer {
  const payload = Buffer.from(text, 'latin1');
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(payload.length, 4);
  return Buffer.concat([header, payload]);
}

describe('the frames of a container log', () => {
  const answer = Buffer.concat([frame(1, `${TIME} a b\n`), frame(2, `${TIME} \xff`), frame(1, `${TIME} `)]);
  const time = `${SECOND}.000000005`;
  const expected = [
    { stream: 'stdout', time, text: 'a b\n' },
    { stream: 'stderr', time, text: '\xff' },
    { stream: 'stdout', time, text: '' },
  ];

  it('are the same wherever the answer is cut', () => {
    for (let cut = 0; cut <= answer.length; cut += 1) {
      const frames = new LogFrames();
      const messages = [...frames.push(answer.subarray(0, cut)), ...frames.push(answer.subarray(cut))];
      const seen = messages.map(({ bytes, ...rest }) => ({ ...rest, text: bytes.toString('latin1') }));
      expect(seen).to.deep.equal(expected);
    }
  });

  it('have times that compare as text, whatever the zone and the number of decimals', () => {
    const timeOf = (text: string) => new LogFrames().push(frame(1, `${text} x`))[0]?.time;
    expect(timeOf('2023-11-14T23:13:20.5+01:00')).to.equal(`${SECOND}.500000000`);
    expect(timeOf('2023-11-14T22:13:20Z')).to.equal(`${SECOND}.000000000`);
  });

  it('are refused where there is no time, or no end in sight', () => {
    expect(() => new LogFrames().push(frame(1, 'x'))).to.throw('without a time');
    expect(() => new LogFrames().push(frame(1, 'x y'))).to.throw('with the time x');
    expect(() => new LogFrames().push(Buffer.from([1, 0, 0, 0, 255, 255, 255, 255]))).to.throw('bytes');
  });
});
