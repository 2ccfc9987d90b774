import { Agent, type IncomingMessage, request as httpRequest } from 'node:http';
import { expect } from 'chai';
import {
  chatChunks,
  chatReply,
  eventually,
  expectGivenBack,
  holdings,
  MASTER_KEY,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubUpstream,
  type TestHost,
} from '../kit/index.ts';

const SWAPS = 50;
const CLIENTS = 100;
/** However slow the machine, so many answers come between two swaps. */
const ANSWERS_PER_SWAP = 12;
const WORDS = 8;
const PAUSE_MS = 8;

/** What the configuration of one generation holds: a target, an upstream model and a word list of its own. */
function configOf(number: number): object {
  const filter = {
    name: 'word-filter',
    type: 'guardrail',
    enabled: true,
    config: { blocked_words: [`forbidden-in-${number}.`], stream: 'window' },
  };
  return {
    strategy: { mode: 'fallback' },
    targets: [{ virtual_key: `target-${number}`, models: ['m'], model_map: { m: `model-${number}` } }],
    plugins: [
      { ...filter, stage: 'before_request' },
      { ...filter, stage: 'after_request' },
    ],
  };
}

/** Answers with the generation it was called by, slowly; asked to trip, with a word that only this generation blocks. */
async function upstreamOfAll(): Promise<StubUpstream> {
  return stubUpstream(async (request, response) => {
    const { model, stream, user } = request.json();
    const number = Number(/^model-(\d+)$/.exec(String(model))?.[1]);
    const others = `forbidden-in-${number - 1}. forbidden-in-${number + 1}. `;
    const words = Array.from({ length: WORDS }, (_, at) =>
      at === WORDS - 2 && user === 'trip' ? `forbidden-in-${number}. ` : `${others}from-${number}. `,
    );
    if (stream !== true) {
      replyJson(response, 200, chatReply(words.join('')));
      return;
    }
    openSse(response);
    for (const event of chatChunks(words)) {
      response.write(sseEvent(event));
      await new Promise((resolve) => {
        setTimeout(resolve, PAUSE_MS);
      });
    }
    response.end(sseEvent('[DONE]'));
  });
}

interface Received {
  readonly status: number;
  readonly target: string;
  readonly model: string;
  readonly text: string;
  readonly isStream: boolean;
  readonly isTripped: boolean;
  /** Generations that served when it was asked and when it was over. */
  readonly span: readonly [number, number];
}

function call(t: TestHost, agent: Agent, isStream: boolean, isTripped: boolean): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  const from = t.host.current?.number ?? 0;
  const onReply = (response: IncomingMessage): void => {
    let text = '';
    response
      .setEncoding('utf8')
      .on('data', (piece: string) => {
        text += piece;
      })
      .on('error', reject)
      .on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          target: String(response.headers['x-gateway-target']),
          model: String(response.headers['x-gateway-model']),
          text,
          isStream,
          isTripped,
          span: [from, t.host.current?.number ?? 0],
        }),
      );
  };
  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
  const body = {
    model: 'm',
    messages: [{ role: 'user', content: 'go' }],
    stream: isStream,
    ...(isTripped && { user: 'trip' }),
  };
  httpRequest(`${t.url}/v1/chat/completions`, { method: 'POST', agent, headers }, onReply)
    .on('error', reject)
    .end(JSON.stringify(body));
  return promise;
}

/** Every mark in an answer must be the one generation's that its headers name. */
function expectOneGeneration({ status, target, model, text, isStream, isTripped, span }: Received): number {
  const number = Number(/^target-(\d+)$/.exec(target)?.[1]);
  expect(model).to.equal(`model-${number}`);
  expect(number + 1, 'the one that served when it was asked, or one soon after').to.be.within(...span);
  const marks = new Set(text.match(/from-\d+/g) ?? []);
  if (isTripped) {
    expect(text, 'its own word list stopped it')
      .to.include('response blocked by content policy')
      .and.not.include(`forbidden-in-${number}.`);
    if (!isStream) expect(status).to.equal(502);
  } else {
    expect(status).to.equal(200);
    expect(text.match(/from-\d+/g), 'whole').to.have.length(WORDS);
    if (isStream) expect(text.endsWith('data: [DONE]\n\n')).to.equal(true);
  }
  for (const mark of marks) expect(mark).to.equal(`from-${number}`);
  return number;
}

/** Asks over and over, from many clients at once, while the configuration is swapped; tells how many generations lived at once. */
async function swapUnderLoad(t: TestHost, agent: Agent): Promise<{ received: Received[]; mostLive: number }> {
  const received: Received[] = [];
  const load = { isOn: true };
  const client = async (place: number): Promise<void> => {
    for (let round = 0; load.isOn; round += 1)
      received.push(await call(t, agent, (place + round) % 4 !== 0, (place + round) % 10 === 5));
  };
  const clients = Array.from({ length: CLIENTS }, (_, place) => client(place));
  let mostLive = 0;
  for (let number = 2; number <= SWAPS; number += 1) {
    await new Promise((resolve) => {
      setTimeout(resolve, 30);
    });
    await eventually(() => received.length >= number * ANSWERS_PER_SWAP);
    await t.apply(configOf(number));
    mostLive = Math.max(mostLive, t.host.slot.live);
  }
  load.isOn = false;
  await Promise.all(clients);
  return { received, mostLive };
}

describe('swapping the configuration under load', () => {
  it('gives every answer one generation, loses none and leaves nothing behind', async function swaps() {
    this.timeout(60_000);
    await new Promise((resolve) => {
      setImmediate(resolve);
    }); // the runner arms its own timer once the test has begun
    const before = holdings();
    const stub = await upstreamOfAll();
    const targets = Array.from({ length: SWAPS + 1 }, (_, number) => stub.target(`target-${number}`));
    const t = await startHost({ ...configOf(0), targets }); // all providers register at start
    await t.apply(configOf(1)); // generation 2 is configuration 1, and so on
    const carried = t.host.carryover.size;
    const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
    const { received, mostLive } = await swapUnderLoad(t, agent);

    const served = new Set(received.map(expectOneGeneration));
    expect(received.length).to.be.at.least(CLIENTS * 5);
    expect(received.filter(({ span: [from, to] }) => to > from).length, 'answers that outlived a swap').to.be.at.least(
      CLIENTS,
    );
    expect(served.size, 'generations that served').to.be.at.least(SWAPS * 0.6);
    expect(mostLive).to.be.at.least(2);

    await eventually(() => t.host.slot.leases === 0 && t.host.slot.live === 1 && t.host.activity.count === 0);
    expect([t.host.slot.leases, t.host.slot.live, t.host.activity.count]).to.deep.equal([0, 1, 0]);
    expect(t.host.carryover.size).to.equal(carried);
    expect(
      t.lines.filter(({ level, msg }) => level === 'ERROR' && msg !== 'request failed' && msg !== 'http request'),
    ).to.deep.equal([]);
    agent.destroy();
    await t.close();
    await stub.close();
    await expectGivenBack(before);
  });
});
