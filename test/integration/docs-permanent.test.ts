import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import path from 'node:path';
import { routes } from '@svc/contract';
import { until } from '@svc/kernel/testing';
import { expect } from 'chai';
import { requireEngine } from '../support/engines.js';
import { freePort } from '../support/newcomer.js';
import { readBlocks, readFiles } from '../support/page.js';
import { startProgram, type Program } from '../support/program.js';
import { createWorkplace, untilPrinted, type Server, type Workplace } from '../support/workplace.js';

const PAGE = 'docs/start.md';
const NAME = 'train.example.org';
const FILES = readFiles(PAGE);
const UPLOAD_BYTES = 5_000_000;

/** Of a proxy: how it is started with the file of the page, once ports and certificate are those of here. */
interface Proxy {
  readonly engine: 'caddy' | 'nginx';
  readonly file: string;
  toHere(text: string, here: Here): string;
  args(file: string): string[];
}

interface Here {
  readonly dir: string;
  readonly port: number;
  readonly serverPort: number;
  readonly certificate: string;
  readonly key: string;
}

const PROXIES: readonly Proxy[] = [
  {
    engine: 'caddy',
    file: '/etc/caddy/Caddyfile',
    toHere: (text, { port, serverPort, certificate, key }) =>
      `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text}`
        .replace(`${NAME} {`, `${NAME}:${port}, localhost:${port} {\n\ttls ${certificate} ${key}`)
        .replace('127.0.0.1:8600', `127.0.0.1:${serverPort}`),
    args: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  },
  {
    engine: 'nginx',
    file: '/etc/nginx/conf.d/svc.conf',
    toHere: (text, { dir, port, serverPort, certificate, key }) => {
      const own = text
        .replace('listen 443', `listen 127.0.0.1:${port}`)
        .replace(`/etc/ssl/private/${NAME}.pem`, certificate)
        .replace(`/etc/ssl/private/${NAME}.key`, key)
        .replace('127.0.0.1:8600', `127.0.0.1:${serverPort}`);
      const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (name) => `${name}_temp_path ${dir}/${name};`,
      );
      return `daemon off; pid ${dir}/nginx.pid; error_log stderr;\nevents {}\nhttp { access_log off; ${paths.join(' ')}\n${own}}\n`;
    },
    args: (file) => ['-e', 'stderr', '-c', file],
  },
];

describe('TLS by a proxy, as docs/start.md shows it', function () {
  this.timeout(180_000);

  for (const proxy of PROXIES) {
    describe(`behind ${proxy.engine}`, () => {
      let workplace: Workplace;
      let server: Server;
      let program: Program;
      let url: string;
      let env: Record<string, string>;

      before(async function () {
        const executable = requireEngine(this, proxy.engine);
        workplace = createWorkplace();
        const [allowed = ''] = readBlocks(PAGE).flatMap(
          ({ text }) => /^SVC_ALLOWED_HOSTS=(\S+) svc server$/m.exec(text)?.[1] ?? [],
        );
        server = await workplace.startServer({ env: { SVC_ALLOWED_HOSTS: allowed } });
        const { certificate, key } = makeCertificate(workplace.dir);
        const port = await freePort();
        const serverPort = Number(new URL(server.url).port);
        const file = path.join(workplace.dir, 'proxy.conf');
        const here = { dir: workplace.dir, port, serverPort, certificate, key };
        writeFileSync(file, proxy.toHere(FILES.get(proxy.file) ?? '', here));
        program = startProgram(executable, proxy.args(file), {
          PATH: process.env['PATH'],
          HOME: workplace.dir,
        });
        url = `https://localhost:${port}`;
        env = {
          SVC_URL: url,
          SVC_TOKEN: server.client.connection.token ?? '',
          NODE_EXTRA_CA_CERTS: certificate,
        };
        await until(async () => (await workplace.svc(['whoami'], env)).status === 0, { timeoutMs: 30_000 });
      });
      after(async () => {
        program?.kill();
        await program?.ended;
        await workplace?.close();
      });

      it('the name that users type is one that the server answers to', async () => {
        const ca = readFileSync(certificateOf(workplace.dir).certificate);
        const asked = get(`${url}/api/v1/health`, { ca, servername: NAME, headers: { host: NAME } });
        const [answer] = (await once(asked, 'response')) as [IncomingMessage];
        answer.resume();
        expect(answer.statusCode).to.equal(200);
      });

      it('an agent connects, a large upload passes, and the log is followed live', async () => {
        const { token } = await server.client.call(routes.createToken, {
          body: { name: 'a', scope: 'agent' },
        });
        const agent = workplace.start(['agent', '--state-dir', path.join(workplace.dir, 'agent')], {
          ...env,
          SVC_TOKEN: token,
        });
        await untilPrinted(agent, /(connected)/, 'stderr');
        const source = path.join(workplace.dir, 'source');
        mkdirSync(source);
        // What does not compress.
        writeFileSync(
          path.join(source, 'noise.bin'),
          execFileSync('head', ['-c', String(UPLOAD_BYTES), '/dev/urandom'], { maxBuffer: 2 * UPLOAD_BYTES }),
        );
        const go = path.join(workplace.dir, 'go');
        const script = `wc -c < noise.bin; echo ready; until [ -e ${go} ]; do sleep 0.1; done; echo done`;
        const follower = workplace.start(
          ['submit', '--upload', source, '--cpu-only', '--follow', 'sh', '-c', script],
          env,
        );
        await until(() => follower.stdout.includes('ready'), { timeoutMs: 60_000 });
        expect(follower.stdout).to.contain(String(UPLOAD_BYTES));
        expect(follower.isRunning).to.equal(true);
        writeFileSync(go, '');
        const { status, stdout, stderr } = await follower.ended;
        expect(status, stderr).to.equal(0);
        expect(stdout).to.contain('done');
      });
    });
  }
});

function certificateOf(dir: string): { certificate: string; key: string } {
  return { certificate: path.join(dir, 'certificate.pem'), key: path.join(dir, 'key.pem') };
}

/** For the name of the page, and for one that every host knows. */
function makeCertificate(dir: string): { certificate: string; key: string } {
  const made = certificateOf(dir);
  const names = ['-addext', `subjectAltName=DNS:localhost,DNS:${NAME}`];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', `/CN=${NAME}`];
  const files = ['-keyout', made.key, '-out', made.certificate];
  execFileSync('openssl', [...request, ...names, ...files], { stdio: 'pipe' });
  return made;
}
