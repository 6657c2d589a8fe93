import { expect } from 'chai';
import { openSync } from 'node:fs';
import { Troubles } from '../../src/core/troubles.js';

describe('troubles', () => {
  const lines: unknown[] = [];
  const troubles = new Troubles(
    { warn: (message, fields) => lines.push({ message, ...fields }) },
    { job: 1 },
  );
  const errorOf = (file: string) => {
    try {
      return openSync(file, 'r');
    } catch (error) {
      return error;
    }
  };
  beforeEach(() => lines.splice(0));

  it('of one kind are told once, whatever path the reason names, until they are over', () => {
    for (const file of ['/none/1', '/none/2']) troubles.tell('spool', 'it fails', errorOf(file), { more: 2 });
    const reason = "ENOENT: no such file or directory, open '/none/1'";
    expect(lines).to.deep.equal([{ message: 'it fails', job: 1, more: 2, reason }]);
    troubles.over('spool');
    troubles.tell('spool', 'it fails', errorOf('/none/3'));
    expect(lines).to.have.length(2);
  });

  it('of another kind, and of something else, are told', () => {
    troubles.tell('a', 'it fails', errorOf('/none/1'));
    troubles.tell('a', 'it fails', new Error('no code'));
    troubles.tell('b', 'it fails', new Error('no code'));
    troubles.tell('b', 'it fails', new Error('no code'));
    expect(lines).to.have.length(3);
  });
});
