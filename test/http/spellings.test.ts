import { expect } from 'chai';
import {
  chatReply,
  Dice,
  forSuite,
  MASTER_KEY,
  rawClient,
  replyJson,
  requireTool,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { type Decoder, express, nginx, node, python } from './spellings/decoders.ts';
import { routedPaths, type Spelling, spellingsOf, WAYS } from './spellings/spellings.ts';

const ABLE = { passthrough: true, responses: true, batches: true };
const AT_ONCE = 16;
const BODY = JSON.stringify({
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  contents: [{ parts: [{ text: 'hi' }] }],
  content: { parts: [{ text: 'hi' }] },
  input: 'hi',
  prompt: 'hi',
  query: 'hi',
  documents: ['a'],
  voice: 'alloy',
  max_tokens: 9,
});

interface Scene {
  readonly t: TestHost;
  readonly stub: StubUpstream;
  readonly routes: readonly string[];
  /** Sends each on a connection of its own; resolves with the statuses. */
  readonly send: (targets: readonly string[]) => Promise<readonly number[]>;
}

async function start(): Promise<Scene> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const t = await startHost({ targets: [stub.target('a', {}, ABLE)], batch_target: 'a', responses_target: 'a' });
  const send = async (targets: readonly string[]): Promise<readonly number[]> => {
    const statuses: number[] = [];
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let at = next++; at < targets.length; at = next++) {
        const client = await rawClient(t.url);
        client.send(
          `POST ${targets[at]} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${MASTER_KEY}\r\nX-Provider: a\r\nX-Case: ${at}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`,
        );
        statuses[at] = Number((await client.closed()).slice(9, 12));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return statuses;
  };
  return { t, stub, send, routes: routedPaths(t.host) };
}

/** Addresses, below the provider's root, that are sent on by rules of their own. */
const WITH_RULES = new Set([
  '/responses',
  '/responses/compact',
  '/responses/input_tokens',
  '/images/edits',
  '/images/variations',
  '/ocr',
]);

/** The targets that were passed through, which alone keep the client's headers, but for those with rules of their own. */
function passedOn({ seen }: StubUpstream, targets: readonly string[]): readonly string[] {
  return seen
    .filter(({ headers, url }) => headers['x-case'] !== undefined && !WITH_RULES.has(url))
    .map(({ headers }) => targets[Number(headers['x-case'])] ?? '');
}

describe('other ways to write the paths of routes', function () {
  this.timeout(60_000);
  const scene = forSuite(start);

  it('are those of every route that the router has', () => {
    expect(scene().routes).to.include.members([
      '/v1/chat/completions',
      '/v1/messages',
      '/v1/responses',
      '/v1/responses/compact',
      '/v1/embeddings',
      '/v1/models',
      '/v1/models/m',
      '/v1beta/models/m:generateContent',
    ]);
    expect(scene().routes.length).to.be.greaterThan(25);
  });

  it('reach no provider outside the rules of their route: 500 of them', async () => {
    const { send, stub, routes } = scene();
    const spellings = spellingsOf(routes, 500, new Dice(3801));
    expect(new Set(spellings.flatMap(({ ways }) => ways)).size).to.equal(Object.keys(WAYS).length);
    const targets = spellings.map(({ target }) => target);
    stub.seen.length = 0;
    const statuses = await send(targets);
    const shown = ({ route, ways, target }: Spelling): string => `${target}, ${route} by ${ways.join(', ')}`;
    expect(
      spellings.filter(({ target }) => passedOn(stub, targets).includes(target) && !isModel(target)).map(shown),
    ).to.deep.equal([]);
    expect(
      spellings.flatMap((each, at) =>
        [200, 400, 404, 405, 415, 502].includes(statuses[at] ?? 0) ? [] : [`${statuses[at]} ${shown(each)}`],
      ),
    ).to.deep.equal([]);
    const served = spellings.filter(
      ({ ways }, at) => statuses[at] === 200 && ways.every((way) => /slashes|slash at/.test(way)),
    );
    expect(served.length, 'those that differ in slashes alone are served').to.be.greaterThan(10);
  });

  it('are none where a path is passed through, as servers read it that were not written here', async function () {
    const { send, stub, routes } = scene();
    const dice = new Dice(3802);
    const targets = [
      ...spellingsOf(routes, 250, dice).map(({ target }) => damaged(target, dice)),
      ...spellingsOf(
        [
          '/v1/fine_tuning/jobs',
          '/v1/vector_stores/vs_1',
          '/v1/chat/completionsx',
          '/v1/x/chat/completions',
          '/v1/files/f',
        ],
        250,
        dice,
      ).map(({ target }) => target),
    ];
    stub.seen.length = 0;
    await send(targets);
    const passed = passedOn(stub, targets).filter((target) => !isModel(target));
    expect(passed.length).to.be.greaterThan(80);
    for (const { headers, url } of stub.seen)
      if (headers['x-case'] !== undefined && !WITH_RULES.has(url))
        expect(`/v1${url}`).to.equal(targets[Number(headers['x-case'])]);
    const decoders: Readonly<Record<string, Decoder>> = {
      node,
      express,
      python: python(requireTool(this, 'python3')),
      nginx: nginx(requireTool(this, 'nginx')),
    };
    for (const [name, decode] of Object.entries(decoders)) {
      const found = await decode(
        passed,
        routes.filter((route) => !route.endsWith('/m')),
      );
      expect(
        passed.filter((_target, at) => found[at]),
        name,
      ).to.deep.equal([]);
    }
  });
});

/** One model by its id: asked for with POST, which no route has. */
const isModel = (target: string): boolean => /^\/+v1\/+models\/+[^:]*$/.test(target);

/** The path with a character more, less or other than it had. */
function damaged(path: string, dice: Dice): string {
  const at = 4 + dice.below(path.length - 4);
  return path.slice(0, at) + dice.pick(['', 'x', 'x/', '_', '%2A']) + path.slice(at + dice.below(2));
}
