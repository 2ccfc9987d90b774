import { expect } from 'chai';
import { sealEnvelope } from '../../builtins/wires/envelope.ts';
import { openSse, replyJson, type StubHandler } from '../kit/index.ts';
import { commonGateway, framesOf, ownGateway, streams } from '../wires/gemini/kit.ts';
import { CANARY, EMBED, GENERATE, guard } from './canary-kit.ts';

/** A text that a guardrail looks for is put into each string of each request and answer of the Gemini wire, whatever its target is. */

type Json = Record<string, any>;

const plugins = (stage: string, config: object = {}): object => ({
  plugins: [{ name: 'canary', stage, enabled: true, config }],
});

const REQUESTS: Readonly<Record<string, Json>> = {
  generateContent: GENERATE,
  streamGenerateContent: GENERATE,
  countTokens: { generateContentRequest: GENERATE },
  embedContent: EMBED,
  batchEmbedContents: { requests: [EMBED, EMBED] },
};

/** Each string of a value: where it stands, and the value with another text in its place. */
function* variants(value: unknown, path = ''): Generator<readonly [path: string, change: (text: string) => unknown]> {
  if (typeof value === 'string') yield [path, (text) => text];
  else if (Array.isArray(value))
    for (const [at, item] of value.entries())
      for (const [where, change] of variants(item, `${path}[${at}]`))
        yield [where, (next) => value.with(at, change(next))];
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value))
      for (const [where, change] of variants(member, path === '' ? name : `${path}.${name}`))
        yield [where, (next) => ({ ...value, [name]: change(next) })];
  }
}

const summary = (answer: { readonly status: number; json(): Json | Json[] }): unknown[] => {
  const [first]: Json[] = [answer.json()].flat();
  return [answer.status, first?.['error']?.details[0].reason];
};

const REPLY: Json = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'text', thought: true },
          { text: 'text' },
          { functionCall: { id: 'c', name: 'f', args: { a: 'text' } } },
          { executableCode: { code: 'text' } },
        ],
      },
      finishReason: 'STOP',
      finishMessage: 'text',
      groundingMetadata: { groundingChunks: [{ web: { uri: 'https://h/', title: 'text' } }] },
    },
  ],
  modelVersion: 'g',
  responseId: 'r',
  novelty: 'text',
};

describe('a canary on the Gemini wire', () => {
  for (const [what, gateway] of [
    ['its own vendor', ownGateway],
    ['a target of the common wire', commonGateway],
  ] as const) {
    for (const [operation, body] of Object.entries(REQUESTS)) {
      it(`is blocked wherever it stands in a request to ${what}: ${operation}`, async () => {
        const { host, upstream } = await gateway(
          (_seen, response) => replyJson(response, 200, REPLY),
          plugins('before_request'),
          { modules: [guard] },
        );
        const isEmbedding = body === EMBED || 'requests' in body;
        for (const [place, change] of variants(body)) {
          for (const text of [CANARY, `before ${CANARY} after`, JSON.stringify({ a: CANARY })]) {
            const answer = await host.post(`/v1beta/models/m:${operation}`, change(text));
            // What the common format has no room for at all is not sent anywhere.
            if (isEmbedding && what !== 'its own vendor' && !place.includes('text'))
              expect(
                answer.status === 400 || upstream.seen.every((seen) => !seen.text.includes(CANARY)),
                place,
              ).to.equal(true);
            else expect(summary(answer), `${place}: ${text}`).to.deep.equal([400, 'REQUEST_REJECTED']);
          }
        }
        expect(upstream.seen.filter(({ text }) => text.includes(CANARY))).to.deep.equal([]);
      });
    }

    it(`is blocked in a file that holds text, to ${what}`, async () => {
      const { host, upstream } = await gateway(
        (_seen, response) => replyJson(response, 200, REPLY),
        plugins('before_request'),
        { modules: [guard] },
      );
      for (const [mimeType, said] of [
        ['text/plain', CANARY],
        ['TEXT/csv', `{"a":"${CANARY}"}`],
        ['application/json', JSON.stringify({ a: CANARY })],
      ]) {
        const inlineData = { mimeType, data: Buffer.from(`not only ${said}`).toString('base64url') };
        expect(
          summary(await host.post('/v1beta/models/m:generateContent', { contents: [{ parts: [{ inlineData }] }] })),
          mimeType,
        ).to.deep.equal([400, 'REQUEST_REJECTED']);
      }
      expect(upstream.seen).to.deep.equal([]);
    });

    it(`is blocked where two parts hold a half each, or an envelope holds it, to ${what}`, async () => {
      const { host } = await gateway((_seen, response) => replyJson(response, 200, REPLY), plugins('before_request'), {
        modules: [guard],
      });
      const halves = [CANARY.slice(0, 5), CANARY.slice(5)].map((text) => ({ text }));
      expect(
        summary(await host.post('/v1beta/models/m:generateContent', { contents: [{ parts: halves }] })),
      ).to.deep.equal([400, 'REQUEST_REJECTED']);
      const hidden = {
        text: 'a',
        thought: true,
        thoughtSignature: sealEnvelope([{ type: 'reasoning.text', text: CANARY }]),
      };
      expect(
        summary(
          await host.post('/v1beta/models/m:generateContent', {
            contents: [{ parts: [{ text: 'a' }] }, { role: 'model', parts: [hidden] }],
          }),
        ),
      ).to.deep.equal([400, 'REQUEST_REJECTED']);
    });
  }

  it("is blocked wherever it stands in the vendor's own answer", async () => {
    let body: unknown = REPLY;
    const { host } = await ownGateway((_seen, response) => replyJson(response, 200, body), plugins('after_request'), {
      modules: [guard],
    });
    for (const [place, change] of variants(REPLY)) {
      body = change(CANARY);
      const answer = await host.post('/v1beta/models/m:generateContent', { contents: [{ parts: [{ text: 'a' }] }] });
      expect([...summary(answer), answer.text.includes('sings')], place).to.deep.equal([
        502,
        'RESPONSE_REJECTED',
        false,
      ]);
    }
  });

  it('is blocked wherever it stands in a stream of the vendor', async () => {
    let body: unknown = REPLY;
    const { host } = await ownGateway(
      (_seen, response) => {
        openSse(response);
        response.end(`data: ${JSON.stringify(body)}\r\n\r\n`);
      },
      plugins('after_request'),
      { modules: [guard] },
    );
    for (const [place, change] of variants(REPLY)) {
      body = change(CANARY);
      const answer = await host.post('/v1beta/models/m:streamGenerateContent?alt=sse', {
        contents: [{ parts: [{ text: 'a' }] }],
      });
      expect(framesOf(answer.text).at(-1)?.['error']?.details[0].reason, place).to.equal('RESPONSE_REJECTED');
    }
  });

  const text = `<${CANARY}>`;
  const frames: StubHandler = (_seen, response) => {
    openSse(response);
    for (const piece of text)
      response.write(
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: piece }] } }] })}\r\n\r\n`,
      );
    response.end(
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' }] })}\r\n\r\n`,
    );
  };
  for (const [what, gateway, handler] of [
    ['its own vendor', ownGateway, frames],
    ['a target of the common wire', commonGateway, streams(...Array.from(text, (content) => ({ content })))],
  ] as const) {
    it(`ends a stream of ${what}, and with stream: window no part of it arrives`, async () => {
      for (const stream of ['end', 'window']) {
        const { host } = await gateway(handler, plugins('after_request', { stream }), { modules: [guard] });
        for (const query of ['?alt=sse', '']) {
          const answer = await host.post(`/v1beta/models/m:streamGenerateContent${query}`, {
            contents: [{ parts: [{ text: 'a' }] }],
          });
          const pieces = query === '' ? (answer.json() as Json[]) : framesOf(answer.text);
          expect(pieces.at(-1)?.['error'].details[0].reason).to.equal('RESPONSE_REJECTED');
          const said = pieces
            .flatMap(({ candidates }) => candidates?.[0].content.parts ?? [])
            .map((part: Json) => part['text'])
            .join('');
          expect(said, `${stream}${query}`).to.equal(stream === 'window' ? '<' : text);
        }
      }
    });
  }
});
