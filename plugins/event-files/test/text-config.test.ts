import { expect } from 'chai';
import { configOfText } from '../src/reader/text-config.js';

describe('hyperparameters in a text of an event file', () => {
  const read = (text: string, tag = 'hyperparameters/text_summary') => configOfText(tag, Buffer.from(text));

  it('are those of a table of names and values, as CleanRL writes it', () => {
    const rows = ['|lr|2.5e-4|', '|steps|500000|', '|env|CartPole-v1|', '|cuda|True|', '|entity|None|'];
    expect(read(['|param|value|', '|-|-|', ...rows].join('\n'))).to.deep.equal({
      lr: 0.00025,
      steps: 500_000,
      env: 'CartPole-v1',
      cuda: true,
      entity: null,
    });
  });

  it('are read from other forms of the table, and from values with bars', () => {
    const table =
      ' | Name | Value |\r\n|:---|---:|\r\n| `net` | `a|b` |\r\n| constructor | |\r\n\r\nA remark. ';
    expect(read(table)).to.deep.equal({ net: 'a|b', constructor: '' });
  });

  it('are those of a JSON object, as Hugging Face writes it, fenced too', () => {
    const text = JSON.stringify({ lr: 0.1, betas: [0.9, 0.99], optim: { name: 'adam' } }, null, 2);
    const expected = { lr: 0.1, betas: [0.9, 0.99], optim: { name: 'adam' } };
    expect(read(text, 'args/text_summary')).to.deep.equal(expected);
    expect(read(`\`\`\`json\n${text}\n\`\`\``, 'Config')).to.deep.equal(expected);
  });

  it('are not taken from what is something else', () => {
    const table = '|param|value|\n|-|-|\n|a|1|';
    for (const [text, tag] of [
      [table, 'notes/text_summary'],
      ['|a|b|c|\n|-|-|-|\n|1|2|3|', undefined],
      ['|param|value|', undefined],
      ['Namespace(lr=0.1)', 'args'],
      ['[1, 2]', 'config'],
      ['{"a": 1', 'config'],
      ['{"a":'.repeat(50_000), 'config'],
      [`${'{"a":'.repeat(30)}1${'}'.repeat(30)}`, 'config'],
      [`{"a": "${'x'.repeat(300_000)}"}`, 'config'],
    ] as const)
      expect(read(text, tag), text.slice(0, 40)).to.equal(null);
  });
});
