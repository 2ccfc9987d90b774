import { expect } from 'chai';
import type { GatewayError, ProviderModule, TranslatedSurface } from '../../host/contract/index.ts';
import { hasCredentials } from '../../host/upstream/connect.ts';
import { replyError } from '../../host/upstream/fault.ts';
import {
  canonicalChat,
  CHAT,
  connect,
  gatewayOf,
  minimal,
  outcomeOf,
  type ProviderFacts,
  type ProviderGateway,
  readReply,
  ROUTES,
  sendText,
  type SurfaceFacts,
  translate,
  translator,
  valueOf,
  variablesOf,
  wireReply,
} from './provider-case.ts';
import type { Answer } from './host.ts';
import { some } from './random.ts';
import { strangeBodies, strangeReplies } from './strange-replies.ts';
import { replyJson } from './upstream.ts';

/** Checks that hold for every provider. Declares them; call it inside or outside a `describe`. The rules are those of docs/reference/providers.md. */
export function providerContract(module: ProviderModule, facts: ProviderFacts): void {
  describe(`${facts.name}, contract`, () => {
    registration(module, facts);
    addresses(module, facts);
    answers(facts);
    failures(module, facts);
    robustness(module, facts);
  });
}

function registration(module: ProviderModule, facts: ProviderFacts): void {
  it('is registered when its variables are all set, and not when one is missing or empty', () => {
    const all = variablesOf(facts, 'http://h:9911');
    expect(hasCredentials(module, all), 'all of them').to.equal(true);
    for (const variable of facts.required) {
      for (const value of [undefined, ''])
        expect(
          hasCredentials(module, { ...all, [variable]: value }),
          `${variable} ${value === '' ? 'empty' : 'missing'}`,
        ).to.equal(false);
    }
  });
}

function addresses(module: ProviderModule, facts: ProviderFacts): void {
  it('sends every surface to the configured address, with its own credential alone', async () => {
    for (const address of ['http://h:9911', 'http://h:9911/probe']) {
      const provider = await connect(module, variablesOf(facts, address));
      for (const [surface, { model, url }] of Object.entries(facts.surfaces)) {
        const { sent } = await translate(
          provider,
          surface as TranslatedSurface,
          minimal(surface as TranslatedSurface, model) as never,
        );
        const expected = url(address);
        expect(sent, surface).to.include({ method: 'POST', url: expected });
        if (expected.startsWith(address)) expectInside(sent.url, address, facts);
        expect(sent.headers['authorization'], `${surface}: credential`).to.equal(
          facts.credential && `Bearer ${valueOf(facts.credential)}`,
        );
        expect(
          Object.keys(sent.headers).filter(
            (name) => !['authorization', 'content-type', 'accept'].includes(name.toLowerCase()),
          ),
          `${surface}: headers`,
        ).to.deep.equal([]);
      }
    }
  });
}

function expectInside(url: string, address: string, { addsVersion }: ProviderFacts): void {
  expect(url.startsWith(`${address}/`), url).to.equal(true);
  if (addsVersion || !address.endsWith('/probe')) return;
  expect(
    url
      .slice(address.length)
      .split('/')
      .filter((segment) => /^v\d+[a-z]*$/.test(segment)),
    `version segments of ${url}`,
  ).to.deep.equal([]);
}

function answers(facts: ProviderFacts): void {
  const {
    name,
    surfaces: {
      chat: { model },
    },
    finish = 'stop',
  } = facts;
  it('answers chat: content, role, finish reason, usage, model, id and its own name; and the same streamed', async () => {
    const { host, answerWith } = await gatewayOf(facts, (_request, response) =>
      sendText(response, 200, 'application/json', facts.golden('reply.json')),
    );
    const answer = await host.post(CHAT, canonicalChat(facts));
    expect(answer.status, answer.text).to.equal(200);
    const { choices, usage, ...rest } = answer.json();
    expect(choices).to.have.length(1);
    expect(choices[0]).to.deep.include({ index: 0, finish_reason: finish });
    expect(choices[0].message).to.include({ role: 'assistant', content: 'conformance ok' });
    expect(usage).to.include({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    expect(rest).to.include({
      object: 'chat.completion',
      model,
      provider: name,
      id: (JSON.parse(facts.golden('reply.json')) as { id: string }).id,
    });
    expect(rest['created']).to.be.a('number').greaterThan(0);

    answerWith((_request, response) => sendText(response, 200, 'text/event-stream', facts.golden('stream.txt')));
    const streamed = await host.post(CHAT, canonicalChat(facts, { stream: true }));
    const events = streamed.events();
    expect(streamed.status, streamed.text).to.equal(200);
    expect(events.at(-1)).to.equal('[DONE]');
    expectStream(events.slice(0, -1), model, finish);
  });
}

/** Invariants of a streamed answer (docs/reference/providers.md#streams). */
export function expectStream(chunks: any[], model: string, finish: string): void {
  const bearing = chunks.filter(({ choices }) => choices.length > 0);
  const deltas = bearing.map(({ choices: [choice] }) => choice.delta);
  expect(deltas.map(({ content }) => content).filter((content) => content)).to.deep.equal(['conformance', ' ok']);
  expect(
    deltas.map(({ role }) => role),
    'roles',
  ).to.deep.equal(['assistant', ...Array.from({ length: deltas.length - 1 })]);
  expect(bearing.map(({ choices: [choice] }) => choice.finish_reason)).to.deep.equal([
    ...Array.from({ length: bearing.length - 1 }, () => null),
    finish,
  ]);
  for (const chunk of chunks)
    expect(chunk).to.include({ object: 'chat.completion.chunk', model }).and.to.have.property('id').that.is.a('string')
      .and.not.empty;
  const last = chunks.indexOf(bearing.at(-1));
  expect(
    chunks.slice(0, last).filter(({ usage }) => usage),
    'usage before the finish',
  ).to.deep.equal([]);
  expect(chunks.findLast(({ usage }) => usage)?.usage).to.include({
    prompt_tokens: 11,
    completion_tokens: 7,
    total_tokens: 18,
  });
}

function failures(module: ProviderModule, facts: ProviderFacts): void {
  it('reads its own 401 and 404 bodies, and tells clients the status by its class, without credential or foreign text', async () => {
    const gateway = await gatewayOf(facts);
    for (const [status, code] of [
      [401, 'upstream_auth_error'],
      [404, 'model_not_found'],
    ] as const) {
      const text = facts.golden(`error-${status}.json`);
      const { code: told, fault } = replyError(module, wireReply(text, status), 0) satisfies GatewayError;
      expect({ told, kind: fault?.kind, status: fault?.status }).to.deep.equal({ told: code, kind: 'status', status });
      expect(fault?.message, `the message of ${status}`).to.be.oneOf([facts.errors[status]].flat());
      gateway.answerWith((_request, response) => sendText(response, status, 'application/json', text));
      await eachWay(gateway, facts, (answer) => {
        expect(answer.json().error, `${status} as the client sees it`)
          .to.include({ code })
          .and.to.have.property('message')
          .that.is.a('string').and.not.empty;
      });
    }
    await hidesSecrets(gateway, facts);
    await quotesNoPages(gateway, facts);
  });
}

/** Asks for the answer whole and streamed. */
async function eachWay({ host }: ProviderGateway, facts: ProviderFacts, look: (answer: Answer) => void): Promise<void> {
  for (const stream of [false, true]) look(await host.post(CHAT, canonicalChat(facts, { stream })));
}

async function hidesSecrets(gateway: ProviderGateway, facts: ProviderFacts): Promise<void> {
  const secret = facts.credential === undefined ? 'sk-abcdefghijklmnopqrstuvwxyz' : valueOf(facts.credential);
  const said = {
    error: { message: `key ${secret} is refused` },
    detail: `key ${secret} is refused`,
    message: `key ${secret} is refused`,
    marker: 'outside-the-envelope',
  };
  for (const status of [302, 400, 401, 404, 422, 429, 500]) {
    gateway.answerWith((_request, response) => replyJson(response, status, said));
    await eachWay(gateway, facts, (answer) => {
      expect(answer.text, `${status}`).to.not.include(secret).and.not.include('outside-the-envelope');
      expect(answer.json().error.message, `${status}`).to.be.a('string').and.not.empty;
      if (status === 400 || status === 422)
        expect(answer.text, `${status} with the provider's message`).to.include('is refused');
    });
  }
  expect(JSON.stringify(gateway.host.lines), 'the log').to.not.include(secret);
}

async function quotesNoPages(gateway: ProviderGateway, facts: ProviderFacts): Promise<void> {
  for (const status of [400, 401, 404, 429, 500]) {
    gateway.answerWith((_request, response) =>
      sendText(response, status, 'text/html', '<h1>outside-the-envelope</h1>'),
    );
    await eachWay(gateway, facts, (answer) => {
      expect(answer.json().error.message, `${status} of a page`)
        .to.be.a('string')
        .and.not.empty.and.not.include('outside-the-envelope')
        .and.not.include(facts.name);
    });
  }
}

function robustness(module: ProviderModule, facts: ProviderFacts): void {
  it('makes an error of any status, and of any body that holds no answer', async () => {
    const { host, answerWith } = await gatewayOf(facts);
    const wrong: string[] = [];
    for (const [surface, { model }] of Object.entries(facts.surfaces) as [TranslatedSurface, SurfaceFacts][]) {
      const route = ROUTES[surface];
      if (route === undefined) continue;
      for (const [status, body, stream] of some(
        strangeReplies(surface, translator(module, surface).relaysBytes === true),
      )) {
        answerWith((_request, response) => sendText(response, status, 'application/json', body));
        const answer = await host.post(route, { ...minimal(surface, model), ...(stream && { stream }) });
        if (answer.status !== 502 || answer.json().error.code !== 'upstream_error')
          wrong.push(
            `${surface}${stream ? ' stream' : ''} made ${answer.status} ${answer.text} of ${status} ${JSON.stringify(body)}`,
          );
      }
    }
    expect(wrong).to.deep.equal([]);
  });

  it('reads uploads of any body, or throws', async () => {
    const provider = await connect(module, variablesOf(facts, 'http://h:9911'));
    for (const surface of ['audio.transcriptions', 'audio.translations'] as const) {
      const model = facts.surfaces[surface]?.model;
      if (model === undefined) continue;
      for (const body of strangeBodies(surface)) {
        const reply = outcomeOf(() => readReply(provider, surface, minimal(surface, model) as never, wireReply(body)));
        if (!(reply instanceof Error)) expect(reply.body).to.be.an.instanceof(Uint8Array);
      }
    }
  });
}
