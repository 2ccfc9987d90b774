import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { expect } from 'chai';
import { eventually, fakeClock, localServer, MASTER_KEY, temporaryFolder } from '../kit/index.ts';
import { authority } from '../http/tls-kit.ts';
import { runCommand } from './commands.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const json =
  (status: number, body: object): Answer =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

interface Probed {
  readonly code: number | null;
  readonly said: string;
  readonly seen: readonly IncomingMessage[];
}

async function probe(args: readonly string[], answer: Answer): Promise<Probed> {
  const seen: IncomingMessage[] = [];
  const url = await localServer(
    createServer((request, response) => {
      seen.push(request);
      answer(request, response);
    }),
  );
  const { code, stdout, stderr } = await runCommand(['probe', ...args], { variables: { GW_URL: url, MASTER_KEY } });
  return { code, said: stdout + stderr, seen };
}

describe('gw probe', () => {
  const WORDS = { readyz: 'ready', livez: 'live', health: 'healthy' };

  for (const [name, word] of Object.entries(WORDS))
    it(`asks /${name} without a credential, and says whether it is ${word}`, async () => {
      const { code, said, seen } = await probe([name], json(200, {}));
      expect([code, said, seen.map(({ url }) => url)]).to.deep.equal([0, `[OK] ${word}\n`, [`/${name}`]]);
      expect(seen[0]?.headers).to.not.have.any.keys('authorization', 'x-api-key');
      const reasons: Readonly<Record<string, Answer>> = {
        'no routable targets': json(503, { reason: 'no routable targets' }),
        'status 503': json(503, { reason: 5 }),
        'status 404': (_request, response) => response.writeHead(404).end('nothing here'),
        'status 302': (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
        ECONNRESET: (_request, response) => response.destroy(),
      };
      for (const [reason, answer] of Object.entries(reasons)) {
        const failed = await probe([name], answer);
        expect([failed.code, failed.said, failed.seen.length]).to.deep.equal([1, `Error: not ${word}: ${reason}\n`, 1]);
      }
    });

  it('asks for readiness unless said, with what is to be ignored', async () => {
    expect((await probe([], json(200, {}))).seen[0]?.url).to.equal('/readyz');
    expect((await probe(['--ignore', 'targets,mcp'], json(200, {}))).seen[0]?.url).to.equal(
      '/readyz?ignore=targets%2Cmcp',
    );
  });

  it('asks the port of PORT on this machine where no address is named', async () => {
    const url = await localServer(createServer(json(200, {})));
    const { code } = await runCommand(['probe'], { variables: { PORT: new URL(url).port } });
    expect(code).to.equal(0);
    const refused = await runCommand(['probe'], { variables: { PORT: '9' } });
    expect([refused.code, refused.stderr]).to.deep.equal([1, 'Error: not ready: ECONNREFUSED\n']);
  });

  it('asks by TLS where GW_TLS_CERT is set, and trusts that certificate alone, whatever its name', async () => {
    const made = authority(await temporaryFolder(), 'mine');
    const [own, other] = [made.sign('elsewhere.example'), made.sign('another.example')];
    const server = createTlsServer({ cert: readFileSync(own.cert), key: readFileSync(own.key) }, json(200, {}));
    const port = new URL(await localServer(server)).port;
    const asked = (cert: string): ReturnType<typeof runCommand> =>
      runCommand(['probe'], { variables: { PORT: port, GW_TLS_CERT: cert } });
    expect((await asked(own.cert)).stdout).to.equal('[OK] ready\n');
    expect((await asked(other.cert)).code).to.equal(1);
    expect((await asked('/nowhere.pem')).stderr).to.match(/^Error: GW_TLS_CERT cannot be read: ENOENT/);
  });

  it('sends nothing where it is used wrongly', async () => {
    for (const args of [['ready'], ['readyz', 'livez'], ['--wait', 'soon'], ['--wait', '-1s'], ['--wait', '5']]) {
      const { code, seen } = await probe(args, json(200, {}));
      expect([code, seen.length], args.join(' ')).to.deep.equal([1, 0]);
    }
  });

  it('asks again with --wait until it is so, or until the time is over', async () => {
    const clock = fakeClock();
    let isReady = false;
    let asked = 0;
    const url = await localServer(
      createServer((request, response) => {
        asked += 1;
        json(isReady ? 200 : 503, { reason: 'draining' })(request, response);
      }),
    );
    const wait = (): ReturnType<typeof runCommand> =>
      runCommand(['probe', '--wait', '1s'], { variables: { GW_URL: url }, clock });
    const late = wait();
    let isOver = false;
    void late.then(() => (isOver = true));
    await eventually(() => {
      clock.advance(250);
      return isOver;
    });
    expect((await late).stderr).to.equal('Error: not ready: draining\n');
    const inTime = wait();
    const before = asked;
    await eventually(() => asked > before);
    isReady = true;
    await eventually(() => {
      clock.advance(250);
      return asked > before + 1;
    });
    expect((await inTime).stdout).to.equal('[OK] ready\n');
  });
});
