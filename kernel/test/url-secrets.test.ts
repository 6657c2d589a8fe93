import { expect } from 'chai';
import { withoutSecrets } from '../src/index.js';

describe('an address', () => {
  for (const [text, shown] of [
    ['postgres://svc@db/svc?sslmode=require', 'postgres://svc@db/svc?sslmode=require'],
    ['postgres://svc:hunter2@db/svc', 'postgres://svc:***@db/svc'],
    ['postgres://svc:p@hunter2@db/svc', 'postgres://svc:***@db/svc'],
    [
      'postgres://svc@db/svc?password=hunter2&sslmode=require',
      'postgres://svc@db/svc?password=***&sslmode=require',
    ],
    ['postgres://svc:p/hunter2@db/svc', 'postgres://***'],
    ['postgres://svc:1/hunter2@db/svc', 'postgres://***'],
    ['postgres://svc:hunter2@:x/svc', 'postgres://***'],
    ['a path/with:colon@at', 'a path/with:colon@at'],
    ['postgres://svc:hunter2 two@db/svc', 'postgres://svc:***@db/svc'],
    ['https://hooks.example/in', 'https://hooks.example/in'],
    ['https://ntfy.example/gpu?auth=hunter2&up=1', 'https://ntfy.example/gpu?***'],
    ['https://ntfy.example/gpu?hunter2', 'https://ntfy.example/gpu?***'],
    ['https://ntfy.example/gpu#hunter2', 'https://ntfy.example/gpu#***'],
    ['https://hunter2@ntfy.example:8443/gpu', 'https://***@ntfy.example:8443/gpu'],
    ['https://ada:hunter2@ntfy.example/gpu', 'https://***@ntfy.example/gpu'],
    ['http://ada:hunter2@:x/gpu', 'http://***'],
    [
      'cannot reach https://ntfy.example/gpu?auth=hunter2 (or HTTP://ada:hunter2@b/)',
      'cannot reach https://ntfy.example/gpu?*** (or http://***@b/)',
    ],
  ] as const)
    it(`is shown as ${shown}`, () => {
      expect(withoutSecrets(text)).to.equal(shown);
      expect(shown).to.not.contain('hunter2');
    });
});
