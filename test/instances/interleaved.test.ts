import { expect } from 'chai';
import {
  cases,
  chatChunks,
  chatReply,
  Dice,
  eventually,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { chat } from './support.ts';

const NAMES = ['a', 'b'] as const;
type Name = (typeof NAMES)[number];

/** The key of an instance in one version of its block. */
const keyOf = (name: Name, version: number): string => `sk-${name}-${version}-0123456789abcdef`;
const VERSIONS = 3;

const VARIABLES = Object.fromEntries(
  NAMES.flatMap((name) =>
    Array.from({ length: VERSIONS }, (_, at) => [`KEY_${name.toUpperCase()}_${at}`, keyOf(name, at)] as const),
  ),
);

interface Wrong {
  readonly asked: string;
  readonly key: string;
}

/** One vendor for both: it knows by the model which instance was meant, and takes down a request with another's key. */
async function vendorOfBoth(wrong: Wrong[]): Promise<StubUpstream> {
  return stubUpstream(async (request, response) => {
    const { model, stream } = request.json();
    const key = String(request.headers.authorization).replace('Bearer ', '');
    if (!key.startsWith(`sk-${String(model)}-`)) wrong.push({ asked: String(model), key });
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    if (stream !== true) {
      replyJson(response, 200, chatReply(key));
      return;
    }
    openSse(response);
    for (const chunk of chatChunks(['x', key])) response.write(sseEvent(chunk));
    response.end(sseEvent('[DONE]'));
  });
}

const config = (upstream: StubUpstream, versions: Readonly<Record<Name, number>>): object => ({
  strategy: { mode: 'fallback' },
  providers: Object.fromEntries(
    NAMES.map((name) => [
      name,
      { kind: 'openai', base_url: upstream.url, api_key: `\${KEY_${name.toUpperCase()}_${versions[name]}}` },
    ]),
  ),
  targets: NAMES.map((name) => ({ virtual_key: name, models: [name], retry: { attempts: 2 } })),
});

async function ask(t: TestHost, name: Name, stream: boolean, key = `sk-${name}-`): Promise<void> {
  const answer = await t.post('/v1/chat/completions', chat(name, { stream }));
  expect(answer.status, answer.text).to.equal(200);
  expect(answer.headers.get('x-gateway-target')).to.equal(name);
  expect(answer.text, 'the key that the vendor saw').to.contain(key);
}

describe('two instances of one kind with different keys', () => {
  it('never leave with each other’s, however requests and configurations are interleaved', async function property() {
    this.timeout(120_000);
    const wrong: Wrong[] = [];
    const upstream = await vendorOfBoth(wrong);
    const versions = { a: 0, b: 0 };
    const t = await startHost(config(upstream, versions), { variables: VARIABLES });
    for (let seed = 0; seed < cases(1000, 20); seed += 1) {
      const dice = new Dice(seed);
      const running: Promise<void>[] = [];
      for (let step = 0; step < 8; step += 1) {
        if (dice.below(4) === 0) {
          versions[dice.pick(NAMES)] = dice.below(VERSIONS);
          running.push(t.apply(config(upstream, { ...versions })));
        } else running.push(ask(t, dice.pick(NAMES), dice.below(2) === 0));
        if (dice.below(3) === 0) await Promise.all(running.splice(0));
      }
      await Promise.all(running);
      expect(wrong, `seed ${seed}`).to.deep.equal([]);
      for (const name of NAMES) await ask(t, name, false, keyOf(name, versions[name]));
    }
    await eventually(() => t.host.slot.live === 1);
    expect(t.host.slot.live).to.equal(1);
  });
});
