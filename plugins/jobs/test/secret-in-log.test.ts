import { systemClock, withRawSqlite } from '@svc/kernel';
import Database from 'better-sqlite3';
import { expect } from 'chai';
import { join } from 'node:path';
import { Lab } from './support/lab.js';

const SECRET = 'hunter2-hunter2';

describe('the environment of a job stays out of the log of the server', () => {
  let lab: Lab;
  let log: string;

  beforeEach(async () => {
    log = '';
    const writeLog = (line: string) => void (log += line);
    lab = await Lab.open({ clock: systemClock, logLevel: 'trace', writeLog });
    await withRawSqlite(lab.kernel.db, (connection) => connection.pragma('busy_timeout = 20'));
  });
  afterEach(() => lab.close());

  const submit = () =>
    lab.request('POST', '/jobs', { command: ['true'], env: { API_KEY: SECRET.repeat(500) } });

  function expectNoSecret(): void {
    expect(log).to.contain('"status":5').and.not.contain(SECRET).and.not.contain('insert into');
  }

  it('while the database is locked', async () => {
    const other = new Database(join(lab.kernel.dataDir, 'svc.db'));
    other.exec('BEGIN IMMEDIATE');
    try {
      expect((await submit()).status).to.be.at.least(500);
    } finally {
      other.close();
    }
    expectNoSecret();
  });

  it('when the database is full', async () => {
    await withRawSqlite(lab.kernel.db, (connection) => {
      const pages = connection.pragma('page_count', { simple: true }) as number;
      connection.pragma(`max_page_count = ${pages}`);
    });
    expect((await submit()).status).to.be.at.least(500);
    expectNoSecret();
  });
});
